package gp

import "math"

// Prior is what the MAP fit believes before it sees data. Each term is a
// density that is maximized in the variable it names, without the Jacobian of
// the logarithm in which the optimizer moves.
type Prior struct {
	// ℓ_j ~ LogNormal(LengthMu, LengthSigma), maximized in ℓ: the mode is
	// exp(LengthMu − LengthSigma²).
	LengthMu, LengthSigma float64
	// ln σ0² ~ Normal(SignalMu, SignalSigma).
	SignalMu, SignalSigma float64
	// σn² ~ Gamma(shape NoiseShape, rate NoiseRate), maximized in σn².
	NoiseShape, NoiseRate float64
	// c ~ Normal(0, MeanSigma), profiled out; +Inf is a flat prior.
	MeanSigma float64
}

// DefaultPrior returns the prior for d dimensions and standardized values:
// length scales LogNormal(√2 + ln(d)/2, √3) as proposed by Hvarfner, Hellsten
// and Nardi (2024), noise Gamma(1.1, 30), ln σ0² Normal(0, 1.5), mean
// Normal(0, 1).
func DefaultPrior(d int) Prior {
	return Prior{
		LengthMu: math.Sqrt2 + 0.5*math.Log(float64(d)), LengthSigma: math.Sqrt(3),
		SignalMu: 0, SignalSigma: 1.5,
		NoiseShape: 1.1, NoiseRate: 30,
		MeanSigma: 1,
	}
}

// addLog adds the log density (up to a constant) of everything but the mean at
// θ = (ln ℓ, ln σ0², ln σn²) and its gradient; the noise term is left out when
// the noise is fixed.
func (p Prior) addLog(theta, grad []float64, noiseFixed bool) float64 {
	d := len(theta) - 2
	sum := 0.0
	normal := func(i int, mu, sigma float64) {
		z := (theta[i] - mu) / sigma
		sum -= 0.5 * z * z
		grad[i] -= z / sigma
	}
	for j := range d {
		// ln p(ℓ) = −ln ℓ − (ln ℓ − μ)²/2s² = −(ln ℓ − μ + s²)²/2s² + const
		normal(j, p.LengthMu-p.LengthSigma*p.LengthSigma, p.LengthSigma)
	}
	normal(d, p.SignalMu, p.SignalSigma)
	if !noiseFixed {
		v := math.Exp(theta[d+1])
		sum += (p.NoiseShape-1)*theta[d+1] - p.NoiseRate*v
		grad[d+1] += p.NoiseShape - 1 - p.NoiseRate*v
	}
	return sum
}

// Range is a closed interval.
type Range struct{ Low, High float64 }

// Bounds keep the fit away from degenerate processes. All are in natural
// units, not logarithms.
type Bounds struct {
	Length, Signal, Noise Range
}

// DefaultBounds returns ℓ in [0.02, 100], σ0² in [1e-3, 1e3] and σn² in
// [1e-7, 1].
func DefaultBounds() Bounds {
	return Bounds{Length: Range{0.02, 100}, Signal: Range{1e-3, 1e3}, Noise: Range{1e-7, 1}}
}
