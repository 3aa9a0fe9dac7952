package gp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lbotune/lbotune/internal/testing/effort"
)

// hyperMoments computes by quadrature what SampleHyper estimates for inputs of
// one dimension: the posterior means of ℓ, ln σ0², ln(σn² + stability) and c.
// The prior of the mean is integrated in closed form: y ~ N(0, K + 1 1ᵀ).
func hyperMoments(x [][]float64, y []float64, fixedNoise float64) (moments [4]float64) {
	n := len(y)
	grid := func(low, high float64, cells int) (centres []float64) {
		for k := range cells {
			centres = append(centres, low+(float64(k)+0.5)*(high-low)/float64(cells))
		}
		return centres
	}
	noises := grid(math.Log(1e-10), math.Log(1e3), 40)
	if fixedNoise > 0 {
		noises = []float64{math.Log(fixedNoise)}
	}
	total := 0.0
	gram, with := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for _, length := range grid(0, maxLength, 60) {
		for _, logSignal := range grid(-9, 9, 40) {
			for _, logNoise := range noises {
				signal, noise := math.Exp(logSignal), math.Exp(logNoise)
				amplitude := math.Sqrt(signal)
				weight := math.Exp(-math.Log(amplitude)*math.Log(amplitude)/2) / amplitude / (2 * amplitude) * signal
				if fixedNoise == 0 {
					weight *= math.Log(1+3*(0.1/noise)*(0.1/noise)) * noise
					noise += stability
				}
				for i := range n {
					for j := range i + 1 {
						r := math.Abs(x[i][0]-x[j][0]) / length
						k := signal * (1 + math.Sqrt(5)*r + 5*r*r/3) * math.Exp(-math.Sqrt(5)*r)
						if i == j {
							k += noise
						}
						gram.SetSym(i, j, k)
						with.SetSym(i, j, k+1)
					}
				}
				var chol, cholWith mat.Cholesky
				if !chol.Factorize(gram) || !cholWith.Factorize(with) {
					continue
				}
				values, ones := mat.NewVecDense(n, y), mat.NewVecDense(n, nil)
				for i := range n {
					ones.SetVec(i, 1)
				}
				var a, b mat.VecDense
				_ = cholWith.SolveVecTo(&a, values) // ill-conditioned at the edge of the grid, where the weight is nothing
				_ = chol.SolveVecTo(&b, ones)
				weight *= math.Exp(-0.5*mat.Dot(&a, values) - 0.5*cholWith.LogDet())
				mean := mat.Dot(&b, values) / (mat.Dot(&b, ones) + 1)
				total += weight
				for i, v := range [4]float64{length, logSignal, math.Log(noise), mean} {
					moments[i] += weight * v
				}
			}
		}
	}
	for i := range moments {
		moments[i] /= total
	}
	return moments
}

func TestSampleHyperAgreesWithQuadrature(t *testing.T) {
	x := [][]float64{{0.05}, {0.3}, {0.45}, {0.7}, {0.95}}
	y := []float64{-1.1, 0.2, 1.4, 0.6, -0.9}
	for _, c := range []struct {
		fixed     float64
		spearmint bool
	}{{0.01, true}, {0, false}, {0.01, false}, {0, true}}[:effort.Sequential(1, 4, 4)] {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			fixed := c.fixed
			want := hyperMoments(x, y, fixed)
			samples, err := SampleHyper(t.Context(), x, y, SampleStart(1),
				SampleSettings{BurnIn: 200, Samples: effort.Sequential(5_000, 15_000, 15_000), FixedNoise: fixed, Spearmint: c.spearmint}, rand.New(rand.NewPCG(4, 4)))
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range []func(Hyper) float64{
				func(h Hyper) float64 { return math.Exp(h.LogLengths[0]) },
				func(h Hyper) float64 { return h.LogSignal },
				func(h Hyper) float64 { return h.LogNoise },
				func(h Hyper) float64 { return h.Mean },
			} {
				if fixed > 0 && i == 2 {
					continue
				}
				states := make([]float64, len(samples))
				for k, h := range samples {
					states[k] = f(h)
				}
				mean, stderr := average(states, identity)
				// The grid itself is good to about a hundredth.
				if math.Abs(mean-want[i]) > 4*stderr+0.01*math.Abs(want[i]) {
					t.Errorf("%+v, moment %d: %v ± %v, by quadrature %v", c, i, mean, stderr, want[i])
				}
			}
		})
	}
}

// autocorrelation estimates how many states of a chain are worth one independent
// draw: 1 + 2 Σ ρ_k, summed while pairs of ρ are positive (Geyer 1992).
func autocorrelation(states []float64) float64 {
	n := len(states)
	mean := 0.0
	for _, v := range states {
		mean += v / float64(n)
	}
	covariance := func(lag int) float64 {
		sum := 0.0
		for i := range n - lag {
			sum += (states[i] - mean) * (states[i+lag] - mean)
		}
		return sum / float64(n)
	}
	variance, sum := covariance(0), 0.0
	for k := 0; k+1 < n; k += 2 {
		pair := covariance(k) + covariance(k+1)
		if pair <= 0 {
			break
		}
		sum += 2 * pair
	}
	return sum/variance - 1
}

func TestAutocorrelationOfAKnownChain(t *testing.T) {
	// x' = 0.9 x + N(0, 1) has (1 + 0.9) / (1 − 0.9) = 19.
	rng := rand.New(rand.NewPCG(1, 2))
	states := make([]float64, 50_000)
	for i := 1; i < len(states); i++ {
		states[i] = 0.9*states[i-1] + rng.NormFloat64()
	}
	if got := autocorrelation(states); math.Abs(got-19) > 3 {
		t.Errorf("%v, want about 19", got)
	}
}

// The ten samples of a fit are to be an average over the posterior, not over a
// neighbourhood of the start.
func TestSampleHyperMixes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	var x [][]float64
	var y []float64
	for range 8 {
		p := []float64{rng.Float64(), rng.Float64()}
		x, y = append(x, p), append(y, math.Sin(6*p[0])+p[1])
	}
	samples, err := SampleHyper(t.Context(), x, y, SampleStart(2), SampleSettings{BurnIn: 100, Samples: 4000}, rng)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(Hyper) float64{
		"ln σ0²": func(h Hyper) float64 { return h.LogSignal },
		"ln σn²": func(h Hyper) float64 { return h.LogNoise },
		"ln ℓ_1": func(h Hyper) float64 { return h.LogLengths[0] },
		"ln ℓ_2": func(h Hyper) float64 { return h.LogLengths[1] },
		"c":      func(h Hyper) float64 { return h.Mean },
	} {
		t.Run(name, func(t *testing.T) {
			states := make([]float64, len(samples))
			for i, h := range samples {
				states[i] = f(h)
			}
			if tau := autocorrelation(states); tau > 20 {
				t.Errorf("%s: %.0f sweeps for one independent draw", name, tau)
			}
		})
	}
}

func TestSampleHyperGoesOn(t *testing.T) {
	x := [][]float64{{0.1, 0.5}, {0.9, 0.2}, {0.4, 0.4}}
	y := []float64{1, -1, 0.2}
	walk := func(start Hyper, burn, count int, seed uint64) []Hyper {
		t.Helper()
		s, err := SampleHyper(t.Context(), x, y, start, SampleSettings{BurnIn: burn, Samples: count}, rand.New(rand.NewPCG(seed, 0)))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, b := walk(SampleStart(2), 5, 10, 1), walk(SampleStart(2), 5, 10, 1)
	if !reflect.DeepEqual(a, b) {
		t.Error("equal streams gave different samples")
	}
	if len(a) != 10 || reflect.DeepEqual(a[0], a[1]) {
		t.Errorf("%d samples; the first two are %v and %v", len(a), a[0], a[1])
	}
	next := walk(a[9], 0, 3, 2)
	for _, h := range append(a, next...) {
		if _, err := New(nil, x, y, h); err != nil {
			t.Errorf("a sample gives no model: %v", err)
		}
		for _, l := range h.Lengths() {
			if !(l > 0 && l < maxLength) {
				t.Errorf("length scale %v outside the prior", l)
			}
		}
		if h.Noise() < stability {
			t.Errorf("noise variance %v below the stability noise", h.Noise())
		}
	}
}

func TestSampleHyperRefusesNonsense(t *testing.T) {
	x, y := [][]float64{{0.1}}, []float64{1}
	rng := rand.New(rand.NewPCG(1, 1))
	for name, f := range map[string]func() ([]Hyper, error){
		"no data": func() ([]Hyper, error) {
			return SampleHyper(t.Context(), nil, nil, SampleStart(1), NewSampleSettings(false), rng)
		},
		"wrong start": func() ([]Hyper, error) {
			return SampleHyper(t.Context(), x, y, SampleStart(2), NewSampleSettings(false), rng)
		},
		"no samples": func() ([]Hyper, error) { return SampleHyper(t.Context(), x, y, SampleStart(1), SampleSettings{}, rng) },
		"zero density": func() ([]Hyper, error) {
			return SampleHyper(t.Context(), x, []float64{1e200}, SampleStart(1), NewSampleSettings(false), rng)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := f(); err == nil {
				t.Errorf("%s: no error", name)
			}
		})
	}
}

func TestHorseshoe(t *testing.T) {
	for _, c := range []struct{ v, want float64 }{
		{0.1, math.Log(math.Log(4))},
		{1, math.Log(math.Log(1.03))},
		{1e-150, math.Log(math.Log(0.03) + 300*math.Ln10)},
		{1e-12, math.Log(math.Log(3) + 22*math.Ln10)},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if got := logHorseshoe(c.v); math.Abs(got-c.want) > 1e-12 {
				t.Errorf("ln p(%v) = %v, want %v", c.v, got, c.want)
			}
		})
	}
}
