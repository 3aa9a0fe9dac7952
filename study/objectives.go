package study

import (
	"cmp"
	"math"
	"slices"

	"github.com/lbotune/lbotune/optimizer"
)

// Objectives are the metrics that are optimized, the first of them first.
func (c *Config) Objectives() []Metric {
	var out []Metric
	for _, m := range c.Metrics {
		if m.Direction != "" {
			out = append(out, m)
		}
	}
	return out
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
	for _, o := range c.Objectives() {
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
	var out []float64
	for _, o := range c.Objectives() {
		at := math.Inf(-1)
		if o.Threshold != nil {
			at = o.Direction.Maximized(*o.Threshold)
		}
		out = append(out, at)
	}
	return out
}

// Query asks the optimizer for a trial.
func (s *State) Query(trial int) optimizer.Query {
	return optimizer.Query{Trial: trial, Thresholds: s.Config.thresholds()}
}

// Front lists the trials with a value that no other dominates, the best in the first
// objective first: of those that hold every limit, or if there are none of the least
// violating.
func (s *State) Front() []*Trial {
	var rivals []*Trial
	least := math.Inf(1)
	for _, n := range s.Order {
		t := s.Trials[n-1]
		if !t.Succeeded() {
			continue
		}
		over := s.Config.Violation(t.Metrics)
		if over < least {
			rivals, least = nil, over
		}
		if over == least {
			rivals = append(rivals, t)
		}
	}
	var values [][]float64
	for _, t := range rivals {
		values = append(values, s.Config.maximized(t.Metrics))
	}
	var out []*Trial
	for _, i := range optimizer.Front(values) {
		out = append(out, rivals[i])
	}
	slices.SortStableFunc(out, s.Compare)
	return out
}

// Hypervolume is the volume between the front and the reference point, in the product of
// the objectives' units: the thresholds, and where there is none the worst value of any
// trial that holds every limit. It is 0 while none does.
func (s *State) Hypervolume() float64 {
	if all := s.Hypervolumes(); len(all) > 0 {
		return all[len(all)-1]
	}
	return 0
}

// Hypervolumes are those of the fronts after each trial that finished. All have today's
// reference point, so that they never fall.
func (s *State) Hypervolumes() []float64 {
	values := make([][]float64, len(s.Order)) // nil for a trial that does not count
	worst := slices.Repeat([]float64{math.Inf(1)}, len(s.Config.Objectives()))
	for i, n := range s.Order {
		if t := s.Trials[n-1]; t.Succeeded() && s.Feasible(t) {
			values[i] = s.Config.maximized(t.Metrics)
			for j, v := range values[i] {
				worst[j] = math.Min(worst[j], v)
			}
		}
	}
	for j, at := range s.Config.thresholds() {
		if !math.IsInf(at, -1) {
			worst[j] = at
		}
	}
	var front [][]float64
	out, volume := make([]float64, len(values)), 0.0
	for i, v := range values {
		if v != nil && !slices.ContainsFunc(front, func(u []float64) bool { return noBetter(v, u) }) {
			front = append(slices.DeleteFunc(front, func(u []float64) bool { return noBetter(u, v) }), v)
			volume = optimizer.Hypervolume(front, worst)
		}
		out[i] = volume
	}
	return out
}

// joins reports whether a finished trial is on the front of those that finished before.
func (s *State) joins(t *Trial) bool {
	over, v := s.Config.Violation(t.Metrics), s.Config.maximized(t.Metrics)
	for _, n := range s.Order {
		u := s.Trials[n-1]
		if u == t {
			return true
		}
		if !u.Succeeded() {
			continue
		}
		if rival := s.Config.Violation(u.Metrics); rival < over || rival == over && noBetter(v, s.Config.maximized(u.Metrics)) {
			return false
		}
	}
	return true
}

// firstOf is the one of two trials that joined the front, of which the first may be nil,
// that stands for it: the better one in the first objective that is on it still.
func (s *State) firstOf(was, t *Trial) *Trial {
	if was == nil || s.Compare(t, was) < 0 ||
		s.Config.Violation(t.Metrics) == s.Config.Violation(was.Metrics) && noBetter(s.Config.maximized(was.Metrics), s.Config.maximized(t.Metrics)) {
		return t
	}
	return was
}

// noBetter reports whether a is nowhere better than b.
func noBetter(a, b []float64) bool {
	for j := range a {
		if a[j] > b[j] {
			return false
		}
	}
	return true
}

// reached reports whether a trial is as good as those objectives want it that have a goal.
func (s *State) reached(t *Trial) bool {
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
	return goals && s.Feasible(t)
}

// Preference chooses one trial of a front: bounds that it must keep, and weights of
// objectives by their names.
type Preference struct {
	Bounds  []Limit
	Weights map[string]float64
}

// Preferred returns the trial of the front that keeps the bounds and has the largest
// weighted sum of the objectives, each from 0 for the worst of the front to 1 for its
// best; nil if none keeps them. Without weights the first objective alone counts.
func (s *State) Preferred(p Preference) *Trial {
	front := s.Front()
	objectives := s.Config.Objectives()
	worth := func(t *Trial) float64 {
		sum := 0.0
		for j, o := range objectives {
			weight := p.Weights[o.Name]
			if len(p.Weights) == 0 && j == 0 {
				weight = 1
			}
			low, high := math.Inf(1), math.Inf(-1)
			for _, u := range front {
				v := s.Config.maximized(u.Metrics)[j]
				low, high = math.Min(low, v), math.Max(high, v)
			}
			if high > low {
				sum += weight * (s.Config.maximized(t.Metrics)[j] - low) / (high - low)
			}
		}
		return sum
	}
	kept := slices.DeleteFunc(slices.Clone(front), func(t *Trial) bool {
		return slices.ContainsFunc(p.Bounds, func(l Limit) bool { return !(l.Over(t.Metrics) <= 0) })
	})
	if len(kept) == 0 {
		return nil
	}
	return slices.MaxFunc(kept, func(a, b *Trial) int { return cmp.Compare(worth(a), worth(b)) })
}
