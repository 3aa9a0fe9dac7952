package gp_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/gp"
)

// logPosterior is the objective of the fit written out from its definition,
// with the mean maximized by brute force.
func logPosterior(t *testing.T, x [][]float64, y []float64, h gp.Hyper, s gp.Settings) float64 {
	t.Helper()
	v, err := gp.LogLikelihood(x, y, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range h.LogLengths { // density of ℓ, not of ln ℓ
		p := s.Lengths
		z := (l - p.Mu) / p.Sigma
		v -= l + 0.5*z*z
		// Fit leaves out the constant: (ln ℓ − μ + s²)²/2s² = (ln ℓ − μ)²/2s² + ln ℓ − μ + s²/2.
		v += p.Mu - 0.5*p.Sigma*p.Sigma
	}
	z := h.LogSignal / 1.5
	v -= 0.5 * z * z
	if s.FixedNoise == 0 {
		v += (1.1-1)*h.LogNoise - 30*h.Noise()
	}
	return v - 0.5*h.Mean*h.Mean
}

func TestFitReachesAMaximum(t *testing.T) {
	for seed := range uint64(8) {
		d := 1 + int(seed%4)
		x, y, _ := sample(seed, 12+4*int(seed), d)
		s := gp.NewSettings(d)
		s.GradTolerance, s.GainTolerance, s.MaxEvaluations = 1e-6, 0, 500
		if seed%2 == 1 {
			s.FixedNoise = 1e-3
		}
		fixed := s.FixedNoise > 0
		r, err := gp.NewFitter(x).Fit(t.Context(), y, nil, s)
		if err != nil {
			t.Fatal(err)
		}
		h := r.Hyper
		at := func(theta []float64) float64 {
			h := gp.Hyper{LogLengths: theta[:d], LogSignal: theta[d], LogNoise: theta[d+1], Mean: theta[d+2]}
			return logPosterior(t, x, y, h, s)
		}
		theta := append(append([]float64(nil), h.LogLengths...), h.LogSignal, h.LogNoise, h.Mean)
		near(t, "LogPosterior", r.LogPosterior, at(theta), 1e-9)
		near(t, "LeaveOneOut", r.LeaveOneOut, newModel(t, x, y, h).LeaveOneOutLogDensity(), 1e-6)
		low, high := math.Log(0.02), math.Log(100)
		for j := range theta {
			if j == d+1 && (fixed || theta[j] <= math.Log(s.LeastNoise)+1e-9) || j < d && (theta[j] <= low || theta[j] >= high) {
				continue
			}
			if g := difference(at, theta, j, 1e-4); math.Abs(g) > 1e-3 {
				t.Errorf("seed %d: derivative %d of the log posterior at the fit is %v", seed, j, g)
			}
		}
		if fixed {
			near(t, "fixed noise", h.Noise(), 1e-3, 1e-12)
		}
	}
}

func TestFitStaysInBoundsAndNeverLosesItsStart(t *testing.T) {
	for seed := range uint64(10) {
		d := 1 + int(seed%3)
		x, y, h := sample(seed, 15, d)
		s := gp.NewSettings(d)
		s.Starts, s.Seed = 2, seed
		r, err := gp.NewFitter(x).Fit(t.Context(), y, &h, s)
		if err != nil {
			t.Fatal(err)
		}
		s.Starts, s.MaxEvaluations = 0, 1
		first, err := gp.NewFitter(x).Fit(t.Context(), y, &h, s)
		if err != nil {
			t.Fatal(err)
		}
		if r.LogPosterior < first.LogPosterior {
			t.Errorf("seed %d: fit %v is worse than its start %v", seed, r.LogPosterior, first.LogPosterior)
		}
		const slack = 1e-12
		inside := func(what string, v, low, high float64) {
			if v < low*(1-slack) || v > high*(1+slack) {
				t.Errorf("%s %v outside [%v, %v]", what, v, low, high)
			}
		}
		for _, l := range r.Hyper.Lengths() {
			inside("length scale", l, 0.02, 100)
		}
		inside("signal variance", r.Hyper.Signal(), 1e-3, 1e3)
		inside("noise variance", r.Hyper.Noise(), s.LeastNoise, 1)
	}
}

func TestFitIsDeterministic(t *testing.T) {
	x, y, h := sample(5, 30, 3)
	s := gp.NewSettings(3)
	s.Starts, s.Seed = 3, 42
	a, err := gp.NewFitter(x).Fit(t.Context(), y, &h, s)
	if err != nil {
		t.Fatal(err)
	}
	b, err := gp.NewFitter(x).Fit(t.Context(), y, &h, s)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("two fits differ:\n%+v\n%+v", a, b)
	}
}

// Data drawn from a known process: the fit must find its noise and which
// dimension matters.
func TestFitRecoversNoiseAndRelevance(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 1))
	var x [][]float64
	var y []float64
	for range 120 {
		p := point(rng, 2)
		x = append(x, p)
		y = append(y, math.Sin(9*p[0])*1.3+0.1*rng.NormFloat64())
	}
	r, err := gp.NewFitter(x).Fit(t.Context(), y, nil, gp.NewSettings(2))
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Hyper.Noise(); v < 0.006 || v > 0.016 {
		t.Errorf("noise variance %v, true 0.01", v)
	}
	if l := r.Hyper.Lengths(); l[1] < 4*l[0] {
		t.Errorf("length scales %v: the second dimension does not matter", l)
	}
	if r.Evaluations >= 60 {
		t.Errorf("not converged after %d evaluations", r.Evaluations)
	}
}

func TestFitOfDegenerateData(t *testing.T) {
	same := make([][]float64, 12)
	values := make([]float64, 12)
	for i := range same {
		same[i] = []float64{0.5, 0.5}
		values[i] = float64(i % 2)
	}
	for name, c := range map[string]struct {
		x [][]float64
		y []float64
	}{
		"one point":        {[][]float64{{0.3, 0.4}}, []float64{0}},
		"two points":       {[][]float64{{0.3, 0.4}, {0.5, 0.1}}, []float64{1, -1}},
		"constant":         {[][]float64{{0.3, 0.4}, {0.5, 0.1}, {0.9, 0.9}}, []float64{0, 0, 0}},
		"one point, noisy": {same, values},
		"outlier":          {[][]float64{{0.3, 0.4}, {0.5, 0.1}, {0.9, 0.9}}, []float64{0, 1e8, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := gp.NewFitter(c.x).Fit(t.Context(), c.y, nil, gp.NewSettings(2))
			if err != nil {
				t.Fatal(err)
			}
			m := newModel(t, c.x, c.y, r.Hyper)
			if mean, v := m.Predictor().Predict([]float64{0.1, 0.9}); math.IsNaN(mean) || !(v > 0) {
				t.Errorf("mean %v, variance %v", mean, v)
			}
		})
	}
}

// A warm start that takes everything for noise is a local maximum here: the
// prior's mode, tried beside it, must win.
func TestOtherStartsRescueAPoorWarmStart(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	var x [][]float64
	var y []float64
	for range 24 {
		p := point(rng, 1)
		x = append(x, p)
		y = append(y, math.Sin(60*p[0]))
	}
	poor := gp.Hyper{LogLengths: []float64{0}, LogNoise: math.Log(0.9)}
	s := gp.NewSettings(1)
	s.Starts = 0
	alone, err := gp.NewFitter(x).Fit(t.Context(), y, &poor, s)
	if err != nil {
		t.Fatal(err)
	}
	s.Starts = 1
	both, err := gp.NewFitter(x).Fit(t.Context(), y, &poor, s)
	if err != nil {
		t.Fatal(err)
	}
	if both.LogPosterior < alone.LogPosterior+20 || both.Hyper.Noise() > 1e-3 {
		t.Errorf("log posterior %v alone, %v with another start, noise %v", alone.LogPosterior, both.LogPosterior, both.Hyper.Noise())
	}
}

// Of many dimensions not all differences of pairs are kept.
func TestFitOfManyDimensionsTakesLittleRoom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([][]float64, 100), make([]float64, 100)
	for i := range x {
		for range 100 {
			x[i] = append(x[i], rng.Float64())
		}
		y[i] = x[i][0]
	}
	s := gp.NewSettings(100)
	s.Starts, s.MaxEvaluations = 0, 1
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := gp.NewFitter(x).Fit(t.Context(), y, nil, s); err != nil {
		t.Fatal(err)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 2<<20 {
		t.Errorf("%d bytes are taken", after.TotalAlloc-before.TotalAlloc)
	}
}
