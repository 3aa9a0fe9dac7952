package study

import (
	"math"
	"slices"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pareto"
	"github.com/lbotune/lbotune/optimizer"
)

// Objectives are the metrics that are optimized, the first of them first.
func (c *Config) Objectives() []Metric {
	return slices.DeleteFunc(slices.Clone(c.Metrics), func(m Metric) bool { return m.Direction == "" })
}

func (c *Config) hasObjectives(m Metrics) bool {
	for i := range c.Metrics {
		if _, reported := m[c.Metrics[i].Name]; c.Metrics[i].Direction != "" && !reported {
			return false
		}
	}
	return true
}

// Several reports whether there is more than one objective. Then no trial is the best, and
// the front are the trials that no other dominates.
func (c *Config) Several() bool {
	n := 0
	for i := range c.Metrics {
		if c.Metrics[i].Direction != "" {
			n++
		}
	}
	return n > 1
}

// maximized are the objectives in metrics, each turned so that larger is better. One that
// is missing is as bad as can be.
func (c *Config) maximized(m outcomes) []float64 {
	var out []float64
	for i := range c.Metrics { // of which a copy for each trial would take most of the time
		o := &c.Metrics[i]
		if o.Direction == "" {
			continue
		}
		v, ok := m.Get(o.Name)
		if v = o.Direction.Maximized(v); !ok {
			v = math.Inf(-1)
		}
		out = append(out, v)
	}
	return out
}

// thresholds are the values of several objectives above which they count, maximized; −∞
// where the config says nothing.
func (c *Config) thresholds() []float64 {
	if !c.Several() {
		return nil
	}
	return lists.Map(c.Objectives(), func(o Metric) float64 {
		if o.Threshold != nil {
			return o.Direction.Maximized(*o.Threshold)
		}
		return math.Inf(-1)
	})
}

// Query asks the optimizer for a trial beside those that are pending.
func (s *State) Query(trial int) optimizer.Query {
	q := optimizer.Query{Trial: trial, Thresholds: s.Config.thresholds(), Enough: s.tolerated()}
	for _, t := range s.Pending() {
		if !t.Outside {
			q.Pending = append(q.Pending, optimizer.Pending{Trial: t.Number, Point: t.Point})
		}
	}
	return q
}

// Front lists the trials with a value that no other dominates, the best in the first objective
// first: of those that hold every limit, or if there are none of the least violating.
func (s *State) Front() []*Trial {
	out := lists.Map(s.rivals.front, func(r rival) *Trial { return r.trial })
	slices.SortStableFunc(out, s.Compare)
	return out
}

// Hypervolume is the volume between the front and the reference point, in the product of
// the objectives' units: the thresholds, and where there is none the worst value of any
// trial that holds every limit. It is 0 while none does.
func (s *State) Hypervolume() float64 {
	values, _, reference := s.attained()
	return pareto.Volume(values, reference)
}

// Hypervolumes are those of the fronts after each trial that finished. All have today's
// reference point, so that they never fall.
func (s *State) Hypervolumes() []float64 {
	values, at, reference := s.attained()
	out, end := make([]float64, len(s.Order)), len(s.Order)
	volumes, final := pareto.Growth(values, reference), s.Hypervolume()
	for k, v := range slices.Backward(volumes) {
		if v == volumes[len(volumes)-1] {
			v = final // to the last digit what Hypervolume says
		}
		for i := at[k]; i < end; i++ {
			out[i] = min(v, final)
		}
		end = at[k]
	}
	return out
}

// leastGain is the share of hypervolume that the trials of a budget's patience must add: where
// objectives trade off, nearly every trial joins the front.
const leastGain = 0.01

// gain is by which share the trials that patience counts have increased the hypervolume; +∞ as
// long as there are no more than these, or there was none.
func (s *State) gain() float64 {
	if s.gained == nil {
		gained := math.Inf(1)
		values, at, reference := s.attained()
		early, _ := slices.BinarySearch(at, len(s.Order)-s.Config.Budget.Patience)
		if before := pareto.Volume(values[:early], reference); before > 0 {
			gained = pareto.Volume(values, reference)/before - 1
		}
		s.gained = &gained
	}
	return *s.gained
}

// attained returns the objectives of the trials that hold every limit, maximized, where these
// stand in s.Order, and the reference point.
func (s *State) attained() (values [][]float64, at []int, reference []float64) {
	reference = slices.Repeat([]float64{math.Inf(1)}, len(s.Config.Objectives()))
	for i, n := range s.Order {
		if t := s.Trials[n-1]; t.Succeeded() && s.Feasible(t) {
			v := s.Config.maximized(t.Metrics)
			for j := range v {
				reference[j] = math.Min(reference[j], v[j])
			}
			values, at = append(values, v), append(at, i)
		}
	}
	for j, threshold := range s.Config.thresholds() {
		if !math.IsInf(threshold, -1) {
			reference[j] = threshold
		}
	}
	return values, at, reference
}

// rivals are the finished trials on the front: those of the least violation, of which none is
// nowhere better than another.
type rivals struct {
	violation float64
	front     []rival
}

type rival struct {
	trial  *Trial
	values []float64 // maximized
}

// joins has a finished trial take its place on the front of those that finished before, and
// reports whether it has one.
func (s *State) joins(t *Trial) bool {
	over, v, r := s.violation(t), s.Config.maximized(t.Metrics), &s.rivals
	if slices.ContainsFunc(v, math.IsNaN) {
		return false
	}
	if len(r.front) == 0 || over < r.violation {
		*r = rivals{violation: over}
	}
	if over > r.violation || slices.ContainsFunc(r.front, func(u rival) bool { return pareto.Covers(u.values, v) }) {
		return false
	}
	r.front = append(slices.DeleteFunc(r.front, func(u rival) bool { return pareto.Covers(v, u.values) }), rival{t, v})
	return true
}

// reached reports whether a trial is as good as the goal, or as those objectives want it that have one.
func (s *State) reached(t *Trial) bool {
	if g := s.Config.Budget.Goal; g != nil {
		return s.worth(t.Value) >= s.worth(*g)
	}
	goals := false
	for _, o := range s.Config.Objectives() {
		if o.Goal == nil {
			continue
		}
		v, ok := t.Metrics.Get(o.Name)
		if goals = true; !ok || o.Direction.Maximized(v) < o.Direction.Maximized(*o.Goal) {
			return false
		}
	}
	return goals
}
