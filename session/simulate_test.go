package session_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// TestSimulation runs studies on a machine, a disk and a clock that are simulated. Each
// seed is one study: a spec, what its program does, and what befalls it, until it has
// come to its end. Then its history is compared with what must hold. A failing one is
// made simpler as long as it fails.
//
// LBOTUNE_SIMULATE=SEED runs one seed, FROM-TO runs these, and fresh/N runs N that nobody
// has run before. What the scheduler of goroutines decides at one instant of simulated
// time is not fixed by the seed, so that a rare failure may need a few runs to be seen.
func TestSimulation(t *testing.T) {
	first, last := uint64(1), uint64(effort.Of(raced(3, 12), 90, 300))
	which := os.Getenv("LBOTUNE_SIMULATE")
	if which != "" {
		first, last = seedsOf(t, which)
	}
	base := t.TempDir()
	t.Setenv("PATH", "") // nothing to ask for line buffering, in thousands of sessions
	began := time.Now()
	if which == "" {
		for _, seed := range formerFaults {
			simulateSeed(t, base, seed)
		}
	}
	var next atomic.Uint64
	next.Store(first)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := next.Add(1) - 1; seed <= last && !t.Failed(); seed = next.Add(1) - 1 {
				simulateSeed(t, base, seed)
			}
		})
	}
	workers.Wait()
	n := last - first + 1
	t.Logf("seeds %d to %d, %v each", first, last, (time.Since(began) / time.Duration(n)).Round(time.Microsecond))
}

// formerFaults are seeds that have shown faults which are mended.
var formerFaults = []uint64{223, 290, 811, 102523, 325645806551, 325645813796, 65022011568, 600071143989, 362168325965, 114681704032}

// simulateSeed runs the plan of a seed, and tells of its simplest fault.
func simulateSeed(t *testing.T, base string, seed uint64) {
	t.Helper()
	plan := newSimPlan(seed)
	if faults := simulate(t, base, plan); len(faults) > 0 {
		plan, faults = shorten(t, base, plan, faults)
		t.Errorf("LBOTUNE_SIMULATE=%d go test ./session -run TestSimulation\n%v\n%s", seed, plan, strings.Join(faults, "\n"))
	}
}

// seedsOf reads LBOTUNE_SIMULATE.
func seedsOf(t *testing.T, which string) (first, last uint64) {
	t.Helper()
	from, to, several := strings.Cut(which, "-")
	if count, fresh := strings.CutPrefix(which, "fresh/"); fresh {
		n, err := strconv.ParseUint(count, 10, 32)
		if err != nil || n == 0 {
			t.Fatalf("LBOTUNE_SIMULATE=%s: want a number after fresh/", which)
		}
		first = rand.Uint64() >> 24
		return first, first + n - 1
	}
	if !several {
		to = from
	}
	first, err1 := strconv.ParseUint(from, 10, 64)
	last, err2 := strconv.ParseUint(to, 10, 64)
	if err := errors.Join(err1, err2); err != nil || last < first {
		t.Fatalf("LBOTUNE_SIMULATE=%s: want a seed, FROM-TO or fresh/N: %v", which, err)
	}
	return first, last
}

// shorten makes a failing plan simpler while it fails.
func shorten(t *testing.T, base string, p *simPlan, faults []string) (*simPlan, []string) {
	t.Helper()
	for tries := 0; tries < 400; {
		found := false
		for _, q := range p.simpler() {
			tries++
			if f := simulate(t, base, q); len(f) > 0 {
				p, faults, found = q, f, true
				break
			}
		}
		if !found {
			break
		}
	}
	return p, faults
}

// simulate runs a plan and returns what must not be.
func simulate(t *testing.T, base string, p *simPlan) (faults []string) {
	t.Helper()
	run := func(p *simPlan) *simulation {
		dir, err := os.MkdirTemp(base, "study-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		s := &simulation{plan: p, dir: filepath.Join(dir, "s"), disk: faultfs.New(),
			machine: &machine{plan: p, runs: map[string]*simRun{}}, reported: map[string]string{}, rerun: map[int]bool{}, ends: map[int]int{}, courses: map[int]*simCourse{}}
		synctest.Test(t, func(*testing.T) { s.run() })
		return s
	}
	s := run(p)
	faults = append(s.faults, s.machine.faults...)
	if len(faults) > 0 || !p.repeatable() || len(p.steps) == 0 {
		return faults
	}
	calm := *p
	calm.steps = nil
	if want := run(&calm); story(s.state) != story(want.state) {
		faults = append(faults, fmt.Sprintf("the study differs from the same without disturbance:\n%s; want\n%s", story(s.state), story(want.state)))
	}
	return faults
}

// simulation is a plan under way.
type simulation struct {
	plan    *simPlan
	dir     string
	disk    *faultfs.FS
	machine *machine
	state   *study.State // in the end
	faults  []string

	enqueued []spaces.Values // by hand
	rerun    map[int]bool    // trials of which somebody wants the failure taken back
	ends     map[int]int     // how often trials have finished
	former   *study.Config   // what the spec said before it was changed

	processes int                // of programs that run trials themselves
	courses   map[int]*simCourse // what they have reported, by trial

	mu       sync.Mutex
	reported map[string]string // results that were shown, by attempt
}

func (s *simulation) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

func (s *simulation) run() {
	c := s.plan.config
	defer func() {
		s.machine.powerCut()        // whatever lives that should not
		time.Sleep(2 * time.Second) // until no end waits for a stop
	}()
	for _, step := range s.plan.steps {
		switch step.kind {
		case "enqueue", "exclude", "include", "note", "ask", "try", "tell", "rerun":
			s.edit(step)
		case "drive", "driveKill", "drivePower", "driveFault":
			s.drive(&c, step)
		case "more":
			c.Budget.Trials += 1 + step.n%3
		case "narrow", "widen":
			s.change(&c, step)
		case "workers":
			c.Run.Workers = step.workers()
		case "respec":
			if former := c; s.former == nil {
				s.former = &former
			}
			c = s.respec(c, step)
		default:
			s.session(&c, step)
		}
		if len(s.faults) > 0 {
			return
		}
	}
	// A result that is awaited, or a person who must start it again, takes another session.
	for range 4 {
		s.edit(simStep{kind: "tellAll"})
		s.session(&c, simStep{kind: "calm"})
	}
	s.machine.powerCut()
	s.check()
}

func (s *simulation) options(l *simLauncher) session.Options {
	o := session.Options{Dir: s.dir, Launcher: l, Optimizer: s.plan.optimizer(), Observe: s.observe,
		Journal: []journal.FS{s.disk}}
	if s.plan.shares && l != nil {
		o.Share = func(*study.Config) (session.Sharer, error) {
			return simSharer{rand.New(rand.NewPCG(s.plan.seed, uint64(l.life)))}, nil
		}
	}
	return o
}

// simSharer grants any slot, after a while for which other studies have it.
type simSharer struct{ rng *rand.Rand }

func (s simSharer) Take(ctx context.Context, vacant func() []int) (int, []*os.File, error) {
	for {
		select {
		case <-ctx.Done():
			return 0, nil, context.Cause(ctx)
		case <-time.After(time.Duration(s.rng.Int64N(int64(3 * time.Second)))):
		}
		if v := vacant(); len(v) > 0 {
			return v[s.rng.IntN(len(v))], nil, nil
		}
	}
}

// observe remembers what was shown.
func (s *simulation) observe(u study.Update) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := u.Record.Event.(type) {
	case study.Finished:
		s.reported[fmt.Sprintf("%d.%d", e.Trial, e.Attempt)] = fmt.Sprint(e.Status, e.Metrics)
	case study.Confirmed:
		s.reported[fmt.Sprintf("%d.%d", e.Trial, e.Attempt)] = fmt.Sprint(e.Metrics)
	}
}

var errSimulated = syscall.EIO

// session is one process of lbotune, from its start to its end, be that as it may.
func (s *simulation) session(c *study.Config, step simStep) {
	launcher := s.machine.boot()
	partial := func(n int) int { return int(step.pick % uint64(n+1)) }
	die := faultfs.Fault{N: 1, Forever: true, Dead: true, Err: errSimulated, Partial: partial}
	switch step.kind {
	case "killAtOp", "powerAtOp":
		die.N = step.n
		s.disk.Inject(die)
	case "fault":
		s.disk.Inject(faultfs.Fault{N: step.n, Err: syscall.ENOSPC, Partial: partial, Only: func(op faultfs.Op) bool {
			return strings.HasPrefix(filepath.Base(op.Path), "journal.jsonl") // the lock does without
		}})
	}
	st, err := s.open(c, s.options(launcher), step)
	defer s.machine.fill(false)
	if err == nil {
		err = s.work(st, step, die)
	}
	failed := s.disk.Fired()
	s.disk.Inject(faultfs.Fault{})
	if st != nil && !failed && !errors.As(err, new(*journal.WriteError)) {
		s.sameRead(st.State(), step)
	}
	switch step.kind {
	case "kill", "killAtOp":
		s.machine.boot()
		s.disk = s.disk.Kill()
	case "power", "powerAtOp":
		s.machine.powerCut()
		s.disk = afterPowerCut(s.disk, step.pick)
		s.doubt()
	default:
		s.disk = s.disk.Kill()
	}
	if failed && step.kind == "fault" {
		s.doubt()
	}
	s.judge(err, failed, step)
}

// work lets a session run until its step has come to pass.
func (s *simulation) work(st *session.Study, step simStep, die faultfs.Fault) error {
	stop := make(chan session.Stop, 1)
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-time.After(step.at):
		case <-over:
			return
		}
		switch step.kind {
		case "kill", "power":
			s.disk.Inject(die)
			stop <- session.StopHere // at the latest now
		case "shutdown": // in any order
			for i := range 2 {
				if i == int(step.pick%2) {
					s.machine.shutdown()
				} else {
					stop <- session.StopRunning
				}
				select {
				case <-time.After(time.Duration(step.n) * 10 * time.Millisecond):
				case <-over:
					return
				}
			}
		case "steer":
			s.steer(step, over)
		case "full":
			s.machine.fill(true)
			select {
			case <-time.After(5 * time.Second):
				s.machine.fill(false)
			case <-over:
			}
		case "stop1":
			stop <- session.StopAsking
		case "stop2":
			stop <- session.StopRunning
		case "stop3":
			stop <- session.StopNow
		case "leave":
			stop <- session.StopHere
		}
	}()
	if step.kind == "beside" {
		return errors.Join(s.beside(st, step, stop), st.Close())
	}
	runErr := st.Run(context.Background(), stop)
	return errors.Join(runErr, st.Close())
}

// afterPowerCut picks one of the states in which a power cut may leave the disk.
func afterPowerCut(disk *faultfs.FS, pick uint64) *faultfs.FS {
	var states []*faultfs.FS
	for state := range disk.PowerCuts(func(path string) bool { return strings.HasSuffix(path, "journal.jsonl") }) {
		states = append(states, state)
	}
	return states[pick%uint64(len(states))]
}

// judge looks at the end of a session.
func (s *simulation) judge(err error, failed bool, step simStep) {
	var we *journal.WriteError
	var unsafe *session.UnsafeError
	switch {
	case failed && errors.As(err, &we):
	case errors.As(err, &unsafe) && unsafe.Error() == "no trial holds the safety limit" && len(s.enqueued) > 0: // which a person has chosen
	case failed && err != nil:
		s.fault("%v: the journal could not be written, and the error is %v", step, err)
	case err == nil, errors.Is(err, session.ErrStopped), errors.Is(err, session.ErrNoSuccess), errors.Is(err, session.ErrAwaited), step.kind == "full" && errors.Is(err, syscall.ENOSPC):
		s.machine.mu.Lock()
		// A setup that a session has left is taken up by the next one, but by none if a person, or a
		// program that tries trials without it, has ended the study meanwhile.
		if n := s.machine.living(!s.plan.has("ask", "try") && !s.plan.drives()); n > 0 && step.kind != "leave" && step.kind != "kill" && step.kind != "power" {
			s.fault("%v: the session ended with %v and has left %d attempts running", step, err, n)
		}
		s.machine.mu.Unlock()
	default:
		s.fault("%v: %v", step, err)
	}
}

// try is a process that tries trials until the budget is spent, its context ends, or it is killed.
func (s *simulation) try(st *session.Study, step simStep) error {
	defer func() { _ = recover() }()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	tries := 0
	return st.Try(ctx, func(t study.Trial) (study.Metrics, error) {
		switch tries++; step.pick >> tries % 8 {
		case 0:
			panic("killed")
		case 1:
			stop()
			return nil, ctx.Err()
		case 2:
			return nil, errors.New("failed")
		}
		metrics := study.Metrics{st.State().Config.Objective().Name: float64(step.n)}
		maps.Copy(metrics, s.plan.told(&t))
		return metrics, nil
	})
}

// edit is what a person does between two sessions.
func (s *simulation) edit(step simStep) {
	do := func(st *session.Study) error {
		state, trial := st.State(), 1+step.n%10 // there may be no such trial
		if n := len(state.Trials); s.plan.sheet != nil && n > 0 {
			trial = 1 + step.n%n
		}
		switch step.kind {
		case "enqueue":
			if s.plan.sheet != nil {
				v, err := drawnValues(st.State().Config, step.pick)
				if err != nil {
					return err
				}
				if err = st.Do(study.Request{Action: study.ActionEnqueue, Values: v}); err == nil {
					s.enqueued = append(s.enqueued, v)
				}
				return allowed(err, "enqueued")
			}
			v := spaces.Values{{Name: "x", Value: spaces.Float(float64(step.n%3) / 4)}, {Name: "n", Value: spaces.Int(int64(1 + step.n%9))}}
			if st.State().Config.Resource() != "" {
				v = v[:1] // n need not be a rung
			}
			return st.Do(study.Request{Action: study.ActionEnqueue, Values: v})
		case "exclude":
			_ = byHand(st, study.ActionExclude, trial, "")
		case "include":
			_ = byHand(st, study.ActionInclude, trial, "")
		case "note":
			return byHand(st, study.ActionNote, 0, "a note")
		case "rerun":
			if r := s.takenBack(state, step.pick); len(r.Rerun) > 0 {
				return st.Do(r)
			}
		case "tell", "tellAll":
			for _, t := range state.Pending() {
				if t.Hand {
					metrics := study.Metrics{state.Config.Objective().Name: float64(step.n)}
					maps.Copy(metrics, s.plan.told(t))
					if err := st.Tell(t.Number, metrics); err != nil || step.kind == "tell" {
						return err
					}
				}
			}
		}
		return nil
	}
	opts := s.options(nil)
	opts.Launcher = nil
	var err error
	if step.kind == "ask" || step.kind == "try" {
		var st *session.Study
		if st, err = session.Open(nil, opts); err == nil {
			if step.kind == "ask" {
				_, err = st.Ask(context.Background())
			} else {
				err = s.try(st, step)
			}
			if errors.Is(err, session.ErrSpent) || errors.Is(err, optimizer.ErrExhausted) || errors.Is(err, context.Canceled) {
				err = nil
			}
			err = errors.Join(err, st.Close())
		}
	} else {
		err = session.Edit(nil, opts, do)
	}
	if err != nil && !errors.Is(err, study.ErrNoStudy) {
		s.fault("%v: %v", step, err)
	}
	s.disk = s.disk.Kill()
}
