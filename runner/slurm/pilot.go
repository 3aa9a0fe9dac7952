package slurm

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/runner"
)

// pilotMargin is the least time that a pilot must have left to begin another attempt.
const pilotMargin = time.Minute

// pilot is a job that runs one attempt of a pool after the other.
type pilot struct {
	crew
	pool  folder
	name  string // of the job and its id, by which watchers find it
	seats int
	began time.Time
	ends  time.Time // when Slurm will end it; zero if that is not known
	local runner.Local

	mu      sync.Mutex
	tried   map[string]bool      // of the pool's entries
	begun   int                  // attempts
	runs    map[string]time.Time // those that have not ended, by their entries, and since when
	free    time.Time            // since when there are none, if there are none
	longest time.Duration        // of those that have ended
	leaves  bool                 // it takes no more
}

// fly runs what waits in the pool until that is empty, or the job's time is up.
func (pool folder) fly() error {
	if n := os.Getenv("SLURM_RESTART_COUNT"); n != "" && n != "0" {
		return nil // requeued: what it ran before it did not end, and its watcher must see that
	}
	p := &pilot{pool: pool, name: os.Getenv("SLURM_JOB_NAME") + "." + jobID(), local: runner.Local{Adopt: true},
		tried: make(map[string]bool), runs: make(map[string]time.Time), began: time.Now(), free: time.Now()}
	if err := pool.await(crewName, &p.crew); err != nil {
		return err
	}
	p.seats = p.crew.seats(os.Getenv("SLURM_JOB_NAME"))
	if end, err := strconv.ParseInt(os.Getenv("SLURM_JOB_END_TIME"), 10, 64); err == nil && end > 0 {
		p.ends = time.Unix(end, 0)
	} else if p.Time > 0 {
		p.ends = time.Now().Add(p.Time)
	}
	terms := notify(syscall.SIGTERM)
	go func() {
		<-terms
		p.mu.Lock()
		defer p.mu.Unlock()
		p.noMore()
	}()
	var seats sync.WaitGroup
	for range p.seats {
		seats.Go(p.work)
	}
	seats.Wait()
	return nil
}

// noMore has the pilot take no more, and tells the launcher how many seats it has then.
func (p *pilot) noMore() {
	p.leaves = true
	if p.seats > 1 {
		_ = p.pool.writeJSON(leavesPrefix+p.name, len(p.runs)) // else new pilots come when this one has ended
	}
}

// work takes attempts and runs them.
func (p *pilot) work() {
	for {
		f, in, first := p.next()
		if in == nil {
			return
		}
		ran, last := p.run(f, in, first)
		p.mu.Lock()
		if ran {
			p.longest = max(p.longest, time.Since(p.runs[in.entry()]))
		}
		if delete(p.runs, in.entry()); len(p.runs) == 0 {
			p.free = time.Now()
		}
		if p.leaves || last {
			p.noMore()
		}
		p.mu.Unlock()
	}
}

// run runs an attempt, if nobody else does. The pilot takes no more after one that was ended by a signal,
// since only with the end of the job does Slurm tell why, and after one that could not run, since
// another job may be better off.
func (p *pilot) run(f folder, in *intent, first bool) (ran, last bool) {
	mark := takenPrefix + p.name
	err := f.writeJSON(mark, taken{First: first})
	if errors.Is(err, fs.ErrNotExist) {
		return false, false // its launcher has taken it back
	}
	var e ending
	if err == nil {
		// What is claimed is off the list at once: nobody may begin it again, even if it is deleted.
		e, err = f.run(&p.local, in, func() { p.pool.strike(in.entry()) })
	}
	switch {
	case errors.Is(err, errDuplicate), errors.Is(err, errAsked):
		f.strike(mark)
		return false, false
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", f.attempt(), err)
		return true, true
	}
	return true, e.Signal != "" || terminated(*e.Exit)
}

// next waits for the newest attempt that nobody has begun, nil if there will be none for this pilot;
// first says that it has the whole time of the job.
func (p *pilot) next() (f folder, in *intent, first bool) {
	for pause := lookMin; ; pause = min(pause*3/2, lookMax) {
		// Asked before the look: what is there now is taken. Without the crew's file the study is gone.
		over := p.pool.has(releasedName) || !p.pool.has(crewName)
		for _, name := range p.pool.waiting() {
			if f, in, first := p.take(name); in != nil {
				return f, in, first
			}
		}
		if p.done(over) {
			return "", nil, false
		}
		time.Sleep(pause)
	}
}

// done reports whether a seat that has found nothing is given up. For want of work all are at the same
// time: as long as one is taken the job keeps what it has, and the launcher counts on it.
func (p *pilot) done(over bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaves = p.leaves || len(p.runs) == 0 && (over || time.Since(p.free) > p.Idle)
	return p.leaves
}

// take decides whether the attempt of an entry is for this pilot, and as next what that is.
func (p *pilot) take(name string) (f folder, in *intent, first bool) {
	f, err := p.pool.entry(name)
	if err != nil {
		return f, nil, false
	}
	f.refresh()
	if f.claimed() || f.stopped() != "" {
		p.pool.strike(name)
		return f, nil, false
	}
	in = new(intent)
	if there, err := f.readJSON(intentName, in); !there || err != nil || in.Version > intentVersion {
		return f, nil, false // a network file system may show it late
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.leaves, p.tried[name]:
		return f, nil, false
	case !p.fits(in):
		p.noMore()
		return f, nil, false
	}
	first = p.fresh()
	p.tried[name] = true
	p.begun++
	p.runs[in.entry()] = time.Now()
	return f, in, first
}

// fits reports whether the attempt is likely to end in time: by its timeout, or as the
// longest one so far. What does not fit into a fresh pilot fits nowhere.
func (p *pilot) fits(in *intent) bool {
	longest := p.longest
	for _, since := range p.runs {
		longest = max(longest, time.Since(since))
	}
	need := cmp.Or(in.Job.Timeout, longest)
	return p.ends.IsZero() || p.fresh() || time.Until(p.ends) > need+in.Job.Grace+pilotMargin
}

// fresh reports whether an attempt that begins now has the pilot's whole time.
func (p *pilot) fresh() bool {
	return p.begun == 0 || p.begun < p.seats && p.longest == 0 && time.Since(p.began) <= p.Idle
}

// Names in a pool.
const (
	crewName     = "crew.json" // launcher: what pilots must know, and the names of their arrays
	releasedName = "released"  // launcher: no more attempts will come for a while; who is idle may go
	entryPrefix  = "wait-"     // launcher: begins the name of a link to the folder of an attempt that waits
	leavesPrefix = "leaves-"   // pilot: begins the name of a file; it takes no more, and runs so many attempts
)

// waiting lists the entries of a pool, the newest one first.
func (pool folder) waiting() []string {
	names := slices.DeleteFunc(pool.names(), func(n string) bool { return !strings.HasPrefix(n, entryPrefix) })
	slices.Reverse(names)
	return names
}

// entry returns the attempt that waits under a name.
func (pool folder) entry(name string) (folder, error) {
	path, err := in(pool, func(d *door.Dir) (string, error) { return d.Readlink(name) })
	return folder(path), err
}
