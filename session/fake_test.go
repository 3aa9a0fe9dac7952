package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// ending is what a fake program does: print, take its time, exit.
type ending struct {
	stdout string
	every  time.Duration // print one line of stdout after the other, so far apart
	takes  time.Duration // or after the last of these lines
	rest   string        // printed as it is asked to end
	exit   runner.Exit
	err    error
}

// fakeLauncher runs programs that are Go functions. It keeps the promises of
// runner.Launcher and runner.Attacher that the study relies on.
type fakeLauncher struct {
	program func(job runner.Job) ending

	mu       sync.Mutex
	live     map[string]bool
	most     int // attempts that lived at once
	launched []string
}

func (f *fakeLauncher) Launch(ctx context.Context, job runner.Job) (runner.Exit, error) {
	if err := claim(job); err != nil {
		return runner.Exit{}, err
	}
	f.enter(job.ID)
	defer f.leave(job.ID)
	if job.Started != nil {
		job.Started(1)
	}
	e := f.program(job)
	exit := e.exit
	exit.Started = time.Now()
	timeout := time.Duration(math.MaxInt64)
	if job.Timeout > 0 {
		timeout = job.Timeout
	}
	stdout, err := os.OpenFile(filepath.Join(job.Dir, runner.StdoutName), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return exit, err
	}
	defer stdout.Close()
	all := make(chan struct{})
	if e.every > 0 {
		ended := make(chan struct{})
		defer close(ended)
		go e.print(stdout, all, ended)
	} else {
		time.AfterFunc(e.takes, func() { close(all) })
	}
	select {
	case <-all:
	case <-time.After(timeout):
		exit.TimedOut, exit.Code = true, 143
	case <-job.Kill:
		exit.Cancelled, exit.Killed, exit.Code = true, true, 137
	case <-ctx.Done():
		exit.Cancelled, exit.Code = true, 143
	}
	exit.Ended = time.Now()
	if e.err != nil {
		return runner.Exit{}, e.err
	}
	if exit.Cancelled {
		e.every, e.stdout = 0, e.rest
	}
	if e.every == 0 && !exit.TimedOut {
		if _, err := stdout.WriteString(e.stdout); err != nil {
			return exit, err
		}
	}
	text, err := json.Marshal(exit)
	return exit, errors.Join(err, os.WriteFile(filepath.Join(job.Dir, "exit"), text, 0o600))
}

// claim makes the attempt's directory and its files.
func claim(job runner.Job) error {
	if err := os.MkdirAll(filepath.Dir(job.Dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(job.Dir, 0o700); err != nil {
		return runner.ErrClaimed
	}
	files := append(slices.Clip(job.Files), runner.File{Name: runner.StdoutName}, runner.File{Name: runner.StderrName})
	for _, file := range files {
		if err := os.WriteFile(filepath.Join(job.Dir, file.Name), file.Content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// print prints line by line until ended, and then closes all.
func (e ending) print(w *os.File, all chan<- struct{}, ended <-chan struct{}) {
	for line := range strings.Lines(e.stdout) {
		select {
		case <-time.After(e.every):
		case <-ended:
			return
		}
		if _, err := w.WriteString(line); err != nil {
			return
		}
	}
	select {
	case <-time.After(e.takes):
		close(all)
	case <-ended:
	}
}

func (f *fakeLauncher) Attach(_ context.Context, job runner.Job) (exit runner.Exit, err error) {
	if _, err := os.Stat(job.Dir); err != nil {
		return exit, runner.ErrNeverStarted
	}
	text, err := os.ReadFile(filepath.Join(job.Dir, "exit"))
	if err != nil {
		return exit, runner.ErrLost
	}
	return exit, json.Unmarshal(text, &exit)
}

func (f *fakeLauncher) enter(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live == nil {
		f.live = map[string]bool{}
	}
	f.live[id] = true
	f.most = max(f.most, len(f.live))
	_, attempt, _ := strings.Cut(id, "/")
	f.launched = append(f.launched, attempt)
}

func (f *fakeLauncher) leave(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.live, id)
}

// fakeOptimizer proposes a point that depends on all that it was told and on
// what is pending, so that any lost or reordered observation shows.
type fakeOptimizer struct {
	space *spaces.Space
	seed  uint64
	told  []string
}

func newFakeOptimizer(space *spaces.Space, seed uint64, _ optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
	return &fakeOptimizer{space: space, seed: seed}, nil
}

func (f *fakeOptimizer) Tell(o optimizer.Observation) error {
	f.told = append(f.told, fmt.Sprint(o.Trial, o.Proposal.Point, o.Status, o.Value()))
	return nil
}

func (f *fakeOptimizer) Ask(_ context.Context, q optimizer.Query) (optimizer.Proposal, error) {
	pending := map[string]bool{}
	for _, p := range q.Pending {
		pending[f.space.Decode(p.Point).String()] = true
	}
	if size, small := f.space.Size(1000); small && len(pending) >= size { // and whoever asks knows all of them
		return optimizer.Proposal{}, optimizer.ErrExhausted
	}
	h := fnv.New64a()
	fmt.Fprint(h, f.seed, f.told, struct {
		trial      int
		pending    []optimizer.Pending
		thresholds []float64
		enough     float64
	}{q.Trial, q.Pending, q.Thresholds, q.Enough})
	if f.space.Related() {
		return optimizer.Proposal{Point: f.space.Draw(rand.New(rand.NewPCG(h.Sum64(), 0))), Origin: optimizer.OriginModel}, nil
	}
	u := make([]float64, f.space.Len())
	for i := range u {
		fmt.Fprint(h, i)
		u[i] = float64(h.Sum64()>>11) / (1 << 53)
	}
	return optimizer.Proposal{Point: f.space.FromUniform(u), Origin: optimizer.OriginModel}, nil
}

// config is a study of two parameters whose program prints a parabola.
func config() study.Config {
	return study.Config{
		Name:    "parabola",
		Command: command.Command{Argv: []string{"parabola", "{x}", "{n}"}},
		Metrics: []study.Metric{{Name: "loss", Rule: parser.Rule{Metric: "loss"}, Direction: study.Minimize}},
		Params: []spaces.Param{
			{Name: "x", Kind: spaces.KindFloat, Min: -1, Max: 1},
			{Name: "n", Kind: spaces.KindInt, Min: 1, Max: 9},
		},
		Budget: study.Budget{Trials: 12},
		Run:    study.Run{Workers: 1, FailureGuard: 5, Grace: study.Duration(time.Second)},
		Seed:   3,
		Dir:    "/",
	}
}

// parabola is the program: its time and value depend on its arguments alone.
func parabola(job runner.Job) ending {
	x, err1 := strconv.ParseFloat(job.Argv[1], 64)
	n, err2 := strconv.ParseFloat(job.Argv[2], 64)
	if err1 != nil || err2 != nil {
		return ending{exit: runner.Exit{Code: 64}}
	}
	return ending{
		stdout: fmt.Sprintf("n=%v\nloss=%v\n", n, (x-0.3)*(x-0.3)+n),
		takes:  time.Duration(n) * time.Second,
	}
}

// open opens a study with fakes.
func open(t *testing.T, dir string, c *study.Config, f *fakeLauncher) *session.Study {
	t.Helper()
	s, err := session.Open(c, session.Options{Dir: dir, Launcher: f, Optimizer: newFakeOptimizer})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// finish runs a study to its end.
func finish(t *testing.T, dir string, c *study.Config, f *fakeLauncher) (*study.State, error) {
	t.Helper()
	s := open(t, dir, c, f)
	err := s.Run(context.Background(), nil)
	if cerr := s.Close(); cerr != nil {
		t.Fatal(cerr)
	}
	return s.State(), err
}

// conclude runs a study with options of its own to a good end. Unless they say
// otherwise the optimizer is the real one.
func conclude(t *testing.T, c *study.Config, opts session.Options) *study.State {
	t.Helper()
	s, err := session.Open(c, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Run(t.Context(), nil), s.Close()); err != nil {
		t.Fatal(err)
	}
	return s.State()
}

// lines returns the records of a study's journal.
func lines(t *testing.T, dir string) []string {
	t.Helper()
	text, err := os.ReadFile(layout.Study(dir).Journal())
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(text)))
}

// events returns the events in a study's journal.
func events(t *testing.T, dir string) []study.Event {
	t.Helper()
	var out []study.Event
	if _, err := journal.Read(layout.Study(dir).Journal(), func(line journal.Record) error {
		var r study.Record
		err := json.Unmarshal(line.Raw, &r)
		out = append(out, r.Event)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// story is what must be equal between a study and the same study interrupted:
// what was proposed and what came of it.
func story(st *study.State) string {
	var b strings.Builder
	for _, t := range st.Trials {
		values, err := json.Marshal(t.Values())
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "%d told %d pending %v %s %s: %s %x\n", t.Number, t.Told, t.Pending, t.Origin, values, t.Status, t.Value)
	}
	return b.String()
}
