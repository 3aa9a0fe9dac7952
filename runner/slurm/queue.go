package slurm

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// pollMin is the first pause between two looks at the queue; each further one is twice as
// long, up to Settings.Poll.
const pollMin = time.Second

// queued is a job as squeue shows it.
type queued struct{ id, name, state, node, reason string }

// snapshot is one answer of squeue.
type snapshot struct {
	asked time.Time           // before squeue was called
	jobs  map[string][]queued // by name
}

// queue looks at Slurm's queue for all attempts of a launcher with one squeue.
type queue struct {
	longest time.Duration

	mu      sync.Mutex
	names   map[string]int // those that are watched
	last    snapshot
	looking bool
	pause   time.Duration
}

// watch asks for name to be looked for, until the function that it returns is called.
func (q *queue) watch(name string) (unwatch func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.names == nil {
		q.names = make(map[string]int)
	}
	q.names[name]++
	if !q.looking {
		q.looking = true
		q.pause = min(pollMin, q.longest)
		go q.look()
	}
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.names[name]--; q.names[name] == 0 {
			delete(q.names, name)
		}
	}
}

// look polls as long as somebody watches.
func (q *queue) look() {
	for {
		names := q.wanted()
		if names == nil {
			return
		}
		asked := time.Now()
		jobs, err := list(context.Background(), names)
		q.mu.Lock()
		if err == nil {
			q.last = snapshot{asked, jobs}
		}
		pause := q.pause
		q.pause = min(2*q.pause, q.longest)
		q.mu.Unlock()
		time.Sleep(pause)
	}
}

func (q *queue) wanted() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.names) == 0 {
		q.looking = false
		return nil
	}
	return slices.Sorted(maps.Keys(q.names))
}

// of returns the jobs called name in an answer to a question put after since; known is
// false if there is none. Silence says nothing about a job.
func (q *queue) of(name string, since time.Time) (jobs []queued, known bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.last.asked.After(since) {
		return nil, false
	}
	return q.last.jobs[name], true
}

// list asks squeue for the jobs of these names, also for those that have ended and are
// not yet forgotten. A job is known by its name alone: a controller that has lost its
// state gives the same ids again.
func list(ctx context.Context, names []string) (map[string][]queued, error) {
	out, err := run(ctx, "squeue", "--noheader", "--states=all", "--array",
		"--name="+strings.Join(names, ","), "--format=%i|%T|%N|%r|%j")
	if err != nil {
		return nil, err
	}
	jobs := make(map[string][]queued)
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSpace(line), "|", 5)
		if len(f) == 5 {
			jobs[f[4]] = append(jobs[f[4]], queued{id: f[0], name: f[4], state: f[1], node: f[2], reason: f[3]})
		}
	}
	return jobs, nil
}

// over lists the states of jobs that have ended.
var over = []string{"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "LAUNCH_FAILED", "NODE_FAIL",
	"OUT_OF_MEMORY", "PREEMPTED", "RECONFIG_FAIL", "REVOKED", "TIMEOUT"}

// waits reports whether the job is in the queue, perhaps again.
func (j queued) waits() bool {
	return j.state == "PENDING" || j.state == "SPECIAL_EXIT" || strings.HasPrefix(j.state, "REQUEUE")
}

func (j queued) over() bool { return slices.Contains(over, j.state) }
