package optimizer

import "math"

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
	return a.described(ends[0].x, OriginBox, "largest acquisition near the best point"), true
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
