package lipschitz_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/lipschitz"
)

var (
	vectorX = [][]float64{{0.1, 0.2}, {0.4, 0.9}, {0.75, 0.35}, {0.9, 0.6}, {0.55, 0.15}}
	vectorY = []float64{0.3, -1.2, 0.8, 1.5, -0.4}
)

func TestVectors(t *testing.T) {
	l := slopeOf(vectorX, vectorY, nil, 0)
	if math.Abs(l-4.630461798847739) > 1e-14 {
		t.Errorf("slope %.16g, want 4.630461798847739", l)
	}
	b := lipschitz.NewBounds(vectorX, vectorY, nil, l, 0)
	for _, c := range []struct{ x1, x2, lo, up float64 }{
		{0.5, 0.5, -0.409188309204, 0.709188309204},
		{0.95, 0.05, -0.869536744482, 1.509188309204},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			lo, up, valid := b.At([]float64{c.x1, c.x2}, nil, nil)
			if !valid || math.Abs(lo-c.lo) > 1e-12 || math.Abs(up-c.up) > 1e-12 {
				t.Errorf("bounds at (%v, %v): %.12f, %.12f, %v, want %v, %v", c.x1, c.x2, lo, up, valid, c.lo, c.up)
			}
		})
	}
	small := b.WithL(3)
	x := []float64{0.5, 0.5}
	if lo, up := small.Lower(x), small.Upper(x); math.Abs(lo-0.263068312315) > 1e-12 || math.Abs(up-0.036931687685) > 1e-12 {
		t.Errorf("L = 3: %.12f, %.12f", lo, up)
	}
	grad := []float64{7, 7}
	if lo, up, valid := small.At(x, nil, grad); valid || !math.IsInf(lo, -1) || !math.IsInf(up, 1) || grad[0] != 0 {
		t.Errorf("crossing bounds are taken as %v, %v, %v, gradient %v", lo, up, valid, grad)
	}
	if b.L() != l || small.L() != 3 {
		t.Errorf("constants %v and %v", b.L(), small.L())
	}
}

func randomData(n, d int, rng *rand.Rand) (x [][]float64, y []float64) {
	for range n {
		p := make([]float64, d)
		for j := range p {
			p[j] = rng.Float64()
		}
		x, y = append(x, p), append(y, rng.NormFloat64())
	}
	return x, y
}

func TestBoundsInterpolateFromTheSlopeOn(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 50 {
		d := 1 + i%5
		x, y := randomData(30, d, rng)
		var scale []float64
		if i%2 == 0 {
			scale = lengths(d, rng)
		}
		l := slopeOf(x, y, scale, 0)
		for _, factor := range []float64{1, 1.7} {
			b := lipschitz.NewBounds(x, y, scale, factor*l, 0)
			for k := range x {
				lo, up, valid := b.At(x[k], nil, nil)
				if !valid || math.Abs(lo-y[k]) > 1e-9 || math.Abs(up-y[k]) > 1e-9 {
					t.Fatalf("factor %v: bounds %v, %v (%v) at a value %v", factor, lo, up, valid, y[k])
				}
			}
			at, _ := randomData(100, d, rng)
			for _, p := range at {
				if lo, up, valid := b.At(p, nil, nil); !valid || lo > up {
					t.Fatalf("factor %v: bounds %v, %v (%v) cross", factor, lo, up, valid)
				}
			}
		}
		crossed := 0
		b := lipschitz.NewBounds(x, y, scale, 0.5*l, 0)
		for k := range x {
			if _, _, valid := b.At(x[k], nil, nil); !valid {
				crossed++
			}
		}
		if crossed == 0 {
			t.Error("half of the largest slope crosses nowhere")
		}
	}
}

// Observations are looked at 64 at a time: the bounds must be those of the formulas however
// many there are.
func TestBoundsOfManyAreThoseOfTheFormulas(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	const l, delta = 3, 0.1
	for _, n := range []int{63, 64, 65, 200} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			x, y := randomData(n, 2, rng)
			b := lipschitz.NewBounds(x, y, nil, l, delta)
			at, _ := randomData(100, 2, rng)
			for _, p := range at {
				lo, up := math.Inf(-1), math.Inf(1)
				for i := range x {
					r := delta + l*math.Hypot(p[0]-x[i][0], p[1]-x[i][1])
					lo, up = math.Max(lo, y[i]-r), math.Min(up, y[i]+r)
				}
				if gotLo, gotUp := b.Lower(p), b.Upper(p); math.Abs(gotLo-lo) > 1e-9 || math.Abs(gotUp-up) > 1e-9 {
					t.Fatalf("of %d: bounds %v and %v; want %v and %v", n, gotLo, gotUp, lo, up)
				}
			}
		})
	}
}

func lengths(d int, rng *rand.Rand) []float64 {
	l := make([]float64, d)
	for j := range l {
		l[j] = math.Exp(rng.NormFloat64())
	}
	return l
}

func TestBoundsHoldForALipschitzFunction(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	f := func(x []float64) float64 { return 0.5*math.Sin(2*math.Pi*x[0]) + x[1] }
	l := math.Hypot(math.Pi, 1)
	x, _ := randomData(40, 2, rng)
	y := make([]float64, len(x))
	for i := range x {
		y[i] = f(x[i])
	}
	if est := slopeOf(x, y, nil, 0); est > l || est < 0.6*l {
		t.Errorf("slope %v for the constant %v", est, l)
	}
	b := lipschitz.NewBounds(x, y, nil, l, 0)
	samples, _ := randomData(2000, 2, rng)
	for _, p := range samples {
		if lo, up, valid := b.At(p, nil, nil); !valid || f(p) < lo || f(p) > up {
			t.Fatalf("f(%v) = %v is outside [%v, %v]", p, f(p), lo, up)
		}
	}
	best := slices.Max(y)
	share := lipschitz.Excluded(b.Uppers(samples), best)
	if wide := lipschitz.Excluded(b.WithL(10*l).Uppers(samples), best); !(share > 0.3 && wide < share/3) {
		t.Errorf("excluded %v with L, %v with 10 L", share, wide)
	}
	// The maximum, 1.5 at (1/4, 1), must never be excluded.
	if b.Upper([]float64{0.25, 1}) < 1.5 {
		t.Error("the maximum is excluded")
	}
}

func TestGradientsAgainstFiniteDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range 200 {
		d := 1 + i%4
		x, y := randomData([]int{15, 15, 100}[i%3], d, rng) // 64 are looked at at a time
		var scale []float64
		if i%2 == 0 {
			scale = lengths(d, rng)
		}
		b := lipschitz.NewBounds(x, y, scale, 2*slopeOf(x, y, scale, 0), 0.01)
		p, _ := randomData(1, d, rng)
		at := p[0]
		gradLo, gradUp := make([]float64, d), make([]float64, d)
		lo, up, valid := b.At(at, gradLo, gradUp)
		if again := b.Upper(at); !valid || again != up || b.Lower(at) != lo {
			t.Fatalf("At gives %v, %v, Upper %v", lo, up, again)
		}
		for j := range at {
			const h = 1e-7
			v := at[j]
			at[j] = v + h
			lo1, up1, _ := b.At(at, nil, nil)
			at[j] = v - h
			lo0, up0, _ := b.At(at, nil, nil)
			at[j] = v
			for _, c := range [][2]float64{{gradLo[j], (lo1 - lo0) / (2 * h)}, {gradUp[j], (up1 - up0) / (2 * h)}} {
				if math.Abs(c[0]-c[1]) > 1e-5*b.L()+1e-6 {
					t.Errorf("gradient %v, differences give %v", c[0], c[1])
				}
			}
		}
		if _, up, _ := b.At(x[0], nil, gradUp); up == y[0]+0.01 && !slices.Equal(gradUp, make([]float64, d)) {
			t.Errorf("gradient at an observation: %v", gradUp)
		}
	}
}

func TestWithoutInformationThereAreNoBounds(t *testing.T) {
	for name, b := range map[string]*lipschitz.Bounds{
		"no points":         lipschitz.NewBounds(nil, nil, nil, 2, 0),
		"constant 0":        lipschitz.NewBounds(vectorX, vectorY, nil, 0, 0),
		"constant NaN":      lipschitz.NewBounds(vectorX, vectorY, nil, math.NaN(), 0),
		"infinite constant": lipschitz.NewBounds(vectorX, vectorY, nil, math.Inf(1), 0),
		"no slopes":         lipschitz.NewEstimator(nil, 0).Bounds(1, 0),
	} {
		t.Run(name, func(t *testing.T) {
			grad := []float64{5, 5}
			lo, up, valid := b.At([]float64{0.5, 0.5}, nil, grad)
			if !valid || !math.IsInf(lo, -1) || !math.IsInf(up, 1) || grad[0] != 0 || grad[1] != 0 {
				t.Errorf("bounds %v, %v, %v, gradient %v", lo, up, valid, grad)
			}
		})
	}
	if l := slopeOf(vectorX[:1], vectorY[:1], nil, 0); l != 0 {
		t.Errorf("slope of one point: %v", l)
	}
	if l := slopeOf(vectorX, []float64{2, 2, 2, 2, 2}, nil, 0); l != 0 {
		t.Errorf("slope of a constant: %v", l)
	}
}

// slopeByDefinition averages coincident points and compares all pairs.
func slopeByDefinition(x [][]float64, y, scale []float64, noise float64) float64 {
	tol := 1e-9
	if noise > 0 {
		tol = 1e-6
	}
	dist := func(a, b, s []float64) float64 {
		sum := 0.0
		for j := range a {
			d := a[j] - b[j]
			if s != nil {
				d /= s[j]
			}
			sum += d * d
		}
		return math.Sqrt(sum)
	}
	var px [][]float64
	var py, n []float64
	for i, p := range x {
		k := slices.IndexFunc(px, func(q []float64) bool { return dist(p, q, nil) < tol })
		if k < 0 {
			px, py, n = append(px, p), append(py, 0), append(n, 0)
			k = len(px) - 1
		}
		py[k] += y[i]
		n[k]++
	}
	c := math.Max(3, math.Sqrt(4*math.Log(float64(len(px)))))
	most := 0.0
	for i := range px {
		for j := range i {
			diff := math.Abs(py[i]/n[i]-py[j]/n[j]) - c*math.Sqrt2*noise
			most = math.Max(most, diff/dist(px[i], px[j], scale))
		}
	}
	return most
}

func TestIncrementalEstimateEqualsTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range 60 {
		d := 1 + i%3
		x, y := randomData(25, d, rng)
		for k := range 25 {
			p := slices.Clone(x[rng.IntN(25)]) // repeats, exact or nearly so
			if k%2 == 0 {
				p[0] += 1e-8 * (rng.Float64() - 0.5)
			}
			x, y = append(x, p), append(y, 3*rng.NormFloat64())
		}
		var scale []float64
		if i%2 == 0 {
			scale = lengths(d, rng)
		}
		noise := []float64{0, 0.05, 0.3}[i%3]
		e := lipschitz.NewEstimator(scale, noise)
		for k := range x {
			e.Add(x[k], y[k])
			got, want := e.Slope(), slopeByDefinition(x[:k+1], y[:k+1], scale, noise)
			// Distances of about 1e-8 carry a rounding error of 1e-8 themselves.
			if math.Abs(got-want) > 1e-6*want {
				t.Fatalf("noise %v, %d points: slope %v, want %v", noise, k+1, got, want)
			}
		}
	}
}

func TestRepeatedPointsAreAveraged(t *testing.T) {
	e := lipschitz.NewEstimator(nil, 0)
	e.Add([]float64{0}, 0)
	e.Add([]float64{1}, 4)
	e.Add([]float64{1}, 2)
	e.Add([]float64{1 + 1e-11}, 0)
	if e.Slope() != 2 {
		t.Errorf("slope %v, want 2", e.Slope())
	}
	if lo, up, _ := e.Bounds(2, 0).At([]float64{1}, nil, nil); lo != 2 || up != 2 {
		t.Errorf("bounds %v, %v at the mean 2", lo, up)
	}
}

// The correction for noise, over designs of which half lies uniformly and half
// around the incumbent: the plain estimate explodes, the corrected one stays near
// the true constant. Medians of 30 repetitions each.
func TestNoiseCorrection(t *testing.T) {
	truth := math.Hypot(math.Pi, 1)
	ratio := func(n int, clustered bool, noise float64, corrected bool) float64 {
		rng := rand.New(rand.NewPCG(uint64(n), 5))
		var ratios []float64
		for range 30 {
			x, y := design(n, clustered, noise, rng)
			assumed := 0.0
			if corrected {
				assumed = noise
			}
			ratios = append(ratios, slopeOf(x, y, nil, assumed)/truth)
		}
		slices.Sort(ratios)
		return ratios[15]
	}
	for _, c := range []struct {
		n                int
		clustered        bool
		noise            float64
		plainAtLeast     float64
		lowest, greatest float64
	}{
		{50, false, 0.1, 2, 0.3, 1.2},
		{200, false, 0.1, 6, 0.4, 1.2},
		{50, true, 0, 0.7, 0.7, 1},
		{50, true, 0.01, 2.5, 0.6, 1.2},
		{50, true, 0.1, 30, 0.3, 1.2},
		{200, true, 0.1, 100, 0.3, 1.5},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			plain, corrected := ratio(c.n, c.clustered, c.noise, false), ratio(c.n, c.clustered, c.noise, true)
			t.Logf("n=%d clustered=%v noise=%v: plain %.3g, corrected %.3g times the constant", c.n, c.clustered, c.noise, plain, corrected)
			if plain < c.plainAtLeast || corrected < c.lowest || corrected > c.greatest {
				t.Errorf("out of range")
			}
		})
	}
}

func design(n int, clustered bool, noise float64, rng *rand.Rand) (x [][]float64, y []float64) {
	f := func(p []float64) float64 { return 0.5*math.Sin(2*math.Pi*p[0]) + p[1] }
	best := []float64{0.25, 0.9}
	for i := range n {
		p := []float64{rng.Float64(), rng.Float64()}
		if clustered && i%2 == 1 {
			for j := range p {
				p[j] = math.Min(math.Max(best[j]+0.01*rng.NormFloat64(), 0), 1)
			}
		}
		x, y = append(x, p), append(y, f(p)+noise*rng.NormFloat64())
	}
	return x, y
}

func TestLoosen(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	x, y := randomData(20, 2, rng)
	samples, _ := randomData(500, 2, rng)
	best := slices.Max(y) + 1
	b := lipschitz.NewBounds(x, y, nil, 0.01, 10) // wide enough not to cross
	b = lipschitz.NewBounds(x, y, nil, b.L(), 0)
	loose, ups := lipschitz.NewBounds(x[:1], []float64{0}, nil, 0.01, 0).Loosen(samples, best, 0.01)
	if loose.L() <= 0.01 || 1-lipschitz.Excluded(ups, best) < 0.01 {
		t.Errorf("constant %v, excluded %v", loose.L(), lipschitz.Excluded(ups, best))
	}
	if !slices.Equal(ups, loose.Uppers(samples)) {
		t.Error("the upper bounds are not those of what was returned")
	}
	if 1-lipschitz.Excluded(loose.WithL(loose.L()/2).Uppers(samples), best) >= 0.01 {
		t.Error("loosened once too often")
	}
	if same, _ := b.WithL(1e6).Loosen(samples, best, 0.01); same.L() != 1e6 {
		t.Errorf("wide bounds were loosened to %v", same.L())
	}
}

// With the constant that is named x just reaches best, with the noise on top.
func TestExcludedBelow(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	x, y := randomData(20, 2, rng)
	at, _ := randomData(50, 2, rng)
	best := slices.Max(y) + 1
	for _, delta := range []float64{0, 0.5} {
		b := lipschitz.NewBounds(x, y, []float64{1, 3}, 1, delta)
		for _, p := range at {
			if up := b.WithL(b.ExcludedBelow(p, best)).Upper(p); math.Abs(up-best) > 1e-9 {
				t.Fatalf("noise %v: the upper bound is %v; want %v", delta, up, best)
			}
		}
	}
}

func BenchmarkAt(b *testing.B) {
	rng := rand.New(rand.NewPCG(9, 9))
	x, y := randomData(100, 6, rng)
	bounds := lipschitz.NewBounds(x, y, lengths(6, rng), 5, 0)
	gradLo, gradUp := make([]float64, 6), make([]float64, 6)
	b.ReportAllocs()
	for b.Loop() {
		bounds.At(x[7], gradLo, gradUp)
	}
}

func BenchmarkSlope(b *testing.B) {
	for _, n := range []int{100, 1000} {
		for _, noise := range []float64{0, 0.1} {
			b.Run(fmt.Sprintf("n=%d/noise=%v", n, noise), func(b *testing.B) {
				x, y := randomData(n, 6, rand.New(rand.NewPCG(9, 9)))
				for b.Loop() {
					slopeOf(x, y, nil, noise)
				}
			})
		}
	}
}

// slopeOf is the estimate from all observations.
func slopeOf(points [][]float64, values, scale []float64, noise float64) float64 {
	e := lipschitz.NewEstimator(scale, noise)
	for i, x := range points {
		e.Add(x, values[i])
	}
	return e.Slope()
}
