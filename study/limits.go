package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
)

// Limit is one bound on a metric: a constraint, or the safety limit. A trial that breaks it
// has succeeded, but is never the best while another one holds all limits.
type Limit struct {
	Metric string
	At     float64
	Least  bool // the metric must be at least At; else at most
}

// Limited reports whether the metric has a limit, so that trials must report it.
func (m Metric) Limited() bool { return m.Min != nil || m.Max != nil }

// Limits are the constraints of the study, in the order of its metrics.
func (c *Config) Limits() []Limit {
	var out []Limit
	for _, m := range c.Metrics {
		if m.Max != nil {
			out = append(out, Limit{Metric: m.Name, At: *m.Max})
		}
		if m.Min != nil {
			out = append(out, Limit{Metric: m.Name, At: *m.Min, Least: true})
		}
	}
	return out
}

// AllLimits are the constraints and the safety limit, which the optimizer does not see as one.
func (c *Config) AllLimits() []Limit {
	out := c.Limits()
	if c.Safety != nil && !slices.Contains(out, c.Safety.limit()) {
		out = append(out, c.Safety.limit())
	}
	return out
}

// Over is by how much the metrics break the limit, as a share of it (of 1 if it is 0);
// 0 and less if they hold it, NaN if they say nothing of it.
func (l Limit) Over(m outcomes) float64 {
	v, ok := m.Get(l.Metric)
	if !ok {
		return math.NaN()
	}
	over := (v - l.At) / cmp.Or(math.Abs(l.At), 1)
	if l.Least {
		over = -over
	}
	return over
}

// Broken says in what way the metrics break the limit.
func (l Limit) Broken(m outcomes) string {
	side := "above"
	if l.Least {
		side = "below"
	}
	limit := strconv.FormatFloat(l.At, 'g', -1, 64)
	if v, ok := m.Get(l.Metric); ok {
		breaks := func(v float64) bool { return !(l.Over(Metrics{l.Metric: v}) <= 0) }
		return fmt.Sprintf("%s = %s, %s %s", l.Metric, shortest(v, 6, breaks), side, limit)
	}
	return fmt.Sprintf("%s is not known, its limit is %s", l.Metric, limit)
}

// shortest writes a number with so many digits, or as many more as it takes to be as it must.
func shortest(v float64, digits int, must func(float64) bool) string {
	for ; digits < 17; digits++ {
		text := strconv.FormatFloat(v, 'g', digits, 64)
		if short, err := strconv.ParseFloat(text, 64); err == nil && must(short) {
			return text
		}
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// violation is the sum of what a trial's metrics are over each limit; 0 if they hold all.
// What is not known is no better than anything that is.
func (c *Config) violation(m outcomes) float64 {
	sum := 0.0
	for _, l := range c.AllLimits() {
		over := l.Over(m)
		if math.IsNaN(over) {
			return math.Inf(1)
		}
		sum += math.Max(over, 0)
	}
	return sum
}

// Means are the metrics by which it is judged whether a trial holds the limits: its own, or
// the means of the runs that have confirmed it, since it was chosen for what its own were.
func (s *State) Means(t *Trial) Reported {
	if s.Config.Run.Confirm > 0 && len(t.Confirms) > 1 {
		return Combine(t.Confirms, "mean").reported()
	}
	return t.Metrics
}

// Feasible reports whether a trial with a value holds every limit, by its Means, and at the
// end of a study with noise by what the model expects.
func (s *State) Feasible(t *Trial) bool {
	return s.Config.violation(s.Means(t)) == 0 && (!s.Doubtful(t) || len(t.Confirms) > 1)
}

// StandingOf is the standing of a trial as people want to know it: whether it counts, and holds the limits.
func (s *State) StandingOf(t *Trial) string {
	switch {
	case !t.Done():
		return "unfinished"
	case t.Excluded:
		return "excluded"
	case t.Outside:
		return "out of range"
	case t.Succeeded() && !s.Feasible(t):
		return "infeasible"
	}
	return string(t.Status)
}

// NoneCounts says that trials succeeded and none of them counts, and nothing if none succeeded.
func (s *State) NoneCounts() string {
	n := s.Count(optimizer.Succeeded)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("no trial counts: %d succeeded, all excluded or out of range", n)
}

// Doubtful reports whether a trial at the end of a study holds the limits by its values alone.
func (s *State) Doubtful(t *Trial) bool {
	return s.Closed != nil && slices.Contains(s.Closed.Doubtful, t.Number)
}

// violation is that of a trial's own values, but of several objectives, if these hold all limits,
// that of its Means: what was confirmed and breaks one makes room on the front. One that is in
// doubt comes after all that are not.
func (s *State) violation(t *Trial) float64 {
	v := s.Config.violation(&t.Metrics)
	if v == 0 && s.Config.Several() {
		return s.Config.violation(s.Means(t))
	}
	if v == 0 && s.Doubtful(t) {
		v = math.SmallestNonzeroFloat64
	}
	return v
}

// Ranked lists the trials with a value, the best first.
func (s *State) Ranked() []*Trial {
	out := s.those((*Trial).Succeeded)
	slices.SortStableFunc(out, s.Compare)
	return out
}

// Compare orders trials with a value, the better one first: those that hold every limit
// by their values, and after them the others, the least violating first.
func (s *State) Compare(a, b *Trial) int {
	return cmp.Or(cmp.Compare(s.violation(a), s.violation(b)),
		cmp.Compare(s.worth(b.Value), s.worth(a.Value)))
}

func (s *State) constraints(t *Trial) []float64 {
	limits := s.Config.Limits()
	switch {
	case t.Status == optimizer.Failed:
		return s.meant(limits, t.Failure)
	case t.Status == optimizer.Pruned && s.Search.resource == "":
		return nil // its metrics are not final
	}
	return lists.Map(limits, func(l Limit) float64 { return l.Over(t.Metrics) })
}

func (c *Cut) limited() bool { return c != nil && c.Metric != "" }

// limited reports whether the finished trial was stopped for a limit that its last attempt broke.
func (t *Trial) limited() bool { return t.Cut.limited() && t.Cut.Attempt == t.Attempt }

// broken is what the optimizer is told of a trial that was stopped at a limit: by how much
// the reading breaks it. Nothing else of it is final.
func (s *State) broken(c *Cut) []float64 {
	return lists.Map(s.Config.Limits(), func(l Limit) float64 {
		if over := l.Over(Metrics{c.Metric: c.Reading.Value}); over > 0 {
			return over
		}
		return math.NaN() // it is of another metric, or another by now, and the end would have told
	})
}

// meant is what a failure says of the limits, where the config says what failures mean:
// that the first limit of that metric is broken, by an amount that is not known.
func (s *State) meant(limits []Limit, f *Failure) []float64 {
	means := slices.IndexFunc(limits, func(l Limit) bool { return l.Metric == s.Config.Run.FailedMeans })
	if means < 0 || f == nil || !slices.Contains([]FailureKind{FailExit, FailSignal, FailTimeout, FailTold}, f.Kind) {
		return nil
	}
	out := slices.Repeat([]float64{math.NaN()}, len(limits))
	out[means] = math.Inf(1)
	return out
}

// Broken says which limits the metrics break, and in what way.
func (c *Config) Broken(m outcomes) []string {
	broken := slices.DeleteFunc(c.AllLimits(), func(l Limit) bool { return l.Over(m) <= 0 })
	return lists.Map(broken, func(l Limit) string { return l.Broken(m) })
}
