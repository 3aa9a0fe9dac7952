package session_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/inbox"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// advising is a fakeOptimizer that recommends a trial, or fails to.
type advising struct {
	optimizer.Optimizer
	recommend func() (optimizer.Recommendation, error)
}

func (a advising) Recommend(context.Context) (optimizer.Recommendation, error) { return a.recommend() }

// A study ends well whether or not its optimizer can say which trial is the best.
func TestRecommendation(t *testing.T) {
	for name, c := range map[string]struct {
		recommend func() (optimizer.Recommendation, error)
		trial     int
	}{
		"a trial": {func() (optimizer.Recommendation, error) {
			return optimizer.Recommendation{Trial: 2, Mean: -1, SD: 0.5}, nil
		}, 2},
		"an error": {func() (optimizer.Recommendation, error) {
			return optimizer.Recommendation{}, errors.New("no idea")
		}, 0},
		"a panic": {func() (optimizer.Recommendation, error) { panic("no idea") }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				st := conclude(t, &cfg, session.Options{Dir: dir, Launcher: &fakeLauncher{program: parabola},
					Optimizer: func(sp *spaces.Space, seed uint64, set optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
						o, err := newFakeOptimizer(sp, seed, set)
						return advising{o, c.recommend}, err
					}})
				r := st.Closed.Recommended
				if (r == nil) != (c.trial == 0) || r != nil && (r.Trial != c.trial || r.Mean != 1 || r.SD != 0.5) {
					t.Errorf("recommended %+v", r)
				}
			})
		})
	}
}

// thinking is an advising optimizer whose Ask goes on until its context ends.
type thinking struct {
	advising
	asks int
}

func (o *thinking) Ask(ctx context.Context, q optimizer.Query) (optimizer.Proposal, error) {
	if o.asks++; q.Trial < 3 {
		return o.advising.Ask(ctx, q)
	}
	<-ctx.Done()
	return optimizer.Proposal{}, ctx.Err()
}

// The end of a study may cut short what its optimizer was asked: another one recommends.
func TestRecommendationAfterAQuestionWasCutShort(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Budget.Time = study.Duration(time.Minute)
		made := 0
		st := conclude(t, &cfg, session.Options{Dir: dir, Launcher: &fakeLauncher{program: parabola},
			Optimizer: func(sp *spaces.Space, seed uint64, set optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
				made++
				o, err := newFakeOptimizer(sp, seed, set)
				return &thinking{advising: advising{o, func() (optimizer.Recommendation, error) {
					return optimizer.Recommendation{Trial: 2, Mean: -1, SD: 0.5}, nil
				}}}, err
			}})
		if st.Closed.Why != study.Ending("time") || made != 2 {
			t.Fatalf("ended by %s, with %d optimizers", st.Closed.Why, made)
		}
		if r := st.Closed.Recommended; r == nil || r.Trial != 2 {
			t.Errorf("recommended %+v", r)
		}
	})
}

// Values that are enqueued while the optimizer finds nothing else to try are tried before the end.
func TestEnqueuedWhileAllIsTried(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		asked := 0
		st := conclude(t, &cfg, session.Options{Dir: dir, Launcher: &fakeLauncher{program: parabola},
			Optimizer: func(sp *spaces.Space, seed uint64, set optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
				o, err := newFakeOptimizer(sp, seed, set)
				return exhausted{o, func() {
					if asked++; asked == 1 {
						if _, err := inbox.Leave(layout.Of(dir), wish(0.25)); err != nil {
							t.Error(err)
						}
					}
				}}, err
			}})
		if len(st.Order) != 1 || times(st, 0.25) != 1 || len(st.Queue) > 0 || st.Closed.Why != study.EndExhausted {
			t.Errorf("%d trials, %v wait: %+v", len(st.Order), st.Queue, st.Closed)
		}
		noneWait(t, dir)
	})
}

// exhausted finds nothing to try, after it has told of each question.
type exhausted struct {
	optimizer.Optimizer
	asked func()
}

func (e exhausted) Ask(context.Context, optimizer.Query) (optimizer.Proposal, error) {
	e.asked()
	return optimizer.Proposal{}, optimizer.ErrExhausted
}
