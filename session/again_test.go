package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"context"
	"errors"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// An open study is run and asked as often as one likes, in any order.
func TestRunAgain(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Prune = &study.Prune{Method: "median", Percentile: 25, Reduction: 3, MinResource: 1}
		stop := make(chan session.Stop, 1)
		f := &fakeLauncher{}
		f.program = func(job runner.Job) ending {
			f.mu.Lock()
			n := len(f.launched)
			f.mu.Unlock()
			if n == 3 || n == 6 {
				stop <- session.StopAsking
			}
			return parabola(job)
		}
		s, err := session.Open(&cfg, session.Options{Dir: dir, Launcher: f})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for range 2 {
			if err := s.Run(t.Context(), stop); !errors.Is(err, session.ErrStopped) {
				t.Fatal(err)
			}
			trial, err := s.Ask(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Tell(trial.Number, study.Metrics{"loss": 1}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Run(t.Context(), stop); err != nil || len(s.State().Order) != 12 {
			t.Fatalf("%v, and %d trials have finished", err, len(s.State().Order))
		}
	})
}

// deafOptimizer tells when it is asked, and does not hear that nobody wants its answer.
type deafOptimizer struct {
	optimizer.Optimizer
	asked   func()
	release <-chan struct{}
}

func (o deafOptimizer) Ask(ctx context.Context, q optimizer.Query) (optimizer.Proposal, error) {
	o.asked()
	<-o.release
	return o.Optimizer.Ask(context.WithoutCancel(ctx), q)
}

// Neither a stop nor the end of Ask's context waits for an optimizer that thinks, and what
// follows asks another one.
func TestStopDoesNotWaitForTheOptimizer(t *testing.T) {
	for _, how := range []session.Stop{session.StopAsking, session.StopRunning, session.StopNow, session.StopHere} {
		t.Run(fmt.Sprint(how), func(t *testing.T) {
			cfg := config()
			release := make(chan struct{})
			stop := make(chan session.Stop, 1)
			asked := func() { stop <- how }
			made := 0
			s, err := session.Open(&cfg, session.Options{Dir: t.TempDir(), Launcher: &fakeLauncher{program: parabola},
				Optimizer: func(space *spaces.Space, seed uint64, settings optimizer.Settings, earlier ...optimizer.Earlier) (optimizer.Optimizer, error) {
					o, err := optimizer.New(space, seed, settings, earlier...)
					if made++; made > 2 {
						return o, err
					}
					return deafOptimizer{o, func() { asked() }, release}, err
				}})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Run(t.Context(), stop); !errors.Is(err, session.ErrStopped) {
				t.Errorf("stop %d: %v", how, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			asked = cancel
			if _, err := s.Ask(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("stop %d: asked, %v", how, err)
			}
			if trial, err := s.Ask(t.Context()); err != nil || trial.Number != 1 || made != 3 {
				t.Errorf("stop %d: asked again of optimizer %d, %v", how, made, err)
			}
			close(release)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A channel of stops that is closed asks for no more trials, once.
func TestClosedStop(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		stop := make(chan session.Stop)
		s := open(t, dir, &cfg, &fakeLauncher{program: func(job runner.Job) ending { close(stop); return parabola(job) }})
		defer s.Close()
		if err := s.Run(t.Context(), stop); !errors.Is(err, session.ErrStopped) || len(s.State().Order) != 1 {
			t.Errorf("%v, and %d trials have finished", err, len(s.State().Order))
		}
	})
}

// The end of the context ends the hooks: nothing else could, without steps of stopping.
func TestContextEndsHooks(t *testing.T) {
	cfg := config()
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	cfg.Hooks = &study.Hooks{Trial: "echo > " + ready + "; sleep 1000", Timeout: study.Duration(time.Hour)}
	s := open(t, filepath.Join(dir, "study"), &cfg, &fakeLauncher{program: func(runner.Job) ending { return ending{stdout: "loss=1\n"} }})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) { // the hook is another process
			if _, err := os.Stat(ready); err == nil {
				cancel()
			}
		}
	}()
	_ = s.Run(ctx, nil)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// panics does what it is called for by a panic.
type panics struct{}

func (p panics) Launch(context.Context, runner.Job) (runner.Exit, error) { panic("in the launcher") }

// Neither a launcher nor an observer that panics takes the process along, and the first ends
// the session.
func TestPanics(t *testing.T) {
	cfg := config()
	observed := 0
	s, err := session.Open(&cfg, session.Options{Dir: t.TempDir(), Launcher: panics{}, Observe: func(study.Update) {
		observed++
		panic("in the observer")
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "trial 1, attempt 1 panicked: in the launcher") {
		t.Errorf("a launcher that panics: %v", err)
	}
	if err := s.Close(); err != nil || observed < 2 {
		t.Errorf("%v, and %d updates were observed", err, observed)
	}
}

// What cannot be is refused before anything happens.
func TestMisuse(t *testing.T) {
	cfg := config()
	s, err := session.Open(&cfg, session.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), nil); err == nil || err.Error() != "nothing runs trials: Options.Launcher is nil" {
		t.Errorf("run without a launcher: %v", err)
	}
	trial, err := s.Ask(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	was := s.State().Trials[0].Values().String()
	trial.Values()[0].Value = spaces.Float(99)
	if now := s.State().Trials[0].Values().String(); now != was {
		t.Errorf("who is handed a trial has changed it to %s", now)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	_, asked := s.Ask(t.Context())
	for what, err := range map[string]error{"asked": asked, "told": s.Tell(1, study.Metrics{"loss": 1}), "failed": s.Fail(1, "so"),
		"ran": s.Run(t.Context(), nil), "served": s.Serve(), "enqueued": s.Do(study.Request{Action: study.ActionEnqueue, Values: nil})} {
		t.Run(what, func(t *testing.T) {
			if !errors.Is(err, session.ErrClosed) {
				t.Errorf("%s after Close: %v", what, err)
			}
		})
	}
	if len(s.State().Trials) != 1 || s.State().Trials[0].Done() {
		t.Error("a closed study has changed")
	}
	none := func(*spaces.Space, uint64, optimizer.Settings, ...optimizer.Earlier) (optimizer.Optimizer, error) {
		return nil, nil
	}
	for want, opts := range map[string]session.Options{"Options.Dir is empty": {}, "Options.Optimizer has made none": {Dir: t.TempDir(), Optimizer: none}} {
		t.Run(want, func(t *testing.T) {
			if _, err := session.Open(&cfg, opts); err == nil || err.Error() != want {
				t.Errorf("opened: %v; want %s", err, want)
			}
		})
	}
}

// Several goroutines share a study.
func TestManyAsk(t *testing.T) {
	cfg := config()
	cfg.Budget.Trials = 24
	s := open(t, t.TempDir(), &cfg, &fakeLauncher{})
	defer s.Close()
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			err := s.Try(t.Context(), func(trial study.Trial) (study.Metrics, error) {
				if trial.Number%5 == 0 {
					return nil, errors.New("five")
				}
				return study.Metrics{"loss": float64(trial.Number)}, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	workers.Wait()
	st := s.State()
	if len(st.Order) != 24 || st.Best().Number != 1 || st.Count(optimizer.Failed) != 4 || st.Trials[4].Failure.Text != "five" {
		t.Errorf("%d trials have finished, %d failed", len(st.Order), st.Count(optimizer.Failed))
	}
}

// Trying ends where a small space does and with its context, and says what cannot be told.
func TestTry(t *testing.T) {
	cfg := config()
	cfg.Params = []spaces.Param{spaces.NewInt("n", 1, 3)}
	cfg.Command = study.Command{}
	s, err := session.Open(&cfg, session.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Try(t.Context(), func(study.Trial) (study.Metrics, error) { return study.Metrics{"size": 1}, nil }); err == nil ||
		err.Error() != "loss, the objective, must be told" {
		t.Errorf("without the objective: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = s.Try(ctx, func(study.Trial) (study.Metrics, error) { cancel(); return nil, ctx.Err() })
	if !errors.Is(err, context.Canceled) || len(s.State().Order) != 0 {
		t.Errorf("cut short: %v, and %d trials have finished", err, len(s.State().Order))
	}
	err = s.Try(t.Context(), func(trial study.Trial) (study.Metrics, error) { return study.Metrics{"loss": 2}, nil })
	if st := s.State(); err != nil || len(st.Order) != 3 || len(st.Trials) != 3 || st.Closed == nil || st.Closed.Why != study.EndExhausted {
		t.Errorf("%v: %d of %d trials have finished", err, len(s.State().Order), len(s.State().Trials))
	}
}

// A study whose configuration names no directory runs where it was begun, wherever it is
// taken up again.
func TestRunsWhereItWasOpened(t *testing.T) {
	cfg, dir := config(), filepath.Join(t.TempDir(), "study")
	cfg.Dir = ""
	first := t.TempDir()
	for _, from := range []string{first, t.TempDir()} {
		t.Chdir(from)
		f := &fakeLauncher{program: parabola}
		var given *study.Config
		if from == first {
			given = &cfg
			cfg.Budget.Trials = 1
		}
		s, err := session.Open(given, session.Options{Dir: dir, Launcher: f, Optimizer: newFakeOptimizer})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.State().Config.Dir; got != first {
			t.Errorf("from %s: it runs in %q; want %s", from, got, first)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
