package gp_test

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSlopeIsTheGradientNorm(t *testing.T) {
	for seed := range uint64(12) {
		d := 1 + int(seed%5)
		x, y, h := sample(seed, 5+4*int(seed), d)
		p := newModel(t, x, y, h).Predictor()
		rng := rand.New(rand.NewPCG(seed, 12))
		scale := point(rng, d)
		dm := make([]float64, d)
		for _, s := range [][]float64{nil, scale} {
			q := point(rng, d)
			p.MeanGrad(q, dm)
			square := 0.0
			for j, v := range dm {
				if s != nil {
					v *= s[j]
				}
				square += v * v
			}
			norm, _ := p.Slope(q, s)
			near(t, "Slope", norm, math.Sqrt(square), 1e-10)
		}
	}
}

// The derivative's variance is the limit of the variance of a difference
// quotient, which Covariance gives.
func TestSlopeDeviation(t *testing.T) {
	for seed := range uint64(10) {
		d := 1 + int(seed%4)
		x, y, h := sample(seed, 3+2*int(seed), d)
		p := newModel(t, x, y, h).Predictor()
		rng := rand.New(rand.NewPCG(seed, 13))
		q, scale, dm := point(rng, d), point(rng, d), make([]float64, d)
		p.MeanGrad(q, dm)
		norm, sd := p.Slope(q, scale)
		const step = 1e-4
		a, b := make([]float64, d), make([]float64, d)
		for j := range q {
			dir := dm[j] * scale[j] / norm * scale[j]
			a[j], b[j] = q[j]+step*dir, q[j]-step*dir
		}
		variance := (p.Covariance(a, a) + p.Covariance(b, b) - 2*p.Covariance(a, b)) / (4 * step * step)
		near(t, "standard deviation", sd, math.Sqrt(variance), 1e-3)
	}
}

func TestSlopeWhereTheMeanIsFlat(t *testing.T) {
	x, _, h := sample(1, 4, 2)
	p := newModel(t, x, []float64{1, 1, 1, 1}, hyperWithMean(h, 1)).Predictor()
	q := []float64{0.5, 0.5}
	if norm, sd := p.Slope(q, nil); norm != 0 || !(sd > 0) {
		t.Errorf("slope of a constant mean is %v ± %v", norm, sd)
	}
}

func TestGradientBoundIsTheLargestSlope(t *testing.T) {
	x, y, h := sample(9, 20, 3)
	p := newModel(t, x, y, h).Predictor()
	largest := 0.0
	for _, q := range x {
		norm, sd := p.Slope(q, nil)
		largest = max(largest, norm+2*sd)
	}
	if got := p.GradientBound(x, nil); got != largest {
		t.Errorf("bound %v, largest slope %v", got, largest)
	}
	if got := p.GradientBound(nil, nil); got != 0 {
		t.Errorf("bound without points is %v", got)
	}
}
