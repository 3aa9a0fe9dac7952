// Package maximize maximizes acquisition functions over a box: by projected
// L-BFGS from one start or from many, where gradients exist, and by DIRECT, which
// needs values alone. All methods are deterministic; where chance is wanted the
// caller brings the random stream.
package maximize

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Func is a function to maximize: it returns f(x) and, when grad is not nil,
// writes the gradient there. It must keep neither slice. Minus infinity and NaN
// mean that x is infeasible; the gradient is then not read.
type Func func(x, grad []float64) float64

// Settings of the local search. The zero value is ready to use.
type Settings struct {
	MaxIterations  int       // iterations at most; 0 means 100
	MaxEvaluations int       // evaluations at most; 0 means as many as the iterations take
	Memory         int       // correction pairs kept; 0 means 8
	GradTol        float64   // stop when no projected, scaled partial derivative is larger; 0 means 1e-8
	ValueTol       float64   // stop after two relative gains below it; 0 means 1e-13
	GainTol        float64   // stop after one gain below it; 0 means never
	FirstStep      float64   // length of the first step at most, in scaled units; 0 means 0.25
	Scale          []float64 // typical length of each coordinate, such as length scales; nil means 1
}

// Result is the best point that a method found.
type Result struct {
	X           []float64
	F           float64
	Iterations  int
	Evaluations int
}

// Maximizer is a projected L-BFGS search over the box [lo, up] with its working
// memory: after the first search only the Result's X is allocated.
//
// Each iteration fixes the coordinates that stand on a bound with the gradient
// pointing outwards, takes the two-loop L-BFGS direction in the others (Bertsekas 1982, Projected
// Newton methods; Nocedal 1980), and searches along the projection of the ray onto the box for a
// step with the weak Wolfe conditions (Lewis and Overton 2013).
type Maximizer struct {
	set    Settings
	lo, up []float64
	f      Func
	evals  int

	at, trial, good point
	dir             []float64
	free            []bool
	s, y            [][]float64 // rings of steps and gradient changes, scaled
	alpha, rho      []float64
	count, head     int // pairs kept, ring position of the next
}

// point is a place in the box with its scaled coordinates z = x/scale and the
// gradient by z.
type point struct{ x, z, g []float64 }

// New returns a search over the box [lo, up], which it keeps but never changes.
// A coordinate with lo = up is fixed there.
func New(lo, up []float64, set Settings) *Maximizer {
	set.MaxIterations = cmp.Or(set.MaxIterations, 100)
	set.Memory = cmp.Or(set.Memory, 8)
	set.GradTol = cmp.Or(set.GradTol, 1e-8)
	set.ValueTol = cmp.Or(set.ValueTol, 1e-13)
	set.FirstStep = cmp.Or(set.FirstStep, 0.25)
	n, k := len(lo), set.Memory
	if set.Scale == nil {
		set.Scale = slices.Repeat([]float64{1}, n)
	}
	vector := func() []float64 { return make([]float64, n) }
	m := &Maximizer{set: set, lo: lo, up: up, free: make([]bool, n), dir: vector(), alpha: make([]float64, k), rho: make([]float64, k)}
	for _, p := range []*point{&m.at, &m.trial, &m.good} {
		*p = point{vector(), vector(), vector()}
	}
	for range k {
		m.s, m.y = append(m.s, vector()), append(m.y, vector())
	}
	return m
}

// Maximize searches upwards from start, clipped to the box. If f(start) is
// infeasible it returns start with F = -Inf. When ctx ends it returns what it has: the
// caller asks ctx whether that is a maximum.
func (m *Maximizer) Maximize(ctx context.Context, f Func, start []float64) Result {
	m.f, m.evals, m.count, m.head = f, 0, 0, 0
	for i, v := range start {
		v = math.Min(math.Max(v, m.lo[i]), m.up[i])
		m.at.x[i], m.at.z[i] = v, v/m.set.Scale[i]
	}
	fx := m.eval(m.at.x, m.at.g)
	iter, small := 0, 0
	for ; iter < m.set.MaxIterations && small < 2 && !m.spent() && !math.IsInf(fx, 0); iter++ {
		if ctx.Err() != nil || m.chooseFree() <= m.set.GradTol {
			break
		}
		fn, ok := m.step(fx)
		if !ok {
			if m.count == 0 {
				break
			}
			m.count = 0 // once more along the gradient
			continue
		}
		switch gain := fn - fx; {
		case gain < m.set.GainTol:
			small = 2
		case gain <= m.set.ValueTol*math.Max(1, math.Abs(fn)):
			small++
		default:
			small = 0
		}
		m.remember()
		fx = fn
		m.at, m.trial = m.trial, m.at
	}
	return Result{X: slices.Clone(m.at.x), F: fx, Iterations: iter, Evaluations: m.evals}
}

func (m *Maximizer) spent() bool { return m.set.MaxEvaluations > 0 && m.evals >= m.set.MaxEvaluations }

// eval evaluates f at x with its gradient in scaled coordinates.
func (m *Maximizer) eval(x, grad []float64) float64 {
	m.evals++
	f := m.f(x, grad)
	if math.IsNaN(f) {
		return math.Inf(-1)
	}
	floats.Mul(grad, m.set.Scale)
	return f
}

// chooseFree marks the coordinates that may move and returns the largest of
// their derivatives. A NaN derivative counts as 0.
func (m *Maximizer) chooseFree() float64 {
	norm := 0.0
	for i, g := range m.at.g {
		if math.IsNaN(g) {
			m.at.g[i], g = 0, 0
		}
		blocked := m.at.x[i] <= m.lo[i] && g <= 0 || m.at.x[i] >= m.up[i] && g >= 0
		m.free[i] = !blocked && m.lo[i] < m.up[i]
		if m.free[i] {
			norm = math.Max(norm, math.Abs(g))
		}
	}
	return norm
}

// direction writes the search direction into m.dir: the L-BFGS direction in the
// free coordinates, or the gradient, at most FirstStep long, when there are no
// usable pairs.
func (m *Maximizer) direction() {
	d := m.dir
	for i, g := range m.at.g {
		d[i] = 0
		if m.free[i] {
			d[i] = g
		}
	}
	gamma := 0.0
	for j := range m.count {
		k := m.index(j)
		sy, yy := m.freeDot(m.s[k], m.y[k]), m.freeDot(m.y[k], m.y[k])
		m.rho[k] = 0
		if sy <= 1e-12*yy || !(yy > 0) {
			continue
		}
		m.rho[k] = 1 / sy
		if gamma == 0 {
			gamma = sy / yy
		}
		m.alpha[k] = m.rho[k] * m.freeDot(m.s[k], d)
		m.addFree(d, -m.alpha[k], m.y[k])
	}
	if gamma == 0 {
		norm := math.Sqrt(m.freeDot(d, d))
		gamma = math.Min(1, m.set.FirstStep/norm)
	}
	floats.Scale(gamma, d)
	for j := m.count - 1; j >= 0; j-- {
		k := m.index(j)
		if m.rho[k] != 0 {
			m.addFree(d, m.alpha[k]-m.rho[k]*m.freeDot(m.y[k], d), m.s[k])
		}
	}
}

// index returns the ring position of the j-th newest pair.
func (m *Maximizer) index(j int) int {
	return (m.head - 1 - j + 2*len(m.s)) % len(m.s)
}

func (m *Maximizer) freeDot(a, b []float64) float64 {
	sum := 0.0
	for i, f := range m.free {
		if f {
			sum += a[i] * b[i]
		}
	}
	return sum
}

func (m *Maximizer) addFree(dst []float64, c float64, x []float64) {
	for i, f := range m.free {
		if f {
			dst[i] += c * x[i]
		}
	}
}

// remember stores the step from x to xn. y is the fall of the gradient, so that
// s·y > 0 where the function is concave.
func (m *Maximizer) remember() {
	s, y := m.s[m.head], m.y[m.head]
	sy, ss := 0.0, 0.0
	for i := range s {
		s[i] = m.trial.z[i] - m.at.z[i]
		y[i] = m.at.g[i] - m.trial.g[i]
		sy += s[i] * y[i]
		ss += s[i] * s[i]
	}
	if !(ss > 0) || math.IsNaN(sy) {
		return
	}
	m.head = (m.head + 1) % len(m.s)
	m.count = min(m.count+1, len(m.s))
}

const (
	armijo    = 1e-4 // part of the predicted gain that a step must bring
	curvature = 0.9  // part of the first slope that may be left after a step
	maxTrials = 30
)

// step searches along the projected ray from x for a better point, which it
// leaves in the trial vectors. It reports failure when none was found, or when
// the slope promises less than the value tolerance.
func (m *Maximizer) step(fx float64) (float64, bool) {
	m.direction()
	slope := m.freeDot(m.at.g, m.dir)
	if math.IsInf(slope, 0) {
		return fx, false
	}
	least := 0.1 * m.set.ValueTol * math.Max(1, math.Abs(fx))
	found, best := false, fx
	for t, trial := 1.0, 0; trial < maxTrials && t*slope > least && !m.spent(); trial++ {
		if !m.moveTo(t) {
			break
		}
		fn := m.eval(m.trial.x, m.trial.g)
		if math.IsInf(fn, 1) || !(fn > best && fn >= fx+armijo*m.predicted()) {
			if found {
				break
			}
			next := 0.25 * t
			if gained := fn - fx; !math.IsInf(gained, 0) { // the maximizer of the parabola through it
				next = 0.5 * slope * t * t / (slope*t - gained)
			}
			t = math.Min(math.Max(next, 0.1*t), 0.5*t)
			continue
		}
		best, found = fn, true
		m.trial, m.good = m.good, m.trial
		if m.slopeLeft() <= curvature*slope {
			break
		}
		t *= 4
	}
	if found {
		m.trial, m.good = m.good, m.trial
	}
	return best, found
}

// moveTo sets the trial point to the projection of x + t·dir onto the box and
// reports whether it differs from x and from the last good trial.
func (m *Maximizer) moveTo(t float64) bool {
	to := &m.trial
	moved := false
	for i, z := range m.at.z {
		to.z[i], to.x[i] = z, m.at.x[i]
		if !m.free[i] || m.dir[i] == 0 {
			continue
		}
		s := m.set.Scale[i]
		to.z[i] = z + t*m.dir[i]
		x := to.z[i] * s
		if x <= m.lo[i] || x >= m.up[i] {
			x = math.Min(math.Max(x, m.lo[i]), m.up[i])
			to.z[i] = x / s
		}
		to.x[i] = x
		moved = moved || x != m.at.x[i]
	}
	return moved
}

// predicted returns the first-order gain of the projected step, at least 0.
func (m *Maximizer) predicted() float64 {
	sum := 0.0
	for i, g := range m.at.g {
		sum += g * (m.trial.z[i] - m.at.z[i])
	}
	return math.Max(sum, 0)
}

// slopeLeft returns the derivative along the projected ray at the good trial.
func (m *Maximizer) slopeLeft() float64 {
	sum := 0.0
	for i, d := range m.dir {
		x := m.good.x[i]
		if m.free[i] && x > m.lo[i] && x < m.up[i] {
			sum += m.good.g[i] * d
		}
	}
	return sum
}
