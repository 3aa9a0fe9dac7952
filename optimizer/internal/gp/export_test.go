package gp

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// LogLikelihood returns the log marginal likelihood of y at x under h. If grad
// is not nil it has length d+3 and receives the derivatives by
// (ln ℓ_1 … ln ℓ_d, ln σ0², ln σn², c).
func LogLikelihood(x [][]float64, y []float64, h Hyper, grad []float64) (float64, error) {
	d, err := checkData(x, y)
	if err != nil {
		return 0, err
	}
	if err := h.check(d); err != nil {
		return 0, err
	}
	w := newEvidence(x, y, grad != nil)
	if !w.factorise(h.LogLengths, h.Signal(), h.Noise()) {
		return 0, ErrNotPositiveDefinite
	}
	value := w.logLikelihood(h.Mean)
	backward(w.rows, w.alpha)
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
	p.kernel(a)
	copy(p.v, p.k)
	forward(p.m.rows, p.v)
	p.kernel(b)
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
