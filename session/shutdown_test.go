package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// ended by a signal that lbotune did not send, as all processes of a service that is stopped.
var terminated = ending{exit: runner.Exit{Code: 143, Signal: "SIGTERM"}, takes: time.Second}

// Who stops a machine, a service or a job sends one signal to all of its processes, in any
// order. That is no failure of the trials, which run again with the next session; but a
// signal that no stop follows is one.
func TestShutdown(t *testing.T) {
	for name, c := range map[string]struct {
		first   ending
		stop    time.Duration // after the start; 0 for none
		step    session.Stop
		failure study.FailureKind // of the first attempt
		tries   string
	}{
		"trial first":         {terminated, 1500 * time.Millisecond, session.StopRunning, study.FailInterrupted, "1/1 1/2"},
		"lbotune first":       {terminated, 999 * time.Millisecond, session.StopRunning, study.FailInterrupted, "1/1 1/2"},
		"no trial is started": {terminated, 1500 * time.Millisecond, session.StopAsking, study.FailInterrupted, "1/1 1/2"},
		"no stop":             {terminated, 0, 0, study.FailSignal, "1/1"},
		"another signal":      {ending{exit: runner.Exit{Code: 139, Signal: "SIGSEGV"}, takes: time.Second}, 1500 * time.Millisecond, session.StopRunning, study.FailSignal, "1/1"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				cfg.Budget.Trials, cfg.Run.FailureGuard = 1, 0
				f := &fakeLauncher{program: func(job runner.Job) ending {
					if strings.HasSuffix(job.ID, "/1/1") {
						return c.first
					}
					return parabola(job)
				}}
				s := open(t, dir, &cfg, f)
				stop := make(chan session.Stop, 1)
				if c.stop > 0 {
					time.AfterFunc(c.stop, func() { stop <- c.step })
				}
				err := s.Run(context.Background(), stop)
				_ = s.Close()
				if c.failure == study.FailInterrupted {
					if !errors.Is(err, session.ErrStopped) {
						t.Fatal(err)
					}
					if _, err = finish(t, dir, &cfg, f); err != nil {
						t.Fatal(err)
					}
				}
				var ended []study.FailureKind
				for _, line := range lines(t, dir) {
					for _, k := range []study.FailureKind{study.FailInterrupted, study.FailSignal} {
						if strings.Contains(line, `"kind":"`+string(k)+`"`) {
							ended = append(ended, k)
						}
					}
				}
				if got := strings.Join(f.launched, " "); got != c.tries || len(ended) != 1 || ended[0] != c.failure {
					t.Errorf("launched %s, failed by %v", got, ended)
				}
			})
		})
	}
}

// What ended while lbotune was dead is lost if a signal has ended it, for the machine was going
// down, or if what was to be measured has not been seen.
func TestEndsWithoutLbotune(t *testing.T) {
	for name, c := range map[string]struct {
		measure study.Measure
		exit    string
	}{
		"signal": {"", `{"code":143,"signal":"SIGTERM"}`},
		"memory": {study.PeakMemory, `{"code":0}`},
	} {
		bubble(t, func(t *testing.T, dir string) {
			cfg := config()
			cfg.Budget.Trials = 1
			if c.measure != "" {
				cfg.Metrics[0].Measure, cfg.Metrics[0].Rule = c.measure, parser.Rule{}
			}
			stop := make(chan session.Stop, 1)
			f := &fakeLauncher{program: func(runner.Job) ending {
				stop <- session.StopHere // as good as a kill
				return ending{takes: time.Hour}
			}}
			s := open(t, dir, &cfg, f)
			_ = s.Run(context.Background(), stop)
			_ = s.Close()
			time.Sleep(2 * time.Hour) // until the goroutine has ended that stands for what was left
			if err := os.WriteFile(filepath.Join(dir, "trials", "000001", "a1", "exit"), []byte(c.exit), 0o600); err != nil {
				t.Fatal(err)
			}
			f.program = func(job runner.Job) ending {
				e := parabola(job)
				e.exit.PeakMemory = 1
				return e
			}
			st, err := finish(t, dir, &cfg, f)
			if err != nil || st.Trials[0].Status != optimizer.Succeeded || st.Trials[0].Attempt != 2 {
				t.Errorf("%s: %v, %+v", name, err, st.Trials[0])
			}
		})
	}
}
