package gp

import "gonum.org/v1/gonum/floats"

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
