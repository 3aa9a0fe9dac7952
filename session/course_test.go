package session_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

// epochs prints the loss and the accuracy of n epochs.
func epochs(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "epoch %d loss %v\naccuracy %v epoch %d\n", i, 1/float64(i), 1-1/float64(i), i)
	}
	return b.String()
}

// The course of a trial is recorded, whether there is a pruner or not, and thinned to a
// bounded number of measurements, of which the last is the trial's last.
func TestCourse(t *testing.T) {
	for name, c := range map[string]struct {
		out   string
		every time.Duration
		most  int
		least int
	}{
		"short":      {out: epochs(5), most: 5, least: 5},
		"followed":   {out: epochs(20), every: time.Second, most: 20, least: 20},
		"long":       {out: epochs(999), most: 64 + 4*32, least: 64 + 3*32},
		"no steps":   {out: "loss 3\naccuracy 0.5\n", most: 0},
		"many of it": {out: strings.Repeat("loss 3\n", 10), most: 10, least: 10},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				cfg.Budget.Trials = 1
				cfg.Metrics[0].Rule.Step = "epoch"
				cfg.Metrics = append(cfg.Metrics, study.Metric{Name: "accuracy", Rule: parser.Rule{Metric: "accuracy", Step: "epoch"}})
				f := &fakeLauncher{program: func(runner.Job) ending { return ending{stdout: c.out, every: c.every, takes: time.Second} }}
				st, err := finish(t, dir, &cfg, f)
				if err != nil {
					t.Fatal(err)
				}
				trial := st.Trials[0]
				if n := len(trial.Measurements); n < c.least || n > c.most {
					t.Fatalf("%d measurements; want %d to %d", n, c.least, c.most)
				}
				if n := len(trial.Measurements); name == "long" && trial.Measurements[n-1].Step != 999 {
					t.Errorf("the last of them is of step %v", trial.Measurements[n-1].Step)
				}
				for i, m := range trial.Measurements {
					if loss := float64(m.Metrics["loss"]); name != "many of it" && (loss != 1/m.Step || float64(m.Metrics["accuracy"]) != 1-1/m.Step) {
						t.Errorf("measurement %d: %+v", i, m)
					}
					if c.every > 0 && m.Seconds <= 0 {
						t.Errorf("measurement %d was read at no time", i)
					}
				}
				again, err := study.Load(dir)
				if err != nil || !reflect.DeepEqual(again.Trials[0].Measurements, trial.Measurements) {
					t.Errorf("the journal has another course: %v", err)
				}
			})
		})
	}
}

// When and where each attempt ran is in the journal.
func TestAttemptsAreDated(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Budget.Trials, cfg.Run.Retries, cfg.Run.Workers = 2, 1, 2
		f := &fakeLauncher{program: func(job runner.Job) ending {
			if strings.HasSuffix(job.ID, "/1") {
				return ending{takes: time.Second, exit: runner.Exit{Code: 1}}
			}
			return ending{takes: time.Second, stdout: "loss=1\n"}
		}}
		if _, err := finish(t, dir, &cfg, f); err != nil {
			t.Fatal(err)
		}
		st, err := study.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, trial := range st.Trials {
			if trial.Proposed.IsZero() || len(trial.Attempts) != 2 {
				t.Fatalf("trial %d: proposed %v, attempts %+v", trial.Number, trial.Proposed, trial.Attempts)
			}
			for i, a := range trial.Attempts {
				if a.Number != i+1 || a.Host == "" || a.Queued.IsZero() || a.Started.Before(a.Queued) || a.Ended.Sub(a.Started) != time.Second {
					t.Errorf("trial %d: attempt %+v", trial.Number, a)
				}
			}
		}
	})
}
