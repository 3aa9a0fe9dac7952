package session_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// A trial that its readings end has the value that pick takes of them, whatever its function returns then.
func TestReport(t *testing.T) {
	for pick, want := range map[string]float64{"": 2, "last": 2, "first": 3, "min": 1, "max": 3, "mean": 2} {
		t.Run("pick "+pick, func(t *testing.T) {
			c := config()
			c.Budget.Trials, c.Prune = 1, &study.Prune{Method: "patience", Patience: 2}
			c.Metrics[0].Rule.Pick = pick
			s, err := session.Open(&c, session.Options{Dir: t.TempDir(), Optimizer: newFakeOptimizer})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			reports := 0
			err = s.Try(t.Context(), func(trial study.Trial) (study.Metrics, error) {
				for step, v := range []float64{3, 1, 2, 2, 0} {
					reports++
					if over, err := s.Report(trial.Number, float64(step+1), study.Metrics{"loss": v}); over || err != nil {
						return study.Metrics{"loss": 7}, err
					}
				}
				return study.Metrics{"loss": 0}, nil
			})
			if trial := s.State().Trials[0]; err != nil || reports != 4 || trial.Status != optimizer.Succeeded || trial.Value != want {
				t.Errorf("%v after %d reports: %s with %v, want %v", err, reports, trial.Status, trial.Value, want)
			}
		})
	}
}

// reports is curves for a program that runs the trials itself, and gives its study up after each.
func reports(t *testing.T, p study.Prune, curves ...string) *study.State {
	t.Helper()
	dir := t.TempDir()
	c := config()
	c.Budget.Trials, c.Prune = len(curves), &p
	for _, curve := range curves {
		s, err := session.Open(&c, session.Options{Dir: dir, Optimizer: newFakeOptimizer})
		if err != nil {
			t.Fatal(err)
		}
		trial, err := s.Ask(t.Context())
		over, last := false, 0.0
		for i, v := range strings.Fields(curve) {
			if last, _ = strconv.ParseFloat(v, 64); err == nil && !over {
				over, err = s.Report(trial.Number, float64(i+1), study.Metrics{"loss": last})
			}
		}
		if err == nil {
			err = s.Tell(trial.Number, study.Metrics{"loss": last})
		}
		if err != nil || s.Close() != nil {
			t.Fatal(err)
		}
	}
	st, err := study.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return st
}
