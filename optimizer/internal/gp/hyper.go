package gp

import (
	"fmt"
	"math"
	"slices"
)

// Hyper holds the hyper-parameters of the process. Variances and the mean are
// in the units of the (standardized) observations, length scales in those of
// the unit cube.
type Hyper struct {
	LogLengths []float64 `json:"log_lengths"` // ln ℓ_j, one per dimension
	LogSignal  float64   `json:"log_signal"`  // ln σ0²
	LogNoise   float64   `json:"log_noise"`   // ln σn²
	Mean       float64   `json:"mean"`        // c
}

// Clone returns a copy that shares no memory with h.
func (h Hyper) Clone() Hyper {
	h.LogLengths = slices.Clone(h.LogLengths)
	return h
}

// Lengths returns the length scales ℓ_j.
func (h Hyper) Lengths() []float64 {
	l := make([]float64, len(h.LogLengths))
	for j, v := range h.LogLengths {
		l[j] = math.Exp(v)
	}
	return l
}

// Signal returns the signal variance σ0².
func (h Hyper) Signal() float64 { return math.Exp(h.LogSignal) }

// Noise returns the noise variance σn².
func (h Hyper) Noise() float64 { return math.Exp(h.LogNoise) }

// check reports hyper-parameters that no process of d dimensions can have.
// A LogNoise of −∞ (no noise) is allowed.
func (h Hyper) check(d int) error {
	if len(h.LogLengths) != d {
		return fmt.Errorf("gp: %d length scales for %d dimensions", len(h.LogLengths), d)
	}
	for j, l := range h.LogLengths {
		if !finite(l) {
			return fmt.Errorf("gp: log length scale %d is %v", j, l)
		}
	}
	if !finite(h.LogSignal) || !finite(h.Mean) {
		return fmt.Errorf("gp: log signal variance %v, mean %v: both must be finite", h.LogSignal, h.Mean)
	}
	if math.IsNaN(h.LogNoise) || math.IsInf(h.LogNoise, 1) {
		return fmt.Errorf("gp: log noise variance is %v", h.LogNoise)
	}
	return nil
}

// checkData reports inputs and values that cannot be modelled and returns the
// dimension.
func checkData(x [][]float64, y []float64) (int, error) {
	if len(x) == 0 {
		return 0, fmt.Errorf("gp: no observations")
	}
	if len(x) != len(y) {
		return 0, fmt.Errorf("gp: %d points but %d values", len(x), len(y))
	}
	d := len(x[0])
	if d == 0 {
		return 0, fmt.Errorf("gp: points of dimension 0")
	}
	for i, p := range x {
		if err := checkPoint(p, y[i], d); err != nil {
			return 0, fmt.Errorf("gp: observation %d: %w", i, err)
		}
	}
	return d, nil
}

func checkPoint(p []float64, y float64, d int) error {
	if len(p) != d {
		return fmt.Errorf("dimension %d instead of %d", len(p), d)
	}
	for j, v := range p {
		if !finite(v) {
			return fmt.Errorf("coordinate %d is %v", j, v)
		}
	}
	if !finite(y) {
		return fmt.Errorf("value is %v", y)
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// What the MAP fit believes before it sees data. Each term is a density that is maximized in the
// variable it names, without the Jacobian of the logarithm in which the optimizer moves:
//
//	ℓ_j ~ LogNormal(μ, s), with the mode exp(μ − s²), see Lengths
//	ln σ0² ~ Normal(0, signalSD)
//	σn² ~ Gamma(shape noiseShape, rate noiseRate)
//	c ~ Normal(0, 1), profiled out
const (
	signalSD   = 1.5
	noiseShape = 1.1
	noiseRate  = 30
)

// Lengths is the prior LogNormal(Mu, Sigma) of the length scales.
type Lengths struct{ Mu, Sigma float64 }

// mode is the logarithm of its mode.
func (l Lengths) mode() float64 { return l.Mu - l.Sigma*l.Sigma }

// addLogPrior adds the log density (up to a constant) of everything but the mean at
// θ = (ln ℓ, ln σ0², ln σn²) and its gradient; the noise term is left out when
// the noise is fixed.
func (s Settings) addLogPrior(theta, grad []float64) float64 {
	d := len(theta) - 2
	sum := 0.0
	normal := func(i int, mu, sigma float64) {
		z := (theta[i] - mu) / sigma
		sum -= 0.5 * z * z
		grad[i] -= z / sigma
	}
	for j := range d {
		// ln p(ℓ) = −ln ℓ − (ln ℓ − μ)²/2s² = −(ln ℓ − μ + s²)²/2s² + const
		normal(j, s.Lengths.mode(), s.Lengths.Sigma)
	}
	normal(d, 0, signalSD)
	if s.FixedNoise <= 0 {
		v, shape := math.Exp(theta[d+1]), float64(noiseShape)
		sum += (shape-1)*theta[d+1] - noiseRate*v
		grad[d+1] += shape - 1 - noiseRate*v
	}
	return sum
}
