package session_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// slow takes a second for each Ask, and no time for More.
type slow struct{ optimizer.Optimizer }

func (s slow) Ask(ctx context.Context, q optimizer.Query) (optimizer.Proposal, error) {
	time.Sleep(time.Second) // of the bubble's clock
	return s.Optimizer.Ask(ctx, q)
}

func (s slow) More(ctx context.Context, trial int) (optimizer.Proposal, error) {
	return s.Optimizer.(optimizer.Batcher).More(ctx, trial)
}

// Where workers would wait for a proposal each, several are made with one, and can be asked for
// again; where trials take long, each worker gets its own.
func TestProposalsTogether(t *testing.T) {
	trials := effort.Of(raced(20, 60), 60, 60)
	for name, c := range map[string]struct {
		takes    time.Duration
		together bool
	}{"short trials": {2 * time.Second, true}, "long trials": {10 * time.Minute, false}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				cfg := config()
				cfg.Params[1].Max = 900
				cfg.Budget.Trials, cfg.Run.Workers = trials, 12
				f := &fakeLauncher{program: func(job runner.Job) ending {
					e := parabola(job)
					e.takes = c.takes
					return e
				}}
				st := conclude(t, &cfg, session.Options{Dir: dir, Launcher: f,
					Optimizer: func(sp *spaces.Space, seed uint64, set optimizer.Settings, e ...optimizer.Earlier) (optimizer.Optimizer, error) {
						opt, err := optimizer.New(sp, seed, set, e...)
						return slow{opt}, err
					}})
				if st.Best() == nil || len(st.Trials) != trials {
					t.Fatalf("%d trials", len(st.Trials))
				}
			})
			together := 0
			_, err := study.Load(dir, func(_ *study.State, rec study.Record) error {
				if p, ok := rec.Event.(study.Proposed); ok && p.With > 0 {
					together++
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if (together > 0) != c.together {
				t.Errorf("%d of %d proposals were made with another", together, trials)
			}
			rep, err := session.Replay(t.Context(), dir, nil)
			if err != nil || rep.Asked != trials || len(rep.Differences) > 0 {
				t.Errorf("%v: %d asked again, %d different", err, rep.Asked, len(rep.Differences))
			}
		})
	}
}
