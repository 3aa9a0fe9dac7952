package slurm

import (
	"strconv"
	"time"
)

// Settings are what a study asks of Slurm for each of its attempts. Empty fields leave
// the choice to the site's defaults.
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
	// Setup are lines of bash that the job runs before the attempt. If one fails the
	// attempt does not begin.
	Setup []string `json:"setup,omitempty"`
	// Extra are further arguments of sbatch.
	Extra []string `json:"extra_args,omitempty"`
	// Detached are further arguments of sbatch for the small job of a detached study.
	Detached []string `json:"detach_args,omitempty"`
	// Pilot lets jobs run one attempt after the other, instead of one job each. PerJob is
	// how many at the same time.
	Pilot  bool `json:"pilot,omitempty"`
	PerJob int  `json:"per_job,omitempty"`
	// Poll is the longest pause between two looks at the queue. Everything else that
	// takes patience follows from it: see settle and beat.
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
	add("mem", s.Memory)
	if s.GPUs > 0 {
		kind := "gpu:"
		if s.GPUType != "" {
			kind += s.GPUType + ":"
		}
		add("gres", kind+strconv.Itoa(s.GPUs))
	}
	add("time", limit(s.Time))
	return append(args, s.Extra...)
}

// limit is a duration as sbatch --time takes it, in whole minutes, as Slurm counts.
func limit(d time.Duration) string {
	return strconv.Itoa(int((d + time.Minute - 1) / time.Minute))
}

func (s Settings) poll() time.Duration {
	if s.Poll > 0 {
		return s.Poll
	}
	return defaultPoll
}

// beat is the pause between two signs of life of a job.
func (s Settings) beat() time.Duration { return s.poll() / 3 }

// settle is how long a job must be gone from the queue and silent before it counts as
// dead: network file systems show a file to other machines up to a minute late.
func (s Settings) settle() time.Duration { return 2 * s.poll() }
