package gp

import (
	"math"
	"testing"
)

func minimizer(low, high []float64) *descent {
	m := newDescent(low, high)
	m.maxEvals, m.gradTolerance = 2000, 1e-9
	return m
}

func TestDescentOnRosenbrock(t *testing.T) {
	f := func(x, g []float64) float64 {
		a, b := 1-x[0], x[1]-x[0]*x[0]
		g[0], g[1] = -2*a-400*x[0]*b, 200*b
		return a*a + 100*b*b
	}
	for _, c := range []struct {
		low, high, start, want []float64
	}{
		{[]float64{-5, -5}, []float64{5, 5}, []float64{-1.2, 1}, []float64{1, 1}},
		// With x ≤ ½ the minimum is at the bound, y = x².
		{[]float64{-5, -5}, []float64{0.5, 5}, []float64{-1.2, 1}, []float64{0.5, 0.25}},
		// The start is outside and is clipped.
		{[]float64{-5, -5}, []float64{5, 5}, []float64{-90, 70}, []float64{1, 1}},
	} {
		m := minimizer(c.low, c.high)
		_, converged := m.minimize(f, c.start)
		if !converged || math.Abs(m.x[0]-c.want[0]) > 1e-6 || math.Abs(m.x[1]-c.want[1]) > 1e-6 {
			t.Errorf("from %v: %v after %d evaluations (converged %v), want %v", c.start, m.x, m.evals, converged, c.want)
		}
	}
}

// A convex quadratic over a box, its solution known by the optimality
// conditions: the gradient points outwards at bounds and is 0 elsewhere.
func TestDescentMeetsTheOptimalityConditions(t *testing.T) {
	const p = 8
	low, high, start := make([]float64, p), make([]float64, p), make([]float64, p)
	for i := range p {
		low[i], high[i] = -1, 1
	}
	f := func(x, g []float64) float64 {
		sum := 0.0
		for i := range x {
			curvature := math.Pow(4, float64(i)/2)
			e := x[i] - 1.5*math.Sin(float64(3*i+1))
			if i > 0 {
				e += 0.3 * x[i-1]
			}
			sum += 0.5 * curvature * e * e
			g[i] += curvature * e
			if i > 0 {
				g[i-1] += 0.3 * curvature * e
			}
		}
		return sum
	}
	clean := func(x, g []float64) float64 {
		clear(g)
		return f(x, g)
	}
	m := minimizer(low, high)
	if _, converged := m.minimize(clean, start); !converged {
		t.Fatalf("not converged after %d evaluations", m.evals)
	}
	bound := 0
	for i, g := range m.g {
		switch {
		case m.x[i] == low[i] && g >= 0, m.x[i] == high[i] && g <= 0:
			bound++
		case math.Abs(g) > 1e-8:
			t.Errorf("coordinate %d at %v has the derivative %v", i, m.x[i], g)
		}
	}
	if bound == 0 || bound == p {
		t.Errorf("%d of %d coordinates at a bound: the case tests nothing", bound, p)
	}
}

func TestDescentAvoidsUndefinedValues(t *testing.T) {
	m := minimizer([]float64{-10}, []float64{10})
	f := func(x, g []float64) float64 { // −ln x + x, undefined for x ≤ 0
		if x[0] <= 0 {
			return math.Inf(1)
		}
		g[0] = 1 - 1/x[0]
		return x[0] - math.Log(x[0])
	}
	if _, converged := m.minimize(f, []float64{5}); !converged || math.Abs(m.x[0]-1) > 1e-6 {
		t.Errorf("ended at %v after %d evaluations", m.x, m.evals)
	}
	if v, converged := m.minimize(f, []float64{-5}); converged || !math.IsInf(v, 1) {
		t.Errorf("an undefined start gave %v, converged %v", v, converged)
	}
}

func TestDescentKeepsItsBudget(t *testing.T) {
	m := minimizer([]float64{-100}, []float64{100})
	m.maxEvals = 3
	calls := 0
	_, converged := m.minimize(func(x, g []float64) float64 {
		calls++
		g[0] = 4 * x[0] * x[0] * x[0]
		return x[0] * x[0] * x[0] * x[0]
	}, []float64{50})
	if calls > 3 || calls != m.evals || converged {
		t.Errorf("%d calls, %d counted, converged %v; the limit is 3", calls, m.evals, converged)
	}
}
