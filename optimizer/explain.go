package optimizer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/lbotune/lbotune/spaces"
)

// Explainer is an Optimizer that can say what it believes of the objective. It
// changes nothing: what is asked afterwards is answered as if nobody had looked.
type Explainer interface {
	// Explain returns what the Ask of the query would know, and what it would
	// believe of each of the points. It returns ErrNoModel while there are too few
	// successes for a model; with several objectives there is no one model.
	Explain(ctx context.Context, q Query, points iter.Seq[spaces.Point]) (Explanation, error)
}

// ErrNoModel means that too few trials have succeeded for a model.
var ErrNoModel = errors.New("too few trials have succeeded for a model")

// Explanation is the state of a model and what follows from it at some points.
// Values are maximized, as those that were told, and in their units.
type Explanation struct {
	// Best is the value that a new trial has to improve upon: the largest, or under
	// noise the largest expected one.
	Best float64
	// Noise is the standard deviation of a measured value, near Best.
	Noise float64
	// Warp is the transformation under which the values look most like a Gaussian
	// process: identity, log, asinh or yeo-johnson.
	Warp string
	// Lengths are the length scales, one for each coordinate of a point, in units of
	// the cube: a parameter with a long one matters little.
	Lengths []float64
	// Lipschitz is what the bounds are; nil where they are off.
	Lipschitz *LipschitzNote
	// Beliefs are those of the points, in their order.
	Beliefs []Belief
}

// Belief is what a model believes of one point. With μ and σ the posterior mean
// and deviation of the warped value and w⁻¹ the inverse of the warp, the objective
// without noise is distributed as w⁻¹(N(μ, σ²)).
type Belief struct {
	// Mean is the median w⁻¹(μ), and SD half the distance of w⁻¹(μ+σ) and w⁻¹(μ−σ):
	// mean and standard deviation where nothing is warped.
	Mean, SD float64
	// Low and High are meant to enclose the objective without noise with a probability of
	// 95 %: w⁻¹(μ − 7 σ) and w⁻¹(μ + 3.5 σ).
	Low, High float64
	// Lower and Upper are the Lipschitz bounds, infinite where there are none. The
	// constant is estimated, unless it was stated: they are no certain bounds.
	Lower, Upper float64
	// ExcludedBelow is the Lipschitz constant, in the unit of LipschitzNote.Constant, below
	// which the bounds would rule out that the point improves upon Best; 0 if none would,
	// or where they are off.
	ExcludedBelow float64
	// Success is the probability that a trial succeeds.
	Success float64
	// Feasible is the probability that a trial holds every limit, 1 without any.
	Feasible float64
	// Acquisition is the logarithm of what a proposal for the whole space maximizes,
	// up to a constant; minus infinity where the bounds exclude an improvement.
	Acquisition float64
}

// One fit of the hyper-parameters is too sure away from the optimum, and more often expects too
// much than too little. So a band of 95 % has as many deviations as make that share of the bands
// hold on functions of three kinds (lbo.md).
const (
	bandBelow = 7.0
	bandAbove = 3.5
)

// Explain implements Explainer.
func (l *lbo) Explain(ctx context.Context, q Query, points iter.Seq[spaces.Point]) (Explanation, error) {
	if _, err := l.distrust(ctx); err != nil {
		return Explanation{}, err
	}
	switch {
	case ctx.Err() != nil:
		return Explanation{}, ctx.Err()
	case l.past.objectives > 1:
		return Explanation{}, errSeveral
	case len(l.past.y) < leastForModel:
		return Explanation{}, ErrNoModel
	}
	a, err := l.looking(ctx, q)
	if err != nil {
		return Explanation{}, err
	}
	s := a.view.surrogate
	e := Explanation{Best: s.value(s.best), Warp: s.fit.Warp, Lengths: s.fit.Hyper.Lengths(), Noise: s.slope(s.best) * s.noise, Lipschitz: a.note.Lipschitz}
	if points != nil {
		e.Beliefs, err = a.beliefs(points)
	}
	if ended := ctx.Err(); ended != nil {
		return Explanation{}, ended
	}
	return e, err
}

// beliefs are those of points, of which there are never many at a time.
func (a *ask) beliefs(points iter.Seq[spaces.Point]) (out []Belief, err error) {
	f, err := a.globalScore()
	if err != nil {
		return nil, err
	}
	const atOnce = 1024
	var snapped [][]float64
	for p := range points {
		if err := checkPoint(a.past.space, p); err != nil {
			return nil, fmt.Errorf("explaining point %d: %w", len(out)+len(snapped)+1, err)
		}
		if snapped = append(snapped, a.past.space.Snap(p)); len(snapped) == atOnce {
			out, snapped = append(out, a.believed(f, snapped)...), nil
		}
	}
	return append(out, a.believed(f, snapped)...), nil
}

// believed is what is believed at snapped points, with f as their worth.
func (a *ask) believed(f *score, points [][]float64) []Belief {
	worth := evaluate(a.ctx, f, points)
	mean, variance := a.posterior(points)
	out := make([]Belief, len(points))
	s := a.view.surrogate
	for i, x := range points {
		mu, sigma := mean[i], math.Sqrt(variance[i])
		b := Belief{Mean: s.value(mu), SD: (s.value(mu+sigma) - s.value(mu-sigma)) / 2,
			Low: s.value(mu - bandBelow*sigma), High: s.value(mu + bandAbove*sigma), Lower: math.Inf(-1), Upper: math.Inf(1),
			Success: a.view.success.probability(x), Feasible: a.view.limits.probability(x), Acquisition: worth[i]}
		if s.bounds != nil {
			lo, up := s.bounds.own(x, nil, nil)
			best := s.best
			if s.bounds.through != nil {
				best = s.warp.Inverse(best)
				b.Lower, b.Upper = lo*s.unit, up*s.unit // a warp ends somewhere, they don't
			} else {
				b.Lower, b.Upper = s.value(lo), s.value(up)
			}
			b.ExcludedBelow = s.bounds.cones.ExcludedBelow(x, best)
		}
		out[i] = b
	}
	return out
}

// posterior is the mean and variance at the points, in model units. Over sampled
// hyper-parameters they are those of the mixture: E[μ], and E[σ² + μ²] − E[μ]².
func (a *ask) posterior(points [][]float64) (mean, variance []float64) {
	n := float64(len(a.view.models))
	mean, variance = make([]float64, len(points)), make([]float64, len(points))
	mu, s2 := make([]float64, len(points)), make([]float64, len(points))
	for _, m := range a.view.models {
		m.Predictor().Batch(points, mu, s2)
		for i := range points {
			mean[i] += mu[i] / n
			variance[i] += (s2[i] + mu[i]*mu[i]) / n
		}
	}
	for i, m := range mean {
		variance[i] = math.Max(variance[i]-m*m, 0)
	}
	return mean, variance
}
