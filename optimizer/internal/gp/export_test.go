package gp

import (
	"math"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
)

// LogLikelihood returns the log marginal likelihood of y at x under h. If grad
// is not nil it has length d+3 and receives the derivatives by
// (ln ℓ_1 … ln ℓ_d, ln σ0², ln σn², c).
func LogLikelihood(x [][]float64, y []float64, h Hyper, grad []float64) (float64, error) {
	d, err := check(x, y, &h)
	if err != nil {
		return 0, err
	}
	w := newEvidence(x)
	w.y = y
	if !w.factorise(h.LogLengths, h.Signal(), h.Noise()) {
		return 0, ErrNotPositiveDefinite
	}
	value := w.logLikelihood(h.Mean)
	upperTimes(w.alpha, w.w, w.copied(w.alpha))
	if grad != nil {
		w.gradient(grad, h.Noise())
		grad[d+2] = floats.Sum(w.alpha)
	}
	return value, nil
}

// LogLikelihood returns the log marginal likelihood
// −½ (y−c−m(X))ᵀα − Σ ln L_ii − n/2 ln 2π.
func (m *Model) LogLikelihood() float64 {
	sum := -0.5 * float64(m.Len()) * math.Log(2*math.Pi)
	for i, row := range m.rows {
		sum -= 0.5*(m.y[i]-m.centres[i])*m.alpha[i] + math.Log(row[i])
	}
	return sum
}

// Covariance returns the posterior covariance k(a,b) − v(a)ᵀv(b) of the latent
// function at two points. O(n²).
func (p *Predictor) Covariance(a, b []float64) float64 {
	p.kernel(a, nil)
	copy(p.v, p.k)
	forward(p.m.rows, p.v)
	p.kernel(b, nil)
	forward(p.m.rows, p.k)
	return p.m.prior(a, b) - floats.Dot(p.v, p.k)
}

// prior returns k(a,b).
func (m *Model) prior(a, b []float64) float64 {
	r2 := 0.0
	for j, inv := range m.inv {
		t := (a[j] - b[j]) * inv
		r2 += t * t
	}
	s := math.Sqrt(5 * r2)
	return m.signal * (1 + s + s*s/3) * math.Exp(-s)
}

// LeaveOneOut sets mean[i] and variance[i] to the prediction of observation i
// from all the others, noise included, the hyper-parameters unchanged:
//
//	y_i − α_i/[K⁻¹]_ii  and  1/[K⁻¹]_ii
//
// (Rasmussen and Williams, equation 5.12). Both slices have length n. O(n³/6).
func (m *Model) LeaveOneOut(mean, variance []float64) {
	n := m.Len()
	w := invert(m.rows, &inverted{}).w
	clear(variance)
	for i := range n {
		for k, v := range w[i*padded(n):][:i+1] {
			variance[k] += v * v
		}
	}
	for i, a := range m.alpha {
		variance[i] = 1 / variance[i]
		mean[i] = m.y[i] - a*variance[i]
	}
}

// LeaveOneOutLogDensity returns Σ_i ln p(y_i | all other observations), the
// pseudo-likelihood of Rasmussen and Williams, equation 5.11.
func (m *Model) LeaveOneOutLogDensity() float64 {
	n := m.Len()
	mean, variance := make([]float64, n), make([]float64, n)
	m.LeaveOneOut(mean, variance)
	sum := 0.0
	for i, y := range m.y {
		e := y - mean[i]
		sum -= 0.5 * (math.Log(2*math.Pi*variance[i]) + e*e/variance[i])
	}
	return sum
}

// Fresh returns the model without what was inverted of it or its kin.
func Fresh(m *Model) *Model {
	fresh := *m
	fresh.last = &atomic.Pointer[inverted]{}
	fresh.last.Store(&inverted{})
	return &fresh
}
