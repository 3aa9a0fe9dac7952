package session_test

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lbotune/lbotune/internal/inbox"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
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

// reporting opens a study of hand-made trials that a rule stops early.
func reporting(t *testing.T, change func(*study.Config)) *session.Study {
	t.Helper()
	c := config()
	c.Prune = &study.Prune{Method: "patience", Patience: 2}
	change(&c)
	s, err := session.Open(&c, session.Options{Dir: t.TempDir(), Optimizer: newFakeOptimizer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// What was reported of an attempt that was broken off counts for nothing in the next one.
func TestReportsOfATrialThatIsTriedAgain(t *testing.T) {
	s := reporting(t, func(c *study.Config) { c.Budget.Trials, c.Metrics[0].Rule.Pick = 1, "first" })
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.Try(ctx, func(trial study.Trial) (study.Metrics, error) {
		_, err := s.Report(trial.Number, math.NaN(), study.Metrics{"loss": 1})
		cancel()
		return nil, errors.Join(err, ctx.Err())
	}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := s.Try(t.Context(), func(trial study.Trial) (study.Metrics, error) {
		for _, v := range []float64{30, 20, 20, 20} {
			if over, err := s.Report(trial.Number, math.NaN(), study.Metrics{"loss": v}); over || err != nil {
				return study.Metrics{"loss": 7}, err
			}
		}
		return study.Metrics{"loss": 0}, nil
	}); err != nil {
		t.Fatal(err)
	}
	if trial := s.State().Trials[0]; trial.Value != 30 || trial.Cut == nil || trial.Cut.Reading.Step != 4 {
		t.Errorf("value %v, stopped by %+v", trial.Value, trial.Cut)
	}
}

// A trial that a rule ends has no value if a limited metric was not finite, as one that is told has none.
func TestReportsThatAreNotFinite(t *testing.T) {
	most := 9.0
	for name, c := range map[string]struct {
		mem  float64
		loss []float64
		want study.FailureKind
	}{
		"limited": {math.NaN(), []float64{1, 2, 2}, study.FailPruned},
		"loss":    {1, []float64{1, 2, math.NaN()}, study.FailNotFinite},
		"neither": {1, []float64{1, 2, 2}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := reporting(t, func(cfg *study.Config) {
				cfg.Metrics = append(cfg.Metrics, study.Metric{Name: "mem", Rule: parser.Rule{Metric: "mem"}, Max: &most})
			})
			trial, err := s.Ask(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			over := false
			for step, v := range c.loss {
				if over, err = s.Report(trial.Number, float64(step), study.Metrics{"loss": v, "mem": c.mem}); err != nil {
					t.Fatal(err)
				}
			}
			end := s.State().Trials[0]
			if _, has := end.Metrics.Get("mem"); !over || has != (name == "neither") || (end.Failure == nil) != (c.want == "") || end.Failure != nil && end.Failure.Kind != c.want {
				t.Errorf("over %v: %s, %+v, %v", over, end.Status, end.Failure, end.Metrics)
			}
		})
	}
}

// One that breaks the safety limit counts also where a rule ends the trial at the same report.
func TestReportsOverTheSafetyLimit(t *testing.T) {
	limit := 7.5
	for name, c := range map[string]struct {
		pick string
		last float64 // loss, after 4 and 5
		want optimizer.Status
	}{
		"of the loss":  {"min", 8, optimizer.Succeeded},
		"of the other": {"min", 5, optimizer.Succeeded},
		"not finite":   {"last", math.NaN(), optimizer.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			s := reporting(t, func(cfg *study.Config) {
				cfg.Params[0].Default, cfg.Params[1].Default = spaces.Float(0.3), spaces.Int(5)
				cfg.Safety = &study.Safety{Metric: "mem", At: limit, Constant: 100}
				cfg.Metrics[0].Rule.Pick = c.pick
				cfg.Metrics = append(cfg.Metrics, study.Metric{Name: "mem", Rule: parser.Rule{Metric: "mem"}, Max: &limit, Stop: true})
				if name == "of the loss" {
					cfg.Safety.Metric, cfg.Metrics[0].Max, cfg.Metrics[0].Stop, cfg.Metrics = "loss", &limit, true, cfg.Metrics[:1]
				}
			})
			trial, err := s.Ask(t.Context())
			over := false
			for step, v := range []float64{4, 5, c.last} {
				metrics := study.Metrics{"loss": v}
				if name != "of the loss" {
					metrics["mem"] = float64(4 * step)
				}
				if err == nil {
					over, err = s.Report(trial.Number, float64(step), metrics)
				}
			}
			end := s.State().Trials[0]
			if err != nil || !over || end.Status != c.want || c.want == optimizer.Succeeded && end.Value != 4 {
				t.Errorf("%v; over %v: %s with %v", err, over, end.Status, end.Value)
			}
			if got := s.State().Unsafe(); !strings.HasPrefix(got, "trial 1 broke the safety limit") {
				t.Errorf("got %q", got)
			}
		})
	}
}

// Readings of one step are one measurement, whichever call brings them, and none are of no reading.
func TestReportsOfOneStep(t *testing.T) {
	s := reporting(t, func(c *study.Config) {
		c.Metrics = append(c.Metrics, study.Metric{Name: "mem", Rule: parser.Rule{Metric: "mem"}})
	})
	trial, err := s.Ask(t.Context())
	for _, m := range []study.Metrics{nil, {"loss": 3}, {"mem": 1}, {}, {"loss": 2}} {
		if err == nil {
			_, err = s.Report(trial.Number, float64(len(m)), m)
		}
	}
	if err = errors.Join(err, s.Tell(trial.Number, study.Metrics{"loss": 2, "mem": 4})); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range s.State().Trials[0].Measurements {
		found = append(found, strconv.FormatFloat(m.Step, 'g', -1, 64)+" "+strconv.Itoa(len(m.Metrics)))
	}
	if got := strings.Join(found, ", "); got != "1 2, 1 1" {
		t.Errorf("measurements: %s", got)
	}
}

// A long course of reports ends with the last of them.
func TestLastReportIsKept(t *testing.T) {
	s := reporting(t, func(*study.Config) {})
	trial, err := s.Ask(t.Context())
	for step := 1; err == nil && step < 100; step++ {
		_, err = s.Report(trial.Number, float64(step), study.Metrics{"loss": 1 / float64(step)})
	}
	if err = errors.Join(err, s.Tell(trial.Number, study.Metrics{"loss": 1})); err != nil {
		t.Fatal(err)
	}
	course := s.State().Trials[0].Measurements
	if last := course[len(course)-1]; len(course) >= 99 || last.Step != 99 {
		t.Errorf("%d measurements, the last at step %v", len(course), last.Step)
	}
}

// What is taken out beside something that is put back counts no more where readings are compared.
func TestReportsAfterExclusions(t *testing.T) {
	s := reporting(t, func(c *study.Config) { c.Prune = &study.Prune{Method: "median", MinTrials: 1} })
	for n, loss := range []float64{9, 1, 1, 1} {
		trial, err := s.Ask(t.Context())
		if err == nil {
			_, err = s.Report(trial.Number, 1, study.Metrics{"loss": loss})
		}
		if err = errors.Join(err, s.Tell(n+1, study.Metrics{"loss": loss})); err != nil {
			t.Fatal(err)
		}
	}
	err := s.Do(study.Request{Action: study.ActionExclude, Trial: 1})
	for _, r := range []study.Request{{Action: study.ActionExclude, Trial: 2}, {Action: study.ActionExclude, Trial: 3},
		{Action: study.ActionExclude, Trial: 4}, {Action: study.ActionInclude, Trial: 1}} {
		_, more := inbox.Leave(s.Layout(), r)
		err = errors.Join(err, more)
	}
	if err = errors.Join(err, s.Serve()); err != nil {
		t.Fatal(err)
	}
	trial, err := s.Ask(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if over, err := s.Report(trial.Number, 1, study.Metrics{"loss": 5}); over || err != nil {
		t.Errorf("stopped: %v, %v", over, err)
	}
}

// Trials that several goroutines report of do not get in each other's way.
func TestReportsBesideEachOther(t *testing.T) {
	s := reporting(t, func(c *study.Config) { c.Prune.Patience = 3 })
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := s.Try(t.Context(), func(trial study.Trial) (study.Metrics, error) {
				for step := range 9 {
					if over, err := s.Report(trial.Number, float64(step), study.Metrics{"loss": float64(trial.Number)}); over || err != nil {
						return study.Metrics{"loss": 0}, err
					}
				}
				return study.Metrics{"loss": 0}, nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, trial := range s.State().Trials {
		if trial.Value != float64(trial.Number) || len(trial.Measurements) != 4 {
			t.Errorf("trial %d: %v after %d measurements", trial.Number, trial.Value, len(trial.Measurements))
		}
	}
}
