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

// check returns the dimension of the inputs. It reports inputs, values and hyper-parameters, where there
// are any, that no process can have. A LogNoise of −∞ (no noise) is allowed.
func check(x [][]float64, y []float64, h *Hyper) (d int, err error) {
	if len(x) == 0 || len(x) != len(y) || len(x[0]) == 0 {
		return 0, fmt.Errorf("gp: %d points and %d values make no process", len(x), len(y))
	}
	d = len(x[0])
	for i, p := range x {
		if err := checkPoint(p, y[i], d); err != nil {
			return 0, err
		}
	}
	if h != nil && (len(h.LogLengths) != d || !finite(h.LogLengths...) || !finite(h.LogSignal, h.Mean) || !(h.LogNoise < math.Inf(1))) {
		return 0, fmt.Errorf("gp: no process of %d dimensions has the hyper-parameters %+v", d, *h)
	}
	return d, nil
}

func checkPoint(p []float64, y float64, d int) error {
	if len(p) != d || !finite(p...) || !finite(y) {
		return fmt.Errorf("gp: no process of %d dimensions is %v at %v", d, y, p)
	}
	return nil
}

func finite(of ...float64) bool {
	return !slices.ContainsFunc(of, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

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
