package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// noted is a fakeOptimizer whose observations are kept.
type noted struct {
	optimizer.Optimizer
	trials *[]int
}

func (n noted) Tell(o optimizer.Observation) error {
	*n.trials = append(*n.trials, o.Trial)
	return n.Optimizer.Tell(o)
}

// byHand changes a study that does not run.
func byHand(s *session.Study, action study.Action, trial int, text string) error {
	return s.Do(study.Request{Action: action, Trial: trial, Text: text})
}

// What Do changes between two methods of an open study is known to the next one: the optimizer learns
// what counts, and a study that was found at its end goes on.
func TestDoInAnOpenStudy(t *testing.T) {
	fails := func(job runner.Job) ending {
		if strings.HasSuffix(job.ID, "/2/1") {
			return ending{exit: runner.Exit{Code: 3}}
		}
		return parabola(job)
	}
	ask := func(t *testing.T, s *session.Study) error {
		trial, err := s.Ask(t.Context())
		if err == nil {
			err = s.Tell(trial.Number, study.Metrics{"loss": 1})
		}
		return err
	}
	run := func(t *testing.T, s *session.Study) error { return s.Run(t.Context(), nil) }
	exclude, rerun := study.Request{Action: study.ActionExclude, Trial: 1}, study.Request{Action: study.ActionRerun, Rerun: []int{2}}
	adjust := study.Request{Action: study.ActionAdjust, Trials: 6}
	for name, c := range map[string]struct {
		anew bool // the study is opened at its end
		do   []study.Request
		next func(*testing.T, *session.Study) error
	}{
		"exclude, ask":    {false, []study.Request{adjust, exclude}, ask},
		"rerun, run":      {false, []study.Request{adjust, rerun}, run},
		"rerun, ask":      {false, []study.Request{adjust, rerun}, ask},
		"adjust, ask":     {false, []study.Request{adjust}, ask},
		"opened, adjust":  {true, []study.Request{adjust}, run},
		"opened, rerun":   {true, []study.Request{adjust, rerun}, run},
		"opened, and ask": {true, []study.Request{adjust}, ask},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				cfg.Budget.Trials = 4
				f := &fakeLauncher{program: fails}
				s := open(t, dir, &cfg, f)
				if err := run(t, s); err != nil {
					t.Fatal(err)
				}
				if c.anew {
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					s = open(t, dir, &cfg, f)
				}
				for _, r := range c.do {
					if err := s.Do(r); err != nil {
						t.Fatal(err)
					}
				}
				if err := errors.Join(c.next(t, s), s.Close()); err != nil {
					t.Fatal(err)
				}
				rep, err := session.Replay(t.Context(), dir, newFakeOptimizer)
				if err != nil || len(rep.Differences) > 0 || rep.Asked < 5 {
					t.Errorf("replay %+v: %v", rep, err)
				}
			})
		})
	}
}

// The optimizer is never told of an excluded trial: it proposes what it would if
// the trial had not been, and a replay agrees.
func TestExcludedIsNeverTold(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Budget.Trials = 4
		f := &fakeLauncher{program: parabola}
		if _, err := finish(t, dir, &cfg, f); err != nil {
			t.Fatal(err)
		}
		opts := session.Options{Dir: dir}
		exclude := func(n int) error {
			return session.Edit(nil, opts, func(s *session.Study) error { return byHand(s, study.ActionExclude, n, "") })
		}
		if err := errors.Join(exclude(2), exclude(4)); err != nil {
			t.Fatal(err)
		}
		var told []int
		cfg.Budget.Trials = 6
		st := conclude(t, &cfg, session.Options{Dir: dir, Launcher: f,
			Optimizer: func(sp *spaces.Space, seed uint64, set optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
				o, err := newFakeOptimizer(sp, seed, set)
				return noted{o, &told}, err
			}})
		if want := []int{1, 3, 5}; !slices.Equal(told, want) {
			t.Errorf("the optimizer was told of %v; want %v", told, want)
		}
		if got, want := st.Trials[4].Values(), proposalAfter(t, st, 5, 1, 3); !got.Equal(want) {
			t.Errorf("trial 5 is %v; want %v", got, want)
		}
		rep, err := session.Replay(t.Context(), dir, newFakeOptimizer)
		if err != nil || rep.Asked != 6 || len(rep.Differences) > 0 {
			t.Errorf("replay %+v: %v", rep, err)
		}
	})
}

// A result that counts again is told from the next session on, in its old place.
func TestExcludedAndIncluded(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Budget.Trials = 4
		f := &fakeLauncher{program: parabola}
		st, err := finish(t, dir, &cfg, f)
		if err != nil {
			t.Fatal(err)
		}
		best := st.Best().Number
		edit := func(change func(*session.Study) error) error {
			return session.Edit(nil, session.Options{Dir: dir}, change)
		}
		err = edit(func(s *session.Study) error {
			if err := byHand(s, study.ActionExclude, best, ""); err != nil || s.State().Best().Number == best {
				t.Errorf("trial %d is still the best: %v", best, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		cfg.Budget.Trials = 5
		if _, err := finish(t, dir, &cfg, f); err != nil {
			t.Fatal(err)
		}
		err = edit(func(s *session.Study) error {
			if err := byHand(s, study.ActionInclude, best, ""); err != nil || s.State().Trials[best-1].Excluded {
				t.Errorf("trial %d is still excluded: %v", best, err)
			}
			if err := byHand(s, study.ActionInclude, best, ""); err == nil {
				t.Errorf("trial %d counts again twice", best)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		cfg.Budget.Trials = 6
		if st, err = finish(t, dir, &cfg, f); err != nil {
			t.Fatal(err)
		}
		if got, want := st.Trials[5].Values(), proposalAfter(t, st, 6, 1, 2, 3, 4, 5); !got.Equal(want) {
			t.Errorf("trial 6 is %v; want %v", got, want)
		}
		rep, err := session.Replay(t.Context(), dir, newFakeOptimizer)
		if err != nil || rep.Asked != 6 || len(rep.Differences) > 0 {
			t.Errorf("replay %+v: %v", rep, err)
		}
	})
}

// proposalAfter is what an optimizer that knows these trials alone proposes.
func proposalAfter(t *testing.T, st *study.State, trial int, known ...int) spaces.Values {
	t.Helper()
	opt, err := newFakeOptimizer(st.Space, st.Config.Seed, st.Config.Optimizer)
	for _, n := range known {
		err = errors.Join(err, opt.Tell(st.Observation(st.Trials[n-1])))
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := opt.Ask(context.Background(), optimizer.Query{Trial: trial})
	if err != nil {
		t.Fatal(err)
	}
	return st.Space.Decode(p.Point)
}

// Values can be enqueued before the first run, and in a range that the spec has
// been widened to since the last one.
func TestEditBeginsAndWidens(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Budget.Trials = 2
		opts := session.Options{Dir: dir}
		enqueue := func(c *study.Config, x float64) error {
			return session.Edit(c, opts, func(s *session.Study) error {
				return s.Do(study.Request{Action: study.ActionEnqueue, Values: spaces.Values{{Name: "x", Value: spaces.Float(x)}, {Name: "n", Value: spaces.Int(1)}}})
			})
		}
		if err := enqueue(nil, 0.5); !errors.Is(err, study.ErrNoStudy) {
			t.Errorf("without a config: %v", err)
		}
		if err := enqueue(&cfg, 0.5); err != nil {
			t.Fatal(err)
		}
		f := &fakeLauncher{program: parabola}
		if _, err := finish(t, dir, &cfg, f); err != nil {
			t.Fatal(err)
		}
		wide := config()
		wide.Params[0].Max, wide.Budget.Trials = 5, 3
		if err := enqueue(&cfg, 3); err == nil {
			t.Error("a value outside the range was enqueued")
		}
		if err := enqueue(&wide, 3); err != nil {
			t.Fatal(err)
		}
		st, err := finish(t, dir, &wide, f)
		if err != nil {
			t.Fatal(err)
		}
		var given []string
		for _, tr := range st.Trials {
			if tr.Origin == optimizer.OriginGiven {
				given = append(given, fmt.Sprint(tr.Number, " ", tr.Values()))
			}
		}
		if want := []string{"1 x=0.5 n=1", "3 x=3 n=1"}; !slices.Equal(given, want) {
			t.Errorf("given %q; want %q", given, want)
		}
	})
}

// Enqueued values that a changed range leaves no room for are dropped.
func TestQueueOutsideIsDropped(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		err := session.Edit(&cfg, session.Options{Dir: dir}, func(s *session.Study) error {
			return errors.Join(
				s.Do(study.Request{Action: study.ActionEnqueue, Values: spaces.Values{{Name: "x", Value: spaces.Float(0.75)}, {Name: "n", Value: spaces.Int(1)}}}),
				s.Do(study.Request{Action: study.ActionEnqueue, Values: spaces.Values{{Name: "x", Value: spaces.Float(0.25)}, {Name: "n", Value: spaces.Int(1)}}}))
		})
		if err != nil {
			t.Fatal(err)
		}
		cfg.Params[0].Max, cfg.Budget.Trials = 0.5, 2
		st, err := finish(t, dir, &cfg, &fakeLauncher{program: parabola})
		if err != nil {
			t.Fatal(err)
		}
		if got := st.Trials[0].Values().String(); got != "x=0.25 n=1" || st.Trials[1].Origin == optimizer.OriginGiven {
			t.Errorf("the first trial is %s", got)
		}
	})
}
