package session_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/inbox"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// Trials that a person runs: handed out until the budget is spent, told once, with a value
// or without.
func TestAskAndTell(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials = 3
		s := open(t, dir, &c, &fakeLauncher{program: parabola})
		wanted := spaces.Values{{Name: "x", Value: spaces.Float(0.5)}, {Name: "n", Value: spaces.Int(2)}}
		if err := s.Do(study.Request{Action: study.ActionEnqueue, Values: wanted}); err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 3; n++ {
			trial, err := s.Ask(t.Context())
			if err != nil || trial.Number != n || !trial.Hand || (n == 1) != trial.Values().Equal(wanted) {
				t.Fatalf("trial %+v: %v", trial, err)
			}
		}
		if _, err := s.Ask(t.Context()); !errors.Is(err, session.ErrSpent) {
			t.Errorf("a fourth trial: %v", err)
		}
		if err := byHand(s, study.ActionExclude, 2, ""); err == nil {
			t.Error("a trial that runs was excluded")
		}
		if err := errors.Join(s.Tell(1, study.Metrics{"loss": 4.5}), s.Tell(2, study.Metrics{"loss": math.NaN()}), s.Fail(3, "the kiln broke")); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			err  error
			want string
		}{
			"told twice":        {s.Tell(1, study.Metrics{"loss": 4}), "trial 1 is finished already"},
			"no such trial":     {s.Tell(4, study.Metrics{"loss": 4}), "there is no trial 4"},
			"included":          {byHand(s, study.ActionInclude, 1, ""), "trial 1 is not excluded"},
			"included, unknown": {byHand(s, study.ActionInclude, 9, ""), "there is no trial 9"},
			"excluded, unknown": {byHand(s, study.ActionExclude, 9, ""), "there is no trial 9"},
			"noted, unknown":    {byHand(s, study.ActionNote, 9, "?"), "there is no trial 9"},
			"enqueued, nonsense": {s.Do(study.Request{Action: study.ActionEnqueue,
				Values: spaces.Values{{Name: "z", Value: spaces.Float(0)}}}), "there is no parameter z"},
		} {
			if c.err == nil || c.err.Error() != c.want {
				t.Errorf("%s: %v; want %s", name, c.err, c.want)
			}
		}
		if err := errors.Join(byHand(s, study.ActionExclude, 1, ""), byHand(s, study.ActionNote, 1, "odd"), byHand(s, study.ActionNote, 0, "a rainy day")); err != nil {
			t.Error(err)
		}
		if err := byHand(s, study.ActionExclude, 1, ""); err == nil {
			t.Error("a trial was excluded twice")
		}
		if _, err := s.Ask(t.Context()); !errors.Is(err, session.ErrSpent) {
			t.Errorf("a trial after the end: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		st := s.State()
		if st.Trials[0].Value != 4.5 || st.Trials[1].Failure.Kind != study.FailNotFinite || st.Trials[2].Failure.Text != "the kiln broke" {
			t.Errorf("%+v, %+v, %+v", st.Trials[0], st.Trials[1].Failure, st.Trials[2].Failure)
		}
		if st.Closed == nil || st.Count(optimizer.Failed) != 2 {
			t.Errorf("closed %+v, %d failed", st.Closed, st.Count(optimizer.Failed))
		}
	})
}

// A goal that is reached, no better trial for too long, and a time that is over end what is handed
// out, though another trial is awaited; once that is told, the study has ended.
func TestAskAtTheEnd(t *testing.T) {
	second := map[study.Ending]float64{study.Ending("goal"): 0, study.EndPatience: 2, study.Ending("time"): 2} // what trial 2 is told
	for why, budget := range map[study.Ending]study.Budget{
		study.Ending("goal"): {Trials: 99, Goal: new(float64)},
		study.EndPatience:    {Trials: 99, Patience: 1},
		study.Ending("time"): {Trials: 99, Time: study.Duration(time.Minute)},
	} {
		t.Run(string(why), func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				c := config()
				c.Budget = budget
				s := open(t, dir, &c, &fakeLauncher{})
				for range 4 {
					if _, err := s.Ask(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				err := errors.Join(s.Tell(1, study.Metrics{"loss": 1}), s.Tell(2, study.Metrics{"loss": second[why]}))
				time.Sleep(time.Hour)
				if _, more := s.Ask(t.Context()); err != nil || !errors.Is(more, session.ErrSpent) || s.State().Closed != nil {
					t.Errorf("after the end, with two trials awaited: %v, %v, closed %+v", err, more, s.State().Closed)
				}
				err = errors.Join(s.Tell(3, study.Metrics{"loss": 3}), s.Tell(4, study.Metrics{"loss": 3}), s.Close())
				if end := s.State().Closed; err != nil || end == nil || end.Why != why {
					t.Errorf("at last: %v, closed %+v", err, end)
				}
			})
		})
	}
}

// The failure guard ends a study only until somebody asks for another trial, or tells of one that
// was handed out.
func TestAskAfterTheGuard(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials = 4
		c.Run.FailureGuard = 2
		s := open(t, dir, &c, &fakeLauncher{})
		next := func(err error, told study.Ending) {
			t.Helper()
			if end := s.State().Closed; err != nil || (end == nil) != (told == "") || end != nil && end.Why != told {
				t.Errorf("%v, closed %+v, want %q", err, end, told)
			}
		}
		ask := func() {
			t.Helper()
			_, err := s.Ask(t.Context())
			next(err, "")
		}
		ask()
		ask()
		next(s.Fail(1, "oom"), "")
		next(s.Fail(2, "oom"), study.EndGuard)
		ask()
		next(s.Fail(3, "oom"), study.EndGuard)
		if got, want := s.State().Closed.Detail, "the first 3 trials all failed: oom"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		ask()
		next(s.Tell(4, study.Metrics{"loss": 1}), study.EndTrials)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Who is to be told cannot tell of what lbotune runs, and Run does not wait for people.
func TestTellOfATrialThatRuns(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials = 2
		s := open(t, dir, &c, &fakeLauncher{program: parabola})
		if _, err := s.Ask(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), nil); !errors.Is(err, session.ErrAwaited) {
			t.Errorf("run: %v", err)
		}
		if err := s.Tell(2, study.Metrics{"loss": 1}); err == nil || !strings.Contains(err.Error(), "finished") {
			t.Errorf("told of a trial that ran: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// What has a limit or a direction must be told beside the objective, and what is told must
// be a metric's number.
func TestTellMetrics(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials = 1
		most := 10.0
		c.Metrics = append(c.Metrics, study.Metric{Name: "size", Rule: parser.Rule{Metric: "size"}, Max: &most}, study.Metric{Name: "age", Rule: parser.Rule{Metric: "age"}})
		s := open(t, dir, &c, &fakeLauncher{})
		if _, err := s.Ask(t.Context()); err != nil {
			t.Fatal(err)
		}
		for want, metrics := range map[string]study.Metrics{
			"size is an objective or has a limit, and must be told, too": {"loss": 1, "age": 3},
			"loss, the objective, must be told":                          {"size": 3},
			`there is no other metric "weight"`:                          {"loss": 1, "weight": 1, "size": 3},
		} {
			if err := s.Tell(1, metrics); err == nil || err.Error() != want {
				t.Errorf("told %v: %v; want %s", metrics, err, want)
			}
		}
		if err := s.Tell(1, study.Metrics{"loss": 1, "size": 11, "age": 3}); err != nil {
			t.Error(err)
		}
		if err := s.Run(t.Context(), nil); !errors.Is(err, session.ErrInfeasible) || !errors.Is(err, session.ErrNoSuccess) {
			t.Errorf("a study whose only trial breaks a limit: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if m, want := s.State().Trials[0].Metrics, (study.Metrics{"loss": 1, "size": 11, "age": 3}); asJSON(t, m) != asJSON(t, want) {
			t.Errorf("metrics %v", m)
		}
	})
}

// Whichever objective is no number, the trial is a failure.
func TestTellObjectivesThatAreNoNumbers(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials = 2
		c.Metrics = append(c.Metrics, study.Metric{Name: "size", Rule: parser.Rule{Metric: "size"}, Direction: study.Minimize})
		s := open(t, dir, &c, &fakeLauncher{})
		for n, metrics := range []study.Metrics{{"loss": math.NaN(), "size": 1}, {"loss": 1, "size": math.NaN()}} {
			if _, err := s.Ask(t.Context()); err != nil {
				t.Fatal(err)
			}
			err := s.Tell(n+1, metrics)
			if f := s.State().Trials[n].Failure; err != nil || f == nil || f.Kind != study.FailNotFinite {
				t.Errorf("told %v: %v, %v", metrics, err, f)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Where nothing else is safe until a trial that was handed out is told, Run says so; and a stop is a
// stop, also where such a trial is left beside others.
func TestRunBesideWhatWasHandedOut(t *testing.T) {
	for name, c := range map[string]struct {
		unsafe bool
		stop   []session.Stop
		want   error
	}{
		"nothing is safe": {unsafe: true, want: session.ErrAwaited},
		"stopped":         {stop: []session.Stop{session.StopNow}, want: session.ErrStopped},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				cfg.Budget.Trials, cfg.Run.Workers = 3, 2
				s, err := session.Open(&cfg, session.Options{Dir: dir, Launcher: &fakeLauncher{program: parabola},
					Optimizer: func(sp *spaces.Space, seed uint64, set optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
						o, err := newFakeOptimizer(sp, seed, set)
						return cautious{o, c.unsafe}, err
					}})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Ask(t.Context()); err != nil {
					t.Fatal(err)
				}
				stop := make(chan session.Stop, 1)
				for _, step := range c.stop {
					time.AfterFunc(time.Millisecond, func() { stop <- step })
				}
				if err := s.Run(t.Context(), stop); !errors.Is(err, c.want) {
					t.Errorf("%v; want %v", err, c.want)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// cautious knows nothing that is safe but a first trial.
type cautious struct {
	optimizer.Optimizer
	unsafe bool
}

func (o cautious) Ask(ctx context.Context, q optimizer.Query) (optimizer.Proposal, error) {
	if o.unsafe && q.Trial > 1 {
		return optimizer.Proposal{}, optimizer.ErrNothingSafe
	}
	return o.Optimizer.Ask(ctx, q)
}

// satisfied is a fakeOptimizer that leaves nothing to gain from its third proposal on.
type satisfied struct{ optimizer.Optimizer }

func (c satisfied) Ask(ctx context.Context, q optimizer.Query) (optimizer.Proposal, error) {
	p, err := c.Optimizer.Ask(ctx, q)
	if q.Trial >= 3 {
		p.Note.Lipschitz = &optimizer.LipschitzNote{Stated: true, Gap: new(float64)}
	}
	return p, err
}

// What leaves too little to gain ends what is handed out, once all is told, as it ends a Run.
func TestAskWithNothingToGain(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Gap, c.Optimizer.LipschitzConstant = 0.5, 1000
		s, err := session.Open(&c, session.Options{Dir: dir, Optimizer: func(sp *spaces.Space, seed uint64, set optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
			o, err := newFakeOptimizer(sp, seed, set)
			return satisfied{o}, err
		}})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := s.Ask(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		err = s.Tell(1, study.Metrics{"loss": 1})
		if _, more := s.Ask(t.Context()); err != nil || !errors.Is(more, session.ErrSpent) || s.State().Closed != nil {
			t.Errorf("with a trial awaited: %v, %v, closed %+v", err, more, s.State().Closed)
		}
		err = s.Tell(2, study.Metrics{"loss": 2})
		if _, more := s.Ask(t.Context()); err != nil || !errors.Is(more, session.ErrSpent) {
			t.Errorf("at last: %v, %v", err, more)
		}
		if end := s.State().Closed; end == nil || end.Why != "gap" {
			t.Errorf("closed %+v", end)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// A study that is told of its trials ends with the optimizer's choice and doubts, too.
func TestRecommendationByHand(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials = 2
		s, err := session.Open(&c, session.Options{Dir: dir, Optimizer: func(sp *spaces.Space, seed uint64, set optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
			o, err := newFakeOptimizer(sp, seed, set)
			return advising{o, func() (optimizer.Recommendation, error) {
				return optimizer.Recommendation{Trial: 2, Mean: -1, Doubtful: []int{1}}, nil
			}}, err
		}})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 2 {
			if _, err := s.Ask(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Tell(n+1, study.Metrics{"loss": 1}); err != nil {
				t.Fatal(err)
			}
		}
		if end := s.State().Closed; end == nil || end.Recommended == nil || end.Recommended.Trial != 2 || !slices.Equal(end.Doubtful, []int{1}) {
			t.Errorf("closed %+v", end)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Where a session has run the other trials, the last one that is told leaves the end to the session
// that confirms the best.
func TestToldLastAndConfirmed(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials, c.Run.Confirm = 4, 2
		s := open(t, dir, &c, &fakeLauncher{program: parabola})
		if _, err := s.Ask(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), nil); !errors.Is(err, session.ErrAwaited) {
			t.Fatal(err)
		}
		if err := errors.Join(s.Tell(1, study.Metrics{"loss": 99}), s.Run(t.Context(), nil), s.Close()); err != nil {
			t.Fatal(err)
		}
		if n := len(s.State().Confirmations()); n != study.Contenders || s.State().Closed == nil {
			t.Errorf("%d trials are confirmed, closed %+v", n, s.State().Closed)
		}
	})
}

// A space of which all is tried, and one trial is not told yet, is no end.
func TestAwaitedInASmallSpace(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Command.Argv, c.Params = []string{"parabola", "0", "{n}"}, []spaces.Param{{Name: "n", Kind: spaces.KindInt, Min: 1, Max: 3}}
		s, err := session.Open(&c, session.Options{Dir: dir, Launcher: &fakeLauncher{program: parabola}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Ask(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), nil); !errors.Is(err, session.ErrAwaited) || s.State().Closed != nil || len(s.State().Order) != 2 {
			t.Errorf("with a trial awaited: %v, closed %+v", err, s.State().Closed)
		}
		if err := errors.Join(s.Tell(1, study.Metrics{"loss": 9}), s.Run(t.Context(), nil), s.Close()); err != nil {
			t.Fatal(err)
		}
		if end := s.State().Closed; end == nil || end.Detail != "all configurations of the space were tried" || len(s.State().Order) != 3 {
			t.Errorf("closed %+v", end)
		}
	})
}

// learning takes its time, and knows something else that is safe once it is told of a trial.
type learning struct {
	optimizer.Optimizer
	told bool
}

func (o *learning) Tell(x optimizer.Observation) error {
	o.told = true
	return o.Optimizer.Tell(x)
}

func (o *learning) Ask(ctx context.Context, q optimizer.Query) (optimizer.Proposal, error) {
	time.Sleep(10 * time.Second)
	if q.Trial > 1 && !o.told {
		return optimizer.Proposal{}, optimizer.ErrNothingSafe
	}
	return o.Optimizer.Ask(ctx, q)
}

// An optimizer that knew nothing else is asked again if a trial has ended while it was thinking.
func TestNothingSafeBeforeTheNewestResult(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Run.Workers, c.Budget.Trials = 2, 3
		f := &fakeLauncher{program: func(runner.Job) ending { return ending{stdout: "loss=1\n", takes: 5 * time.Second} }}
		st := conclude(t, &c, session.Options{Dir: dir, Launcher: f, Optimizer: func(sp *spaces.Space, seed uint64, set optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
			o, err := newFakeOptimizer(sp, seed, set)
			return &learning{Optimizer: o}, err
		}})
		if len(st.Order) != 3 || st.Closed.Why != study.EndTrials {
			t.Errorf("%d trials, ended by %+v", len(st.Order), st.Closed)
		}
	})
}

// Who tries when nothing else is known to be safe waits for what the others are told.
func TestTryWaitsForWhatIsSafe(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials = 5
		s, err := session.Open(&c, session.Options{Dir: dir, Optimizer: func(sp *spaces.Space, seed uint64, set optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
			o, err := newFakeOptimizer(sp, seed, set)
			return &learning{Optimizer: o}, err
		}})
		if err != nil {
			t.Fatal(err)
		}
		var by [2]int // how many trials each has run
		var all sync.WaitGroup
		for i := range by {
			all.Go(func() {
				if err := s.Try(t.Context(), func(study.Trial) (study.Metrics, error) {
					by[i]++
					time.Sleep(time.Minute)
					return study.Metrics{"loss": 1}, nil
				}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if err := s.Close(); err != nil || by[0]+by[1] != 5 || by[0] == 0 || by[1] == 0 {
			t.Errorf("%v: trials %v", err, by)
		}
	})
}

// Values that are enqueued are tried also while the optimizer has nothing else to propose.
func TestEnqueuedWhereNothingElseIsSafe(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Run.Workers, c.Budget.Trials = 2, 3
		f := &fakeLauncher{program: func(job runner.Job) ending {
			if strings.HasSuffix(job.ID, "/1/1") {
				time.AfterFunc(20*time.Second, func() {
					if _, err := inbox.Leave(layout.Of(dir), wish(0.5)); err != nil {
						t.Error(err)
					}
				})
			}
			return ending{stdout: "loss=1\n", takes: time.Minute}
		}}
		st := conclude(t, &c, session.Options{Dir: dir, Launcher: f, Optimizer: func(sp *spaces.Space, seed uint64, set optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
			o, err := newFakeOptimizer(sp, seed, set)
			return cautious{o, true}, err
		}})
		if times(st, 0.5) != 1 || f.most != 2 {
			t.Errorf("%d trials, %d at a time", len(st.Trials), f.most)
		}
	})
}

// Nobody tells any more of a trial that a process was trying when it was killed: the next one tries it
// again, before any other, unless somebody has told of it after all.
func TestTryTakesUpWhatWasLeft(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials = 4
		s := open(t, dir, &c, &fakeLauncher{})
		for range 3 {
			if _, err := s.Ask(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, dir, &c, &fakeLauncher{})
		if err := s.Tell(2, study.Metrics{"loss": 3}); err != nil {
			t.Fatal(err)
		}
		var tried []string
		err := s.Try(t.Context(), func(trial study.Trial) (study.Metrics, error) {
			tried = append(tried, fmt.Sprint(trial.Number, trial.Values().Equal(s.State().Trials[trial.Number-1].Values())))
			return study.Metrics{"loss": 1}, nil
		})
		if want := []string{"1 true", "3 true", "4 true"}; errors.Join(err, s.Close()) != nil || !slices.Equal(tried, want) || s.State().Closed == nil {
			t.Errorf("tried %v, want %v; %v, closed %v", tried, want, err, s.State().Closed)
		}
	})
}

// What was left and is not known any more to be safe has failed, and is not awaited.
func TestTryLeavesWhatIsNotSafe(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials = 3
		c.Params = slices.Clone(c.Params)
		c.Params[0].Default, c.Params[1].Default = spaces.Float(0.5), spaces.Int(2)
		c.Safety = &study.Safety{Metric: "loss", At: 5, Constant: 0.1}
		s := open(t, dir, &c, &fakeLauncher{})
		if _, err := s.Ask(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := s.Tell(1, study.Metrics{"loss": 1})
		if _, asked := s.Ask(t.Context()); errors.Join(err, asked, s.Close()) != nil {
			t.Fatal(err, asked)
		}
		steeper := *c.Safety
		c.Safety, steeper.Constant = &steeper, 1e9
		s = open(t, dir, &c, &fakeLauncher{})
		tried := 0
		err = s.Try(t.Context(), func(study.Trial) (study.Metrics, error) { tried++; return study.Metrics{"loss": 1}, nil })
		two := s.State().Trials[1]
		if errors.Join(err, s.Close()) != nil || tried != 1 || two.Status != optimizer.Failed || s.State().Closed == nil {
			t.Errorf("%d tried, %s of trial 2, closed %v, %v", tried, two.Status, s.State().Closed, err)
		}
	})
}

// What was left by a study that is not safe is tried once it is: here a result is taken out that broke the limit.
func TestTryWhatIsSafeAgain(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials, c.Params = 4, slices.Clone(c.Params)
		c.Params[0].Default, c.Params[1].Default = spaces.Float(0.5), spaces.Int(2)
		c.Safety = &study.Safety{Metric: "loss", At: 5, Constant: 0.1}
		s := open(t, dir, &c, &fakeLauncher{})
		_, one := s.Ask(t.Context())
		first := s.Tell(1, study.Metrics{"loss": 1})
		_, two := s.Ask(t.Context())
		_, three := s.Ask(t.Context())
		if err := errors.Join(one, first, two, three, s.Tell(2, study.Metrics{"loss": 9}), s.Close()); err != nil {
			t.Fatal(err)
		}
		s = open(t, dir, &c, &fakeLauncher{})
		var tried []int
		try := func() error {
			return s.Try(t.Context(), func(trial study.Trial) (study.Metrics, error) {
				tried = append(tried, trial.Number)
				return study.Metrics{"loss": 1}, nil
			})
		}
		if err := try(); !errors.As(err, new(*session.UnsafeError)) {
			t.Errorf("while it is not safe: %v", err)
		}
		excluded := s.Do(study.Request{Action: study.ActionExclude, Trial: 2})
		if err := errors.Join(excluded, try(), s.Close()); err != nil || !slices.Equal(tried, []int{3, 4}) || s.State().Closed == nil {
			t.Errorf("tried %v, closed %v: %v", tried, s.State().Closed, err)
		}
	})
}

// A study whose time is over when nothing is tried has ended, though no trial did so.
func TestTryAfterItsTime(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Time = study.Duration(time.Minute)
		s := open(t, dir, &c, &fakeLauncher{})
		_, err := s.Ask(t.Context())
		err = errors.Join(err, s.Tell(1, study.Metrics{"loss": 1}))
		time.Sleep(time.Hour)
		err = errors.Join(err, s.Try(t.Context(), func(study.Trial) (study.Metrics, error) { return nil, errors.New("too late") }), s.Close())
		if end := s.State().Closed; err != nil || end == nil || end.Why != study.Ending("time") {
			t.Errorf("closed %v: %v", end, err)
		}
	})
}

// A trial that ends its process is tried three times, however often another stops in between as its
// context ends, and has failed then.
func TestTryGivesUpWhatEndsItsProcess(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials = 2
		tries := map[int]int{}
		for range 4 { // processes, each of which is killed
			s := open(t, dir, &c, &fakeLauncher{})
			for range 2 { // goroutines, one of which stops in time
				ctx, stop := context.WithCancel(t.Context())
				func() {
					defer func() { _ = recover() }()
					err := s.Try(ctx, func(trial study.Trial) (study.Metrics, error) {
						if tries[trial.Number]++; trial.Number == 1 {
							panic("out of memory")
						}
						stop()
						return nil, ctx.Err()
					})
					if err != nil && !errors.Is(err, context.Canceled) {
						t.Errorf("tried with %v", err)
					}
				}()
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		s := open(t, dir, &c, &fakeLauncher{})
		err := s.Try(t.Context(), func(study.Trial) (study.Metrics, error) { return study.Metrics{"loss": 1}, nil })
		st := s.State()
		first, second := st.Trials[0], st.Trials[1]
		const why = "it was left without a result 3 times, by a panic or the end of its process"
		if errors.Join(err, s.Close()) != nil || tries[1] != 3 || first.Failure.String() != why || second.Status != optimizer.Succeeded || st.Closed == nil {
			t.Errorf("%v: tries %v; %q; trial 2 is %+v", err, tries, first.Failure, second)
		}
	})
}

// What was cut short, or has panicked, is tried again by the next Try of the same process.
func TestTryTakesUpWhatItLeft(t *testing.T) {
	for name, leave := range map[string]func(context.CancelFunc) error{
		"cut short": func(stop context.CancelFunc) error { stop(); return errors.New("cut short") },
		"a panic":   func(context.CancelFunc) error { panic("a bug") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				c := config()
				c.Budget.Trials = 4
				s := open(t, dir, &c, &fakeLauncher{})
				ctx, stop := context.WithCancel(t.Context())
				func() {
					defer func() { _ = recover() }()
					_ = s.Try(ctx, func(trial study.Trial) (study.Metrics, error) {
						if trial.Number == 2 {
							return nil, leave(stop)
						}
						return study.Metrics{"loss": 1}, nil
					})
				}()
				err := s.Try(t.Context(), func(study.Trial) (study.Metrics, error) { return study.Metrics{"loss": 2}, nil })
				if st := s.State(); errors.Join(err, s.Close()) != nil || st.Closed == nil || st.Closed.Why != study.EndTrials || st.Trials[1].Value != 2 {
					t.Errorf("%v, closed %+v, trial 2 %+v", err, st.Closed, st.Trials[1])
				}
			})
		})
	}
}

// A number that is none fails a trial where it must be told, and else counts as not told.
func TestToldNumbersThatAreNone(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials = 4
		most := 10.0
		c.Metrics = append([]study.Metric{{Name: "size", Rule: parser.Rule{Metric: "size"}, Max: &most}}, append(c.Metrics, study.Metric{Name: "age", Rule: parser.Rule{Metric: "age"}})...)
		s := open(t, dir, &c, &fakeLauncher{})
		told := []study.Metrics{{"loss": 1, "size": math.NaN()}, {"loss": math.NaN()}, {"loss": 1, "size": 3, "age": math.Inf(1)}, {"loss": 2, "size": 3, "age": 4}}
		err := s.Try(t.Context(), func(trial study.Trial) (study.Metrics, error) { return told[trial.Number-1], nil })
		if errors.Join(err, s.Close()) != nil {
			t.Fatal(err)
		}
		trials := s.State().Trials
		if f := trials[0].Failure; f == nil || f.Kind != study.FailNotFinite || f.Text != "its size is NaN" {
			t.Errorf("a limited metric of NaN: %+v", f)
		}
		if f := trials[1].Failure; f == nil || f.Text != "its value is NaN" {
			t.Errorf("NaN alone: %+v", f)
		}
		if m, want := trials[2].Metrics, (study.Metrics{"loss": 1, "size": 3}); trials[2].Status != optimizer.Succeeded || asJSON(t, m) != asJSON(t, want) {
			t.Errorf("a metric beside of Inf: %v, %v", trials[2].Status, m)
		}
	})
}

// A small space ends a study that is tried, and the failure guard does.
func TestTryEnds(t *testing.T) {
	for why, c := range map[study.Ending]struct {
		trials int
		change func(*study.Config)
	}{
		study.EndExhausted: {2, func(c *study.Config) { c.Params = []spaces.Param{spaces.NewBool("nesterov")} }},
		study.EndGuard:     {3, func(c *study.Config) { c.Run.FailureGuard = 3 }},
	} {
		t.Run(string(why), func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				config := study.Config{Metrics: config().Metrics, Params: config().Params, Budget: study.Budget{Trials: 6}}
				c.change(&config)
				s, err := session.Open(&config, session.Options{Dir: dir})
				if err != nil {
					t.Fatal(err)
				}
				try := func() error {
					return s.Try(t.Context(), func(study.Trial) (study.Metrics, error) {
						if why == study.EndGuard {
							return nil, errors.New("oom")
						}
						return study.Metrics{"loss": 1}, nil
					})
				}
				err = errors.Join(try(), try(), s.Close())
				ends := 0
				for _, e := range events(t, dir) {
					if _, end := e.(study.Closed); end {
						ends++
					}
				}
				if st := s.State(); err != nil || st.Closed == nil || st.Closed.Why != why || len(st.Trials) != c.trials || ends != 1 {
					t.Errorf("%v, %d trials, closed %d times: %+v", err, len(st.Trials), ends, st.Closed)
				}
			})
		})
	}
}

// Who asks waits no longer than he wants for the choice of the best at the end, and the study ends with it once
// somebody does.
func TestAskEndsBeforeTheBestIsChosen(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Time = study.Duration(time.Hour)
		s, err := session.Open(&c, session.Options{Dir: dir, Optimizer: func(sp *spaces.Space, seed uint64, set optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
			o, err := newFakeOptimizer(sp, seed, set)
			return advising{o, func() (optimizer.Recommendation, error) {
				time.Sleep(time.Hour)
				return optimizer.Recommendation{Trial: 1, Mean: -1}, nil
			}}, err
		}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Ask(t.Context())
		if err := errors.Join(err, s.Tell(1, study.Metrics{"loss": 1})); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		ctx, done := context.WithTimeout(t.Context(), time.Minute)
		defer done()
		if _, err := s.Ask(ctx); !errors.Is(err, context.DeadlineExceeded) || s.State().Closed != nil {
			t.Errorf("%v, closed %+v", err, s.State().Closed)
		}
		if _, err := s.Ask(t.Context()); !errors.Is(err, session.ErrSpent) || s.State().Closed == nil || s.State().Closed.Recommended == nil {
			t.Errorf("%v, closed %+v", err, s.State().Closed)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Who asks where all was tried may still enqueue; and what has no runs cannot be limited by their time.
func TestAskWhereAllWasTried(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := study.Config{Metrics: config().Metrics, Params: []spaces.Param{spaces.NewBool("nesterov")}, Budget: study.Budget{Trials: 6}}
		s, err := session.Open(&c, session.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 2; n++ {
			_, err := s.Ask(t.Context())
			if err := errors.Join(err, s.Tell(n, study.Metrics{"loss": 1})); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Ask(t.Context()); !errors.Is(err, optimizer.ErrExhausted) || s.State().Closed != nil {
			t.Errorf("%v, closed %+v", err, s.State().Closed)
		}
		again := spaces.Values{{Name: "nesterov", Value: spaces.Bool(true)}}
		err = s.Do(study.Request{Action: study.ActionEnqueue, Values: again})
		if trial, asked := s.Ask(t.Context()); errors.Join(err, asked) != nil || trial.Number != 3 {
			t.Errorf("enqueued: %v; asked: trial %d, %v", err, trial.Number, asked)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		c.Budget.WorkerTime = 1
		const want = "invalid configuration: budget.worker_time: only runs of a command count, and there is none"
		if _, err := session.Open(&c, session.Options{Dir: filepath.Join(dir, "other")}); err == nil || err.Error() != want {
			t.Errorf("worker_time: %v", err)
		}
	})
}

// Who tries when none has been better for long waits for the others' trials, which may be.
func TestTryWaitsForWhatMayBeBetter(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials, c.Budget.Patience = 10, 2
		s := open(t, dir, &c, &fakeLauncher{})
		var by [2]int // how many trials each has run
		var all sync.WaitGroup
		for i := range by {
			all.Go(func() {
				if err := s.Try(t.Context(), func(trial study.Trial) (study.Metrics, error) {
					by[i]++
					if trial.Number == 1 {
						time.Sleep(time.Hour)
						return study.Metrics{"loss": 0}, nil
					}
					time.Sleep(time.Minute)
					return study.Metrics{"loss": 1}, nil
				}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if err := s.Close(); err != nil || max(by[0], by[1]) < 4 { // who has not waited, 3
			t.Errorf("%v: trials %v", err, by)
		}
	})
}
