package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
)

// Contenders is how many of the best trials are run again to confirm them.
const Contenders = 3

// Confirmation is what the repeats of one of the best trials say. The value by
// which it became one of the best is not among them: it was chosen for being
// good, and so is too good on average.
type Confirmation struct {
	Trial   *Trial
	N       int     // values, at least 2
	Mean    float64 // of the values, as the program prints them
	Metrics Metrics // means of all metrics
	Margin  float64 // half the width of a 95 % confidence interval of the mean
	sd      float64 // standard deviation of one value
}

// Confirmations lists the trials that were confirmed, the best mean first of those whose
// means hold every limit.
func (s *State) Confirmations() []Confirmation {
	if s.Config.Run.Confirm == 0 {
		return nil
	}
	var out []Confirmation
	for _, t := range s.those(func(t *Trial) bool { return len(t.Confirms) > 1 && t.Succeeded() }) {
		values := lists.Map(t.Confirms, func(m Metrics) float64 { return m[s.Config.Objective().Name] })
		mean, sd := stat.MeanStdDev(values, nil)
		n := float64(len(t.Confirms))
		out = append(out, Confirmation{Trial: t, N: len(t.Confirms), Mean: mean, Metrics: Combine(t.Confirms, "mean"), Margin: studentQuantile(n-1, 0.05) * sd / math.Sqrt(n), sd: sd})
	}
	slices.SortStableFunc(out, func(a, b Confirmation) int {
		return cmp.Or(cmp.Compare(s.Config.violation(a.Metrics), s.Config.violation(b.Metrics)),
			cmp.Compare(s.worth(b.Mean), s.worth(a.Mean)))
	})
	return out
}

func (s *State) confirmed(t *Trial, e Confirmed, at time.Time) error {
	if v, ok := e.Metrics.Get(s.Config.Objective().Name); e.Metrics != nil && (!ok || math.IsNaN(v) || math.IsInf(v, 0)) {
		return fmt.Errorf("trial %d: confirmed without a value", e.Trial)
	}
	t.last = int32(e.Attempt)
	s.over(t, e.Attempt, e.Slot, e.Seconds, at)
	switch {
	case e.Metrics != nil:
		t.Confirms = append(t.Confirms, e.Metrics)
		t.retried += (t.ConfirmFailures - t.retried) % (s.Config.Run.Retries + 1)
	case e.Failure != nil && !e.Failure.Kind.Blameless():
		t.ConfirmFailures++
	}
	s.watchSafety(t)
	if s.Config.Several() && len(t.Confirms) > 1 {
		s.findBest() // it may break a limit on average, and not be on the front
	}
	return nil
}

// Tied reports whether the means cannot be told apart: an interval of their difference, with
// Welch's degrees of freedom (Welch 1947), contains 0. Its level is such that of so many
// contenders that are equal some pair is told apart in at most 5 % (Bonferroni).
func (c Confirmation) Tied(d Confirmation, among int) bool {
	a, b := c.sd*c.sd/float64(c.N), d.sd*d.sd/float64(d.N)
	if a+b == 0 {
		return c.Mean == d.Mean
	}
	nu := (a + b) * (a + b) / (a*a/float64(c.N-1) + b*b/float64(d.N-1))
	pairs := float64(max(among*(among-1)/2, 1))
	return math.Abs(c.Mean-d.Mean) <= studentQuantile(nu, 0.05/pairs)*math.Sqrt(a+b)
}

// studentQuantile is the point of Student's t distribution beyond which, on both sides, this
// probability lies.
func studentQuantile(nu, beyond float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}.Quantile(1 - beyond/2)
}

// Unconfirmed lists the best trials, or those of the front, that have not been run again
// often enough. What breaks the safety limit is not run again.
func (s *State) Unconfirmed() []*Trial {
	if s.Config.Run.Confirm == 0 {
		return nil
	}
	return slices.DeleteFunc(s.contenders(), func(t *Trial) bool { return s.enough(t) || s.Breaks(t) })
}

// enough counts a run as failed that has failed once more than there are retries. Once the study is closed,
// each failure counts: earlier versions had no retries here.
func (s *State) enough(t *Trial) bool {
	failed := t.ConfirmFailures
	if s.Closed == nil {
		failed = (failed - t.retried) / (s.Config.Run.Retries + 1)
	}
	return len(t.Confirms)+failed >= s.Config.Run.Confirm
}

// contenders are the trials that are run again: those of the front, or the best of those that
// have held every limit, and the next ones down the ranking as long as all of them break one with their
// means, or have failed too often to have one. Beside these it is the trial with today's values: what is gained over them is not
// known from one run.
func (s *State) contenders() []*Trial {
	if s.Config.Several() {
		return s.Front()
	}
	best := s.Ranked()
	held := slices.DeleteFunc(slices.Clone(best), func(t *Trial) bool { return s.Config.violation(t.Metrics) > 0 })
	if len(held) == 0 {
		return best[:min(Contenders, len(best))]
	}
	n := min(Contenders, len(held))
	for n < len(held) && !slices.ContainsFunc(held[:n], func(t *Trial) bool { return !s.enough(t) || s.Feasible(t) && len(t.Confirms) > 1 }) {
		n++
	}
	held = held[:n]
	if t := s.today(); t != nil && !slices.Contains(held, t) {
		held = append(held, t)
	}
	return held
}

// today is the trial with today's values, nil if there is none or it has not succeeded.
func (s *State) today() *Trial {
	i := slices.IndexFunc(s.Trials, func(t *Trial) bool { return t.Origin == optimizer.OriginDefault && t.Succeeded() })
	if i < 0 {
		return nil
	}
	return s.Trials[i]
}
