package gp_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/gp"
)

// The reference numbers of this file were computed independently in higher
// precision; the gradients were checked there by finite differences.

var (
	vectorX = [][]float64{{0.1, 0.2}, {0.4, 0.9}, {0.75, 0.35}, {0.9, 0.6}, {0.55, 0.15}}
	vectorY = []float64{0.3, -1.2, 0.8, 1.5, -0.4}
)

func vectorHyper() gp.Hyper {
	return gp.Hyper{
		LogLengths: []float64{math.Log(0.3), math.Log(0.6)},
		LogSignal:  math.Log(1.7),
		LogNoise:   math.Log(0.01),
		Mean:       0.1,
	}
}

func vectorModel(t *testing.T) *gp.Model {
	t.Helper()
	m, err := gp.New(nil, vectorX, vectorY, vectorHyper())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))) {
		t.Errorf("%s = %.16g, want %.16g (within %g)", what, got, want, tol)
	}
}

func nearAll(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has length %d, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tol*math.Max(1, math.Abs(want[i]))) {
			t.Errorf("%s[%d] = %.16g, want %.16g (within %g)", what, i, got[i], want[i], tol)
		}
	}
}

func TestPredictionVectors(t *testing.T) {
	p := vectorModel(t).Predictor()
	for _, c := range []struct {
		x              []float64
		mean, variance float64
		dmean, dvar    []float64
	}{
		{
			[]float64{0.5, 0.5}, -0.664323818376548, 0.368268748427869,
			[]float64{3.517978138828, -0.650233789312}, []float64{-0.164338052675, 0.428662670135},
		},
		{
			[]float64{0.95, 0.05}, 0.911273396957102, 0.983466268831206,
			[]float64{0.344705547317, 1.623978597909}, []float64{2.840631208703, -1.740694318465},
		},
	} {
		t.Run(fmt.Sprint(c.x), func(t *testing.T) {
			dm, dv := make([]float64, 2), make([]float64, 2)
			mean, variance := p.PredictGrad(c.x, dm, dv)
			near(t, "mean", mean, c.mean, 1e-13)
			near(t, "variance", variance, c.variance, 1e-13)
			nearAll(t, "mean gradient", dm, c.dmean, 1e-11)
			nearAll(t, "variance gradient", dv, c.dvar, 1e-11)

			mean, variance = p.Predict(c.x)
			near(t, "Predict mean", mean, c.mean, 1e-13)
			near(t, "Predict variance", variance, c.variance, 1e-13)
			near(t, "Mean", p.Mean(c.x), c.mean, 1e-13)
			near(t, "MeanGrad", p.MeanGrad(c.x, dm), c.mean, 1e-13)
			nearAll(t, "MeanGrad gradient", dm, c.dmean, 1e-11)
		})
	}
	near(t, "covariance", p.Covariance([]float64{0.5, 0.5}, []float64{0.95, 0.05}), -0.11736636273755091, 1e-13)
}

func TestLikelihoodVectors(t *testing.T) {
	const want = -6.674163160936348
	near(t, "LogLikelihood", vectorModel(t).LogLikelihood(), want, 1e-13)
	grad := make([]float64, 5)
	got, err := gp.LogLikelihood(vectorX, vectorY, vectorHyper(), grad)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "LogLikelihood", got, want, 1e-13)
	nearAll(t, "gradient", grad,
		[]float64{-0.305445670439, 0.656549053523, -0.855715522218, -0.019479924684, 0.170309188444}, 1e-11)
}

func TestLeaveOneOutVectors(t *testing.T) {
	mean, variance := make([]float64, 5), make([]float64, 5)
	vectorModel(t).LeaveOneOut(mean, variance)
	nearAll(t, "mean", mean,
		[]float64{-0.419888540850, 0.176008824789, 0.609869708694, 0.879870630385, 0.111935334796}, 1e-11)
	nearAll(t, "variance", variance,
		[]float64{1.487511947639, 1.432532921234, 0.422037474684, 0.698445532688, 0.740347778933}, 1e-11)
}
