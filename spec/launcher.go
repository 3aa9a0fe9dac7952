package spec

import (
	"slices"
	"strings"
	"time"

	"github.com/lbotune/lbotune/runner/slurm"
	"github.com/lbotune/lbotune/study"
)

// The kinds of launchers.
const (
	kindLocal = "local"
	kindSlurm = "slurm"
)

// Who runs trials on Slurm: a job each, or jobs that run one after the other.
const (
	modeJob   = "job"
	modePilot = "pilot"
)

// launcher reads [launcher].
func (t *table) launcher(run study.Run) *study.Launcher {
	s := t.sub("launcher")
	kind := s.oneOf("kind", kindLocal, kindLocal, kindSlurm)
	set := slurm.Settings{
		Partition:  s.str("partition", ""),
		Account:    s.str("account", ""),
		QOS:        s.str("qos", ""),
		Constraint: s.str("constraint", ""),
		CPUs:       int(s.integer("cpus", 0, 1)),
		Memory:     s.memory("memory"),
		GPUs:       int(s.integer("gpus", 0, 1)),
		GPUType:    s.str("gpu_type", ""),
		Nodes:      int(s.integer("nodes", 0, 1)),
		Time:       time.Duration(s.duration("time", 0)),
		Setup:      s.strings("setup"),
		Extra:      s.sbatchArgs("extra_args"),
		Detached:   s.sbatchArgs("detach_args"),
		Poll:       time.Duration(s.duration("poll", slurm.DefaultPoll)),
		Retries:    int(s.integer("retries", slurm.DefaultRetries, 0)),
	}
	set.Pilot = s.oneOf("mode", modeJob, modeJob, modePilot) == modePilot
	set.PerJob = int(s.integer("per_job", 1, 1))
	if set.GPUType != "" && set.GPUs == 0 {
		s.at("gpu_type", "add gpus = 1", "says which GPUs, but gpus does not say how many")
	}
	s.done()
	switch {
	case kind != kindSlurm:
	case set.Pilot:
		s.checkPilot(set, run)
	case set.PerJob > 1:
		s.at("per_job", `add mode = "pilot"`, "each trial has a job to itself, unless pilots run them")
	}
	switch {
	case kind == kindSlurm && ownsDevices(run.Slots):
		s.at("kind", "remove slots; per_job lets trials share a job's GPU, in the mode \"pilot\"",
			"the slots in [run] name GPUs, but Slurm decides which ones a job has")
	case kind == kindSlurm && run.GPUs != "":
		s.at("kind", "remove gpus from [run], and write gpus = 1 in [launcher]",
			"gpus = \"auto\" in [run] is for the GPUs of this machine; each Slurm job asks for its own")
	case kind == kindSlurm:
		return &study.Launcher{Kind: kind, Settings: set.Encode()}
	case s.data != nil && !s.has("kind"):
		s.missing("kind", `add kind = "slurm"`, "needs a kind")
	case len(s.data) > 1:
		for _, k := range s.doc.keysOf(s) {
			if k != "kind" && slices.Contains(s.known, k) {
				s.at(k, "", "is for kind slurm; the kind here is %s", kind)
			}
		}
	}
	return nil
}

// checkPilot complains of what pilots cannot do.
func (t *table) checkPilot(set slurm.Settings, run study.Run) {
	need := time.Duration(run.Timeout + run.Grace)
	switch {
	case set.Time == 0:
		t.missing("time", `for example time = "4h"`, "needs to know how long a pilot may live, which runs one trial after the other")
	case run.Timeout > 0 && set.Time < need:
		t.at("time", "several times as long is best", "found %v; a trial alone may take %v with its grace (timeout and grace in [run])", set.Time, need)
	}
}

// ownsDevices reports whether slots say which GPUs a trial has.
func ownsDevices(slots []study.Slot) bool {
	return slices.ContainsFunc(slots, func(slot study.Slot) bool {
		return slices.ContainsFunc(slot.Env, func(kv string) bool {
			name, _, _ := strings.Cut(kv, "=")
			return strings.HasSuffix(name, "_VISIBLE_DEVICES")
		})
	})
}

// memory reads a size as sbatch --mem takes it: a number of megabytes, or one with a unit.
func (t *table) memory(k string) string {
	text := t.str(k, "")
	if text == "" {
		return ""
	}
	digits := strings.TrimRight(text, "KMGT")
	if len(text)-len(digits) > 1 || digits == "" || strings.Trim(digits, "0123456789") != "" {
		t.at(k, "", `found %q; want a whole number with a unit of Slurm's, for example "500M" or "16G"`, text)
	}
	return text
}

// taken lists the options of sbatch that lbotune gives itself, and what to do instead.
var taken = map[string]string{
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
func (t *table) sbatchArgs(k string) []string {
	args := t.strings(k)
	for i, a := range args {
		name, _, _ := strings.Cut(a, "=")
		if len(a) > 2 && a[0] == '-' && a[1] != '-' {
			name = a[:2] // -Jname
		}
		if why, ours := taken[name]; ours {
			t.at(k, "", "element %d: %s cannot be given to sbatch: %s", i+1, name, why)
		}
		if i == 0 && !strings.HasPrefix(a, "-") {
			t.at(k, `for example extra_args = ["--exclusive"]`, "element 1 is %q; want an option of sbatch", a)
		}
	}
	return args
}
