package session_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
)

// Attempts that never end by themselves, and three steps to stop them.
func TestStopSteps(t *testing.T) {
	for _, c := range []struct {
		steps    []session.Stop
		takes    time.Duration
		finished int
		pending  int
	}{
		{[]session.Stop{session.StopAsking}, 10 * time.Second, 2, 0},
		{[]session.Stop{session.StopAsking, session.StopRunning}, time.Hour, 0, 2},
		{[]session.Stop{session.StopRunning}, time.Hour, 0, 2},
		{[]session.Stop{session.StopAsking, session.StopRunning, session.StopNow}, time.Hour, 0, 2},
		{[]session.Stop{session.StopNow}, time.Hour, 0, 2},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				cfg.Run.Workers = 2
				slow := &fakeLauncher{program: func(runner.Job) ending { return ending{stdout: "loss=1\n", takes: c.takes} }}
				s := open(t, dir, &cfg, slow)
				stop := make(chan session.Stop, len(c.steps))
				go func() {
					for _, step := range c.steps {
						time.Sleep(time.Second)
						stop <- step
					}
				}()
				if err := s.Run(t.Context(), stop); !errors.Is(err, session.ErrStopped) {
					t.Errorf("%v: error %v", c.steps, err)
				}
				if st := s.State(); len(st.Order) != c.finished || len(st.Pending()) != c.pending || st.Closed != nil {
					t.Errorf("%v: %d finished, %d pending", c.steps, len(st.Order), len(st.Pending()))
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				// The same command goes on: stopped trials run again with their values.
				st, err := finish(t, dir, &cfg, &fakeLauncher{program: parabola})
				if err != nil || len(st.Order) != 12 {
					t.Errorf("%v: afterwards %v, %d finished", c.steps, err, len(st.Order))
				}
				for _, trial := range st.Trials[:c.pending] {
					if trial.Attempt != 2 {
						t.Errorf("%v: trial %d ended with attempt %d", c.steps, trial.Number, trial.Attempt)
					}
				}
			})
		})
	}
}

// A slowOptimizer thinks until it is told that nobody wants its answer.
type slowOptimizer struct{ asked chan<- session.Stop }

func (slowOptimizer) Tell(optimizer.Observation) error { return nil }

func (o slowOptimizer) Ask(ctx context.Context, _ optimizer.Query) (optimizer.Proposal, error) {
	o.asked <- session.StopAsking
	<-ctx.Done()
	return optimizer.Proposal{}, ctx.Err()
}

// A study that is stopped while its optimizer thinks ends. Often, for it is a race.
func TestStopWhileAsking(t *testing.T) {
	for range 50 {
		bubble(t, func(t *testing.T, dir string) {
			cfg := config()
			stop := make(chan session.Stop, 1)
			s, err := session.Open(&cfg, session.Options{Dir: dir, Launcher: &fakeLauncher{},
				Optimizer: func(*spaces.Space, uint64, optimizer.Settings, ...optimizer.Earlier) (optimizer.Optimizer, error) {
					return slowOptimizer{stop}, nil
				}})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Run(t.Context(), stop); !errors.Is(err, session.ErrStopped) {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestCancelledContextStopsRunning(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		s := open(t, dir, &cfg, &fakeLauncher{program: func(runner.Job) ending { return ending{takes: time.Hour} }})
		defer s.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Run(ctx, nil); !errors.Is(err, session.ErrStopped) || len(s.State().Pending()) != 1 {
			t.Errorf("%v, %d pending", err, len(s.State().Pending()))
		}
	})
}

// rejoiner has attempts that live on until they are asked to end, or for a minute.
type rejoiner struct {
	*fakeLauncher
	attached atomic.Int32
}

func (l *rejoiner) Attach(ctx context.Context, job runner.Job) (runner.Exit, error) {
	l.attached.Add(1)
	exit := runner.Exit{Started: time.Now()}
	select {
	case <-time.After(time.Minute):
	case <-ctx.Done():
		exit.Cancelled, exit.Code = true, 143
	}
	exit.Ended = time.Now()
	return exit, nil
}

// A stop is for everything that runs, also for what an earlier session has left in more
// slots than there are now.
func TestStopReachesWhatWaitsForASlot(t *testing.T) {
	for _, step := range []session.Stop{session.StopAsking, session.StopRunning, session.StopNow} {
		bubble(t, func(t *testing.T, dir string) {
			cfg := config()
			cfg.Run.Workers = 3
			run := func(l *rejoiner, step session.Stop) {
				s, err := session.Open(&cfg, session.Options{Dir: dir, Launcher: l})
				if err != nil {
					t.Fatal(err)
				}
				stop := make(chan session.Stop, 1)
				time.AfterFunc(time.Second, func() { stop <- step })
				if err := s.Run(t.Context(), stop); err != nil && !errors.Is(err, session.ErrStopped) {
					t.Errorf("%v: %v", step, err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			first := &rejoiner{fakeLauncher: &fakeLauncher{program: func(runner.Job) ending { return ending{takes: time.Minute} }}}
			run(first, session.StopHere)
			cfg.Run.Workers = 1
			second := &rejoiner{fakeLauncher: &fakeLauncher{program: parabola}}
			run(second, step)
			time.Sleep(2 * time.Minute) // until the goroutines have ended that stand for what was left
			if n := second.attached.Load(); n != 3 || len(second.launched) > 0 {
				t.Errorf("%v: %d of 3 attempts were rejoined, and %v launched", step, n, second.launched)
			}
		})
	}
}
