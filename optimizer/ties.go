package optimizer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/spaces"
)

// plateaus are where values are equal to the last digit, as shares of errors among few
// examples are, or beside a parameter that does nothing. A model that interpolates them
// expects a little more beside each, and would fill them with trials.
type plateaus struct {
	x      [][]float64 // the successes that the model knows, in units of the length scales
	y      []float64
	scales []float64
}

// leastTies is how many values must equal another one before there is a plateau.
const leastTies = 2

// plateaus returns nil where there are none. Under noise equal values are chance, and with
// limits trials of equal value may differ in these.
func (a *ask) plateaus(s *surrogate) *plateaus {
	if a.set.Local != on || s.noisy() || s.limits != nil {
		return nil
	}
	f := &plateaus{y: pick(a.past.y, s.rows), scales: s.fit.Hyper.Lengths()}
	seen, ties := make(map[float64]bool, len(f.y)), 0
	for _, y := range f.y {
		if seen[y] {
			ties++
		}
		seen[y] = true
	}
	if ties < leastTies {
		return nil
	}
	f.x = mapped(s.rows, func(i int) []float64 { return floats.DivTo(make([]float64, len(f.scales)), a.past.x[i], f.scales) })
	return f
}

// featureless reports whether there is nothing to search by: all trials have the same values and keep the limits by
// the same amounts, and nothing is known of failures, of pruned trials, of earlier studies, or of where the best is
// guessed to be. What a model is least sure of then are the corners of the space, over and over.
func (a *ask) featureless() bool {
	told := a.past.told
	if a.lbo.printed != nil || a.view.success != nil || a.view.surrogate.prior != nil || a.lbo.guess != nil || len(told) <= leastTies {
		return false
	}
	return !slices.ContainsFunc(told, func(o Observation) bool {
		return o.Status != Succeeded || !slices.Equal(o.Values, told[0].Values) || !slices.Equal(o.Constraints, told[0].Constraints)
	})
}

// holds reports whether p will hardly be anything new: the two successes next to it have the
// same value.
func (f *plateaus) holds(p []float64) bool {
	if f == nil {
		return false
	}
	var near [2]int
	least := [2]float64{-1, -1} // squared distances
	for k, x := range f.x {
		d := 0.0
		for j, u := range x {
			t := p[j]/f.scales[j] - u
			d += t * t
		}
		switch {
		case least[0] < 0 || d < least[0]:
			near, least = [2]int{k, near[0]}, [2]float64{d, least[0]}
		case least[1] < 0 || d < least[1]:
			near[1], least[1] = k, d
		}
	}
	return f.y[near[0]] == f.y[near[1]]
}

// What a model takes for noise may be ruggedness. Twins tell the one from the other: two
// trials so close to each other that a program without noise gives both the same value.
const (
	twinApart = 1e-6 // in the maximum norm
	twinsWant = 2    // pairs, for one may agree by chance where values are coarse
	twinLooks = 250  // successes among which a twin is looked for, and the best
	twinAgree = 0.02 // how far apart the values of twins may lie, in units of the noise
)

// twinOf returns the success next to p, -1 if there is none: the best, or one of the last
// few hundred, so that telling a trial does not take the longer the more there are.
func (h *history) twinOf(p []float64) int {
	next := func(x []float64) bool { return chebyshev(x, p) <= twinApart }
	from := max(0, len(h.x)-twinLooks)
	if i := slices.IndexFunc(h.x[from:], next); i >= 0 {
		return from + i
	}
	if h.best >= 0 && next(h.x[h.best]) {
		return h.best
	}
	return -1
}

// agree reports whether all twins have the same value, for all that noise matters.
func (s *surrogate) agree(twins [][2]int) bool {
	return !slices.ContainsFunc(twins, func(t [2]int) bool {
		return math.Abs(s.z[t[0]]-s.z[t[1]]) > twinAgree*math.Max(s.noise, noisySD)
	})
}

// twin returns a twin of the best trial while it is open whether there is noise.
func (a *ask) twin() (spaces.Point, bool) {
	_, declared := a.set.Noise.number()
	open := !declared && a.view.surrogate.noisy() && len(a.past.twins) < twinsWant && a.view.surrogate.agree(a.past.twins)
	if !open || a.set.Local != on || len(a.past.y) < 3*(a.past.space.Len()+1) {
		return nil, false
	}
	best := a.past.x[a.past.best]
	for _, j := range a.dom.free(best) {
		q := slices.Clone(best)
		q[j] += math.Copysign(twinApart/float64(2+len(a.past.twins)), 0.5-q[j])
		if q = a.dom.snap(q); chebyshev(q, best) <= twinApart && !a.taken(q) {
			return q, true
		}
	}
	return nil, false
}
