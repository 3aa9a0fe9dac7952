package optimizer

import (
	"math"
	"slices"

	"github.com/lbotune/lbotune/spaces"
)

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
	_, declared := a.set.Noise.Number()
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
