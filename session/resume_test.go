package session_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// A study with one worker that is killed after any of its records, and goes on,
// equals the study that was never killed: the same proposals from the same
// knowledge, and the same values.
func TestResumeAfterEveryRecord(t *testing.T) {
	cases := map[string]struct {
		change  func(*study.Config)
		program func(runner.Job) ending
		records int // at least
	}{
		"retries": {func(c *study.Config) { c.Run.Retries = 1 }, flaky, 26},
		"repeats": {func(c *study.Config) { c.Run.Repeats, c.Budget.Trials = 2, 6 }, parabola, 20},
		"median": {func(c *study.Config) {
			c.Prune = &study.Prune{Method: "median", MinTrials: 2}
		}, curve, 30},
		"patience": {func(c *study.Config) {
			c.Prune, c.Budget.Trials = &study.Prune{Method: "patience", Patience: 2}, 6
		}, curve, 16},
		"halving": {func(c *study.Config) {
			c.Prune, c.Budget.Trials = &study.Prune{Method: "asha", MinResource: 1, Reduction: 2, Resource: "n"}, 16
		}, parabola, 35},
		"confirm": {func(c *study.Config) { c.Run.Confirm, c.Budget.Trials = 2, 4 }, parabola, 16},
	}
	var ran, crashes atomic.Int64
	t.Cleanup(func() {
		if effort.Long() && ran.Load() == int64(len(cases)) {
			checkReadme(t, float64(crashes.Load()))
		}
	})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := config()
			c.change(&changed)
			crashes.Add(resumeEverywhere(t, changed, c.program, c.records))
			ran.Add(1)
		})
	}
}

// checkReadme compares the number of crashes with what the README says of them.
func checkReadme(t *testing.T, crashes float64) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`some ([\d,]+) crashes in all`).FindSubmatch(readme)
	if said == nil {
		t.Fatal("the README does not say how many crashes there are")
	}
	if n, err := strconv.ParseFloat(strings.ReplaceAll(string(said[1]), ",", ""), 64); err != nil || math.Abs(n-crashes) > 0.05*crashes {
		t.Errorf("%s: there are %v (%v)", said[0], crashes, err)
	}
}

// resumeEverywhere runs a study, and again after a crash at every record. It returns how often.
func resumeEverywhere(t *testing.T, c study.Config, program func(runner.Job) ending, atLeast int) (crashes int64) {
	whole := t.TempDir()
	var want string
	var records []string
	synctest.Test(t, func(t *testing.T) {
		st, err := finish(t, whole, &c, &fakeLauncher{program: program})
		if err != nil {
			t.Fatal(err)
		}
		want, records = story(st), lines(t, whole)
	})
	if len(records) < atLeast {
		t.Fatalf("the journal has only %d records", len(records))
	}
	for cut := 1; cut <= len(records); cut += effort.Of(raced(20, 9), 3, 1) {
		for _, disk := range []string{"nothing", "running", "ended"} {
			crashes++
			t.Run(fmt.Sprintf("record %d, %s", cut, disk), func(t *testing.T) {
				dir := t.TempDir()
				synctest.Test(t, func(t *testing.T) {
					crashed(t, dir, whole, records[:cut], disk)
					st, err := finish(t, dir, &c, &fakeLauncher{program: program})
					if err != nil {
						t.Fatal(err)
					}
					if got := story(st); got != want {
						t.Errorf("got\n%s\nwant\n%s", got, want)
					}
					if after := lines(t, dir); !slices.Equal(after[:cut], records[:cut]) {
						t.Error("the records before the crash have changed")
					}
				})
			})
		}
	}
	return crashes
}

// curve prints a learning curve, one reading a second: it falls towards what
// parabola prints, and for some values rises at the end. It ends a moment after its last reading: of a
// trial that ends just as it is to be stopped, only its directory tells which came first.
func curve(job runner.Job) ending {
	x, err1 := strconv.ParseFloat(job.Argv[1], 64)
	n, err2 := strconv.ParseFloat(job.Argv[2], 64)
	if err1 != nil || err2 != nil {
		return ending{exit: runner.Exit{Code: 64}}
	}
	var out strings.Builder
	for step := 1.0; step <= 8; step++ {
		fmt.Fprintf(&out, "loss=%v\n", (x-0.3)*(x-0.3)+n/step+max(0, n-5)*max(0, step-4))
	}
	return ending{stdout: out.String(), every: time.Second, takes: time.Second / 2}
}

// flaky is parabola, but every third trial's first attempt fails.
func flaky(job runner.Job) ending {
	id := strings.Split(job.ID, "/")
	if (id[1] == "3" || id[1] == "6") && id[2] == "1" {
		return ending{exit: runner.Exit{Code: 1}}
	}
	return parabola(job)
}

// crashed makes dir a copy of a study as a crash after the given records leaves
// it: the attempts under way have left no trace, or a directory without an
// exit status, or have ended since.
func crashed(t *testing.T, dir, whole string, records []string, disk string) {
	t.Helper()
	if err := os.WriteFile(layout.Study(dir).Journal(), []byte(strings.Join(records, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	st, err := study.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range st.Trials {
		id := layout.AttemptID{Trial: trial.Number, Attempt: trial.NextAttempt()}
		to := layout.Study(dir).Attempt(id)
		_, err := os.Stat(layout.Study(whole).Attempt(id))
		switch {
		case trial.Done() && (st.Config.Run.Confirm == 0 || err != nil):
			continue
		case disk == "running":
			if err := os.MkdirAll(to, 0o700); err != nil {
				t.Fatal(err)
			}
		case disk == "ended":
			if err := os.CopyFS(to, os.DirFS(layout.Study(whole).Attempt(id))); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// rejoining answers the first Attach as it is told.
type rejoining struct {
	*fakeLauncher
	answer error
}

func (r *rejoining) Attach(ctx context.Context, job runner.Job) (runner.Exit, error) {
	if err := r.answer; err != nil {
		r.answer = nil
		return runner.Exit{}, err
	}
	return r.fakeLauncher.Attach(ctx, job)
}

// What becomes of an attempt that an earlier session has left running: one that is known to
// be over runs again; where it cannot be told, nothing is started beside it.
func TestRejoined(t *testing.T) {
	for name, c := range map[string]struct {
		answer error
		assume bool
		ended  string // why it runs again
		err    string // why it does not
	}{
		"lost":                   {runner.ErrLost, false, "the attempt was lost: ", ""},
		"of an older command":    {runner.ErrOutdated, false, "the attempt does not count: ", ""},
		"never started":          {runner.ErrNeverStarted, false, "the attempt was lost: ", ""},
		"elsewhere":              {runner.ErrElsewhere, false, "", "trial 1, attempt 1: the attempt was started on another host"},
		"elsewhere, taken lost":  {runner.ErrElsewhere, true, "the attempt was taken to be lost: ", ""},
		"nobody knows":           {errors.New("no answer"), false, "", "rejoin trial 1, attempt 1: no answer"},
		"the system cannot look": {&runner.SpawnError{Op: "open the record", Err: syscall.EACCES}, false, "", "rejoin trial 1, attempt 1: cannot open the record: permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				cfg.Budget.Trials = 1
				f := &fakeLauncher{program: func(job runner.Job) ending {
					if strings.HasSuffix(job.ID, "/1/1") {
						return ending{takes: time.Hour}
					}
					return ending{stdout: "loss=1\n"}
				}}
				defer time.Sleep(2 * time.Hour) // until nothing lives
				s := open(t, dir, &cfg, f)
				stop := make(chan session.Stop)
				time.AfterFunc(time.Second, func() { stop <- session.StopHere })
				if err := s.Run(t.Context(), stop); !errors.Is(err, session.ErrStopped) {
					t.Error(err)
				}
				if err := s.Tell(1, study.Metrics{"loss": 0}); err == nil || !strings.Contains(err.Error(), "trial 1 was not handed out") {
					t.Errorf("told of what runs: %v", err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s, err := session.Open(&cfg, session.Options{Dir: dir, Launcher: &rejoining{f, c.answer}, Optimizer: newFakeOptimizer, AssumeLost: c.assume})
				if err != nil {
					t.Fatal(err)
				}
				err = errors.Join(s.Run(t.Context(), nil), s.Close())
				trial := s.State().Trials[0]
				if c.err != "" {
					if err == nil || err.Error() != c.err || trial.Done() || len(f.launched) != 1 {
						t.Errorf("launched %v, %v; want %q", f.launched, err, c.err)
					}
					return
				}
				ended := slices.IndexFunc(events(t, dir), func(e study.Event) bool {
					end, ok := e.(study.Ended)
					return ok && strings.HasPrefix(end.Failure.Text, c.ended)
				})
				if err != nil || ended < 0 || !slices.Equal(f.launched, []string{"1/1", "1/2"}) || trial.Value != 1 {
					t.Errorf("launched %v, %v: %+v", f.launched, err, trial)
				}
			})
		})
	}
}

// A torn last record is cut off, its bytes are kept, and the journal says so.
func TestResumeAfterTornRecord(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := config()
		st, err := finish(t, dir, &c, &fakeLauncher{program: parabola})
		if err != nil {
			t.Fatal(err)
		}
		all := lines(t, dir)
		torn := strings.Join(all[:9], "") + all[9][:30]
		if err := os.WriteFile(layout.Study(dir).Journal(), []byte(torn), 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := finish(t, dir, &c, &fakeLauncher{program: parabola})
		if err != nil || story(again) != story(st) {
			t.Errorf("%v: got\n%s\nwant\n%s", err, story(again), story(st))
		}
		i := slices.IndexFunc(events(t, dir), func(e study.Event) bool {
			s, ok := e.(study.Session)
			return ok && s.Recovered != ""
		})
		if i < 0 {
			t.Fatal("no session says that a record was cut off")
		}
		kept, err := os.ReadFile(events(t, dir)[i].(study.Session).Recovered)
		if err != nil || string(kept) != all[9][:30] {
			t.Errorf("kept %q, %v", kept, err)
		}
	})
}

// With any number of workers every proposal can be asked for again.
func TestReplay(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := config()
		c.Run.Workers, c.Run.Retries = 3, 1
		f := &fakeLauncher{program: flaky}
		s := open(t, dir, &c, f)
		if err := s.Do(study.Request{Action: study.ActionEnqueue, Values: spaces.Values{{Name: "x", Value: spaces.Float(0)}, {Name: "n", Value: spaces.Int(2)}}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		c.Budget.Trials = 20
		if _, err := finish(t, dir, &c, f); err != nil {
			t.Fatal(err)
		}
		rep, err := session.Replay(t.Context(), dir, newFakeOptimizer)
		if err != nil || rep.Asked != 19 || rep.Given != 1 || len(rep.Differences) != 0 {
			t.Errorf("%v: %+v", err, rep)
		}
		rep, err = session.Replay(t.Context(), dir, nil)
		if err != nil || len(rep.Differences) != 19 || len(rep.Elsewhere) > 0 {
			t.Errorf("another optimizer: %v, %d differences, on %q", err, len(rep.Differences), rep.Elsewhere)
		}
		rep, err = session.Replay(t.Context(), elsewhere(t, dir, "abacus"), nil)
		if err != nil || len(rep.Differences) != 19 || !slices.Equal(rep.Elsewhere, []string{"abacus"}) {
			t.Errorf("on another kind of processor: %v, %d differences, on %q", err, len(rep.Differences), rep.Elsewhere)
		}
		together := altered(t, dir, func(e study.Event) study.Event {
			if p, is := e.(study.Proposed); is && p.Trial == 5 {
				p.With = 4
				return p
			}
			return e
		})
		rep, err = session.Replay(t.Context(), together, nil)
		if err != nil || rep.Asked != 19 || len(rep.Differences) != 19 {
			t.Errorf("an optimizer that makes no two together: %v, %d of %d are different", err, len(rep.Differences), rep.Asked)
		}
	})
}

// Another optimizer goes on with the trials of those before, and each proposal can be asked of the
// one that made it.
func TestAnotherOptimizerGoesOn(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := config()
		c.Run.Workers = 2
		origins := map[optimizer.Origin]int{}
		for i, s := range []optimizer.Settings{{Method: "random"}, {}, {Preset: "paper", Acquisition: "ts"},
			{Method: "sobol"}, {Design: "walk", Local: "off"}} {
			c.Optimizer, c.Budget.Trials = s, 10+6*i
			st := conclude(t, &c, session.Options{Dir: dir, Launcher: &fakeLauncher{program: parabola}})
			for _, trial := range st.Trials[max(c.Budget.Trials-6, 0):] {
				origins[trial.Origin]++
			}
		}
		if origins[optimizer.OriginModel] < 6 || origins[optimizer.OriginInitial] > 0 {
			t.Errorf("what was known was not used: %v", origins)
		}
		rep, err := session.Replay(t.Context(), dir, nil)
		if err != nil || rep.Asked != 34 || len(rep.Differences) > 0 {
			t.Errorf("%v: %+v", err, rep)
		}
	})
}

// elsewhere is a copy of a study whose sessions ran on another kind of processor.
func elsewhere(t *testing.T, dir, kernel string) string {
	t.Helper()
	return altered(t, dir, func(e study.Event) study.Event {
		if s, is := e.(study.Session); is {
			s.Kernel = kernel
			return s
		}
		return e
	})
}

// altered is a copy of a study with other events.
func altered(t *testing.T, dir string, alter func(study.Event) study.Event) string {
	t.Helper()
	to := layout.Of(t.TempDir())
	var j *journal.Journal
	_, err := study.Load(dir, func(_ *study.State, r study.Record) (err error) {
		r.Event = alter(r.Event)
		if j == nil {
			j, err = journal.Create(to.Journal(), r)
			return err
		}
		err = j.AppendLazy(r)
		return err
	})
	if err := errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
	return string(to)
}

func TestOneSessionAtATime(t *testing.T) {
	dir := t.TempDir()
	c := config()
	s := open(t, dir, &c, &fakeLauncher{program: parabola})
	if used, err := journal.InUse(s.Layout().Journal()); err != nil || !used {
		t.Errorf("in use: %v, %v", used, err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, link} {
		if _, err := session.Open(&c, session.Options{Dir: path, Launcher: &fakeLauncher{}}); !errors.Is(err, session.ErrLocked) {
			t.Errorf("a second session in %s: %v", path, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if used, err := journal.InUse(s.Layout().Journal()); err != nil || used {
		t.Errorf("in use after Close: %v, %v", used, err)
	}
}

func TestReconfigure(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := config()
		c.Command.Argv[2], c.Run.ParamsFromEnv = "1", true
		f := &fakeLauncher{program: parabola}
		if _, err := finish(t, dir, &c, f); err != nil {
			t.Fatal(err)
		}
		c.Budget.Trials, c.Run.Workers = 15, 2
		st, err := finish(t, dir, &c, f)
		if err != nil || len(st.Order) != 15 || st.Config.Run.Workers != 2 {
			t.Errorf("a larger budget: %v, %d finished", err, len(st.Order))
		}
		if st, err = finish(t, dir, nil, f); err != nil || len(st.Order) != 15 {
			t.Errorf("without a config: %v, %d finished", err, len(st.Order))
		}
		for what, change := range map[string]func(*study.Config){
			"params":  func(c *study.Config) { c.Params = c.Params[:1] },
			"command": func(c *study.Config) { c.Command.Argv = []string{"other", "{x}", "1"} },
			"seed":    func(c *study.Config) { c.Seed++ },
		} {
			other := c
			change(&other)
			var refused *study.ConfigError
			if _, err := session.Open(&other, session.Options{Dir: dir, Launcher: f, Optimizer: newFakeOptimizer}); !errors.As(err, &refused) ||
				len(refused.Changes) != 1 || !strings.HasPrefix(refused.Changes[0], what+": ") {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// A journal whose lines are intact but make no sense is refused.
func TestContradictoryJournal(t *testing.T) {
	dir := t.TempDir()
	first := study.Record{Event: study.Created{ID: "0123456789abcdef", Config: config()}}
	j, err := journal.Create(layout.Study(dir).Journal(), first)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(study.Record{Event: study.Excluded{Trial: 3}}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	var damage *journal.CorruptError
	for range 2 { // the first must not keep it locked
		if _, err := session.Open(nil, session.Options{Dir: dir}); !errors.As(err, &damage) || damage.Line != 2 {
			t.Errorf("error %v", err)
		}
	}
}

func TestNoStudy(t *testing.T) {
	if _, err := session.Open(nil, session.Options{Dir: t.TempDir(), Launcher: &fakeLauncher{}}); !errors.Is(err, study.ErrNoStudy) {
		t.Errorf("error %v", err)
	}
	if _, err := study.Load(t.TempDir()); !errors.Is(err, study.ErrNoStudy) {
		t.Errorf("error %v", err)
	}
}

// A study that ends for what the model leaves to gain ends so wherever it was cut, with the same
// words, and its last proposals are made again.
func TestResumeToTheSameRegret(t *testing.T) {
	effort.Thorough(t, "studies of a fake optimizer resume after every record, and end for their regret elsewhere")
	c := smooth(60)
	c.Budget.RegretShare, c.Seed = 0.01, 1
	run := func(dir string) *study.State {
		return conclude(t, &c, session.Options{Dir: dir, Launcher: inProcess(func(x float64) float64 { return (x - 0.3) * (x - 0.3) * (1 + x*x) })})
	}
	whole := t.TempDir()
	want := run(whole)
	if want.Closed.Why != "regret" || !strings.HasPrefix(want.Closed.Detail, "at most ") {
		t.Fatalf("ended by %+v after %d trials", want.Closed, len(want.Order))
	}
	records := lines(t, whole)
	for cut := len(records) - effort.Of(3, 5, 40); cut < len(records); cut++ {
		dir := t.TempDir()
		crashed(t, dir, whole, records[:cut], "nothing")
		if st := run(dir); story(st) != story(want) || st.Closed.Detail != want.Closed.Detail {
			t.Errorf("cut after %d records: ended by %+v; want %+v\n%s", cut, st.Closed, want.Closed, story(st))
		}
	}
	if r, err := session.Replay(t.Context(), whole, nil); err != nil || len(r.Differences) > 0 {
		t.Errorf("%d differences: %v", len(r.Differences), err)
	}
}
