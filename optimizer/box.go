package optimizer

import "math"

// boxStep maximizes the acquisition, without the Lipschitz bounds, in a box around the best point
// that is not finished. The box is longer where the model varies less (Eriksson
// et al. 2019).
func (a *ask) boxStep() (Proposal, bool) {
	basin, ok := a.basin()
	if !ok {
		return Proposal{}, false
	}
	c := basin.centre
	x, r := a.past.x[c], basin.box
	region := wholeCube(len(x))
	region.base = x
	for j, ratio := range a.view.surrogate.relativeLengths() {
		half := 0.5 * r * ratio
		region.lo[j] = math.Max(0, x[j]-half)
		region.up[j] = math.Min(1, x[j]+half)
	}
	target := a.centreValue(c)
	for k, z := range a.view.believed {
		if inside(a.pending[k], region, a.dom) && a.dom.alike(a.pending[k], x) {
			target = math.Max(target, z)
		}
	}
	f, err := a.boxScore(target)
	if err != nil {
		return Proposal{}, false
	}
	ends := a.view.searcher.search(f, region, a.rng("box"))
	if len(ends) == 0 || a.view.flat.holds(ends[0].x) {
		return Proposal{}, false
	}
	a.memory.Step = &trustStep{Centre: a.past.trial[c], New: !a.lbo.trust.settled, Radius: r, Told: len(a.past.told)}
	return a.described(ends[0].x, OriginBox, "largest acquisition near the best point"), true
}

// centreValue is the value of success c that a local step must improve upon.
func (a *ask) centreValue(c int) float64 {
	if a.view.surrogate.noisy() {
		return a.view.surrogate.model.Predictor().Mean(a.past.x[c])
	}
	return a.view.surrogate.z[c]
}

// relativeLengths are the length scales over their geometric mean, within a
// factor of four.
func (s *surrogate) relativeLengths() []float64 {
	mean := 0.0
	for _, l := range s.fit.Hyper.LogLengths {
		mean += l / float64(len(s.fit.Hyper.LogLengths))
	}
	ratios := make([]float64, len(s.fit.Hyper.LogLengths))
	for j, l := range s.fit.Hyper.LogLengths {
		ratios[j] = math.Min(math.Max(math.Exp(l-mean), 0.25), 4)
	}
	return ratios
}
