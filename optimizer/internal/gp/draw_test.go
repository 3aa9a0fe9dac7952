package gp_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/gp"
)

type drawFunc func(*gp.Model, int, *rand.Rand) (*gp.Draw, error)

func drawn(t *testing.T, f *gp.Draw, err error) *gp.Draw {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestDrawGradients(t *testing.T) {
	for name, draw := range map[string]drawFunc{"path": (*gp.Model).DrawPath, "weights": (*gp.Model).DrawWeights} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(6) {
				d := 1 + int(seed%4)
				x, y, h := sample(seed, 1+5*int(seed), d)
				rng := rand.New(rand.NewPCG(seed, 21))
				f, err := draw(newModel(t, x, y, h), 200, rng)
				drawn(t, f, err)
				grad := make([]float64, d)
				for range 5 {
					q := point(rng, d)
					near(t, name+" value", f.ValueGrad(q, grad), f.Value(q), 1e-10)
					for j := range grad {
						near(t, name+" gradient", grad[j], difference(f.Value, q, j, 1e-5), 1e-4)
					}
				}
			}
		})
	}
}

func TestDrawsAreKeyedByTheirStream(t *testing.T) {
	x, y, h := sample(2, 10, 2)
	m := newModel(t, x, y, h)
	value := func(seed uint64) float64 {
		f, err := m.DrawPath(64, rand.New(rand.NewPCG(seed, 0)))
		return drawn(t, f, err).Value([]float64{0.4, 0.6})
	}
	if value(1) != value(1) || value(1) == value(2) {
		t.Errorf("streams 1, 1, 2 gave %v, %v, %v", value(1), value(1), value(2))
	}
	for _, draw := range []drawFunc{(*gp.Model).DrawPath, (*gp.Model).DrawWeights} {
		if _, err := draw(m, 0, rand.New(rand.NewPCG(1, 1))); err == nil {
			t.Error("a draw without features: no error")
		}
	}
}

// A path meets the data to within the noise with hardly any features; a
// weight-space draw cannot.
func TestPathInterpolates(t *testing.T) {
	x, y, h := sample(4, 60, 2)
	h.LogNoise = math.Log(1e-8)
	m := newModel(t, x, y, h)
	misfit := func(f *gp.Draw, err error) float64 {
		drawn(t, f, err)
		worst := 0.0
		for i, p := range x {
			worst = max(worst, math.Abs(f.Value(p)-y[i]))
		}
		return worst
	}
	if e := misfit(m.DrawPath(16, rand.New(rand.NewPCG(1, 1)))); e > 1e-3 {
		t.Errorf("a path of 16 features misses the data by %v", e)
	}
	few := misfit(m.DrawWeights(16, rand.New(rand.NewPCG(1, 1))))
	many := misfit(m.DrawWeights(400, rand.New(rand.NewPCG(1, 1))))
	if few < 0.01 || many > 1e-3 {
		t.Errorf("weight-space draws of 16 and 400 features miss by %v and %v", few, many)
	}
}

// Matheron's rule is linear in the prior draw, and the prior draw has exactly
// the kernel as its covariance when its features are drawn afresh. So the
// moments of many paths are those of the posterior.
func TestPathMomentsAreThePosterior(t *testing.T) {
	const draws = 4000
	x, y, h := sample(6, 6, 2)
	h.LogNoise = math.Log(0.05)
	m := newModel(t, x, y, h)
	p := m.Predictor()
	rng := rand.New(rand.NewPCG(6, 6))
	points := append([][]float64{x[0]}, point(rng, 2), point(rng, 2), []float64{0, 1})
	k := len(points)
	mean, cov := make([]float64, k), make([]float64, k*k)
	values := make([][]float64, draws)
	for i := range values {
		f, err := m.DrawPath(32, rng)
		drawn(t, f, err)
		values[i] = make([]float64, k)
		for a, q := range points {
			values[i][a] = f.Value(q)
			mean[a] += values[i][a] / draws
		}
	}
	for _, v := range values {
		for a := range k {
			for b := range k {
				cov[a*k+b] += (v[a] - mean[a]) * (v[b] - mean[b]) / draws
			}
		}
	}
	for a, q := range points {
		mu, v := p.Predict(q)
		if e := math.Abs(mean[a]-mu) / math.Sqrt(v/draws); e > 4 {
			t.Errorf("mean at %v is %v, posterior %v: %.1f standard errors", q, mean[a], mu, e)
		}
		for b, r := range points {
			_, vb := p.Predict(r)
			want := p.Covariance(q, r)
			// Standard error of a covariance of normal variables, doubled for
			// the heavier tails of draws from 32 features.
			if e := math.Abs(cov[a*k+b]-want) / math.Sqrt((v*vb+want*want)/draws); e > 8 {
				t.Errorf("covariance of %v and %v is %v, posterior %v: %.1f standard errors", q, r, cov[a*k+b], want, e)
			}
		}
	}
}

// With many features the weight-space draws agree with the posterior as well.
func TestWeightDrawMoments(t *testing.T) {
	const draws = 1000
	x, y, h := sample(9, 8, 2)
	h.LogNoise = math.Log(0.05)
	m := newModel(t, x, y, h)
	rng := rand.New(rand.NewPCG(9, 9))
	q := []float64{0.45, 0.3}
	mu, v := m.Predictor().Predict(q)
	var mean, square float64
	for range draws {
		f, err := m.DrawWeights(300, rng)
		value := drawn(t, f, err).Value(q)
		mean += value / draws
		square += value * value / draws
	}
	variance := square - mean*mean
	if e := math.Abs(mean-mu) / math.Sqrt(v/draws); e > 4 {
		t.Errorf("mean %v, posterior %v: %.1f standard errors", mean, mu, e)
	}
	if variance < 0.85*v || variance > 1.2*v {
		t.Errorf("variance %v, posterior %v", variance, v)
	}
}

func TestDrawFromASharedModelLeavesIt(t *testing.T) {
	x, y, h := sample(3, 12, 2)
	m := newModel(t, x, y, h)
	before := m.Fitted()
	rng := rand.New(rand.NewPCG(1, 1))
	f, err := m.DrawPath(32, rng)
	drawn(t, f, err)
	f, err = m.DrawWeights(32, rng)
	drawn(t, f, err)
	if !reflect.DeepEqual(before, m.Fitted()) {
		t.Error("a draw changed the model")
	}
}
