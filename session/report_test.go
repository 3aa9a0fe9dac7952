package session_test

import (
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
