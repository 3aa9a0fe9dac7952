package gp_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/gp"
)

// wave is a mean function.
type wave struct{}

func (wave) Value(x []float64) float64 {
	sum := 0.0
	for j, v := range x {
		sum += math.Sin(3*v + float64(j))
	}
	return sum
}

func (w wave) ValueGrad(x, grad []float64) float64 {
	for j, v := range x {
		grad[j] = 3 * math.Cos(3*v+float64(j))
	}
	return w.Value(x)
}

// A process around m that has seen y + m(X) is the process without m that has seen y, plus m:
// for every user of a model.
func TestProcessAroundAFunction(t *testing.T) {
	for seed := range uint64(8) {
		d := 1 + int(seed%4)
		x, y, h := sample(seed, 4+3*int(seed), d)
		around := append([]float64(nil), y...)
		for i, p := range x {
			around[i] += wave{}.Value(p)
		}
		plain := newModel(t, x, y, h)
		m, err := gp.New(wave{}, x, around, h)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "LogLikelihood", m.LogLikelihood(), plain.LogLikelihood(), 1e-9)
		near(t, "LeaveOneOutLogDensity", m.LeaveOneOutLogDensity(), plain.LeaveOneOutLogDensity(), 1e-9)
		rng := rand.New(rand.NewPCG(seed, 17))
		more := point(rng, d)
		if plain, err = plain.Append(more, 0.5); err != nil {
			t.Fatal(err)
		}
		if m, err = m.Append(more, 0.5+wave{}.Value(more)); err != nil {
			t.Fatal(err)
		}
		fitted, want := m.Fitted(), plain.Fitted()
		for i, p := range append(x, more) {
			near(t, "Fitted", fitted[i], want[i]+wave{}.Value(p), 1e-9)
		}
		drawn, err1 := m.DrawPath(64, rand.New(rand.NewPCG(seed, 18)))
		same, err2 := plain.DrawPath(64, rand.New(rand.NewPCG(seed, 18)))
		weighed, err3 := m.DrawWeights(32, rand.New(rand.NewPCG(seed, 19)))
		alike, err4 := plain.DrawWeights(32, rand.New(rand.NewPCG(seed, 19)))
		if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
			t.Fatal(err1, err2, err3, err4)
		}
		p, q, at := m.Predictor(), plain.Predictor(), point(rng, d)
		f := wave{}.Value(at)
		near(t, "DrawPath", drawn.Value(at), same.Value(at)+f, 1e-9)
		near(t, "DrawWeights", weighed.Value(at), alike.Value(at)+f, 1e-9)
		near(t, "posterior mean as a function", m.Mean().Value(at), p.Mean(at), 1e-9)
		mean, variance := p.Predict(at)
		wantMean, wantVariance := q.Predict(at)
		near(t, "mean", mean, wantMean+f, 1e-9)
		near(t, "variance", variance, wantVariance, 1e-9)
		means, variances := make([]float64, 2), make([]float64, 2)
		p.Batch([][]float64{at, more}, means, variances)
		near(t, "Batch", means[0], mean, 1e-9)
		testGradients(t, m, drawn, at)
	}
}

// testGradients compares every gradient of the mean with differences.
func testGradients(t *testing.T, m *gp.Model, drawn *gp.Draw, at []float64) {
	t.Helper()
	d, p := len(at), m.Predictor()
	a, b, c, e, dvar := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
	near(t, "MeanGrad", p.MeanGrad(at, a), p.Mean(at), 1e-12)
	mean, _ := p.PredictGrad(at, b, dvar)
	near(t, "PredictGrad", mean, p.Mean(at), 1e-12)
	near(t, "ValueGrad", drawn.ValueGrad(at, c), drawn.Value(at), 1e-12)
	m.Mean().ValueGrad(at, e)
	norm := 0.0
	for j := range at {
		want := difference(p.Mean, at, j, 1e-6)
		norm += want * want
		near(t, "∇ by MeanGrad", a[j], want, 1e-6)
		near(t, "∇ by PredictGrad", b[j], want, 1e-6)
		near(t, "∇ of the mean as a function", e[j], want, 1e-6)
		near(t, "∇ of a draw", c[j], difference(drawn.Value, at, j, 1e-6), 1e-5)
	}
	slope, _ := p.Slope(at, nil)
	near(t, "Slope", slope, math.Sqrt(norm), 1e-5)
}
