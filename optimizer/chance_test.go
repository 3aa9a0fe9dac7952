package optimizer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
	"github.com/lbotune/lbotune/optimizer/internal/gp"
)

// simpson integrates f from a to b.
func simpson(f func(float64) float64, a, b float64) float64 {
	const n = 4000
	h, sum := (b-a)/n, f(a)+f(b)
	for i := 1; i < n; i++ {
		sum += f(a+float64(i)*h) * float64(2+2*(i%2))
	}
	return sum * h / 3
}

func normalDensity(x, mu, sd float64) float64 {
	z := (x - mu) / sd
	return math.Exp(-z*z/2) / (sd * math.Sqrt(2*math.Pi))
}

// wavy is a model of a wave in two dimensions.
func wavy(t *testing.T, phase float64) *gp.Model {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	var x [][]float64
	var y []float64
	for range 12 {
		p := []float64{rng.Float64(), rng.Float64()}
		x, y = append(x, p), append(y, math.Sin(5*p[0]+phase)+p[1])
	}
	r, err := gp.NewFitter(x).Fit(t.Context(), y, nil, gp.NewSettings(2))
	if err != nil {
		t.Fatal(err)
	}
	m, err := gp.New(nil, x, y, r.Hyper)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A chance is the mass of the measured value's density beyond the limit, and its
// gradient is that of its logarithm.
func TestChanceIsAnIntegral(t *testing.T) {
	m := wavy(t, 0)
	c := newChance(m, 0.4, 1)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		x := []float64{rng.Float64(), rng.Float64()}
		mu, variance := m.Predictor().Predict(x)
		sd := math.Sqrt(variance + m.Hyper().Noise())
		want := simpson(func(y float64) float64 { return normalDensity(y, mu, sd) }, 0.4, math.Max(mu, 0.4)+12*sd)
		if got := c.probability(x); math.Abs(got-want) > 1e-8 {
			t.Errorf("at %v: %v, and by quadrature %v", x, got, want)
		}
		grad := make([]float64, 2)
		c.addLog(x, grad)
		for j := range grad {
			const h = 1e-5
			up, down := append([]float64(nil), x...), append([]float64(nil), x...)
			up[j] += h
			down[j] -= h
			slope := (c.addLog(up, nil) - c.addLog(down, nil)) / (2 * h)
			if math.Abs(grad[j]-slope) > 1e-4*(1+math.Abs(slope)) {
				t.Errorf("at %v: slope %v, and by differences %v", x, grad[j], slope)
			}
		}
	}
}

// What is maximized under a constraint is the logarithm of the expected improvement of a
// trial whose value counts only if it holds the limit: an integral over both.
func TestConstrainedImprovementIsAnIntegral(t *testing.T) {
	f, g := wavy(t, 0), wavy(t, 2)
	const best, limit = 0.8, 0.5
	c := newChance(g, limit, 1)
	s := modelScore(f.Predictor(), nil, func(mu, sigma, _, _ float64) acquisition.Value {
		return acquisition.LogEI(mu, sigma, best)
	})
	s.factors = []factor{c}
	for _, x := range [][]float64{{0.1, 0.9}, {0.35, 0.2}, {0.6, 0.6}, {0.95, 0.4}} {
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			mu, variance := f.Predictor().Predict(x)
			nu, spread := g.Predictor().Predict(x)
			sd, sdg := math.Sqrt(variance), math.Sqrt(spread+g.Hyper().Noise())
			holds := simpson(func(z float64) float64 { return normalDensity(z, nu, sdg) }, limit, math.Max(nu, limit)+12*sdg)
			want := simpson(func(y float64) float64 { return (y - best) * holds * normalDensity(y, mu, sd) }, best, math.Max(mu, best)+12*sd)
			got := s.at(x, nil)
			if want > 1e-12 && math.Abs(got-math.Log(want)) > 1e-5*(1+math.Abs(got)) {
				t.Errorf("at %v: %v, and by quadrature %v", x, got, math.Log(want))
			}
			var out [1]float64
			if s.batch([][]float64{x}, out[:]); math.Abs(out[0]-got) > 1e-9*(1+math.Abs(got)) {
				t.Errorf("at %v: %v alone, and %v in a batch", x, got, out[0])
			}
		})
	}
}

// One that holds every limit is better than one that does not, whatever their values.
func TestBetterIsFeasibleFirst(t *testing.T) {
	h := &history{y: []float64{5, 1, 9, 2}, over: []float64{0, 0, 3, 1}}
	for _, c := range [][2]int{{0, 1}, {1, 3}, {3, 2}, {0, 2}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if !h.better(c[0], c[1]) || h.better(c[1], c[0]) {
				t.Errorf("success %d is not better than %d", c[0], c[1])
			}
		})
	}
}

// Trials that fail wherever they are show no edge to keep away from.
func TestCarefulWhereFailuresTellByPlace(t *testing.T) {
	counts := func(fails func(p []float64, rng *rand.Rand) bool) (careful int) {
		for seed := range uint64(8) {
			l, rng := heir(t), rand.New(rand.NewPCG(seed, 9))
			for k := 1; k <= 40; k++ {
				p := []float64{rng.Float64(), rng.Float64()}
				o := Observation{Trial: k, Proposal: Proposal{Point: p, Origin: OriginGiven}, Status: Succeeded, Values: []float64{p[0]}}
				if k == 30 || k == 35 || fails(p, rng) { // at least two were of the last
					o.Status, o.Values = Failed, nil
				}
				if err := l.Tell(o); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := l.successModel(t.Context()); err != nil {
				t.Fatal(err)
			}
			if l.careful() {
				careful++
			}
		}
		return careful
	}
	if n := counts(func(_ []float64, rng *rand.Rand) bool { return rng.Float64() < 0.2 }); n > 2 {
		t.Errorf("beside failures that come anywhere %d of 8 studies are careful", n)
	}
	if n := counts(func(p []float64, _ *rand.Rand) bool { return p[0] > 0.7 }); n < 7 {
		t.Errorf("beside an edge %d of 8 studies are careful", n)
	}
}

// However many trials there are, the model knows the best of those that hold the limits.
func TestModelKnowsTheBestThatHolds(t *testing.T) {
	l, rng := heir(t), rand.New(rand.NewPCG(4, 2))
	const best, n = 77, 5 * exactLimit
	for k := 1; k <= n; k++ {
		p := []float64{rng.Float64(), rng.Float64()}
		o := Observation{Trial: k, Proposal: Proposal{Point: p, Origin: OriginGiven}, Status: Succeeded, Values: []float64{p[0]}, Constraints: []float64{-1}}
		switch {
		case k == best:
			o.Values = []float64{1}
		case p[1] > 0.5: // far better, and not allowed
			o.Values, o.Constraints = []float64{2 + p[0]}, []float64{p[1]}
		}
		if err := l.past.add(o); err != nil {
			t.Fatal(err)
		}
	}
	if l.past.trial[l.past.best] != best {
		t.Fatalf("trial %d is the best", l.past.trial[l.past.best])
	}
	s, err := l.build(t.Context(), modelFit{N: n, Warp: "identity", Hyper: gp.Hyper{LogLengths: []float64{-1, -1}, LogNoise: -9}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(s.rows, l.past.best) {
		t.Errorf("the model knows %d of %d trials, and not the best", len(s.rows), n)
	}
}
