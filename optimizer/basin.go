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

// boxStep maximizes the acquisition, without the Lipschitz bounds, in a box around the best point
// that is not finished. The box is longer where the model varies less (Eriksson
// et al. 2019).
func (a *ask) boxStep(basin basin) (Proposal, bool) {
	c := basin.centre
	x, r := a.past.x[c], basin.box
	region := wholeCube(len(x))
	region.base = x
	for j, ratio := range relativeLengths(a.view.surrogate.fit.Hyper.LogLengths) {
		half := 0.5 * r * ratio
		region.lo[j] = math.Max(0, x[j]-half)
		region.up[j] = math.Min(1, x[j]+half)
	}
	s := a.view.surrogate
	target := s.z[c] // which a local step must improve upon
	if s.noisy() {
		target = s.model.Predictor().Mean(x)
	}
	for k, z := range a.view.believed {
		if inside(a.pending[k], region, a.dom) && a.dom.alike(a.pending[k], x) {
			target = math.Max(target, z)
		}
	}
	f, err := a.rule().score(a, target, nil, off)
	if err != nil {
		return Proposal{}, false
	}
	ends := a.search(f, region, a.rng("box"))
	if len(ends) == 0 || a.view.flat.holds(ends[0].x) {
		return Proposal{}, false
	}
	a.memory.Step = &trustStep{Centre: a.past.trial[c], New: !a.lbo.trust.settled, Radius: r, Told: len(a.past.told)}
	return a.described(ends[0].x, originBox, "largest acquisition near the best point"), true
}

// relativeLengths are the length scales over their geometric mean, within a
// factor of four.
func relativeLengths(logs []float64) []float64 {
	mean := 0.0
	for _, l := range logs {
		mean += l / float64(len(logs))
	}
	return mapped(logs, func(l float64) float64 { return math.Min(math.Max(math.Exp(l-mean), 0.25), 4) })
}
