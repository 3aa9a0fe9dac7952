package quadratic_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/quadratic"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// surface is a + gᵀ(x-c) + ½(x-c)ᵀH(x-c).
type surface struct {
	a    float64
	g, c []float64
	h    *mat.SymDense
}

func (q surface) at(x []float64) float64 {
	d := make([]float64, len(x))
	for i := range x {
		d[i] = x[i] - q.c[i]
	}
	v := mat.NewVecDense(len(d), d)
	return q.a + mat.Dot(mat.NewVecDense(len(d), q.g), v) + 0.5*mat.Inner(v, q.h, v)
}

// concave returns a random concave quadratic with its maximum at c.
func concave(d int, rng *rand.Rand) surface {
	q := surface{a: rng.NormFloat64(), g: make([]float64, d), c: make([]float64, d), h: mat.NewSymDense(d, nil)}
	for k := range d + 1 {
		v := mat.NewVecDense(d, nil)
		for i := range d {
			v.SetVec(i, rng.NormFloat64())
		}
		q.h.SymRankOne(q.h, -1, v)
		if k < d {
			q.c[k] = 0.3 + 0.4*rng.Float64()
			q.h.SetSym(k, k, q.h.At(k, k)-0.3)
		}
	}
	return q
}

func cloud(n, d int, rng *rand.Rand) [][]float64 {
	points := make([][]float64, n)
	for i := range points {
		points[i] = make([]float64, d)
		for j := range d {
			points[i][j] = rng.Float64()
		}
	}
	return points
}

func values(f func([]float64) float64, points [][]float64) []float64 {
	y := make([]float64, len(points))
	for i, p := range points {
		y[i] = f(p)
	}
	return y
}

func argmax(y []float64) int {
	best := 0
	for i, v := range y {
		if v > y[best] {
			best = i
		}
	}
	return best
}

func cube(d int) (lo, up []float64) {
	lo, up = make([]float64, d), make([]float64, d)
	for i := range up {
		up[i] = 1
	}
	return lo, up
}

func fit(t *testing.T, points [][]float64, y []float64, center int) *quadratic.Model {
	t.Helper()
	m, err := quadratic.Fit(points, y, center)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRecoversTheMaximizerOfQuadratics(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 60 {
		d := 1 + i%8
		q := concave(d, rng)
		unit := math.Exp(5 * rng.NormFloat64())
		points := cloud((d+1)*(d+2)/2+5, d, rng)
		y := values(func(x []float64) float64 { return 1e3*unit + unit*q.at(x) }, points)
		m := fit(t, points, y, argmax(y))
		lo, up := cube(d)
		x, gain := m.Maximize(t.Context(), 1, lo, up)
		for j := range x {
			if math.Abs(x[j]-q.c[j]) > 1e-6 {
				t.Errorf("%d dimensions: maximizer %v, want %v", d, x, q.c)
				break
			}
		}
		if want := 1e3*unit + unit*q.a - y[argmax(y)]; math.Abs(gain-want) > 1e-6*unit {
			t.Errorf("%d dimensions: gain %v, want %v", d, gain, want)
		}
	}
}

// Each step fits a quadratic to ever nearer points; on a smooth function this must
// converge to rounding.
func TestEndgameOnASmoothFunction(t *testing.T) {
	f := func(x []float64) float64 {
		a, b := x[0]-0.37, x[1]-0.61
		return -math.Expm1(3*a*a+a*b+2*b*b) - 0.5*a*a*a
	}
	rng := rand.New(rand.NewPCG(2, 2))
	points := cloud(8, 2, rng)
	y := values(f, points)
	lo, up := cube(2)
	region := quadratic.Region{}
	for range 25 {
		k := argmax(y)
		m := fit(t, points, y, k)
		region = region.Start(m.Far)
		x, gain := m.Maximize(t.Context(), region.Radius, lo, up)
		if gain <= 1e-15 {
			break
		}
		region = region.Judged(gain, f(x)-y[k])
		points, y = append(points, x), append(y, f(x))
	}
	if best := y[argmax(y)]; best < -1e-12 {
		t.Errorf("regret %.3g after %d points", -best, len(y))
	}
}

// The fit must interpolate, and its Hessian be as small in the Frobenius norm, or as near to
// a multiple of the identity, as one found by another way.
func TestUnderdeterminedFitHasTheLeastHessian(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range 40 {
		d := 2 + i%4
		n := d + 2 + rng.IntN((d+1)*(d+2)/2-d-2)
		points := cloud(n, d, rng)
		y := make([]float64, n)
		for k := range y {
			y[k] = rng.NormFloat64()
		}
		m := fit(t, points, y, 0)
		for k, p := range points {
			if got := m.At(p); math.Abs(got-y[k]) > 1e-7 {
				t.Fatalf("%d points in %d dimensions: Q is %v at a point of value %v", n, d, got, y[k])
			}
		}
		want := leastHessianNorm(points, y, m.Round)
		if got := hessianNorm(m, points[0], m.Round); math.Abs(got-want) > 1e-5*want {
			t.Errorf("%d points in %d dimensions: Frobenius norm %v, least possible %v", n, d, got, want)
		}
	}
}

// Beside a like function, d+2 points do for a multiple of it plus anything linear, whatever
// else is offered; and what it says is added only where the points leave it open.
func TestLikeFunction(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range 40 {
		d := 2 + i%5
		q := concave(d, rng)
		all := cloud((d+1)*(d+2)/2, d, rng)
		like := fit(t, all, values(q.at, all), 0)
		stranger := fit(t, all, values(concave(d, rng).at, all), 0)
		slope, unit := rng.NormFloat64(), math.Exp(3*rng.NormFloat64())
		f := func(x []float64) float64 { return unit * (q.at(x) + slope*x[0]) }
		points := cloud(d+3, d, rng)
		m, err := quadratic.Fit(points, values(f, points), 0, stranger, like)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			x := cloud(1, d, rng)[0]
			if got, want := m.At(x), f(x); math.Abs(got-want) > 1e-5*unit {
				t.Fatalf("%d dimensions: %v at %v, want %v", d, got, x, want)
			}
		}
		other := make([]float64, len(points)) // that it is not like
		for k := range other {
			other[k] = rng.NormFloat64()
		}
		if m, err = quadratic.Fit(points, other, 0, like); err != nil {
			t.Fatal(err)
		}
		interpolated := 0
		for k, p := range points {
			if math.Abs(m.At(p)-other[k]) < 1e-6 {
				interpolated++
			}
		}
		if interpolated < m.Points {
			t.Errorf("%d dimensions: it goes through %d of %d points", d, interpolated, m.Points)
		}
	}
}

// Points that are two more than a round bowl has coefficients tell that it is one, and a
// turned, narrow one is not taken for it.
func TestRoundBowl(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for d := 3; d <= 20; d++ {
		top, slope, unit := cloud(1, d, rng)[0], rng.NormFloat64(), math.Exp(3*rng.NormFloat64())
		f := func(x []float64) float64 {
			sum := slope * x[0]
			for j, v := range x {
				sum -= (v - top[j]) * (v - top[j])
			}
			return unit * sum
		}
		points := cloud(d+3, d, rng)
		m := fit(t, points, values(f, points), 0)
		if x := cloud(1, d, rng)[0]; !m.Round || m.Determined() || math.Abs(m.At(x)-f(x)) > 1e-6*unit {
			t.Errorf("%d dimensions: round %v, %v instead of %v", d, m.Round, m.At(x), f(x))
		}
		valley := func(x []float64) float64 {
			a := x[0] + x[1] - x[2]
			return -unit * a * a
		}
		if m = fit(t, points, values(valley, points), 0); m.Round {
			t.Errorf("%d dimensions: a valley is round", d)
		}
	}
}

// hessianNorm measures the Frobenius norm of Q's Hessian, or of what differs in it from a
// multiple of the identity, by differences, which are exact for quadratics.
func hessianNorm(m *quadratic.Model, c []float64, round bool) float64 {
	const step = 0.5
	at := func(i, j int, a, b float64) float64 {
		x := append([]float64(nil), c...)
		x[i] += a
		x[j] += b
		return m.At(x)
	}
	sum, trace := 0.0, 0.0
	for i := range c {
		for j := range c {
			h := (at(i, j, step, step) - at(i, j, step, -step) - at(i, j, -step, step) + at(i, j, -step, -step)) / (4 * step * step)
			sum += h * h
			if i == j {
				trace += h
			}
		}
	}
	if round {
		sum -= trace * trace / float64(len(c))
	}
	return math.Sqrt(sum)
}

// leastHessianNorm solves min ‖H‖_F s.t. interpolation by eliminating g: project
// the conditions onto the complement of the offsets' range, then take the
// pseudo-inverse by singular values. For a round one it eliminates the common curvature, too.
func leastHessianNorm(points [][]float64, y []float64, round bool) float64 {
	n, d := len(points)-1, len(points[0])
	c := d
	if round {
		c++
	}
	s := mat.NewDense(n, c, nil)
	a := mat.NewDense(n, d*(d+1)/2, nil)
	v := mat.NewVecDense(n, nil)
	for i := range n {
		v.SetVec(i, y[i+1]-y[0])
		for j := range d {
			s.Set(i, j, points[i+1][j]-points[0][j])
		}
		col := 0
		for j := range d {
			for k := range j {
				a.Set(i, col, s.At(i, j)*s.At(i, k)/math.Sqrt2) // variable √2 H_jk
				col++
			}
			a.Set(i, col, 0.5*s.At(i, j)*s.At(i, j))
			col++
		}
		if round {
			s.Set(i, d, 0.5*floats.Dot(s.RawRowView(i)[:d], s.RawRowView(i)[:d]))
		}
	}
	var qr mat.QR
	qr.Factorize(s)
	var q mat.Dense
	qr.QTo(&q)
	null := q.Slice(0, n, c, n)
	var pa mat.Dense
	pa.Mul(null.T(), a)
	var pv mat.VecDense
	pv.MulVec(null.T(), v)
	var svd mat.SVD
	svd.Factorize(&pa, mat.SVDThin)
	var h mat.Dense
	svd.SolveTo(&h, &pv, svd.Rank(1e-12))
	return mat.Norm(&h, 2)
}

// gridBest returns the best value of Q on a grid over the region.
func gridBest(m *quadratic.Model, radius float64, lo, up []float64) float64 {
	const steps = 60
	best := math.Inf(-1)
	x := make([]float64, 2)
	for i := range steps + 1 {
		for j := range steps + 1 {
			for k, u := range []float64{float64(i) / steps, float64(j) / steps} {
				a, b := math.Max(lo[k], m.Center[k]-radius), math.Min(up[k], m.Center[k]+radius)
				x[k] = a + u*(b-a)
			}
			best = math.Max(best, m.At(x))
		}
	}
	return best
}

func TestMaximizesIndefiniteModelsInTheRegion(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	lo, up := cube(2)
	for range 200 {
		points := cloud(6, 2, rng)
		y := make([]float64, len(points))
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		k := argmax(y)
		m := fit(t, points, y, k)
		radius := math.Exp(-3 * rng.Float64())
		x, gain := m.Maximize(t.Context(), radius, lo, up)
		for j := range x {
			if math.Abs(x[j]-points[k][j]) > radius*(1+1e-15) || x[j] < 0 || x[j] > 1 {
				t.Fatalf("%v leaves the region of radius %v around %v", x, radius, points[k])
			}
		}
		scale := 1e-9 * (1 + math.Abs(gain))
		if got := m.At(x) - y[k]; math.Abs(got-gain) > scale {
			t.Errorf("gain %v, but Q differs by %v", gain, got)
		}
		if best := gridBest(m, radius, lo, up) - y[k]; gain < best-scale {
			t.Errorf("gain %v, a grid finds %v", gain, best)
		}
	}
}

func TestFixedCoordinates(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	q := concave(3, rng)
	points := cloud(15, 3, rng)
	for _, p := range points {
		p[1] = math.Round(p[1])
	}
	y := values(q.at, points)
	k := argmax(y)
	lo, up := cube(3)
	lo[1], up[1] = points[k][1], points[k][1]
	x, gain := fit(t, points, y, k).Maximize(t.Context(), 0.3, lo, up)
	if x[1] != points[k][1] || !(gain > 0) || x[0] == points[k][0] {
		t.Errorf("from %v to %v, gain %v", points[k], x, gain)
	}
	if x, gain := fit(t, points, y, k).Maximize(t.Context(), 0.3, points[k], points[k]); gain != 0 || fmt.Sprint(x) != fmt.Sprint(points[k]) {
		t.Errorf("with all coordinates fixed: %v, gain %v", x, gain)
	}
}

func TestIllConditionedClouds(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for name, points := range map[string][][]float64{
		"line":       line(12, rng),
		"duplicates": append(cloud(6, 3, rng), cloud(6, 3, rand.New(rand.NewPCG(6, 6)))...),
		"nested":     nested(3, rng),
		"plane":      plane(14, rng),
	} {
		t.Run(name, func(t *testing.T) {
			q := concave(3, rng)
			y := values(q.at, points)
			k := argmax(y)
			m, err := quadratic.Fit(points, y, k)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			lo, up := cube(3)
			x, gain := m.Maximize(t.Context(), 0.05, lo, up)
			if math.IsNaN(gain) || math.IsInf(gain, 0) || gain > 10 {
				t.Errorf("%s: %v, gain %v", name, x, gain)
			}
			for i, p := range points {
				if got := m.At(p); math.Abs(got-y[i]) > 1e-3 && near(p, points[k], m.Far) {
					t.Errorf("%s: Q is %v at a point of value %v", name, got, y[i])
				}
			}
		})
	}
}

func near(p, c []float64, far float64) bool {
	sum := 0.0
	for i := range p {
		sum += (p[i] - c[i]) * (p[i] - c[i])
	}
	return math.Sqrt(sum) <= far
}

func line(n int, rng *rand.Rand) [][]float64 {
	points := make([][]float64, n)
	for i := range points {
		u := rng.Float64()
		points[i] = []float64{u, 0.5 * u, 1 - u}
	}
	return points
}

func plane(n int, rng *rand.Rand) [][]float64 {
	points := cloud(n, 3, rng)
	for _, p := range points {
		p[2] = 0.5
	}
	return points
}

// nested returns clusters around one point at distances from 1e-1 to 1e-7.
func nested(d int, rng *rand.Rand) [][]float64 {
	var points [][]float64
	for r := 0.1; r > 1e-7; r /= 10 {
		for range 3 {
			p := make([]float64, d)
			for j := range p {
				p[j] = 0.5 + r*(2*rng.Float64()-1)
			}
			points = append(points, p)
		}
	}
	return points
}

func TestRefusals(t *testing.T) {
	points := [][]float64{{0.1, 0.2}, {0.3, 0.4}, {0.3, 0.4}, {0.1, 0.2}, {0.9, 0.8}}
	if _, err := quadratic.Fit(points, make([]float64, 5), 0); !errors.Is(err, quadratic.ErrTooFewPoints) {
		t.Errorf("three different points in two dimensions: %v", err)
	}
	points = append(points, []float64{0.2, 0.9})
	m := fit(t, points, make([]float64, 6), 0)
	lo, up := cube(2)
	if x, gain := m.Maximize(t.Context(), 0.1, lo, up); gain != 0 || fmt.Sprint(x) != "[0.1 0.2]" {
		t.Errorf("constant values: %v, gain %v", x, gain)
	}
	bad := []float64{0, 1, 1, 0, math.NaN(), 2}
	if _, err := quadratic.Fit(points, bad, 0); err == nil {
		t.Error("NaN was interpolated")
	}
}

func BenchmarkFitAndMaximize(b *testing.B) {
	for _, d := range []int{2, 6, 10} {
		b.Run(fmt.Sprint(d), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(7, 7))
			q := concave(d, rng)
			points := cloud(100, d, rng)
			y := values(q.at, points)
			k := argmax(y)
			lo, up := cube(d)
			b.ReportAllocs()
			for b.Loop() {
				m, err := quadratic.Fit(points, y, k)
				if err != nil {
					b.Fatal(err)
				}
				m.Maximize(b.Context(), 0.1, lo, up)
			}
		})
	}
}
