package acquisition_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
	"gonum.org/v1/gonum/integrate/quad"
)

var inf = math.Inf(1)

func relErr(got, want float64) float64 {
	if got == want {
		return 0
	}
	return math.Abs(got-want) / math.Max(math.Abs(want), 1e-300)
}

// millsReference evaluates Φ(-v)/φ(v) and h(-v)/φ(v) by Laplace's continued
// fraction, whose terms are all positive.
func millsReference(v float64) (r, h float64) {
	tail := 0.0
	for k := 20000; k >= 1; k-- {
		tail = float64(k) / (v + tail)
	}
	return 1 / (v + tail), tail / (v + tail)
}

func TestTailFunctionsAgainstContinuedFraction(t *testing.T) {
	step := effort.Sequential(1.03, 1.003, 1.003)
	for v := 0.5; v < 3e8; v *= step {
		r, h := millsReference(v)
		logPDF := acquisition.LogPDF(v)
		if e := relErr(acquisition.Erfcx(v/math.Sqrt2), r*math.Sqrt(2/math.Pi)); e > 3e-15 {
			t.Fatalf("Erfcx(%v/√2): relative error %.2g", v, e)
		}
		// Log(h) and Log(r) are compared as differences to LogPDF, where an
		// absolute error is a relative error of h and r; the sum rounds once.
		tol := 2e-14 + 2.3e-16*math.Abs(logPDF)
		if e := math.Abs(acquisition.LogH(-v) - (logPDF + math.Log(h))); e > tol {
			t.Fatalf("LogH(%v): error %.2g", -v, e)
		}
		if e := math.Abs(acquisition.LogCDF(-v) - (logPDF + math.Log(r))); e > tol {
			t.Fatalf("LogCDF(%v): error %.2g", -v, e)
		}
	}
}

func TestNormalFunctions(t *testing.T) {
	for _, c := range []struct{ z, want float64 }{
		{0, -0.918938533205}, {3, 1.09873966533}, {-5, -16.7443011627}, {-40, -808.298568357},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if got := acquisition.LogH(c.z); relErr(got, c.want) > 1e-11 {
				t.Errorf("LogH(%v) = %.13g, want %.13g", c.z, got, c.want)
			}
		})
	}
	for z := -8.0; z < 8; z += 0.01 {
		if e := relErr(acquisition.LogCDF(z), math.Log(acquisition.CDF(z))); e > 1e-12 && z < 0 {
			t.Fatalf("LogCDF(%v): relative error %.2g", z, e)
		}
		h := acquisition.PDF(z) + z*acquisition.CDF(z)
		if e := relErr(math.Exp(acquisition.LogH(z)), h); e > 1e-12*math.Max(1, acquisition.PDF(z)/h) {
			t.Fatalf("LogH(%v): relative error %.2g", z, e)
		}
	}
	for x := -5.0; x < 4; x += 0.1 {
		if e := relErr(acquisition.Erfcx(x), math.Exp(x*x)*math.Erfc(x)); e > 5e-14 {
			t.Fatalf("Erfcx(%v): relative error %.2g", x, e)
		}
	}
	if got := acquisition.LogCDF(20); got > 0 || relErr(got, -2.753624118606e-89) > 1e-9 {
		t.Errorf("LogCDF(20) = %v", got)
	}
}

// vectors computed in high precision from the closed form and by quadrature.
func TestTruncatedVectors(t *testing.T) {
	for i, c := range []struct {
		mu, sigma, best, lo, up float64
		tpi, tei                float64
		ucb, tucb               float64
		accepted                bool
	}{
		{0.2, 0.5, 0.6, -0.4, 1.1, 0.17592507947, 0.0350006654421, 1.2, 1.1, false},
		{-0.3, 0.8, 0.5, -2.0, 0.9, 0.0918480526626, 0.0164840609525, 1.3, 0.9, false},
		{1.4, 0.3, 1.0, 0.2, 1.5, 0.539347440092, 0.151727030132, 2.0, 1.5, false},
		{2.0, 0.4, 1.0, -0.5, 1.2, 0.0165404666224, 0.00195540021456, 2.8, 1.2, false},
		{0.0, 1.0, 1.0, -1.0, 0.7, 0, 0, 2.0, 0.7, false},
		{-4.0, 0.5, 1.0, -6.0, 3.0, 7.61985302416e-24, 3.7372801273e-25, -3.0, -3.0, true},
		{0.2, 0.5, 0.6, -inf, inf, 0.211855398583, 0.0601036169474, 1.2, 1.2, true},
		{0.5, 1e-9, 0.2, -1, 1, 1, 0.3, 0.5, 0.5, true},
		{0.3, 0.2, -0.5, 0.0, 0.8, 0.926983133405, 0.763984365759, 0.7, 0.7, true},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if got := acquisition.TPI(c.mu, c.sigma, c.best, c.lo, c.up).F; relErr(got, c.tpi) > 1e-11 {
				t.Errorf("vector %d: TPI = %.13g, want %.13g", i+1, got, c.tpi)
			}
			if got := acquisition.TEI(c.mu, c.sigma, c.best, c.lo, c.up).F; relErr(got, c.tei) > 1e-11 {
				t.Errorf("vector %d: TEI = %.13g, want %.13g", i+1, got, c.tei)
			}
			ucb := acquisition.UCB(c.mu, c.sigma, 4)
			if relErr(ucb.F, c.ucb) > 1e-8 {
				t.Errorf("vector %d: UCB = %v, want %v", i+1, ucb.F, c.ucb)
			}
			if got := acquisition.Clip(acquisition.UCB(c.mu, c.sigma, 4), math.Inf(-1), c.up).F; relErr(got, c.tucb) > 1e-8 {
				t.Errorf("vector %d: TUCB = %v, want %v", i+1, got, c.tucb)
			}
			ar := acquisition.AcceptReject(ucb, c.lo, c.up)
			if c.accepted != (ar.F == ucb.F) || c.accepted == math.IsInf(ar.F, -1) {
				t.Errorf("vector %d: AR-UCB = %v", i+1, ar.F)
			}
		})
	}
	for _, c := range []struct{ mu, sigma, best, lo, up, want float64 }{
		{0.2, 0.5, 0.6, -0.4, 1.1, -3.35238820504},
		{2.0, 0.4, 1.0, -0.5, 1.2, -6.23716039317},
		{-4.0, 0.5, 1.0, -6.0, 3.0, -56.2462692167},
		{0, 0.1, 2, -5, 5, -209.220423602},
		{0, 0.01, 1, -1, 1.001, -5014.73524557},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if got := acquisition.LogTEI(c.mu, c.sigma, c.best, c.lo, c.up).F; relErr(got, c.want) > 1e-11 {
				t.Errorf("LogTEI%v = %.13g, want %.13g", c, got, c.want)
			}
		})
	}
	v := acquisition.TEI(0.2, 0.5, 0.6, -0.4, 1.1)
	for _, c := range []struct {
		name      string
		got, want float64
	}{{"mu", v.Mu, 0.0969749212}, {"sigma", v.Sigma, 0.0686311095}, {"up", v.Up, 0.0789501582}, {"lo", v.Lo, 0}} {
		t.Run(c.name, func(t *testing.T) {
			if math.Abs(c.got-c.want) > 2e-10 {
				t.Errorf("vector 1: dTEI/d%s = %.10f, want %.10f", c.name, c.got, c.want)
			}
		})
	}
}

// logIntegral returns ln ∫ (f-shift)^power N(f; mu, s²) df over [lo, up] by
// quadrature on panels that shrink towards the densest point. It integrates over
// the distance from lo, as the width of a narrow interval would be lost in
// up - mu.
func logIntegral(mu, s, lo, up, shift float64, power int) float64 {
	a, w := (lo-mu)/s, (up-lo)/s
	if w > 60+math.Max(-a, 0) {
		w = 60 + math.Max(-a, 0)
	}
	peak := math.Min(math.Max(-a, 0), w)
	edges := []float64{0, w}
	for step := 1e-7; step < 200; step *= 2 {
		for _, e := range []float64{peak - step, peak + step, step, w - step} {
			if e > 0 && e < w {
				edges = append(edges, e)
			}
		}
	}
	slices.Sort(edges)
	sum := 0.0
	for i := 1; i < len(edges); i++ {
		sum += quad.Fixed(func(q float64) float64 {
			return math.Pow((lo-shift)+s*q, float64(power)) * math.Exp(-(q-peak)*(a+0.5*(q+peak)))
		}, edges[i-1], edges[i], 10, quad.Legendre{}, 0)
	}
	return math.Log(sum) + acquisition.LogPDF(a+peak)
}

type inputs struct{ mu, sigma, best, lo, up float64 }

// randomInputs draws cases in which the interval [best or lo, up] lies up to 30
// standard deviations away from mu and is 1e-6 to 30 of them wide.
func randomInputs(rng *rand.Rand) inputs {
	c := inputs{
		mu:    2 * rng.NormFloat64(),
		sigma: math.Exp(3 * rng.NormFloat64()),
	}
	c.best = c.mu + c.sigma*30*(2*rng.Float64()-1)*math.Pow(rng.Float64(), 2)
	c.lo = c.best - c.sigma*rng.Float64()
	if rng.IntN(2) == 0 {
		c.lo = c.best + c.sigma*math.Exp(2*rng.NormFloat64()-1)
	}
	width := math.Exp(math.Log(1e-6) + rng.Float64()*math.Log(3e7))
	c.up = math.Max(c.best, c.lo) + c.sigma*width
	if rng.IntN(10) == 0 {
		c.up = inf
	}
	return c
}

func TestTruncationAgainstQuadrature(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 1000 {
		c := randomInputs(rng)
		low := math.Max(c.best, c.lo)
		// Rounding of the inputs' differences is amplified by the exponent.
		tol := 1e-10 + 1e-14*math.Pow((low-c.mu)/c.sigma, 2)
		want := logIntegral(c.mu, c.sigma, low, c.up, c.best, 1)
		if got := acquisition.LogTEI(c.mu, c.sigma, c.best, c.lo, c.up).F; math.Abs(got-want) > tol {
			t.Errorf("case %d %+v: LogTEI = %.15g, want %.15g", i, c, got, want)
		}
		want = logIntegral(c.mu, c.sigma, low, c.up, 0, 0)
		if got := acquisition.LogTPI(c.mu, c.sigma, c.best, c.lo, c.up).F; math.Abs(got-want) > tol {
			t.Errorf("case %d %+v: LogTPI = %.15g, want %.15g", i, c, got, want)
		}
	}
}

func TestClippedAgainstQuadrature(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for i := range 1000 {
		c := randomInputs(rng)
		low := math.Max(c.best, c.lo)
		want := math.Exp(logIntegral(c.mu, c.sigma, low, c.up, c.best, 1)) +
			(low-c.best)*acquisition.CDF((low-c.mu)/c.sigma)
		if !math.IsInf(c.up, 1) {
			want += (c.up - c.best) * acquisition.CDF((c.mu-c.up)/c.sigma)
		}
		got := acquisition.CEI(c.mu, c.sigma, c.best, c.lo, c.up).F
		tol := 1e-10 + 1e-13*math.Pow((low-c.mu)/c.sigma, 2)
		if relErr(got, want) > tol {
			t.Errorf("case %d %+v: CEI = %.15g, want %.15g", i, c, got, want)
		}
		if l := acquisition.LogCEI(c.mu, c.sigma, c.best, c.lo, c.up).F; math.Abs(l-math.Log(want)) > tol {
			t.Errorf("case %d %+v: LogCEI = %.15g, want %.15g", i, c, l, math.Log(want))
		}
	}
}

func TestWithoutBoundsTruncationIsPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for range 1000 {
		mu, sigma, best := 5*rng.NormFloat64(), math.Exp(2*rng.NormFloat64()), rng.NormFloat64()
		tol := 1e-13 * (1 + math.Pow((mu-best)/sigma, 2))
		for _, pair := range [][2]acquisition.Value{
			{acquisition.LogTEI(mu, sigma, best, -inf, inf), acquisition.LogEI(mu, sigma, best)},
			{acquisition.LogCEI(mu, sigma, best, -inf, inf), acquisition.LogEI(mu, sigma, best)},
			{acquisition.LogTPI(mu, sigma, best, -inf, inf), acquisition.LogPI(mu, sigma, best)},
		} {
			got, want := pair[0], pair[1]
			if math.Abs(got.F-want.F) > tol || relErr(got.Mu, want.Mu) > 1e-11 || relErr(got.Sigma, want.Sigma) > 1e-9 {
				t.Fatalf("mu=%v sigma=%v best=%v: %+v, want %+v", mu, sigma, best, got, want)
			}
		}
	}
}

func TestClippedNeverExceedsEIAndGrowsWithMu(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for range 2000 {
		c := randomInputs(rng)
		c.lo = c.best - 1
		cei := acquisition.LogCEI(c.mu, c.sigma, c.best, c.lo, c.up)
		if ei := acquisition.LogEI(c.mu, c.sigma, c.best); cei.F > ei.F+1e-12*(1+math.Abs(ei.F)) {
			t.Fatalf("%+v: LogCEI %v above LogEI %v", c, cei.F, ei.F)
		}
		if tei := acquisition.LogTEI(c.mu, c.sigma, c.best, c.lo, c.up); tei.F > cei.F+1e-12*(1+math.Abs(tei.F)) {
			t.Fatalf("%+v: LogTEI %v above LogCEI %v", c, tei.F, cei.F)
		}
		if cei.Mu < 0 {
			t.Fatalf("%+v: LogCEI falls with mu: %v", c, cei.Mu)
		}
	}
}
