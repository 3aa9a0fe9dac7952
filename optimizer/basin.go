package optimizer

import (
	"math"
	"slices"
)

const (
	basinCandidates = 10   // points that could lie in a basin of their own
	climbSteps      = 40   // of the climb that tells
	climbStep       = 0.02 // their length
)

// basin returns the basin of this ask's local steps, and false if there is
// none: the current one, or after it was finished that of the best point from
// which the posterior mean does not lead back to where the search has been.
// Under noise the centre is the point with the largest posterior mean.
func (a *ask) basin() (basin, bool) {
	b := a.lbo.trust.basin
	if a.lbo.finite != nil || b.centre < 0 {
		return b, false
	}
	s := a.view.surrogate
	values := a.view.limits.rank(s.values(), s.rows) // those that break a limit come last
	if a.lbo.trust.settled {
		if s.noisy() {
			top := math.Inf(-1)
			b.centre = -1
			for k, v := range values {
				if i := s.rows[k]; v > top && !a.lbo.trust.inFinished(a.past.x[i]) {
					b.centre, top = i, v
				}
			}
		}
		return b, b.centre >= 0
	}
	tried := 0
	for _, k := range orderBy(len(values), func(k int) float64 { return -values[k] }) {
		i := s.rows[k]
		if a.lbo.trust.inFinished(a.past.x[i]) {
			continue
		}
		if a.climbsElsewhere(a.past.x[i]) {
			if i == b.centre {
				return b, true
			}
			return newBasin(i), true
		}
		if tried++; tried == basinCandidates {
			break
		}
	}
	return b, false
}

// climbsElsewhere follows the gradient of the posterior mean from x in short
// steps and reports whether it comes to an end outside all finished boxes.
func (a *ask) climbsElsewhere(x []float64) bool {
	predictor := a.view.surrogate.model.Predictor()
	p := slices.Clone(x)
	grad, free := make([]float64, len(p)), a.dom.free(p)
	value := math.Inf(-1)
	for range climbSteps {
		v := predictor.MeanGrad(p, grad)
		if !(v > value) {
			return true
		}
		value = v
		norm := 0.0
		for _, j := range free {
			if g := grad[j]; !(p[j] <= 0 && g < 0) && !(p[j] >= 1 && g > 0) {
				norm += g * g
			} else {
				grad[j] = 0
			}
		}
		if norm == 0 {
			return true
		}
		for _, j := range free {
			p[j] = math.Min(math.Max(p[j]+climbStep*grad[j]/math.Sqrt(norm), 0), 1)
		}
		if a.lbo.trust.inFinished(p) {
			return false
		}
	}
	return true
}
