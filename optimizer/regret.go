package optimizer

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
	"github.com/lbotune/lbotune/optimizer/internal/gp"
	"github.com/lbotune/lbotune/optimizer/internal/warp"
)

// What is left to gain is a quantile of max f − f(best) over functions f drawn from the posterior
// (after Wilson 2024), times a factor. One fit of the hyper-parameters to all values is too sure of
// it: the crowd around the best point makes the objective look smoother than it is elsewhere, and
// a warp may bound what could be gained. So f is drawn without a warp, and under hyper-parameters
// that are themselves drawn from their posteriors given only points that stand apart: far, less far,
// and a little. The constants were chosen on some functions and judged on others, see docs/enough.md.
const (
	leftModels   = 4   // hyper-parameters for each distance
	leftDraws    = 100 // functions of each
	leftRows     = 120 // points that they are drawn for, at most
	leftSD       = 3.0 // deviations above the mean up to which a point may be the maximum
	leftQuantile = 0.99
	leftFactor   = 2.0
)

// left is how much is left to gain, in the objective's units; nil if it is more than enough, or
// if the model does not know.
func (a *ask) left(enough float64) *float64 {
	s, rng, most := a.view.surrogate, a.rng("left"), 0.0
	if a.lbo.parts != nil || s.prior != nil || a.view.limits != nil || a.past.safe != nil || len(a.past.pruned) > 0 {
		return nil
	}
	if ends := a.promising(s.model, rng); len(ends) == 0 || s.value(ends[0].v)-s.value(s.best) > enough { // which takes a moment, and not a second
		return nil
	}
	x, values := pick(a.past.x, s.rows), scaled(pick(a.past.y, s.rows), s.unit)
	w, err := warp.Fit(warp.Identity, values, a.lbo.warpOptions())
	if err != nil {
		return nil
	}
	apart := []float64{0.1, 0.06, 0.03} // times √d: first what leaves most to gain
	over := int((1 - leftQuantile) * leftModels * leftDraws * float64(len(apart)))
	var gains []float64
	for _, distance := range apart {
		some, err := a.gainsGiven(distance, x, w.ApplyAll(values), s.noise*s.slope(s.best)/s.unit/w.SD, rng)
		if err != nil || a.ctx.Err() != nil {
			return nil
		}
		gains = append(gains, some...)
		slices.Sort(gains)
		if most = leftFactor * gains[len(gains)-1-over] * w.SD * s.unit; !(most <= enough) {
			return nil
		}
	}
	return &most
}

// gainsGiven are how far the maxima of functions lie above their values at the best point, in
// standardized units, under hyper-parameters given points that stand apart.
func (a *ask) gainsGiven(apart float64, x [][]float64, z []float64, noise float64, rng *rand.Rand) (gains []float64, err error) {
	s := a.view.surrogate
	rows := standingApart(x, apart*math.Sqrt(float64(a.past.space.Len())))
	hypers, err := gp.SampleHyper(a.ctx, pick(x, rows), pick(z, rows), s.fit.Hyper,
		gp.SampleSettings{BurnIn: 10, Samples: leftModels, Every: 5, FixedNoise: math.Max(noise*noise, gp.DeterministicNoise)}, rng)
	models, pool := make([]*gp.Model, len(hypers)), [][]float64{a.past.x[s.bestRow]}
	for i, h := range hypers {
		if models[i], err = gp.New(nil, x, z, h); err != nil {
			return nil, err
		}
		pool = append(pool, mapped(a.promising(models[i], rng), func(p found) []float64 { return p.x })...)
	}
	for _, m := range models {
		gains = append(gains, mapped(m.DrawJoint(pool, leftDraws, rng), func(f []float64) float64 { return slices.Max(f) - f[0] })...)
	}
	return gains, err
}

// promising are points where the maximum may be: those that a search for the largest
// μ + leftSD σ ends at, the best first.
func (a *ask) promising(m *gp.Model, rng *rand.Rand) []found {
	free := *a
	free.taken = never
	f := func(mu, sigma, _, _ float64) acquisition.Value { return acquisition.UCB(mu, sigma, leftSD*leftSD) }
	return free.search(modelScore(m.Predictor(), nil, f), wholeCube(m.Dim()), rng)
}

// standingApart are the first leftRows points that are at least so far from all such points before them.
func standingApart(x [][]float64, distance float64) (rows []int) {
	for i, p := range x {
		if len(rows) < leftRows && !slices.ContainsFunc(rows, func(k int) bool { return floats.Distance(x[k], p, 2) < distance }) {
			rows = append(rows, i)
		}
	}
	return rows
}
