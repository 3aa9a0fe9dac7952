package gp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/gp"
)

// sample returns n random points in the unit cube, standardized values of a
// smooth function at them, and random hyper-parameters.
func sample(seed uint64, n, d int) (x [][]float64, y []float64, h gp.Hyper) {
	rng := rand.New(rand.NewPCG(seed, 99))
	for range n {
		p := make([]float64, d)
		sum := 0.0
		for j := range p {
			p[j] = rng.Float64()
			sum += math.Sin(4*p[j]+float64(j)) * (1 + p[0])
		}
		x = append(x, p)
		y = append(y, sum/math.Sqrt(float64(d)))
	}
	h = gp.Hyper{LogSignal: 0.5 * rng.NormFloat64(), LogNoise: math.Log(1e-3) + rng.NormFloat64(), Mean: 0.3 * rng.NormFloat64()}
	for range d {
		h.LogLengths = append(h.LogLengths, math.Log(0.5)+0.5*rng.NormFloat64())
	}
	return x, y, h
}

func newModel(t testing.TB, x [][]float64, y []float64, h gp.Hyper) *gp.Model {
	t.Helper()
	m, err := gp.New(nil, x, y, h)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func point(rng *rand.Rand, d int) []float64 {
	p := make([]float64, d)
	for j := range p {
		p[j] = rng.Float64()
	}
	return p
}

// difference is the central difference of f along coordinate j of x.
func difference(f func([]float64) float64, x []float64, j int, h float64) float64 {
	old := x[j]
	x[j] = old + h
	up := f(x)
	x[j] = old - h
	down := f(x)
	x[j] = old
	return (up - down) / (2 * h)
}

func TestPredictGradientsAgreeWithDifferences(t *testing.T) {
	for seed := range uint64(30) {
		d := 1 + int(seed%6)
		n := 1 + int(seed*3)
		x, y, h := sample(seed, n, d)
		p := newModel(t, x, y, h).Predictor()
		rng := rand.New(rand.NewPCG(seed, 5))
		dm, dv, dm2 := make([]float64, d), make([]float64, d), make([]float64, d)
		for range 5 {
			q := point(rng, d)
			mean, variance := p.PredictGrad(q, dm, dv)
			if mean2 := p.MeanGrad(q, dm2); math.Abs(mean-mean2) > 1e-12 {
				t.Errorf("seed %d: PredictGrad mean %v, MeanGrad %v", seed, mean, mean2)
			}
			nearAll(t, "MeanGrad gradient", dm2, dm, 1e-10)
			mean2, variance2 := p.Predict(q)
			near(t, "Predict mean", mean2, mean, 1e-12)
			near(t, "Predict variance", variance2, variance, 1e-12)
			near(t, "Covariance with itself", p.Covariance(q, q), variance, 1e-9)
			for j := range d {
				near(t, "dmean", dm[j], difference(p.Mean, q, j, 1e-5), 1e-5)
				near(t, "dvariance", dv[j], difference(func(x []float64) float64 {
					_, v := p.Predict(x)
					return v
				}, q, j, 1e-5), 1e-5)
			}
		}
	}
}

func TestPredictAtObservationHasAGradient(t *testing.T) {
	x, y, h := sample(3, 12, 3)
	p := newModel(t, x, y, h).Predictor()
	dm, dv := make([]float64, 3), make([]float64, 3)
	p.PredictGrad(x[4], dm, dv)
	for j := range dm {
		near(t, "dmean", dm[j], difference(p.Mean, x[4], j, 1e-6), 1e-5)
		if math.IsNaN(dv[j]) {
			t.Errorf("dvariance[%d] is not a number at an observation", j)
		}
	}
}

func TestBatchEqualsPredict(t *testing.T) {
	for _, n := range []int{1, 2, 40} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			x, y, h := sample(7, n, 4)
			p := newModel(t, x, y, h).Predictor()
			rng := rand.New(rand.NewPCG(7, 7))
			var qs [][]float64
			for range 71 {
				qs = append(qs, point(rng, 4))
			}
			mean, variance := make([]float64, 71), make([]float64, 71)
			p.Batch(qs, mean, variance)
			for i, q := range qs {
				m, v := p.Predict(q)
				near(t, "mean", mean[i], m, 1e-12)
				near(t, "variance", variance[i], v, 1e-12)
			}
		})
	}
}

func TestFittedIsTheMeanAtTheData(t *testing.T) {
	x, y, h := sample(8, 25, 3)
	m := newModel(t, x, y, h)
	p := m.Predictor()
	for i, v := range m.Fitted() {
		near(t, "fitted", v, p.Mean(x[i]), 1e-10)
	}
}

func TestAppendEqualsRefit(t *testing.T) {
	for seed := range uint64(12) {
		d := 1 + int(seed%4)
		x, y, h := sample(seed, 30, d)
		start := 1 + int(seed)
		m := newModel(t, x[:start], y[:start], h)
		before := m.Fitted()
		sibling, err := m.Append(point(rand.New(rand.NewPCG(1, 1)), d), 3)
		if err != nil {
			t.Fatal(err)
		}
		grown := m
		for i := start; i < len(x); i++ {
			if grown, err = grown.Append(x[i], y[i]); err != nil {
				t.Fatal(err)
			}
		}
		whole := newModel(t, x, y, h)
		near(t, "LogLikelihood", grown.LogLikelihood(), whole.LogLikelihood(), 1e-10)
		near(t, "LOO", grown.LeaveOneOutLogDensity(), whole.LeaveOneOutLogDensity(), 1e-9)
		nearAll(t, "fitted", grown.Fitted(), whole.Fitted(), 1e-9)
		a, b := grown.Predictor(), whole.Predictor()
		rng := rand.New(rand.NewPCG(seed, 2))
		ga, gb, va, vb := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
		for range 10 {
			q := point(rng, d)
			ma, sa := a.PredictGrad(q, ga, va)
			mb, sb := b.PredictGrad(q, gb, vb)
			near(t, "mean", ma, mb, 1e-10)
			near(t, "variance", sa, sb, 1e-10)
			nearAll(t, "dmean", ga, gb, 1e-8)
			nearAll(t, "dvariance", va, vb, 1e-8)
		}
		if !reflect.DeepEqual(before, m.Fitted()) || m.Len() != start {
			t.Error("Append changed the model it was called on")
		}
		if sibling.Len() != start+1 || grown.Len() != len(x) {
			t.Errorf("lengths %d and %d", sibling.Len(), grown.Len())
		}
	}
}

func TestKrigingBelieverKeepsTheMean(t *testing.T) {
	x, y, h := sample(4, 20, 3)
	m := newModel(t, x, y, h)
	rng := rand.New(rand.NewPCG(4, 4))
	pending := point(rng, 3)
	p := m.Predictor()
	next, err := m.Append(pending, p.Mean(pending))
	if err != nil {
		t.Fatal(err)
	}
	np := next.Predictor()
	for range 20 {
		q := point(rng, 3)
		m0, v0 := p.Predict(q)
		m1, v1 := np.Predict(q)
		near(t, "mean", m1, m0, 1e-10)
		if v1 > v0+1e-12 {
			t.Errorf("variance rose from %v to %v", v0, v1)
		}
	}
	if _, v := np.Predict(pending); v > h.Noise() {
		t.Errorf("variance at the pending point is %v, above the noise %v", v, h.Noise())
	}
}

func TestLikelihoodGradientAgreesWithDifferences(t *testing.T) {
	for seed := range uint64(15) {
		d := 1 + int(seed%5)
		x, y, h := sample(seed, 1+3*int(seed), d)
		grad := make([]float64, d+3)
		if _, err := gp.LogLikelihood(x, y, h, grad); err != nil {
			t.Fatal(err)
		}
		theta := append(append([]float64(nil), h.LogLengths...), h.LogSignal, h.LogNoise, h.Mean)
		at := func(theta []float64) float64 {
			v, err := gp.LogLikelihood(x, y, gp.Hyper{LogLengths: theta[:d], LogSignal: theta[d], LogNoise: theta[d+1], Mean: theta[d+2]}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		for j := range theta {
			near(t, "gradient", grad[j], difference(at, theta, j, 1e-5), 1e-5)
		}
	}
}

// Leaving one out by really leaving it out.
func TestLeaveOneOutEqualsRefit(t *testing.T) {
	x, y, h := sample(11, 18, 2)
	m := newModel(t, x, y, h)
	mean, variance := make([]float64, 18), make([]float64, 18)
	m.LeaveOneOut(mean, variance)
	density := 0.0
	for i := range x {
		xs := append(append([][]float64(nil), x[:i]...), x[i+1:]...)
		ys := append(append([]float64(nil), y[:i]...), y[i+1:]...)
		mu, v := newModel(t, xs, ys, h).Predictor().Predict(x[i])
		v += h.Noise()
		near(t, "mean", mean[i], mu, 1e-9)
		near(t, "variance", variance[i], v, 1e-9)
		density -= 0.5*math.Log(2*math.Pi*v) + 0.5*(y[i]-mu)*(y[i]-mu)/v
	}
	near(t, "log density", m.LeaveOneOutLogDensity(), density, 1e-9)
}

func TestDegenerateData(t *testing.T) {
	h := func(d int, noise float64) gp.Hyper {
		return gp.Hyper{LogLengths: make([]float64, d), LogNoise: math.Log(noise)}
	}
	same := make([][]float64, 40)
	constant := make([]float64, 40)
	for i := range same {
		same[i] = []float64{0.3, 0.7}
		constant[i] = 2
	}
	for name, c := range map[string]struct {
		x [][]float64
		y []float64
		h gp.Hyper
	}{
		"one point":               {[][]float64{{0.2}}, []float64{1}, h(1, 1e-6)},
		"two points":              {[][]float64{{0.2}, {0.9}}, []float64{1, -1}, h(1, 1e-6)},
		"duplicates":              {[][]float64{{0.2}, {0.2}, {0.9}}, []float64{1, 1.1, -1}, h(1, 1e-7)},
		"duplicates, no noise":    {[][]float64{{0.2}, {0.2}, {0.9}}, []float64{1, 1.1, -1}, h(1, 0)},
		"40 times one point":      {same, constant, h(2, 1e-7)},
		"40 times, without noise": {same, constant, h(2, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, c.x, c.y, c.h)
			p := m.Predictor()
			d := m.Dim()
			dm, dv := make([]float64, d), make([]float64, d)
			for _, q := range append([][]float64{make([]float64, d)}, c.x...) {
				mean, variance := p.PredictGrad(q, dm, dv)
				if !(math.Abs(mean) < 10) || !(variance > 0) || !(variance <= 1+1e-12) {
					t.Errorf("at %v: mean %v, variance %v", q, mean, variance)
				}
			}
			if _, err := m.Append(c.x[0], c.y[0]); err != nil {
				t.Errorf("appending a duplicate: %v", err)
			}
			if v := m.LogLikelihood(); math.IsNaN(v) {
				t.Errorf("log likelihood is %v", v)
			}
		})
	}
}

func TestBadInputIsRefused(t *testing.T) {
	good := gp.Hyper{LogLengths: []float64{0}}
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		x [][]float64
		y []float64
		h gp.Hyper
	}{
		"nothing":            {nil, nil, good},
		"no dimension":       {[][]float64{{}}, []float64{1}, gp.Hyper{}},
		"missing value":      {[][]float64{{1}}, nil, good},
		"ragged":             {[][]float64{{1}, {1, 2}}, []float64{1, 2}, good},
		"value not a number": {[][]float64{{1}}, []float64{math.NaN()}, good},
		"infinite point":     {[][]float64{{inf}}, []float64{1}, good},
		"lengths missing":    {[][]float64{{1, 2}}, []float64{1}, good},
		"infinite length":    {[][]float64{{1}}, []float64{1}, gp.Hyper{LogLengths: []float64{inf}}},
		"infinite noise":     {[][]float64{{1}}, []float64{1}, gp.Hyper{LogLengths: []float64{0}, LogNoise: inf}},
		"mean not a number":  {[][]float64{{1}}, []float64{1}, gp.Hyper{LogLengths: []float64{0}, Mean: math.NaN()}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := gp.New(nil, c.x, c.y, c.h); err == nil {
				t.Errorf("%s: no error", name)
			}
		})
	}
	m := newModel(t, [][]float64{{0.5}}, []float64{1}, good)
	if _, err := m.Append([]float64{0.1, 0.2}, 1); err == nil {
		t.Error("appending a point of another dimension: no error")
	}
	if _, err := m.Append([]float64{0.1}, math.NaN()); err == nil {
		t.Error("appending NaN: no error")
	}
}

func TestIndefiniteIsReported(t *testing.T) {
	h := gp.Hyper{LogLengths: []float64{0}, LogSignal: 1000} // σ0² overflows
	x, y := [][]float64{{0.5}, {0.6}}, []float64{1, 2}
	if _, err := gp.New(nil, x, y, h); !errors.Is(err, gp.ErrNotPositiveDefinite) {
		t.Errorf("New: %v", err)
	}
	if _, err := gp.LogLikelihood(x, y, h, nil); !errors.Is(err, gp.ErrNotPositiveDefinite) {
		t.Errorf("LogLikelihood: %v", err)
	}
}

func TestPredictionsDoNotAllocate(t *testing.T) {
	x, y, h := sample(1, 40, 5)
	p := newModel(t, x, y, h).Predictor()
	q, g, dv := point(rand.New(rand.NewPCG(1, 1)), 5), make([]float64, 5), make([]float64, 5)
	if a := testing.AllocsPerRun(20, func() {
		p.Mean(q)
		p.MeanGrad(q, g)
		p.Predict(q)
		p.PredictGrad(q, g, dv)
		p.Covariance(q, x[0])
	}); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

func TestHyperSurvivesJSON(t *testing.T) {
	_, _, h := sample(2, 1, 3)
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var back gp.Hyper
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(h, back) {
		t.Errorf("%+v became %+v", h, back)
	}
}

// A covariance is what one point learns from another: the variance that is left once the other
// is known says how large it is.
func TestJointIsWhatPointsLearnFromEachOther(t *testing.T) {
	for _, n := range []int{1, 12, 45} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			x, y, h := sample(9, n, 3)
			m := newModel(t, x, y, h)
			rng := rand.New(rand.NewPCG(9, 9))
			var qs [][]float64
			for range 13 {
				qs = append(qs, point(rng, 3))
			}
			joint := m.Joint(qs)
			for i, q := range qs {
				mean, variance := m.Predictor().Predict(q)
				near(t, "variance", joint[i][i], variance, 1e-10)
				told, err := m.Append(q, mean)
				if err != nil {
					t.Fatal(err)
				}
				for k, other := range qs {
					_, left := told.Predictor().Predict(other)
					near(t, "what is left", joint[k][k]-joint[k][i]*joint[i][k]/(joint[i][i]+h.Noise()), left, 1e-8)
				}
			}
		})
	}
}

// Functions that are drawn have the mean and the covariances of the posterior.
func TestDrawJoint(t *testing.T) {
	x, y, h := sample(9, 12, 3)
	m := newModel(t, x, y, h)
	rng := rand.New(rand.NewPCG(9, 9))
	qs := [][]float64{x[0], point(rng, 3), point(rng, 3), point(rng, 3)}
	qs = append(qs, qs[1]) // twice, of which the matrix is singular
	const n = 20000
	draws, joint := m.DrawJoint(qs, n, rng), m.Joint(qs)
	for i, q := range qs {
		mu, _ := m.Predictor().Predict(q)
		for k, other := range qs {
			nu, _ := m.Predictor().Predict(other)
			mean, covariance := 0.0, 0.0
			for _, f := range draws {
				mean += f[i] / n
				covariance += (f[i] - mu) * (f[k] - nu) / n
			}
			sd := math.Sqrt(joint[i][i] * joint[k][k])
			near(t, "mean", mean, mu, 5*math.Sqrt(joint[i][i]/n))
			near(t, "covariance", covariance, joint[i][k], 5*sd*math.Sqrt(2.0/n))
		}
	}
}
