package session_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

func TestSetup(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Setup = "make -C {study}"
		code := 2
		f := &fakeLauncher{}
		f.program = func(job runner.Job) ending {
			if job.Shell == "" {
				return parabola(job)
			}
			if job.Shell != "make -C "+dir {
				t.Errorf("setup ran %q", job.Shell)
			}
			return ending{exit: runner.Exit{Code: code}}
		}
		var failed *session.SetupError
		if _, err := finish(t, dir, &cfg, f); !errors.As(err, &failed) || failed.Failure.Code != 2 {
			t.Fatalf("a setup that fails: %v", err)
		}
		code = 0
		if _, err := finish(t, dir, &cfg, f); err != nil {
			t.Fatal(err)
		}
		if _, err := finish(t, dir, &cfg, f); err != nil {
			t.Fatal(err)
		}
		want := []string{"0/1", "0/2", "1/1"}
		if !slices.Equal(f.launched[:3], want) || len(f.launched) != 14 {
			t.Errorf("launched %v", f.launched)
		}
	})
}

func TestEnqueue(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		f := &fakeLauncher{program: parabola}
		s := open(t, dir, &cfg, f)
		mine := spaces.Values{{Name: "x", Value: spaces.Float(0.25)}, {Name: "n", Value: spaces.Int(1)}}
		if err := s.Do(study.Request{Action: study.ActionEnqueue, Values: mine}); err != nil {
			t.Fatal(err)
		}
		if err := s.Do(study.Request{Action: study.ActionEnqueue, Values: mine[:1]}); err != nil {
			t.Errorf("half of the values: %v", err)
		}
		if err := s.Do(study.Request{Action: study.ActionEnqueue, Values: spaces.Values{{Name: "y", Value: spaces.Int(1)}}}); err == nil {
			t.Error("a value of no parameter was enqueued")
		}
		if err := s.Run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		first, second := s.State().Trials[0], s.State().Trials[1]
		if first.Origin != optimizer.OriginGiven || !first.Values().Equal(mine) || s.State().Trials[2].Origin != optimizer.OriginModel {
			t.Errorf("the first trial is %+v", first)
		}
		if x, _ := second.Values().Get("x"); second.Origin != optimizer.OriginGiven || x != spaces.Float(0.25) || len(second.Values()) != 2 {
			t.Errorf("the second trial is %+v", second)
		}
	})
}

func TestTodaysValuesComeFirst(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Params[0].Default = spaces.Float(0.75)
		f := &fakeLauncher{program: parabola}
		s := open(t, dir, &cfg, f)
		mine := spaces.Values{{Name: "x", Value: spaces.Float(0.25)}, {Name: "n", Value: spaces.Int(1)}}
		if err := s.Do(study.Request{Action: study.ActionEnqueue, Values: mine}); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		first, second := s.State().Trials[0], s.State().Trials[1]
		if x, _ := first.Values().Get("x"); first.Origin != optimizer.OriginDefault || x != spaces.Float(0.75) || len(first.Values()) != 2 {
			t.Errorf("the first trial is %+v", first)
		}
		if second.Origin != optimizer.OriginGiven || !second.Values().Equal(mine) {
			t.Errorf("the second trial is %+v", second)
		}
	})
}

// An optimizer that fails or panics ends the session, not the results.
func TestOptimizerFails(t *testing.T) {
	for name, ask := range map[string]func() error{
		"error": func() error { return errors.New("singular") },
		"panic": func() error { panic("singular") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				cfg.Run.Workers = 2
				s, err := session.Open(&cfg, session.Options{Dir: dir, Launcher: &fakeLauncher{program: parabola},
					Optimizer: func(sp *spaces.Space, seed uint64, st optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
						o, err := newFakeOptimizer(sp, seed, st)
						return &failing{o, ask}, err
					}})
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "singular") {
					t.Errorf("error %v", err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if st := s.State(); len(st.Order) != 4 || len(st.Pending()) != 0 {
					t.Errorf("%d finished, %d pending", len(st.Order), len(st.Pending()))
				}
				if st, err := finish(t, dir, &cfg, &fakeLauncher{program: parabola}); err != nil || len(st.Order) != 12 {
					t.Errorf("afterwards: %v", err)
				}
			})
		})
	}
}

// failing asks well four times.
type failing struct {
	optimizer.Optimizer
	fail func() error
}

func (f *failing) Ask(ctx context.Context, q optimizer.Query) (optimizer.Proposal, error) {
	if q.Trial > 4 {
		return optimizer.Proposal{}, f.fail()
	}
	return f.Optimizer.Ask(ctx, q)
}

// wise is an optimizer that recommends the second trial.
type wise struct{ optimizer.Optimizer }

func (wise) Recommend(context.Context) (optimizer.Recommendation, error) {
	return optimizer.Recommendation{Trial: 2, Mean: -1.5, SD: 0.25}, nil
}

// The optimizer's choice is kept with the study's end, in the program's units.
func TestRecommended(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		conclude(t, &cfg, session.Options{Dir: dir, Launcher: &fakeLauncher{program: parabola},
			Optimizer: func(sp *spaces.Space, seed uint64, st optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
				o, err := newFakeOptimizer(sp, seed, st)
				return wise{o}, err
			}})
		st, err := study.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if r := st.Closed.Recommended; r == nil || *r != (study.Recommended{Trial: 2, Mean: 1.5, SD: 0.25}) {
			t.Errorf("recommended %+v", r)
		}
	})
}
