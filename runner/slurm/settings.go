package slurm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lbotune/lbotune/internal/kinds"
)

// Settings are what a study asks of Slurm for an attempt; what is empty is the site's choice.
type Settings struct {
	Partition  string `json:"partition,omitempty"`
	Account    string `json:"account,omitempty"`
	QOS        string `json:"qos,omitempty"`
	Constraint string `json:"constraint,omitempty"`
	CPUs       int    `json:"cpus,omitempty"`
	Memory     string `json:"memory,omitempty"` // of each node, as sbatch --mem takes it: "16G"
	GPUs       int    `json:"gpus,omitempty"`   // of each node
	GPUType    string `json:"gpu_type,omitempty"`
	Nodes      int    `json:"nodes,omitempty"`
	// Time is the job's limit. It is the backstop behind Job.Timeout.
	Time time.Duration `json:"time,omitempty"`
	// Setup are lines of bash before the attempt, which does not begin if one fails.
	Setup []string `json:"setup,omitempty"`
	// Extra are further arguments of sbatch.
	Extra []string `json:"extra_args,omitempty"`
	// Detached are further arguments of sbatch for the small job of a detached study.
	Detached []string `json:"detach_args,omitempty"`
	// Pilot lets jobs run one attempt after the other, PerJob of them at the same time.
	Pilot  bool `json:"pilot,omitempty"`
	PerJob int  `json:"per_job,omitempty"`
	// Poll is the longest pause between two looks at the queue, from which silence and beat follow.
	Poll time.Duration `json:"poll,omitempty"`
	// Retries is how often a trial may lose its job to the cluster in a row.
	Retries int `json:"retries,omitempty"`
}

// defaultPoll is Settings.Poll where that is 0.
const defaultPoll = 30 * time.Second

// args returns the arguments of sbatch that ask for the resources.
func (s Settings) args() []string {
	var args []string
	add := func(name, value string) {
		if value != "" && value != "0" {
			args = append(args, "--"+name+"="+value)
		}
	}
	add("partition", s.Partition)
	add("account", s.Account)
	add("qos", s.QOS)
	add("constraint", s.Constraint)
	add("nodes", strconv.Itoa(s.Nodes))
	add("cpus-per-task", strconv.Itoa(s.CPUs))
	if s.Memory != "" { // "0" is all that a node has
		args = append(args, "--mem="+s.Memory)
	}
	if s.GPUs > 0 {
		add("gres", strings.TrimSuffix("gpu:"+s.GPUType, ":")+":"+strconv.Itoa(s.GPUs))
	}
	add("time", strconv.Itoa(int((s.Time+time.Minute-1)/time.Minute))) // in whole minutes, as Slurm counts
	return append(args, s.Extra...)
}

func (s Settings) poll() time.Duration { return cmp.Or(max(s.Poll, 0), defaultPoll) }

// beat is the pause between two signs of life of a job.
func (s Settings) beat() time.Duration { return s.poll() / 3 }

// silence is how long a job must be gone and silent to count as dead: network disks are up to a minute late.
func (s Settings) silence() time.Duration { return 2 * s.poll() }

// Kind is Slurm as a spec can choose it.
var Kind = kinds.Kind{Settings: readSettings, New: newLauncher, Inside: map[string]func(string) error{"exec": Exec}}

func newLauncher(text []byte, at kinds.Site) (kinds.Rejoiner, error) {
	l := &Launcher{Exec: []string{at.Program, "exec"}, Pool: at.Pool, Dir: at.Dir, Cwd: at.Cwd, Workers: at.Workers, Log: at.Log}
	if err := json.Unmarshal(text, &l.Settings); err != nil {
		return nil, fmt.Errorf("settings of Slurm: %w", err)
	}
	return program{l}, nil
}

func readSettings(k kinds.Keys, run kinds.Run) []byte {
	s := Settings{
		Partition:  k.Text("partition"),
		Account:    k.Text("account"),
		QOS:        k.Text("qos"),
		Constraint: k.Text("constraint"),
		CPUs:       k.Int("cpus", 0, 1),
		Memory:     memory(k),
		GPUs:       k.Int("gpus", 0, 1),
		GPUType:    k.Text("gpu_type"),
		Nodes:      k.Int("nodes", 0, 1),
		Time:       k.Duration("time", 0),
		Setup:      k.Texts("setup"),
		Extra:      sbatchArgs(k, "extra_args"),
		Detached:   sbatchArgs(k, "detach_args"),
		Poll:       k.Duration("poll", defaultPoll),
		Retries:    k.Int("retries", 3, 0),
		Pilot:      k.OneOf("mode", "job", "pilot") == "pilot",
		PerJob:     k.Int("per_job", 1, 1),
	}
	if s.GPUType != "" && s.GPUs == 0 {
		k.Wrong("gpu_type", "add gpus = 1", "says which GPUs, but gpus does not say how many")
	}
	switch need := run.Timeout + run.Grace; {
	case !s.Pilot && s.PerJob > 1:
		k.Wrong("per_job", `add mode = "pilot"`, "each trial has a job to itself, unless pilots run them")
	case s.Pilot && s.Time == 0:
		k.Missing("time", `for example time = "4h"`, "needs to know how long a pilot may live, which runs one trial after the other")
	case s.Pilot && run.Timeout > 0 && s.Time < need:
		k.Wrong("time", "several times as long is best", "found %v; a trial alone may take %v with its grace (timeout and grace in [run])", s.Time, need)
	}
	switch {
	case run.SlotGPUs:
		k.Wrong("kind", "remove slots; per_job lets trials share a job's GPU, in the mode \"pilot\"",
			"the slots in [run] name GPUs, but Slurm decides which ones a job has")
	case run.AutoGPUs:
		k.Wrong("kind", "remove gpus from [run], and write gpus = 1 in [launcher]",
			"gpus = \"auto\" in [run] is for the GPUs of this machine; each Slurm job asks for its own")
	}
	text, _ := json.Marshal(s) // plain fields: cannot fail
	return text
}

// memory reads a size as sbatch --mem takes it: a number of megabytes, or one with a unit.
func memory(k kinds.Keys) string {
	text := k.Text("memory")
	digits := strings.TrimRight(text, "KMGT")
	if text != "" && (len(text)-len(digits) > 1 || digits == "" || strings.Trim(digits, "0123456789") != "") {
		k.Wrong("memory", "", `found %q; want a whole number with a unit of Slurm's, for example "500M" or "16G"`, text)
	}
	return text
}

// reserved lists the options of sbatch that lbotune gives itself, and what to do instead.
var reserved = map[string]string{
	"--job-name": "a job is found again by its name", "-J": "a job is found again by its name",
	"--array": "lbotune makes the arrays of mode = \"pilot\"", "-a": "lbotune makes the arrays of mode = \"pilot\"",
	"--requeue": "lbotune runs a lost trial again itself",
	"--output":  "the trial's output has its own files", "-o": "the trial's output has its own files",
	"--error": "the trial's output has its own files", "-e": "the trial's output has its own files",
	"--chdir": "use cwd in [run]", "-D": "use cwd in [run]",
	"--wait": "lbotune does not wait for sbatch", "-W": "lbotune does not wait for sbatch",
	"--wrap": "lbotune writes the script", "--parsable": "lbotune sets it",
	"--test-only": "lbotune check does that", "--clusters": "one cluster is known", "-M": "one cluster is known",
}

// sbatchArgs reads further arguments of sbatch.
func sbatchArgs(k kinds.Keys, key string) []string {
	args := k.Texts(key)
	for i, a := range args {
		name, _, _ := strings.Cut(a, "=")
		if len(a) > 2 && a[0] == '-' && a[1] != '-' {
			name = a[:2] // -Jname
		}
		if why, ours := reserved[name]; ours {
			k.Wrong(key, "", "element %d: %s cannot be given to sbatch: %s", i+1, name, why)
		}
		if i == 0 && !strings.HasPrefix(a, "-") {
			k.Wrong(key, "for example "+key+` = ["--exclusive"]`, "element 1 is %q; want an option of sbatch", a)
		}
	}
	return args
}
