package acquisition_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
)

type function struct {
	name string
	f    func(c inputs) acquisition.Value
}

func functions() []function {
	const beta = 3.7
	return []function{
		{"LogEI", func(c inputs) acquisition.Value { return acquisition.LogEI(c.mu, c.sigma, c.best) }},
		{"LogPI", func(c inputs) acquisition.Value { return acquisition.LogPI(c.mu, c.sigma, c.best) }},
		{"LogTEI", func(c inputs) acquisition.Value {
			return acquisition.LogTEI(c.mu, c.sigma, c.best, c.lo, c.up)
		}},
		{"LogTPI", func(c inputs) acquisition.Value {
			return acquisition.LogTPI(c.mu, c.sigma, c.best, c.lo, c.up)
		}},
		{"LogCEI", func(c inputs) acquisition.Value {
			return acquisition.LogCEI(c.mu, c.sigma, c.best, c.lo, c.up)
		}},
		{"UCB", func(c inputs) acquisition.Value { return acquisition.UCB(c.mu, c.sigma, beta) }},
		{"TUCB", func(c inputs) acquisition.Value {
			return acquisition.Clip(acquisition.UCB(c.mu, c.sigma, beta), math.Inf(-1), c.up)
		}},
		{"Clip", func(c inputs) acquisition.Value {
			return acquisition.Clip(acquisition.UCB(c.mu, c.sigma, beta), c.lo, c.up)
		}},
		{"LogSoftplus", func(c inputs) acquisition.Value {
			return acquisition.LogSoftplus(acquisition.Clip(acquisition.UCB(c.mu, c.sigma, beta), math.Inf(-1), c.up))
		}},
	}
}

func TestDerivativesAgainstFiniteDifferences(t *testing.T) {
	for _, fn := range functions() {
		t.Run(fn.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 5))
			for range 2000 {
				c := randomInputs(rng)
				if c.up-math.Max(c.lo, c.best) < 1e-3*c.sigma {
					continue // the differences' step would cross the interval
				}
				v := fn.f(c)
				h := 1e-5 * c.sigma
				check := func(name string, got float64, plus, minus inputs) {
					t.Helper()
					want := (fn.f(plus).F - fn.f(minus).F) / (2 * h)
					size := math.Max(math.Abs(want), 1/c.sigma)
					if !(math.Abs(got-want) < 2e-4*size) {
						t.Errorf("%+v: derivative by %s is %v, differences give %v", c, name, got, want)
					}
				}
				p, m := c, c
				p.mu, m.mu = c.mu+h, c.mu-h
				check("mu", v.Mu, p, m)
				p, m = c, c
				p.sigma, m.sigma = c.sigma+h, c.sigma-h
				check("sigma", v.Sigma, p, m)
				p, m = c, c
				p.lo, m.lo = c.lo+h, c.lo-h
				check("lo", v.Lo, p, m)
				if !math.IsInf(c.up, 1) {
					p, m = c, c
					p.up, m.up = c.up+h, c.up-h
					check("up", v.Up, p, m)
				}
			}
		})
	}
}

// The derivative of LogTEI has closed and quadrature branches; they must meet.
func TestBranchesMeet(t *testing.T) {
	for _, fn := range functions()[2:5] {
		for a := -20.0; a <= 20; a += 0.25 {
			for _, w := range []float64{0.5, 1, 1 / math.Max(1, math.Abs(a)), 1 / math.Max(1, math.Abs(a)+1)} {
				t.Run(fmt.Sprint(w), func(t *testing.T) {
					below := fn.f(inputs{mu: -a, sigma: 1, best: 0, lo: 0.3, up: 0.3 + w*(1-1e-12)})
					above := fn.f(inputs{mu: -a, sigma: 1, best: 0, lo: 0.3, up: 0.3 + w*(1+1e-12)})
					for _, d := range [][2]float64{{below.F, above.F}, {below.Mu, above.Mu}, {below.Sigma, above.Sigma}, {below.Lo, above.Lo}, {below.Up, above.Up}} {
						if math.Abs(d[0]-d[1]) > 1e-9*math.Max(1, math.Abs(d[0])) {
							t.Fatalf("%s, a=%v, w=%v: %+v and %+v", fn.name, a, w, below, above)
						}
					}
				})
			}
		}
	}
}

func TestRejectedRegionLeadsOut(t *testing.T) {
	for name, f := range map[string]func(mu, sigma, best, lo, up float64) acquisition.Value{
		"LogTEI": acquisition.LogTEI, "LogTPI": acquisition.LogTPI, "LogCEI": acquisition.LogCEI,
	} {
		t.Run(name, func(t *testing.T) {
			far := f(0, 0.5, 1, -2, 0.2)
			near := f(0, 0.5, 1, -2, 0.9)
			accepted := f(0, 0.5, 1, -2, 1.1)
			if !(far.F < near.F && near.F <= acquisition.Rejected && accepted.F > acquisition.Rejected) {
				t.Errorf("values %v, %v, %v do not rise", far.F, near.F, accepted.F)
			}
			if far.Up != 2 || !(far.Sigma > 0) || far.Mu != 0 {
				t.Errorf("gradient %+v does not lead out", far)
			}
		})
	}
	for name, f := range map[string]func(mu, sigma, best, lo, up float64) acquisition.Value{
		"TEI": acquisition.TEI, "TPI": acquisition.TPI, "CEI": acquisition.CEI,
	} {
		t.Run(name, func(t *testing.T) {
			if v := f(0, 0.5, 1, -2, 0.2); v != (acquisition.Value{}) {
				t.Errorf("plain value is %+v, want 0", v)
			}
		})
	}
}

func TestVanishingSigma(t *testing.T) {
	for _, sigma := range []float64{0, 1e-300, 1e-12, 1e-9} {
		t.Run(fmt.Sprint(sigma), func(t *testing.T) {
			if got := acquisition.TEI(0.5, sigma, 0.2, -1, 1).F; math.Abs(got-0.3) > 1e-9 {
				t.Errorf("sigma %v: TEI = %v, want 0.3", sigma, got)
			}
			if got := acquisition.TPI(1.5, sigma, 0.2, -1, 1).F; got != 0 {
				t.Errorf("sigma %v: TPI of a mean above up = %v, want 0", sigma, got)
			}
			for _, fn := range functions() {
				for _, mu := range []float64{-1, 0.2, 0.5, 1, 1.5} {
					v := fn.f(inputs{mu: mu, sigma: sigma, best: 0.2, lo: -1, up: 1})
					for _, x := range []float64{v.F, v.Mu, v.Sigma, v.Lo, v.Up} {
						if math.IsNaN(x) || math.IsInf(x, 0) {
							t.Errorf("%s at mu=%v sigma=%v: %+v", fn.name, mu, sigma, v)
						}
					}
				}
			}
		})
	}
}

func FuzzValuesAreFinite(f *testing.F) {
	f.Add(0.2, 0.5, 0.6, -0.4, 1.1)
	f.Add(-40.0, 1e-9, 1.0, 1.0, 1.0000001)
	f.Add(1e3, 1e3, -1e3, 2.0, 1.0)
	f.Fuzz(func(t *testing.T, mu, sigma, best, lo, up float64) {
		for _, x := range []float64{mu, sigma, best, lo, up} {
			if !(math.Abs(x) < 1e4) {
				t.Skip("outside standardized units")
			}
		}
		for _, fn := range functions() {
			v := fn.f(inputs{mu: mu, sigma: math.Abs(sigma), best: best, lo: lo, up: up})
			for _, x := range []float64{v.F, v.Mu, v.Sigma, v.Lo, v.Up} {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Fatalf("%s: %+v", fn.name, v)
				}
			}
		}
	})
}

func TestBeta(t *testing.T) {
	for _, c := range []struct {
		rule string
		d, t int
		want float64
	}{
		{"kandasamy", 2, 10, 6.094}, {"dragonfly", 2, 10, 1.927}, {"group", 2, 10, 1.219},
		{"kandasamy", 3, 20, 8.482}, {"dragonfly", 3, 20, 2.682}, {"group", 3, 20, 1.696},
		{"kandasamy", 6, 50, 13.855}, {"dragonfly", 6, 50, 4.381}, {"group", 6, 50, 2.771},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := acquisition.Beta(c.rule, c.d, c.t); math.Abs(math.Sqrt(got)-c.want) > 6e-4 {
				t.Errorf("%s(%d, %d): √beta = %v, want %v", c.rule, c.d, c.t, math.Sqrt(got), c.want)
			}
		})
	}
	for _, rule := range acquisition.BetaRules() {
		if !(acquisition.Beta(rule, 1, 1) > 0) {
			t.Errorf("rule %s has no weight", rule)
		}
	}
}

func TestChain(t *testing.T) {
	v := acquisition.Value{Mu: 2, Sigma: -1, Lo: 3, Up: 0.5}
	grad := []float64{9, 9}
	v.Chain(grad, []float64{1, 2}, []float64{3, 4}, nil, []float64{2, 4})
	if grad[0] != 0 || grad[1] != 2 {
		t.Errorf("chained gradient %v, want [0 2]", grad)
	}
}

func BenchmarkLogEI(b *testing.B) {
	for b.Loop() {
		acquisition.LogEI(-0.3, 0.2, 0.5)
	}
}

func BenchmarkLogTEI(b *testing.B) {
	for _, c := range []struct {
		name string
		up   float64
	}{{"unbounded", inf}, {"tail", 1.5}, {"narrow", 0.51}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				acquisition.LogTEI(-0.3, 0.2, 0.5, -1, c.up)
			}
		})
	}
}
