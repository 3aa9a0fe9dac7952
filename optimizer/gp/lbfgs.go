package gp

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// descent minimizes a smooth function over a box by projected L-BFGS: the
// two-loop recursion (Nocedal and Wright, Numerical Optimization, algorithm
// 7.4) on the coordinates that are not held at a bound by the gradient, with a
// backtracking search along the projected path (Bertsekas 1982). It allocates
// only when created.
type descent struct {
	low, high     []float64
	maxEvals      int
	gradTolerance float64 // stop when no free coordinate has a larger derivative
	stepTolerance float64 // stop when a step gains less than this

	x, g, trial, trialGrad, dir []float64
	free                        []bool
	s, y                        [][]float64 // ring of the last pairs, newest at (head−1)
	a                           []float64
	count, head                 int
	evals                       int
}

// Number of correction pairs kept, and the longest step by coordinate: the
// coordinates are logarithms, so 2 is a factor of 7.
const (
	memory  = 10
	maxStep = 2.0
)

func newDescent(low, high []float64) *descent {
	p := len(low)
	vector := func() []float64 { return make([]float64, p) }
	m := &descent{
		low: low, high: high,
		x: vector(), g: vector(), trial: vector(), trialGrad: vector(), dir: vector(),
		free: make([]bool, p),
		a:    make([]float64, memory),
	}
	for range memory {
		m.s, m.y = append(m.s, vector()), append(m.y, vector())
	}
	return m
}

// minimize starts at x0, clipped to the box, leaves the best point in m.x and
// returns its value and whether a tolerance was met. f returns +Inf where it is
// not defined.
func (m *descent) minimize(f func(x, grad []float64) float64, x0 []float64) (float64, bool) {
	m.count, m.head, m.evals = 0, 0, 1
	copy(m.x, x0)
	m.clip(m.x)
	value := f(m.x, m.g)
	if math.IsInf(value, 1) {
		return value, false
	}
	for m.evals < m.maxEvals {
		if m.markFree() <= m.gradTolerance {
			return value, true
		}
		m.direction()
		next, ok := m.search(f, value)
		if !ok {
			if m.count > 0 { // the model was bad: once more along the gradient
				m.count = 0
				continue
			}
			return value, true
		}
		gain := value - next
		m.remember()
		m.x, m.trial = m.trial, m.x
		m.g, m.trialGrad = m.trialGrad, m.g
		value = next
		if gain < m.stepTolerance {
			return value, true
		}
	}
	return value, false
}

func (m *descent) clip(x []float64) {
	for i, v := range x {
		x[i] = math.Min(math.Max(v, m.low[i]), m.high[i])
	}
}

// markFree finds the coordinates that can move and returns the largest
// derivative among them.
func (m *descent) markFree() float64 {
	largest := 0.0
	for i, g := range m.g {
		held := m.x[i] <= m.low[i] && g >= 0 || m.x[i] >= m.high[i] && g <= 0
		m.free[i] = !held
		if !held {
			largest = math.Max(largest, math.Abs(g))
		}
	}
	return largest
}

// dot is the scalar product over the free coordinates.
func (m *descent) dot(a, b []float64) float64 {
	sum := 0.0
	for i, free := range m.free {
		if free {
			sum += a[i] * b[i]
		}
	}
	return sum
}

// direction sets dir to −H g on the free coordinates, H the L-BFGS inverse
// Hessian restricted to them, shortened to maxStep.
func (m *descent) direction() {
	for i, g := range m.g {
		m.dir[i] = 0
		if m.free[i] {
			m.dir[i] = -g
		}
	}
	scale := 0.0
	for k := 1; k <= m.count; k++ {
		i := (m.head - k + memory) % memory
		sy := m.dot(m.s[i], m.y[i])
		if sy <= 0 {
			m.a[i] = 0
			continue
		}
		if scale == 0 {
			scale = sy / m.dot(m.y[i], m.y[i])
		}
		m.a[i] = m.dot(m.s[i], m.dir) / sy
		floats.AddScaled(m.dir, -m.a[i], m.y[i])
	}
	if scale == 0 { // no curvature known: a first step of length at most ½
		scale = math.Min(1, 0.5/math.Sqrt(m.dot(m.g, m.g)))
	}
	floats.Scale(scale, m.dir)
	for k := m.count; k >= 1; k-- {
		i := (m.head - k + memory) % memory
		sy := m.dot(m.s[i], m.y[i])
		if sy <= 0 {
			continue
		}
		floats.AddScaled(m.dir, m.a[i]-m.dot(m.y[i], m.dir)/sy, m.s[i])
	}
	longest := 0.0
	for i, v := range m.dir {
		if !m.free[i] {
			m.dir[i] = 0
			continue
		}
		longest = math.Max(longest, math.Abs(v))
	}
	if longest > maxStep {
		floats.Scale(maxStep/longest, m.dir)
	}
}

// search looks for a sufficient decrease (Armijo) along the projected path and
// leaves the new point and its gradient in trial and trialGrad.
func (m *descent) search(f func(x, grad []float64) float64, value float64) (float64, bool) {
	const sufficient = 1e-4
	step := 1.0
	for tries := 0; tries < 20 && m.evals < m.maxEvals; tries++ {
		for i, v := range m.x {
			m.trial[i] = v + step*m.dir[i]
		}
		m.clip(m.trial)
		slope := 0.0
		for i, g := range m.g {
			slope += g * (m.trial[i] - m.x[i])
		}
		if slope >= 0 {
			return value, false
		}
		m.evals++
		next := f(m.trial, m.trialGrad)
		if next <= value+sufficient*slope {
			return next, true
		}
		// Minimum of the parabola through the two values and the slope.
		ratio := -slope / (2 * (next - value - slope))
		if !(ratio > 0.1) { // also an infinite or undefined value
			ratio = 0.1
		}
		step *= math.Min(ratio, 0.5)
	}
	return value, false
}

// remember stores the pair of the accepted step.
func (m *descent) remember() {
	s, y := m.s[m.head], m.y[m.head]
	floats.SubTo(s, m.trial, m.x)
	floats.SubTo(y, m.trialGrad, m.g)
	if floats.Dot(s, y) > 1e-10*floats.Dot(y, y) {
		m.head = (m.head + 1) % memory
		m.count = min(m.count+1, memory)
	}
}
