package session_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// bubble runs a test on a virtual clock.
func bubble(t *testing.T, f func(t *testing.T, dir string)) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s")
	synctest.Test(t, func(t *testing.T) { f(t, dir) })
}

func TestRunToTheEnd(t *testing.T) {
	for _, workers := range []int{1, 3} {
		bubble(t, func(t *testing.T, dir string) {
			c, f := config(), &fakeLauncher{program: parabola}
			c.Run.Workers = workers
			st, err := finish(t, dir, &c, f)
			if err != nil {
				t.Fatal(err)
			}
			if len(st.Order) != 12 || len(st.Trials) != 12 || f.most != workers || len(f.launched) != 12 {
				t.Errorf("%d finished of %d, %d at once, %d launched", len(st.Order), len(st.Trials), f.most, len(f.launched))
			}
			if st.Closed == nil || st.Closed.Why != study.EndTrials {
				t.Errorf("closed: %+v", st.Closed)
			}
			best := st.Best()
			for _, trial := range st.Trials {
				if trial.Value < best.Value {
					t.Errorf("trial %d is better than the best", trial.Number)
				}
			}
			again, err := finish(t, dir, &c, f)
			if err != nil || len(f.launched) != 12 || story(again) != story(st) {
				t.Errorf("a second run of a finished study: %v, %d launched", err, len(f.launched))
			}
		})
	}
}

// Every record stands in the journal before anything follows from it.
func TestOrderOfRecords(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Run.Workers = 3
		f := &fakeLauncher{}
		f.program = func(job runner.Job) ending {
			text, err := os.ReadFile(layout.Study(dir).Journal())
			if err != nil || !strings.Contains(string(text), `"type":"proposed"`) ||
				!strings.Contains(string(text), `"trial":`+strings.Split(job.ID, "/")[1]+`,"told"`) {
				t.Errorf("%s was launched before it was recorded", job.ID)
			}
			return parabola(job)
		}
		if _, err := finish(t, dir, &c, f); err != nil {
			t.Fatal(err)
		}
		finished := 0
		for _, e := range events(t, dir) {
			switch e := e.(type) {
			case study.Finished:
				finished++
			case study.Proposed:
				if e.Told > finished {
					t.Errorf("trial %d was asked for with %d told, but only %d were recorded", e.Trial, e.Told, finished)
				}
			}
		}
	})
}

func TestEndings(t *testing.T) {
	goal := 2.5
	for name, c := range map[string]struct {
		change  func(*study.Config)
		program func(runner.Job) ending
		why     study.Ending
		err     error
		check   func(*study.State) bool
	}{
		"time": {
			change: func(c *study.Config) { c.Budget = study.Budget{Time: study.Duration(30 * time.Second)} },
			why:    study.Ending("time"),
			check:  func(st *study.State) bool { return st.Elapsed >= 30*time.Second && st.Elapsed < 40*time.Second },
		},
		"goal": {
			change: func(c *study.Config) { c.Budget = study.Budget{Goal: &goal} },
			why:    study.Ending("goal"),
			check:  func(st *study.State) bool { return st.Best().Value <= goal },
		},
		"patience": {
			change: func(c *study.Config) { c.Budget = study.Budget{Patience: 4} },
			why:    study.EndPatience,
			check:  func(st *study.State) bool { return st.Order[len(st.Order)-5] == st.Best().Number },
		},
		"guard": {
			program: func(runner.Job) ending { return ending{exit: runner.Exit{Code: 3}} },
			why:     study.EndGuard,
			err:     session.ErrNoSuccess,
			check:   func(st *study.State) bool { return len(st.Order) == 5 },
		},
		"guard off": {
			change:  func(c *study.Config) { c.Run.FailureGuard = -1 },
			program: func(runner.Job) ending { return ending{exit: runner.Exit{Code: 3}} },
			why:     study.EndTrials,
			err:     session.ErrNoSuccess,
			check:   func(st *study.State) bool { return len(st.Order) == 12 && st.Count(optimizer.Failed) == 12 },
		},
		"failures that differ": {
			program: func(job runner.Job) ending { return ending{exit: runner.Exit{Code: int(job.Argv[2][0])}} },
			why:     study.EndGuard,
			err:     session.ErrNoSuccess,
			check: func(st *study.State) bool {
				return len(st.Order) == 5 && strings.Contains(st.Closed.Detail, "not all for the same reason")
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg, f := config(), &fakeLauncher{program: parabola}
				if c.change != nil {
					c.change(&cfg)
				}
				if c.program != nil {
					f.program = c.program
				}
				st, err := finish(t, dir, &cfg, f)
				if !errors.Is(err, c.err) {
					t.Errorf("error %v, want %v", err, c.err)
				}
				if st.Closed == nil || st.Closed.Why != c.why || !c.check(st) {
					t.Errorf("closed %+v after %d trials, %v", st.Closed, len(st.Order), st.Elapsed)
				}
			})
		})
	}
}

// A small space ends a study whose budget is larger.
func TestExhausted(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Params = c.Params[1:]
		c.Command.Argv = []string{"parabola", "0", "{n}"}
		f := &fakeLauncher{program: parabola}
		s, err := session.Open(&c, session.Options{Dir: dir, Launcher: f,
			Optimizer: func(sp *spaces.Space, seed uint64, _ optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
				return optimizer.New(sp, seed, optimizer.Settings{Method: "random"})
			}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if st := s.State(); st.Closed.Why != study.EndExhausted || len(st.Order) != 9 {
			t.Errorf("closed %+v after %d trials", st.Closed, len(st.Order))
		}
	})
}

// With a safety limit a study begins with its default, waits for what that says, and ends
// when nothing else is known to be safe.
func TestSafety(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Params = c.Params[1:]
		c.Params[0].Default = spaces.Int(5)
		c.Command.Argv = []string{"parabola", "0", "{n}"} // loss = n + 0.09
		c.Run.Workers = 3
		c.Safety = &study.Safety{Metric: "loss", At: 7.5, Constant: 9}
		f := &fakeLauncher{program: parabola}
		s, err := session.Open(&c, session.Options{Dir: dir, Launcher: f, Optimizer: optimizer.New})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		st := s.State()
		if st.Closed.Why != study.EndExhausted || st.Closed.Detail != "nothing else is known to be safe" || len(st.Order) != 7 {
			t.Errorf("closed %+v after %d trials", st.Closed, len(st.Order))
		}
		for _, trial := range st.Trials {
			if v, _ := trial.Metrics.Get("loss"); !(v <= 7.5) {
				t.Errorf("trial %d had %v", trial.Number, v)
			}
		}
	})
}

// A study whose safety constant the trials disprove proposes nothing more, until another
// constant is stated that holds for them.
func TestDisprovedSafety(t *testing.T) {
	for _, workers := range []int{1, 3} {
		bubble(t, func(t *testing.T, dir string) {
			c := config()
			c.Params[0].Default, c.Params[1].Default = spaces.Float(0.3), spaces.Int(5)
			c.Run.Workers, c.Run.Confirm = workers, 2
			c.Safety = &study.Safety{Metric: "loss", At: 7.5, Constant: 2}
			f := &fakeLauncher{program: parabola}
			run := func() (*study.State, error) {
				s, err := session.Open(&c, session.Options{Dir: dir, Launcher: f, Optimizer: optimizer.New})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				return s.State(), s.Run(t.Context(), nil)
			}
			st, err := run()
			var unsafe *session.UnsafeError
			if !errors.As(err, &unsafe) || st.Closed.Why != study.EndUnsafe || !strings.Contains(err.Error(), "constant = 1.77778 of [safety] does not hold") {
				t.Fatalf("%v; closed %+v", err, st.Closed)
			}
			n := len(st.Trials)
			for _, last := range st.Order[n-workers:] { // those that ran when it was disproved
				if err := st.Apply(study.Record{Event: study.Excluded{Trial: last}}); err != nil {
					t.Fatal(err)
				}
			}
			if st.Unsafe() != "" || len(st.Order) != n || len(f.launched) != n {
				t.Errorf("%d trials, %d finished and %d attempts; without the last: %s", n, len(st.Order), len(f.launched), st.Unsafe())
			}
			c.Budget.Trials = 14
			if st, err = run(); !errors.As(err, &unsafe) || len(st.Trials) != n {
				t.Errorf("the same constant: %v after %d trials", err, len(st.Trials))
			}
			c.Safety = &study.Safety{Metric: "loss", At: 7.5, Constant: 10}
			if st, err = run(); err != nil || len(st.Order) != 14 || st.Breaks(st.Best()) {
				t.Errorf("a constant that holds: %v after %d trials, closed %+v", err, len(st.Order), st.Closed)
			}
			for _, trial := range st.Trials[n:] {
				if st.Breaks(trial) {
					t.Errorf("trial %d had %v", trial.Number, trial.Value)
				}
			}
		})
	}
}

// safely opens a study with a safety limit of 7.5, whose attempts all have a loss of 5 but for one.
func safely(t *testing.T, dir, one string, loss, constant float64, change func(*study.Config)) (*session.Study, *fakeLauncher) {
	cfg := config()
	cfg.Params[0].Default, cfg.Params[1].Default = spaces.Float(0.3), spaces.Int(5)
	cfg.Safety = &study.Safety{Metric: "loss", At: 7.5, Constant: constant}
	change(&cfg)
	f := &fakeLauncher{program: func(job runner.Job) ending {
		if strings.HasSuffix(job.ID, "/"+one) {
			return ending{stdout: fmt.Sprintf("loss=%g\n", loss)}
		}
		return ending{stdout: "loss=5\n"}
	}}
	s, err := session.Open(&cfg, session.Options{Dir: dir, Launcher: f, Optimizer: optimizer.New})
	if err != nil {
		t.Fatal(err)
	}
	return s, f
}

// stopping is safely for a study whose trials are stopped at a limit of their own, too.
func stopping(t *testing.T, dir string, limit float64, change func(*study.Config)) (*session.Study, *fakeLauncher) {
	return safely(t, dir, "", 0, 100, func(c *study.Config) {
		c.Metrics[0].Max, c.Metrics[0].Stop = &limit, true
		change(c)
	})
}

// A run over the limit is the last, also where it is a repeat, or confirms the best.
func TestSafetyStopsTheNextRun(t *testing.T) {
	thrice := func(c *study.Config) { c.Run.Repeats = 3 }
	for name, c := range map[string]struct {
		change   func(*study.Config)
		launched []string // the last of which breaks the limit
	}{
		"repeats":               {thrice, []string{"1/1", "1/2", "1/3", "2/1", "2/2"}},
		"the last repeat":       {thrice, []string{"1/1", "1/2", "1/3", "2/1", "2/2", "2/3"}},
		"repeat of the default": {thrice, []string{"1/1"}},
		"confirm":               {func(c *study.Config) { c.Run.Confirm, c.Budget.Trials = 2, 2 }, []string{"1/1", "2/1", "1/2"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				last := c.launched[len(c.launched)-1]
				s, f := safely(t, dir, last, 8, 100, c.change)
				defer s.Close()
				err := s.Run(t.Context(), nil)
				var unsafe *session.UnsafeError
				if st := s.State(); !errors.As(err, &unsafe) || st.Closed == nil || st.Closed.Why != study.EndUnsafe ||
					!strings.HasPrefix(err.Error(), "trial "+last[:1]+" broke the safety limit: loss = 8, above 7.5") {
					t.Errorf("%v; closed %+v", err, st.Closed)
				}
				if !slices.Equal(f.launched, c.launched) {
					t.Errorf("launched %v; want %v", f.launched, c.launched)
				}
			})
		})
	}
}

// What was partly repeated keeps its runs where one of them breaks the limit, also when the same command is run again,
// and is repeated to its end under a limit that they hold.
func TestSafetyKeepsRuns(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		for _, c := range []struct {
			budget       int
			limit, noise float64
			launched     []string
		}{
			{3, 7.5, 0, []string{"1/1", "1/2", "1/3", "2/1", "2/2"}},
			{3, 7.5, 0, nil},
			{4, 7.5, 0, nil}, // the same limit, and another session
			{4, 20, 1.5, []string{"2/3", "3/1", "3/2", "3/3", "4/1", "4/2", "4/3"}},
		} {
			s, f := safely(t, dir, "2/2", 8, 100, func(config *study.Config) {
				config.Budget.Trials, config.Run.Repeats = c.budget, 3
				config.Safety.At, config.Safety.Noise = c.limit, c.noise
			})
			err := s.Run(t.Context(), nil)
			second := s.State().Trials[1]
			if unsafe := errors.As(err, new(*session.UnsafeError)); unsafe != (c.limit == 7.5) || second.Done() == unsafe || second.Done() && !second.Succeeded() || unsafe && len(second.Repeats) != 2 {
				t.Errorf("%v; trial 2: %s, repeats %v", err, second.Status, second.Repeats)
			}
			if !slices.Equal(f.launched, c.launched) {
				t.Errorf("launched %v; want %v", f.launched, c.launched)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// Without the trial, whose measurement was wrong, the study goes on, and does not repeat it. It keeps its runs, should it
// count again.
func TestSafetyWithoutATrial(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		s, f := safely(t, dir, "2/2", 8, 100, func(config *study.Config) { config.Budget.Trials, config.Run.Repeats, config.Run.Retries = 3, 3, 2 })
		defer s.Close()
		if err := s.Run(t.Context(), nil); !errors.As(err, new(*session.UnsafeError)) {
			t.Fatal(err)
		}
		if err := errors.Join(s.Do(study.Request{Action: study.ActionExclude, Trial: 2}), s.Run(t.Context(), nil)); err != nil {
			t.Error(err)
		}
		if want := []string{"1/1", "1/2", "1/3", "2/1", "2/2", "3/1", "3/2", "3/3"}; !slices.Equal(f.launched, want) || s.State().Best().Number == 2 {
			t.Errorf("launched %v; want %v; best is trial %d", f.launched, want, s.State().Best().Number)
		}
		if second := s.State().Trials[1]; second.Attempt != 3 {
			t.Errorf("attempt %d of trial 2: %v", second.Attempt, second.Failure)
		}
		if err := errors.Join(s.Do(study.Request{Action: study.ActionInclude, Trial: 2}), s.Do(study.Request{Action: study.ActionRerun, Rerun: []int{2}})); err != nil || len(s.State().Trials[1].Repeats) != 2 {
			t.Errorf("%v; repeats %v", err, s.State().Trials[1].Repeats)
		}
	})
}

// A reading over the safety limit which stops trials breaks it also where the run has ended before it could be stopped,
// and however it has ended. A stricter limit, at which the run is stopped before, does not hide it.
func TestSafetyOfTheLastReading(t *testing.T) {
	for name, last := range map[string]ending{
		"a crash":               {stdout: "loss=8\n", exit: runner.Exit{Code: 1}},
		"a signal":              {stdout: "loss=8\n", exit: runner.Exit{Code: 139, Signal: "SIGSEGV"}},
		"no value":              {stdout: "loss=8\nloss=nan\n"},
		"below it":              {stdout: "loss=8\nloss=5\n"},
		"a full one":            {stdout: "loss=8\n", exit: runner.Exit{Code: 1, DiskFull: true}},
		"behind the noise":      {stdout: "loss=7.6\nloss=8\nloss=5\n"},
		"behind a stricter one": {stdout: "loss=7.2\nloss=8\nloss=5\n"},
		"after a stricter one":  {stdout: "loss=7.2\n", every: time.Second, takes: time.Hour, rest: "loss=8\nloss=5\n"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				limit := 7.5
				if strings.HasSuffix(name, "stricter one") {
					limit = 7
				}
				s, f := stopping(t, dir, limit, func(c *study.Config) { c.Run.Retries, c.Safety.Noise = 2, 0.4 })
				defer s.Close()
				usual := f.program
				f.program = func(job runner.Job) ending {
					if strings.HasSuffix(job.ID, "/2/1") {
						last.takes = max(last.takes, time.Second/2)
						return last
					}
					return usual(job)
				}
				err := s.Run(t.Context(), nil)
				var unsafe *session.UnsafeError
				if !errors.As(err, &unsafe) || !strings.HasPrefix(err.Error(), "trial 2 broke the safety limit: loss = 8, above 7.5") {
					t.Error(err)
				}
				if want := []string{"1/1", "2/1"}; !slices.Equal(f.launched, want) {
					t.Errorf("launched %v; want %v", f.launched, want)
				}
			})
		})
	}
}

// So does one of a run that has failed while lbotune was away, if its line is whole.
func TestSafetyOfARunThatNobodyFollowed(t *testing.T) {
	for name, c := range map[string]struct {
		stdout string
		exit   runner.Exit
		breaks bool
	}{
		"crashed":    {"loss=8\n", runner.Exit{Code: 1}, true},
		"killed":     {"loss=8\nloss=5\n", runner.Exit{Code: 137, Signal: "SIGKILL"}, true},
		"ended":      {"loss=8\n", runner.Exit{Code: 143, Signal: "SIGTERM"}, true},
		"well":       {"loss=8\nloss=5\n", runner.Exit{}, true},
		"half a one": {"loss=5\nloss=8", runner.Exit{Code: 1}, false},
		"leftovers":  {"loss=5\nloss=8\n", runner.Exit{Code: 1, Counted: &runner.Lengths{Stdout: 7}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				s, f := stopping(t, dir, 7.5, func(c *study.Config) { c.Budget.Trials = 1 })
				usual := f.program
				f.program = func(job runner.Job) ending {
					if strings.HasSuffix(job.ID, "/1/1") {
						return ending{stdout: c.stdout, exit: c.exit, takes: time.Hour}
					}
					return usual(job)
				}
				stop := make(chan session.Stop)
				time.AfterFunc(time.Second, func() { stop <- session.StopHere })
				if err := s.Run(t.Context(), stop); !errors.Is(err, session.ErrStopped) {
					t.Fatal(err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Hour)
				s, _ = stopping(t, dir, 7.5, func(c *study.Config) { c.Budget.Trials = 1 })
				defer s.Close()
				if err := s.Run(t.Context(), nil); errors.As(err, new(*session.UnsafeError)) != c.breaks {
					t.Error(err)
				}
			})
		})
	}
}

// What a rule has ended, since nothing more was to be expected, has its value whatever is printed then. A reading over
// the safety limit counts beside it if it is over by more than the noise.
func TestSafetyOfACompleteTrial(t *testing.T) {
	for name, c := range map[string]struct {
		stdout, rest, pick string
		direction          study.Direction
		limit, value       float64
		want               string
	}{
		"within the noise":       {"loss=4\nloss=5\nloss=5\n", "loss=7.6\n", "min", study.Minimize, 7.5, 4, ""},
		"beyond it":              {"loss=4\nloss=5\nloss=5\n", "loss=8.6\n", "min", study.Minimize, 7.5, 4, "trial 1 broke the safety limit: loss = 8.6, above 7.5"},
		"within, of a least one": {"loss=6\nloss=5\nloss=5\n", "loss=2.4\n", "max", study.Maximize, 2.5, 6, ""},
		"beyond a least one":     {"loss=6\nloss=5\nloss=5\n", "loss=1.4\n", "max", study.Maximize, 2.5, 6, "trial 1 broke the safety limit: loss = 1.4, below 2.5"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				s, f := stopping(t, dir, c.limit, func(cfg *study.Config) {
					cfg.Safety.At, cfg.Safety.Noise, cfg.Budget.Trials = c.limit, 1, 1
					cfg.Metrics[0].Rule.Pick, cfg.Metrics[0].Direction = c.pick, c.direction
					cfg.Prune = &study.Prune{Method: "patience", Patience: 2}
					if c.direction == study.Maximize {
						cfg.Safety.Least, cfg.Metrics[0].Min, cfg.Metrics[0].Max = true, cfg.Metrics[0].Max, nil
					}
				})
				defer s.Close()
				f.program = func(runner.Job) ending {
					return ending{stdout: c.stdout, every: 2 * time.Second, takes: time.Hour, rest: c.rest}
				}
				err := s.Run(t.Context(), nil)
				if (err != nil) != (c.want != "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
					t.Errorf("%v; want %q", err, c.want)
				}
				if first := s.State().Trials[0]; first.Status != optimizer.Succeeded || first.Value != c.value {
					t.Errorf("%s with %v", first.Status, first.Value)
				}
			})
		})
	}
}

// One that only breaks a stricter limit, before a run ends well, leaves no mark on its trial.
func TestSafetyOfAStricterLimit(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		s, f := stopping(t, dir, 7, func(c *study.Config) { c.Budget.Trials = 1 })
		defer s.Close()
		f.program = func(runner.Job) ending { return ending{stdout: "loss=7.2\nloss=5\n", takes: time.Second / 2} }
		if err := s.Run(t.Context(), nil); err != nil || s.State().Trials[0].Cut != nil {
			t.Errorf("%v; cut %+v", err, s.State().Trials[0].Cut)
		}
	})
}

// What a person has enqueued is repeated all the same, and by its first run the study ends.
func TestSafetyRepeatsWhatWasEnqueued(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		s, f := safely(t, dir, "2/1", 0, 1, func(c *study.Config) { c.Run.Repeats = 3 })
		defer s.Close()
		near := spaces.Values{{Name: "x", Value: spaces.Float(0.31)}, {Name: "n", Value: spaces.Int(5)}}
		if err := s.Do(study.Request{Action: study.ActionEnqueue, Values: near}); err != nil {
			t.Fatal(err)
		}
		err := s.Run(t.Context(), nil)
		var unsafe *session.UnsafeError
		if !errors.As(err, &unsafe) || !strings.Contains(err.Error(), "loss is 5 in trial 1 and 0 in trial 2") {
			t.Error(err)
		}
		if want := []string{"1/1", "1/2", "1/3", "2/1", "2/2", "2/3"}; !slices.Equal(f.launched, want) {
			t.Errorf("launched %v; want %v", f.launched, want)
		}
	})
}

// A trial that was interrupted is not run again if the limit was changed and nothing shows
// that it would hold it.
func TestInterruptedTrialIsUnsafeByNow(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Params[0].Default, c.Params[1].Default = spaces.Float(0.3), spaces.Int(5)
		c.Safety = &study.Safety{Metric: "loss", At: 7.5, Constant: 2}
		f := &fakeLauncher{program: parabola}
		run := func(after time.Duration) *study.State {
			s, err := session.Open(&c, session.Options{Dir: dir, Launcher: f, Optimizer: optimizer.New})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			stop := make(chan session.Stop, 1)
			time.AfterFunc(after, func() { stop <- session.StopRunning })
			if err := s.Run(t.Context(), stop); !errors.Is(err, session.ErrStopped) {
				t.Fatal(err)
			}
			return s.State()
		}
		st := run(5500 * time.Millisecond)
		if len(st.Trials) != 2 || len(st.Order) != 1 || len(f.launched) != 2 || !st.MayRun(st.Trials[1]) {
			t.Fatalf("%d trials, %d finished, %d launched", len(st.Trials), len(st.Order), len(f.launched))
		}
		c.Safety = &study.Safety{Metric: "loss", At: 7.5, Constant: 1000}
		st = run(time.Millisecond)
		if last := st.Trials[1]; last.Status != optimizer.Failed || last.Failure.Kind != study.FailLaunch || slices.Contains(f.launched, "2/2") {
			t.Errorf("trial 2 %s: %v; launched %v", last.Status, last.Failure, f.launched)
		}
	})
}

// What an attempt's end means.
func TestOutcomes(t *testing.T) {
	measured := func(what study.Measure) func(*study.Config) {
		return func(c *study.Config) { c.Metrics[0].Measure, c.Metrics[0].Rule = what, parser.Rule{} }
	}
	secret := func(c *study.Config) { c.Run.SecretEnv = []string{"TOKEN"} }
	t.Setenv("TOKEN", "open sesame")
	for name, c := range map[string]struct {
		ending ending
		kind   study.FailureKind // empty for success
		text   string
		change func(*study.Config)
	}{
		"success":          {ending{stdout: "loss=1\n"}, "", "", nil},
		"exit code":        {ending{stdout: "loss=1\n", exit: runner.Exit{Code: 7}}, study.FailExit, "exit code 7", nil},
		"a good exit code": {ending{stdout: "loss=1\n", exit: runner.Exit{Code: 7}}, "", "", func(c *study.Config) { c.Run.OKExit = []int{0, 7} }},
		"signal":           {ending{exit: runner.Exit{Code: 139, Signal: "SIGSEGV"}}, study.FailSignal, "ended by SIGSEGV", nil},
		"cause":            {ending{exit: runner.Exit{Code: 137, Signal: "SIGKILL", Cause: "it took more memory than it had asked for"}}, study.FailSignal, "it took more memory than it had asked for", nil},
		"secret cause":     {ending{exit: runner.Exit{Code: 1, Cause: "bad token open sesame"}}, study.FailExit, "bad token [TOKEN]", secret},
		"no metric":        {ending{stdout: "hello\n"}, study.FailNoMetric, "", nil},
		"what counts":      {ending{stdout: "loss=1\nloss=2\n", exit: runner.Exit{Counted: &runner.Lengths{Stdout: 7}}}, "", "", nil},
		"nan":              {ending{stdout: "loss=nan\n"}, study.FailNotFinite, "", nil},
		"inf":              {ending{stdout: "loss=1\nloss=-inf\n"}, study.FailNotFinite, "", nil},
		"timeout":          {ending{stdout: "loss=1\n", takes: time.Hour}, study.FailTimeout, "timed out after 5m0s", nil},
		"flood":            {ending{exit: runner.Exit{Flooded: true, Code: 143}}, study.FailFlood, "", nil},
		"invalid job":      {ending{err: errors.New("no such thing")}, study.FailLaunch, "no such thing", nil},
		"no place in file": {ending{}, study.FailLaunch, "", func(c *study.Config) {
			c.Files = []command.File{{Text: "{}", To: "conf.json", Set: []command.Setting{{Path: "model.lr", Value: spaces.String("{x}")}}}}
		}},
		"last of three":  {ending{stdout: "loss=3\nloss=2\nloss=1"}, "", "", nil},
		"seconds":        {ending{takes: time.Second}, "", "", measured(study.Seconds)},
		"processor time": {ending{exit: runner.Exit{CPU: time.Second}}, "", "", measured(study.CPUSeconds)},
		"memory":         {ending{exit: runner.Exit{PeakMemory: 1}}, "", "", measured(study.PeakMemory)},
		"unknown memory": {ending{}, study.FailNoMetric, "peak_memory of the attempt is not known", measured(study.PeakMemory)},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				cfg.Budget.Trials, cfg.Run.Timeout = 1, study.Duration(5*time.Minute)
				if c.change != nil {
					c.change(&cfg)
				}
				st, err := finish(t, dir, &cfg, &fakeLauncher{program: func(runner.Job) ending { return c.ending }})
				trial := st.Trials[0]
				if c.kind == "" {
					if err != nil || trial.Failure != nil || trial.Value != 1 {
						t.Errorf("got %v, %+v", err, trial)
					}
					return
				}
				if !errors.Is(err, session.ErrNoSuccess) || trial.Failure == nil || trial.Failure.Kind != c.kind ||
					c.text != "" && trial.Failure.Text != c.text {
					t.Errorf("got %v, %+v", err, trial.Failure)
				}
			})
		})
	}
}

func TestRetriesAndRepeats(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials, c.Run.Retries, c.Run.Repeats, c.Run.Combine = 2, 2, 3, "median"
		c.Command.Argv = []string{"x", "{attempt}", "{seed}", "{x}", "{n}"}
		values := map[string]string{}
		seeds := map[string]bool{}
		f := &fakeLauncher{program: func(job runner.Job) ending {
			parts := strings.Split(job.ID, "/")
			if v, ok := values[parts[1]]; ok && v != job.Argv[3] {
				t.Errorf("%s ran with %s after %s", job.ID, job.Argv[3], v)
			}
			values[parts[1]] = job.Argv[3]
			if parts[2] == "2" {
				return ending{exit: runner.Exit{Code: 1}}
			}
			seeds[job.Argv[2]] = true
			return ending{stdout: "loss=" + job.Argv[1] + "0\n"}
		}}
		st, err := finish(t, dir, &c, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, trial := range st.Trials {
			// Attempts 1, 3 and 4 print 10, 30 and 40; attempt 2 fails.
			if trial.Value != 30 || trial.Attempt != 4 || trial.Retries != 1 {
				t.Errorf("trial %d: %+v", trial.Number, trial)
			}
		}
		if len(seeds) != 6 {
			t.Errorf("%d different seeds in 6 good runs", len(seeds))
		}
	})
}

func TestRetriesRunOut(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials, c.Run.Retries = 1, 2
		f := &fakeLauncher{program: func(runner.Job) ending { return ending{exit: runner.Exit{Code: 1}} }}
		st, err := finish(t, dir, &c, f)
		if !errors.Is(err, session.ErrNoSuccess) || !slices.Equal(f.launched, []string{"1/1", "1/2", "1/3"}) ||
			st.Trials[0].Status != optimizer.Failed {
			t.Errorf("%v: launched %v, %+v", err, f.launched, st.Trials[0])
		}
	})
}

// Many short trials in many slots: what ends and what is proposed share
// records, and nothing is proposed twice.
func TestManyShortTrials(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Run.Workers, c.Budget.Trials = 5, 300
		f := &fakeLauncher{program: func(job runner.Job) ending {
			e := parabola(job)
			e.takes = time.Duration(len(job.Argv[1])%3) * time.Millisecond
			return e
		}}
		st, err := finish(t, dir, &c, f)
		if err != nil || len(st.Order) != 300 || len(f.launched) != 300 || f.most != 5 {
			t.Errorf("%v: %d finished, %d launched, %d at once", err, len(st.Order), len(f.launched), f.most)
		}
		rep, err := session.Replay(t.Context(), dir, newFakeOptimizer)
		if err != nil || rep.Asked != 300 || len(rep.Differences) != 0 {
			t.Errorf("replay: %v, %+v", err, rep)
		}
	})
}
