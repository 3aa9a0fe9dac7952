package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lbotune/lbotune/internal/pattern"
)

// commandPatience is for a machine that hangs: the network timeouts of Slurm's commands are shorter.
const commandPatience = 5 * time.Minute

// commandError says that a command of Slurm has failed, in its own words.
type commandError struct {
	name string
	text string
	err  error
}

func (e *commandError) Error() string {
	if e.text == "" {
		return fmt.Sprintf("%s: %v", e.name, e.err)
	}
	return strings.ReplaceAll(strings.ReplaceAll(e.text, e.name+": error: ", ""), "\n", "; ")
}

func (e *commandError) Unwrap() error { return e.err }

func run(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = 10 * time.Second // on a machine that is busy even the rest of an answer takes a while
	cmd.Env = cleanEnv(os.Environ())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", &commandError{name, strings.TrimSpace(stderr.String()), err}
	}
	return stdout.String(), nil
}

// alreadyDone is how scancel exits in silence where a job has ended since its look at the queue: the
// last eight bits of Slurm's error number 2021 (ESLURM_ALREADY_DONE).
const alreadyDone = 2021 & 0xff

// scancel removes or signals jobs. One that has ended meanwhile needs neither.
func scancel(ctx context.Context, args ...string) error {
	_, err := run(ctx, "scancel", args...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == alreadyDone {
		return nil
	}
	return err
}

// signalJobs gives the scripts of running jobs of a name notice that there is something for them in the folder.
func signalJobs(ctx context.Context, name string) error {
	return scancel(ctx, "--batch", "--signal=TERM", "--state=RUNNING", "--name="+name)
}

// cleanEnv drops what would change the meaning of Slurm's commands, or reach our jobs as if it were
// theirs: lbotune may itself run in an allocation. SLURM_CONF says where the cluster is, and stays.
func cleanEnv(env []string) []string {
	inside := slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "SLURM_JOB_ID=") })
	devices := []string{"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "GPU_DEVICE_ORDINAL"}
	programs := []string{"SLURM", "SLURMD", "SBATCH", "SQUEUE", "SCANCEL", "SRUN", "SALLOC"}
	return slices.DeleteFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		prefix, _, _ := strings.Cut(name, "_")
		return slices.Contains(programs, prefix) && name != "SLURM_CONF" || inside && slices.Contains(devices, name)
	})
}

// passing lists what Slurm says when trying again later may help.
var passing = []string{
	"unable to contact slurm controller", "socket timed out", "communication connection failure",
	"temporarily unable", "resource temporarily unavailable", "connection refused", "connection timed out",
	"zero bytes were transmitted", "slurm_persist_conn", "in standby mode", "unexpected message received",
	"job submit limit", "maxsubmitjob", "maximum job", "transport endpoint",
	"insane message length", "connection reset", "no route to host", "rate limit",
	"maxjobcount", "try again",
}

// limitRE finds the name of a limit that a job exceeds.
var limitRE = pattern.Lazy(`\b(qos|assoc)\w*limit\b`)

// passes reports whether an error of a command may pass by itself.
func passes(err error) bool {
	var e *commandError
	if !errors.As(err, &e) {
		return false
	}
	text := strings.ToLower(e.text)
	if limit := limitRE().FindString(text); limit != "" { // the words that follow name every kind
		return strings.Contains(limit, "submitjob")
	}
	return slices.ContainsFunc(passing, func(p string) bool { return strings.Contains(text, p) }) ||
		e.text == "" && !errors.Is(e.err, exec.ErrNotFound) // killed, or ended without a word
}

// pollMin is the first pause between two looks at the queue; each further one is twice as long.
const pollMin = time.Second

// queued is a job as squeue shows it.
type queued struct{ id, name, state, node string }

// queue looks at Slurm's queue for all attempts of a launcher with one squeue.
type queue struct {
	mu     sync.Mutex
	wanted map[string]time.Time // names of jobs, and when each was last asked for; nil while nobody looks
	// The last answer, by name, of all that were asked for, and when squeue was called for it.
	jobs  map[string][]queued
	asked time.Time
}

// interest is how long a name stays wanted that nobody asks for any more.
const interest = 10 * time.Second

// look polls as long as a name is wanted, with pauses of that length at most.
func (q *queue) look(longest time.Duration) {
	for pause := min(pollMin, longest); ; pause = min(2*pause, longest) {
		q.mu.Lock()
		maps.DeleteFunc(q.wanted, func(_ string, asked time.Time) bool { return time.Since(asked) > interest })
		names := slices.Sorted(maps.Keys(q.wanted))
		if len(names) == 0 {
			q.wanted = nil
		}
		q.mu.Unlock()
		if len(names) == 0 {
			return
		}
		asked := time.Now()
		if jobs, err := list(context.Background(), names); err == nil {
			q.mu.Lock()
			q.jobs, q.asked = jobs, asked
			q.mu.Unlock()
		}
		time.Sleep(pause)
	}
}

// forget says that nobody asks for a name any more.
func (q *queue) forget(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.wanted, name)
}

// jobsOf returns the jobs called name in an answer to a question for them put after since, if there is one.
func (l *Launcher) jobsOf(name string, since time.Time) (jobs []queued, known bool) {
	q := &l.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.wanted == nil {
		q.wanted = make(map[string]time.Time)
		go q.look(l.Settings.poll())
	}
	q.wanted[name] = time.Now()
	if jobs, known = q.jobs[name]; !known || !q.asked.After(since) {
		return nil, false
	}
	return jobs, true
}

// list asks squeue for the jobs of these names, also for those that have ended and are not yet
// forgotten, the last one last. A controller that has lost its state gives the same ids again: only names are known.
func list(ctx context.Context, names []string) (map[string][]queued, error) {
	jobs := make(map[string][]queued)
	for some := range slices.Chunk(names, mostNames) {
		out, err := run(ctx, "squeue", "--noheader", "--states=all", "--array", "--sort=i",
			"--name="+strings.Join(some, ","), "--format=%i|%T|%N|%j")
		if err != nil {
			return nil, err
		}
		for _, name := range some {
			jobs[name] = nil // it is known that there are none
		}
		for line := range strings.Lines(out) {
			f := strings.SplitN(strings.TrimSpace(line), "|", 4)
			if len(f) == 4 {
				jobs[f[3]] = append(jobs[f[3]], queued{id: f[0], name: f[3], state: f[1], node: f[2]})
			}
		}
	}
	return jobs, nil
}

// mostNames is how many one squeue is asked for: an argument may have 128 kB.
const mostNames = 1000

// waits reports whether the job is in the queue, perhaps again.
func (j queued) waits() bool {
	return j.state == "PENDING" || j.state == "SPECIAL_EXIT" || strings.HasPrefix(j.state, "REQUEUE")
}

func (j queued) over() bool {
	return j.state == "COMPLETED" || failedItself(j.state) || slices.Contains(lossy, j.state)
}
