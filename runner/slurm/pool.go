package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/runner"
)

// maxArray is how many jobs one array may have under Slurm's own default.
const maxArray = 1000

// crew is the state of a pool: what pilots must know, and the arrays in which some may live, whose
// names are written before sbatch is called.
type crew struct {
	Version int            `json:"version"`
	Inode   uint64         `json:"inode,omitempty"` // of the pool, to notice that it is a copy
	Names   []string       `json:"names"`
	Seats   int            `json:"seats,omitempty"`  // attempts that a pilot runs at the same time
	Offers  map[string]int `json:"offers,omitempty"` // the same by the name of its array, if it is known
	Idle    time.Duration  `json:"idle"`             // how long a pilot waits for work
	Time    time.Duration  `json:"time,omitempty"`   // of a pilot
}

const crewVersion = 1

// pool keeps as many pilots as there is work for. Its folder lists the attempts that wait.
type pool struct {
	launcher *Launcher
	folder   folder
	watched  atomic.Int32 // attempts under way

	mu       sync.Mutex
	crew     crew
	since    time.Time // an answer of squeue must be younger than this
	tries    tries
	failed   queued    // of the last array that has begun nothing
	failedAt time.Time // if that was its own doing, and another one would do the same
	sick     []string  // the node on which a pilot has failed by itself, for the next one to avoid

	fruitful sync.Map     // arrays that have begun an attempt
	barren   atomic.Int32 // arrays in a row that have not begun one
}

// thePool opens the pool when it is needed first.
func (l *Launcher) thePool() (*pool, error) {
	l.poolMu.Lock()
	defer l.poolMu.Unlock()
	if l.pool != nil {
		return l.pool, nil
	}
	dir, err := filepath.Abs(l.Pool)
	if err == nil {
		err = door.Mkdir(dir)
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	p := &pool{launcher: l, folder: folder(dir)}
	if _, err := p.folder.readJSON(crewName, &p.crew); err != nil {
		return nil, err
	}
	if p.crew.Version > crewVersion {
		return nil, fmt.Errorf("%s has version %d; this program reads versions up to %d", p.folder.path(crewName), p.crew.Version, crewVersion)
	}
	if p.crew.Inode != p.folder.inode() { // a copy: these are the pilots of the original
		p.crew.Names = nil
		for _, name := range p.folder.waiting() {
			p.folder.strike(name)
		}
	}
	offers := make(map[string]int)
	for _, name := range p.crew.Names {
		offers[name] = p.crew.seats(name)
		p.fruitful.Store(name, true) // for all that is known
	}
	p.crew = crew{Version: crewVersion, Inode: p.folder.inode(), Names: p.crew.Names,
		Seats: l.Settings.PerJob, Offers: offers, Idle: l.Settings.silence(), Time: l.Settings.Time}
	p.since = time.Now()
	l.pool = p
	return p, p.folder.write(scriptName, []byte(l.script(p.folder)))
}

// enlist makes an attempt known to the pilots. It may be called again.
func (p *pool) enlist(f folder, in *intent) error {
	p.folder.strike(releasedName)
	err := p.folder.in(func(d *door.Dir) error { return d.Symlink(string(f), in.entry()) })
	if err != nil && !errors.Is(err, os.ErrExist) {
		return diskError(err)
	}
	return nil
}

// entry is the name under which an attempt waits.
func (in *intent) entry() string {
	return fmt.Sprintf("%s%020d-%s", entryPrefix, in.Asked.UnixNano(), in.Name)
}

// tend sees to it that there are pilots for every attempt; its error says why there will be none.
func (p *pool) tend(w *watch) error {
	if !p.mu.TryLock() {
		return nil // another attempt does it
	}
	defer p.mu.Unlock()
	seats, known := p.count()
	need := int(p.watched.Load())
	switch {
	case !known, seats >= need, time.Now().Before(p.tries.at):
		return nil
	case p.failedAt.After(w.since):
		return w.blame(notBegun(p.failed, p.output(p.failed)))
	case int(p.barren.Load()) > p.launcher.Settings.Retries:
		p.barren.Store(0)
		return w.blame(fmt.Errorf("%w: the cluster has lost all jobs for it, the last time by %s", runner.ErrNotBegun,
			loss{State: p.failed.state, Node: p.failed.node}))
	}
	if err := p.enlist(w.folder, w.intent); err != nil {
		return err
	}
	missing := p.crew.pilots(max(p.launcher.Workers, need) - seats)
	return p.submit(min(missing, maxArray), append(w.folder.avoid(), p.sick...))
}

// seats are those of a pilot of an array.
func (c *crew) seats(array string) int { return max(cmp.Or(c.Offers[array], c.Seats), 1) }

// pilots is how many new ones are needed for so many attempts at the same time.
func (c *crew) pilots(attempts int) int {
	seats := max(c.Seats, 1)
	return (attempts + seats - 1) / seats
}

// count counts the seats of pilots that wait or run, and forgets the arrays of which none does.
func (p *pool) count() (seats int, known bool) {
	known = true
	leave := p.leaving()
	for _, name := range slices.Clone(p.crew.Names) {
		jobs, ok := p.launcher.jobsOf(name, p.since)
		if known = known && ok; !ok {
			continue
		}
		living := slices.DeleteFunc(slices.Clone(jobs), queued.over)
		for _, j := range living {
			n, leaves := leave[j.name+"."+j.id]
			if !leaves {
				n = p.crew.seats(name)
			}
			seats += n
		}
		if len(living) > 0 {
			continue
		}
		for pilot := range leave {
			if strings.HasPrefix(pilot, name+".") {
				p.folder.strike(leavesPrefix + pilot)
			}
		}
		if _, fruitful := p.fruitful.LoadAndDelete(name); !fruitful {
			p.fruitless(jobs)
		}
		delete(p.crew.Offers, name)
		p.crew.Names = slices.DeleteFunc(p.crew.Names, func(n string) bool { return n == name })
	}
	return seats, known
}

// leaving are the pilots that take no more, and how many attempts each of them runs.
func (p *pool) leaving() map[string]int {
	leave := make(map[string]int)
	for _, name := range p.folder.names() {
		if pilot, ok := strings.CutPrefix(name, leavesPrefix); ok {
			runs := 0
			_, _ = p.folder.readJSON(name, &runs)
			leave[pilot] = runs
		}
	}
	return leave
}

// fruitless notes how the pilots of an array have ended that have begun nothing.
func (p *pool) fruitless(jobs []queued) {
	p.failed = final(jobs)
	again := int(p.barren.Add(1)) <= p.launcher.Settings.second(p.output(p.failed))
	switch {
	case !failedItself(p.failed.state): // it was lost
	case p.failed.state != "FAILED" || !again:
		p.failedAt = time.Now()
		p.barren.Store(0) // those that come later try again
	case p.failed.node != "":
		p.sick = []string{p.failed.node}
	}
}

func (p *pool) submit(n int, avoid []string) error {
	name := jobName(filepath.Base(filepath.Dir(string(p.folder))) + "-pilots")
	with := p.crew
	with.Names = append(slices.Clone(p.crew.Names), name)
	p.crew.Offers[name] = p.crew.Seats
	if err := p.folder.writeJSON(crewName, with); err != nil {
		return diskError(err)
	}
	p.crew = with
	args := p.launcher.pilotArgs(p.folder, name, n)
	_, err := sbatch(context.Background(), args, avoid, p.folder.path(scriptName))
	p.since = time.Now()
	if err == nil {
		p.tries.pause, p.sick = 0, nil
		return nil
	}
	p.fruitful.Store(name, true) // whether there is such an array is not known
	if !passes(err) {
		return &runner.SpawnError{Op: "submit pilots", Err: err}
	}
	p.launcher.log("Slurm does not take pilots now; "+p.tries.later(), err)
	return nil
}

func (l *Launcher) pilotArgs(pool folder, name string, n int) []string {
	args := []string{"--parsable", "--no-requeue", "--job-name=" + name, "--array=1-" + strconv.Itoa(n), "--chdir=" + string(pool),
		"--output=" + escape(string(pool)) + "/%x_%a.out", "--open-mode=append"}
	return append(args, l.Settings.args()...)
}

func (p *pool) output(j queued) string {
	_, task, _ := strings.Cut(j.id, "_")
	return printed(p.folder.path(j.name + "_" + task + ".out"))
}

// Release tells the pilots that no more attempts will come for a while: those that find
// nothing to do end, and those that have nothing to do are not begun.
func (l *Launcher) Release(ctx context.Context) error {
	dir, err := filepath.Abs(l.Pool)
	if err != nil || l.Pool == "" || !l.Settings.Pilot {
		return err
	}
	p, c := folder(dir), crew{}
	if there, err := p.readJSON(crewName, &c); !there || err != nil || c.Inode != p.inode() {
		return err // none, or the original's
	}
	if err := p.write(releasedName, nil); err != nil {
		return err
	}
	for _, name := range p.waiting() {
		if f, err := p.entry(name); err == nil && !f.claimed() && f.stopped() == "" {
			return nil
		}
	}
	for _, name := range c.Names { // scancel takes one
		err = errors.Join(err, scancel(ctx, "--state=PENDING", "--name="+name))
	}
	return err
}
