package acquisition

import "math"

// LogEI returns the logarithm of the expected improvement
// EI = E[max(0, f - best)] = sigma h(z), z = (mu - best)/sigma.
func LogEI(mu, sigma, best float64) Value {
	s := math.Max(sigma, MinSigma)
	z := (mu - best) / s
	var v Value
	if z > 0 {
		pdf, cdf := PDF(z), CDF(z)
		h := pdf + z*cdf
		v = Value{F: math.Log(h), Mu: cdf / h / s, Sigma: pdf / h / s}
	} else {
		r, h := mills(-z)
		v = Value{F: LogPDF(z) + math.Log(h), Mu: r / h / s, Sigma: 1 / h / s}
	}
	v.F += math.Log(s)
	return v.overSigma(sigma)
}

// LogPI returns the logarithm of the probability of improvement
// PI = P(f > best) = Φ((mu - best)/sigma).
func LogPI(mu, sigma, best float64) Value {
	s := math.Max(sigma, MinSigma)
	z := (mu - best) / s
	f, slope := logCDF(z)
	return Value{F: f, Mu: slope / s, Sigma: -z * slope / s}.overSigma(sigma)
}
