package maximize_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/maximize"
)

func box(n int, lo, up float64) (l, u []float64) {
	l, u = make([]float64, n), make([]float64, n)
	for i := range n {
		l[i], u[i] = lo, up
	}
	return l, u
}

func rosenbrock(x, grad []float64) float64 {
	sum := 0.0
	clear(grad)
	for i := 0; i+1 < len(x); i++ {
		a, b := x[i+1]-x[i]*x[i], 1-x[i]
		sum += 100*a*a + b*b
		if grad != nil {
			grad[i] += 400*a*x[i] + 2*b
			grad[i+1] -= 200 * a
		}
	}
	return -sum
}

func TestRosenbrock(t *testing.T) {
	for _, n := range []int{2, 4, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			lo, up := box(n, -2, 3)
			m := maximize.New(lo, up, maximize.Settings{MaxIterations: 1000})
			start := make([]float64, n)
			for i := range start {
				start[i] = -1.2 + 0.1*float64(i)
			}
			r := m.Maximize(t.Context(), rosenbrock, start)
			// In 4 dimensions and more there is a second maximum near (-1, 1, 1, ...).
			if r.F < -1e-10 && !(n > 3 && r.X[0] < 0) {
				t.Errorf("%d dimensions: %+v", n, r)
			}
			t.Logf("%d dimensions: %d iterations, %d evaluations, %.2g", n, r.Iterations, r.Evaluations, r.F)
		})
	}
}

// kkt returns the largest violation of the first-order conditions at x.
func kkt(f maximize.Func, x, lo, up []float64) float64 {
	g := make([]float64, len(x))
	f(x, g)
	worst := 0.0
	for i, v := range g {
		if (x[i] == lo[i] && v < 0) || (x[i] == up[i] && v > 0) {
			continue
		}
		worst = math.Max(worst, math.Abs(v))
	}
	return worst
}

func TestRosenbrockWithActiveBounds(t *testing.T) {
	lo, up := []float64{-1.5, -0.5}, []float64{0.5, 2}
	r := maximize.New(lo, up, maximize.Settings{}).Maximize(t.Context(), rosenbrock, []float64{-1.2, 1})
	if r.X[0] != 0.5 || math.Abs(r.X[1]-0.25) > 1e-8 || math.Abs(r.F+0.25) > 1e-12 {
		t.Errorf("got %+v, want x = (0.5, 0.25)", r)
	}
	lo, up = box(6, 1.2, 2)
	r = maximize.New(lo, up, maximize.Settings{}).Maximize(t.Context(), rosenbrock, []float64{2, 2, 2, 1.5, 1.3, 2})
	if v := kkt(rosenbrock, r.X, lo, up); v > 1e-5 {
		t.Errorf("first-order conditions violated by %v at %+v", v, r)
	}
}

// quadratic is -½(x-c)ᵀA(x-c), A = BBᵀ + I.
type quadratic struct {
	a [][]float64
	c []float64
}

func randomQuadratic(n int, rng *rand.Rand) quadratic {
	q := quadratic{a: make([][]float64, n), c: make([]float64, n)}
	b := make([][]float64, n)
	for i := range n {
		b[i] = make([]float64, n)
		for j := range n {
			b[i][j] = 3 * rng.NormFloat64()
		}
		q.c[i] = 3*rng.Float64() - 1
	}
	for i := range n {
		q.a[i] = make([]float64, n)
		for j := range n {
			for k := range n {
				q.a[i][j] += b[i][k] * b[j][k]
			}
		}
		q.a[i][i]++
	}
	return q
}

func (q quadratic) eval(x, grad []float64) float64 {
	f := 0.0
	for i, row := range q.a {
		sum := 0.0
		for j, a := range row {
			sum += a * (x[j] - q.c[j])
		}
		f -= 0.5 * sum * (x[i] - q.c[i])
		if grad != nil {
			grad[i] = -sum
		}
	}
	return f
}

// cyclic maximizes by exact steps along the coordinates, which converges on
// concave quadratics in a box.
func (q quadratic) cyclic(lo, up, x []float64) float64 {
	g := make([]float64, len(x))
	for range 3000 {
		for i := range x {
			q.eval(x, g)
			x[i] = math.Min(math.Max(x[i]+g[i]/q.a[i][i], lo[i]), up[i])
		}
	}
	return q.eval(x, nil)
}

func TestConcaveQuadraticsInABox(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	evals := 0
	for i := range 60 {
		n := 1 + i%6
		q := randomQuadratic(n, rng)
		lo, up := box(n, 0, 1)
		start := make([]float64, n)
		for j := range start {
			start[j] = rng.Float64()
		}
		var scale []float64
		if i%2 == 0 {
			scale = make([]float64, n)
			for j := range scale {
				scale[j] = math.Exp(rng.NormFloat64())
			}
		}
		r := maximize.New(lo, up, maximize.Settings{Scale: scale, MaxIterations: 300}).Maximize(t.Context(), q.eval, start)
		want := q.cyclic(lo, up, start)
		if r.F < want-1e-9*math.Max(1, math.Abs(want)) {
			t.Errorf("%d dimensions: %v, want %v (%+v)", n, r.F, want, r)
		}
		evals += r.Evaluations
	}
	t.Logf("%.1f evaluations in the mean", float64(evals)/60)
}

func TestScaleMakesUnevenQuadraticsEasy(t *testing.T) {
	length := []float64{1e-3, 1, 30, 0.1}
	f := func(x, grad []float64) float64 {
		sum := 0.0
		for i, l := range length {
			d := (x[i] - 0.4*l) / l
			sum -= 0.5 * d * d
			if grad != nil {
				grad[i] = -d / l
			}
		}
		return sum
	}
	lo, up := box(4, -50, 50)
	r := maximize.New(lo, up, maximize.Settings{Scale: length, FirstStep: 10}).Maximize(t.Context(), f, []float64{0, 0, 0, 0})
	if r.Iterations > 3 || r.F < -1e-20 {
		t.Errorf("a sphere in scaled coordinates took %+v", r)
	}
}

func TestFixedCoordinates(t *testing.T) {
	lo, up := box(4, -2, 3)
	up[1], lo[1], up[2], lo[2] = 0.123, 0.123, 0.7, 0.7
	r := maximize.New(lo, up, maximize.Settings{}).Maximize(t.Context(), rosenbrock, []float64{0, 0.123, 5, 0})
	if r.X[1] != 0.123 || r.X[2] != 0.7 {
		t.Errorf("fixed coordinates moved: %v", r.X)
	}
	if math.Abs(r.X[3]-0.49) > 1e-6 {
		t.Errorf("a free coordinate stayed: %v", r.X)
	}
}

func TestDegenerateFunctions(t *testing.T) {
	lo, up := box(2, 0, 1)
	start := []float64{0.5, 0.25}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		f    maximize.Func
		want []float64
	}{
		{"flat", func(_, g []float64) float64 { clear(g); return 3 }, start},
		{"minus infinity", func(_, _ []float64) float64 { return -inf }, start},
		{"NaN", func(_, _ []float64) float64 { return nan }, start},
		{"NaN gradient", func(_, g []float64) float64 { fill(g, nan); return 1 }, start},
		{"infinite gradient", func(_, g []float64) float64 { fill(g, inf); return 1 }, start},
		{"lying gradient", func(x, g []float64) float64 { fill(g, 1); return -x[0] }, start},
		{"linear", func(x, g []float64) float64 { fill(g, 1); return x[0] + x[1] }, []float64{1, 1}},
		{"steep", func(x, g []float64) float64 { fill(g, -1e140); return -1e140 * (x[0] + x[1]) }, []float64{0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := maximize.New(lo, up, maximize.Settings{}).Maximize(t.Context(), c.f, start)
			if r.X[0] != c.want[0] || r.X[1] != c.want[1] || math.IsNaN(r.F) || r.Evaluations > 200 {
				t.Errorf("%s: %+v, want %v", c.name, r, c.want)
			}
		})
	}
}

func fill(g []float64, v float64) {
	for i := range g {
		g[i] = v
	}
}

// A function that is minus infinity behind a wall next to its maximum.
func TestInfeasibleRegionIsAvoided(t *testing.T) {
	f := func(x, g []float64) float64 {
		if x[0]+x[1] > 1 {
			return math.Inf(-1)
		}
		if g != nil {
			g[0], g[1] = 2, 1
		}
		return 2*x[0] + x[1]
	}
	lo, up := box(2, 0, 0.8)
	r := maximize.New(lo, up, maximize.Settings{}).Maximize(t.Context(), f, []float64{0.1, 0.1})
	if !(r.F > 1.3) || r.X[0]+r.X[1] > 1 {
		t.Errorf("stopped far from the wall: %+v", r)
	}
}

func TestSearchIsMonotoneAndInTheBox(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		n := 1 + rng.IntN(5)
		w, phase := make([]float64, n), make([]float64, n)
		for i := range n {
			w[i], phase[i] = 20*rng.Float64(), 7*rng.Float64()
		}
		lo, up := box(n, -1, 1)
		f := func(x, g []float64) float64 {
			sum := 0.0
			for i, v := range x {
				if v < -1 || v > 1 {
					t.Fatalf("evaluated outside the box: %v", x)
				}
				sum += math.Sin(w[i]*v+phase[i]) + 0.1*v
				if g != nil {
					g[i] = w[i]*math.Cos(w[i]*v+phase[i]) + 0.1
				}
			}
			return sum
		}
		start := make([]float64, n)
		for i := range start {
			start[i] = 2*rng.Float64() - 1
		}
		r := maximize.New(lo, up, maximize.Settings{}).Maximize(t.Context(), f, start)
		if r.F < f(start, nil) || f(r.X, nil) != r.F {
			t.Errorf("from %v to %v", f(start, nil), r.F)
		}
		if v := kkt(f, r.X, lo, up); v > 1e-4 {
			t.Errorf("first-order conditions violated by %v: %+v", v, r)
		}
	}
}

func TestMaximizerIsReusable(t *testing.T) {
	lo, up := box(3, -2, 2)
	m := maximize.New(lo, up, maximize.Settings{})
	first := m.Maximize(t.Context(), rosenbrock, []float64{-1, 1, 0.5})
	m.Maximize(t.Context(), rosenbrock, []float64{2, -2, 1})
	again := m.Maximize(t.Context(), rosenbrock, []float64{-1, 1, 0.5})
	if fmt.Sprint(first) != fmt.Sprint(again) {
		t.Errorf("second search differs: %+v and %+v", first, again)
	}
}

func BenchmarkLBFGS(b *testing.B) {
	for _, n := range []int{2, 6, 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			lo, up := box(n, -2, 3)
			m := maximize.New(lo, up, maximize.Settings{MaxIterations: 40})
			start := make([]float64, n)
			for i := range start {
				start[i] = -1.2
			}
			b.ReportAllocs()
			evals := 0
			for b.Loop() {
				evals += m.Maximize(b.Context(), rosenbrock, start).Evaluations
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(evals), "ns/eval")
		})
	}
}
