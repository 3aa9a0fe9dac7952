package gp

import "math"

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
