package gp

import (
	"math"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/optimizer/internal/vector"
)

// Model is a Gaussian process conditioned on observations, with given
// hyper-parameters. It is immutable.
type Model struct {
	hyper   Hyper
	signal  float64     // σ0²
	noise   float64     // σn² + jitter: what stands on the diagonal beside σ0²
	inv     []float64   // 1/ℓ_j
	cols    [][]float64 // scaled inputs by dimension, see factor.go
	y       []float64
	mean    Function    // m, nil where there is none
	centres []float64   // c + m(x_i)
	rows    [][]float64 // L, row i with i+1 elements; rows are shared by appended models
	alpha   []float64   // α = K⁻¹(y − c − m(X))
	// last is the L that was inverted last, of this model or of one with which it has rows in common.
	last *atomic.Pointer[inverted]
}

// Function is a function of the unit cube. It may be shared by goroutines.
type Function interface {
	Value(x []float64) float64
	// ValueGrad also sets grad to the gradient.
	ValueGrad(x, grad []float64) float64
}

// New conditions a process with the mean c + m(x) and hyper-parameters h, which were fitted to y − m(X), on
// the values y at the points x. All points have the same dimension, all numbers are finite; x, y and h are
// copied, and a nil mean is 0. When K is not numerically positive definite, jitter from
// 1e-10·σ0² to 1e-4·σ0² is added to its diagonal; beyond that the error is
// ErrNotPositiveDefinite. Cost O(n³/6) multiplications.
func New(mean Function, x [][]float64, y []float64, h Hyper) (*Model, error) {
	d, err := check(x, y, &h)
	if err != nil {
		return nil, err
	}
	n := len(x)
	m := &Model{
		hyper:   h.Clone(),
		signal:  h.Signal(),
		inv:     make([]float64, d),
		y:       append(make([]float64, 0, n), y...),
		mean:    mean,
		centres: make([]float64, n),
		alpha:   make([]float64, n),
		last:    &atomic.Pointer[inverted]{},
	}
	m.last.Store(&inverted{})
	for j, l := range h.LogLengths {
		m.inv[j] = math.Exp(-l)
	}
	m.cols = scaledColumns(x, m.inv)
	u, ld := newSquare(n), padded(n)
	if !jittered(u, n, func(jitter float64) {
		m.noise = h.Noise() + jitter*m.signal
		for i := range n {
			row := u[i*ld+i+1:][:n-i-1]
			clear(row)
			for _, col := range m.cols {
				vector.AddSquares(row, col[i+1:], col[i])
			}
			vector.Matern52(row, nil, row, m.signal)
			u[i*ld+i] = m.signal + m.noise
		}
	}) {
		return nil, ErrNotPositiveDefinite
	}
	m.rows = lower(u, n)
	for i, v := range y {
		m.centres[i] = m.centre(x[i])
		m.alpha[i] = v - m.centres[i]
	}
	forward(m.rows, m.alpha)
	backward(m.rows, m.alpha)
	return m, nil
}

// Append conditions on one more observation in O(n²) without changing m: the
// factor gains a row and shares the others. The hyper-parameters, the mean
// included, stay as they are. With y = μ(x) (the kriging believer of Ginsbourger
// et al., 2010) the posterior mean does not change and only the variance drops.
func (m *Model) Append(x []float64, y float64) (*Model, error) {
	if err := checkPoint(x, y, m.Dim()); err != nil {
		return nil, err
	}
	n := m.Len()
	next := *m
	k := make([]float64, n)
	sqdist(k, m.cols, x, m.inv)
	vector.Matern52(k, nil, k, m.signal)
	centre := m.centre(x)
	mu := centre + floats.Dot(k, m.alpha)

	row := append(make([]float64, 0, n+1), k...)
	forward(m.rows, row)
	schur := m.latent(m.signal-floats.Dot(row, row)) + m.noise
	weights := append(make([]float64, 0, n+1), row...)
	backward(m.rows, weights) // K⁻¹ k(X,x)
	next.rows = append(m.rows[:n:n], append(row, math.Sqrt(schur)))

	// Block inversion: α gains the entry δ = (y − μ(x))/schur and loses δ·K⁻¹k.
	delta := (y - mu) / schur
	next.alpha = append(weights, delta)
	for i, a := range m.alpha {
		next.alpha[i] = a - delta*weights[i]
	}
	next.y, next.centres = append(m.y[:n:n], y), append(m.centres[:n:n], centre)
	next.cols = make([][]float64, m.Dim())
	for j, col := range m.cols {
		next.cols[j] = append(col[:n:n], x[j]*m.inv[j])
	}
	return &next, nil
}

// centre is the mean c + m(x) of the process before any observation.
func (m *Model) centre(x []float64) float64 { return m.centreGrad(x, nil) }

// centreGrad is centre, and adds the gradient to grad, if that is not nil.
func (m *Model) centreGrad(x, grad []float64) float64 {
	switch {
	case m.mean == nil:
		return m.hyper.Mean
	case grad == nil:
		return m.hyper.Mean + m.mean.Value(x)
	}
	own := make([]float64, len(grad))
	c := m.hyper.Mean + m.mean.ValueGrad(x, own)
	floats.Add(grad, own)
	return c
}

// latent clips a latent variance that rounding has made too small.
func (m *Model) latent(v float64) float64 { return math.Max(v, minVariance*m.signal) }

// minVariance is the smallest latent variance in units of σ0².
const minVariance = 1e-12

// Len returns the number n of observations.
func (m *Model) Len() int { return len(m.y) }

// Dim returns the dimension d of the inputs.
func (m *Model) Dim() int { return len(m.inv) }

// Hyper returns a copy of the hyper-parameters.
func (m *Model) Hyper() Hyper { return m.hyper.Clone() }

// Fitted returns μ(x_i), the posterior mean at each observation i.
func (m *Model) Fitted() []float64 {
	out := make([]float64, m.Len())
	for i, a := range m.alpha {
		out[i] = m.y[i] - m.noise*a // K α = y − c − m(X)
	}
	return out
}
