package session_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

// A program that lbotune ends may be in the middle of a number. What it has printed of its
// last line is no reading: of a trial stopped by a pruner, and of one that broke a limit.
func TestHalfALineOfAStoppedTrial(t *testing.T) {
	limit := 8.0
	for name, c := range map[string]struct {
		rule   parser.Rule
		stdout string
		rest   string
		want   float64
		limits bool
	}{
		"in a number":           {parser.Rule{Metric: "loss", Step: "epoch"}, "epoch=1 loss=5\nepoch=2 loss=4\nepoch=3 loss=4\nepoch=4 loss=4\n", "epoch=5 loss=0.", 4, false},
		"the least of them":     {parser.Rule{Metric: "loss", Step: "epoch", Pick: "min"}, "epoch=1 loss=5\nepoch=2 loss=4\nepoch=3 loss=4\nepoch=4 loss=4\n", "epoch=5 loss=0.", 4, false},
		"with its end":          {parser.Rule{Metric: "loss", Step: "epoch"}, "epoch=1 loss=5\nepoch=2 loss=4\nepoch=3 loss=4\nepoch=4 loss=4\n", "epoch=5 loss=0.5\n", 0.5, false},
		"a whole JSON text":     {parser.Rule{JSON: "loss", Step: "epoch"}, "{\"epoch\":1,\"loss\":5}\n{\"epoch\":2,\"loss\":5}\n{\"epoch\":3,\"loss\":5}\n", `{"epoch":4,"loss":3}`, 3, false},
		"the start of a JSON":   {parser.Rule{JSON: "loss", Step: "epoch"}, "{\"epoch\":1,\"loss\":5}\n{\"epoch\":2,\"loss\":5}\n{\"epoch\":3,\"loss\":5}\n", `{"epoch":4,"loss":3`, 5, false},
		"after a limit, broken": {parser.Rule{Metric: "loss"}, "loss=2\nepoch=1 mem=9\nloss=3\n", "loss=0.", 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, cfg := t.TempDir(), config()
				cfg.Budget.Trials, cfg.Metrics[0].Rule = 1, c.rule
				if c.limits {
					cfg.Metrics = append(cfg.Metrics, study.Metric{Name: "mem", Rule: parser.Rule{Metric: "mem", Step: "epoch"}, Max: &limit, Stop: true})
				} else {
					cfg.Prune = &study.Prune{Method: "patience", Patience: 2}
				}
				f := &fakeLauncher{program: func(runner.Job) ending {
					return ending{stdout: c.stdout + strings.Repeat("on\n", 9), every: time.Minute, rest: c.rest}
				}}
				st, err := finish(t, dir, &cfg, f)
				if trial := st.Trials[0]; trial.Cut == nil || trial.Value != c.want {
					t.Errorf("%v: cut %+v, value %v, want %v", err, trial.Cut, trial.Value, c.want)
				}
			})
		})
	}
}

// The same holds for a program that a signal has ended, where the spec calls that a success, and
// for what a command has left behind. One that ends by itself may print its last line without an end.
func TestHalfALineOfAnEndedProgram(t *testing.T) {
	for _, c := range []struct {
		exit runner.Exit
		want float64
	}{
		{runner.Exit{Code: 143, Signal: "SIGTERM"}, 5},
		{runner.Exit{Code: 143, Counted: &runner.Lengths{Stdout: 15}}, 5},
		{runner.Exit{Code: 143}, 0.5},
	} {
		t.Run(fmt.Sprint(c.exit.Signal, c.exit.Counted != nil), func(t *testing.T) {
			exit, want := c.exit, c.want
			bubble(t, func(t *testing.T, dir string) {
				c := config()
				c.Budget.Trials, c.Run.OKExit = 1, []int{143}
				f := &fakeLauncher{program: func(runner.Job) ending { return ending{stdout: "loss=5\nloss=0.5", exit: exit} }}
				st, err := finish(t, dir, &c, f)
				if err != nil || st.Trials[0].Value != want {
					t.Errorf("%+v: %v, value %v, want %v", exit, err, st.Trials[0].Value, want)
				}
			})
		})
	}
}

// What leftovers on another machine print as they are ended may be followed before it is known that
// it does not count.
func TestFollowedTooFar(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials, c.Prune = 1, &study.Prune{Method: "patience", Patience: 9}
		c.Metrics[0].Rule.Step = "epoch"
		const counts = "epoch=1 loss=5\nepoch=2 loss=0.5\n"
		e := ending{stdout: counts + "epoch=3 loss=99\n", every: time.Minute, exit: runner.Exit{Counted: &runner.Lengths{Stdout: int64(len(counts))}}}
		st, err := finish(t, dir, &c, &fakeLauncher{program: func(runner.Job) ending { return e }})
		if err != nil || st.Trials[0].Value != 0.5 {
			t.Errorf("%v, value %v", err, st.Trials[0].Value)
		}
	})
}

// Of an output that was emptied while it was written, only what is known to be behind that counts.
func TestEmptiedOutput(t *testing.T) {
	for pick, want := range map[string]float64{"last": 3, "min": math.NaN(), "first": math.NaN()} {
		for _, followed := range []bool{false, true} {
			t.Run(fmt.Sprint(pick, followed), func(t *testing.T) {
				bubble(t, func(t *testing.T, dir string) {
					c := config()
					c.Budget.Trials, c.Metrics[0].Rule.Pick = 1, pick
					e := ending{stdout: "loss=5\nloss=3\n", exit: runner.Exit{Emptied: &runner.Lengths{Stdout: 99, Stderr: 99}}}
					if followed {
						e.every = time.Minute
					}
					st, _ := finish(t, dir, &c, &fakeLauncher{program: func(runner.Job) ending { return e }})
					trial := st.Trials[0]
					if trial.Succeeded() != (want == want) || trial.Succeeded() && trial.Value != want {
						t.Errorf("%v, value %v", trial.Failure, trial.Value)
					}
				})
			})
		}
	}
}
