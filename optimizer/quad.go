package optimizer

import (
	"math"
	"slices"

	"github.com/lbotune/lbotune/optimizer/internal/quadratic"
	"github.com/lbotune/lbotune/optimizer/internal/warp"
)

const (
	// finishedGain is the predicted gain, in units of what the best value is
	// above the median, below which nothing is left to gain at the centre.
	finishedGain = 1e-11
	// roundingGain is the same in units of the value itself: less is rounding.
	roundingGain = 1e-13
	// noisyGain is the least predicted gain in units of the noise.
	noisyGain = 0.1
	// crowded is how close, in units of the radius, a pending trial may be.
	crowded = 0.1
	// besideDraws is the number of points from which one beside a step is chosen.
	besideDraws = 20
	// safeEnough is the least probability that a local step succeeds and holds the limits.
	safeEnough = 0.5
)

// quadraticStep maximizes a quadratic through the successes around the centre
// in a box around it. Where it finds nothing left to gain it notes the centre
// as finished. The quadratic sees the values as they were told: a warp would
// bend what is a parabola in them.
func (a *ask) quadraticStep(basin basin) (Proposal, bool) {
	c := basin.centre
	local := a.neighbourhood(c)
	if local == nil {
		return Proposal{}, false
	}
	model, err := quadratic.Fit(local.x, local.y, local.centre, a.shapes(basin, len(local.free))...)
	if err != nil || a.view.surrogate.prior != nil && !model.Determined() { // then earlier studies know more
		return Proposal{}, false
	}
	region := basin.quadratic.Start(model.Far)
	cube := wholeCube(len(local.free))
	z, gain := model.Maximize(a.ctx, region.Radius, cube.lo, cube.up)
	p, least := a.dom.snap(local.lift(z, a.past.x[c])), a.leastGain(local)
	if !a.dom.allows(p) {
		if p, gain = a.slideQuadratic(model, region.Radius, local, c); gain <= least {
			return Proposal{}, false
		}
	}
	if !(gain > least) {
		if !a.view.surrogate.noisy() {
			a.memory.Finished = append(a.memory.Finished, a.past.trial[c])
		}
		return Proposal{}, false
	}
	if a.lbo.trust.inFinished(p) && !(local.y[local.centre]+gain > a.past.y[a.past.best]/local.unit+least) {
		// Uphill lies where the search is done: this is no other basin.
		a.memory.Finished = append(a.memory.Finished, a.past.trial[c])
		return Proposal{}, false
	}
	why := "quadratic model near the best point"
	switch {
	case a.occupied(p, math.Max(crowded*region.Radius, leastApart)):
		// The same maximum is being looked at: the search is in its endgame, and
		// points beside it sharpen the next quadratic.
		if basin.misses > 2 {
			return Proposal{}, false
		}
		if p = a.beside(p, chebyshev(p, a.past.x[c]), local); p == nil {
			return Proposal{}, false
		}
		gain, why = 0, "beside a pending step of the quadratic model"
	case !model.Determined() && a.occupied(a.past.x[c], region.Radius):
		// What is pending in the region will move the maximum.
		return Proposal{}, false
	}
	if a.taken(p) || a.view.flat.holds(p) || a.view.probability(p) < safeEnough {
		return Proposal{}, false
	}
	a.memory.Step = &trustStep{Centre: a.past.trial[c], New: !a.lbo.trust.settled, Radius: region.Radius, Gain: min(gain*local.unit, math.MaxFloat64), Told: len(a.past.told)}
	return a.described(p, originLocal, "%s", why), true
}

// slideQuadratic looks for the quadratic's maximum in its region where relations forbid
// that of the whole region.
func (a *ask) slideQuadratic(m *quadratic.Model, radius float64, n *neighbourhood, c int) ([]float64, float64) {
	r := wholeCube(len(a.past.x[c]))
	for j, x := range a.past.x[c] {
		r.lo[j], r.up[j] = math.Max(0, x-radius), math.Min(1, x+radius)
	}
	gain := func(x, _ []float64) float64 { return m.At(n.part(x)) - m.Value }
	rng := a.rng("slide")
	end := found{slices.Clone(a.past.x[c]), 0}
	for range slideRounds {
		end = a.slide(gain, r, end, rng)
	}
	return end.x, end.v
}

const slideRounds = 5

// beside draws points around a pending step p, up to as far from it as p is from the centre, and
// returns the one farthest from all others, nil if none is free: what the next quadratic needs is
// values all around its maximum.
func (a *ask) beside(p []float64, length float64, n *neighbourhood) []float64 {
	rng := a.rng("beside")
	length = math.Max(length, 4*leastApart)
	return farthest(besideDraws, func() []float64 {
		q := slices.Clone(p)
		for _, j := range n.free {
			q[j] += length * (2*rng.Float64() - 1)
		}
		return a.dom.snap(q)
	}, append(slices.Clone(a.pending), a.past.x...), a.taken)
}

// occupied reports whether a pending trial already looks near p.
func (a *ask) occupied(p []float64, radius float64) bool {
	return slices.ContainsFunc(a.pending, func(q []float64) bool { return chebyshev(p, q) <= radius })
}

// neighbourhood is the data of a quadratic: the successes that share the levels
// of the centre, in the coordinates that a gradient may move there.
type neighbourhood struct {
	free   []int // those coordinates
	x      [][]float64
	y      []float64 // in the objective's units over unit
	unit   float64
	centre int // index into x
}

// neighbourhood returns nil if there is nothing to move or a value has no
// counterpart in the objective's units.
func (a *ask) neighbourhood(c int) *neighbourhood {
	s := a.view.surrogate
	n := &neighbourhood{unit: s.unit, free: a.dom.free(a.past.x[c])}
	if len(n.free) == 0 {
		return nil
	}
	var means []float64
	if s.noisy() {
		means = s.model.Fitted()
	}
	rows := s.rows
	if !slices.Contains(rows, c) { // of long studies the model knows a part
		rows = append(slices.Clip(rows), c)
	}
	for k, i := range rows {
		if !a.dom.alike(a.past.x[i], a.past.x[c]) {
			continue
		}
		y := a.past.y[i] / s.unit
		if means != nil {
			if k == len(means) {
				means = append(means, s.model.Predictor().Mean(a.past.x[c]))
			}
			if y = s.warp.Inverse(means[k]); math.IsInf(y, 0) {
				return nil
			}
		}
		if i == c {
			n.centre = len(n.x)
		}
		n.x, n.y = append(n.x, n.part(a.past.x[i])), append(n.y, y)
	}
	return n
}

func (n *neighbourhood) part(p []float64) []float64 { return pick(p, n.free) }

// lift returns the point with the free coordinates z and the others of p.
func (n *neighbourhood) lift(z, p []float64) []float64 {
	q := slices.Clone(p)
	for k, j := range n.free {
		q[j] = z[k]
	}
	return q
}

// leastGain is the predicted gain below which a step is not worth a trial.
func (a *ask) leastGain(n *neighbourhood) float64 {
	s, centre := a.view.surrogate, n.y[n.centre]
	if s.noisy() {
		// A small change of the warped value is one of the value over the slope.
		return noisyGain * s.noise / math.Exp(s.warp.LogJacobian(centre))
	}
	spread := (a.past.y[a.past.best] - warp.Median(a.past.y)) / s.unit
	return math.Max(finishedGain*spread, roundingGain*math.Abs(centre))
}
