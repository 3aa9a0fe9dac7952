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

// LogTEI returns the logarithm of the truncated expected improvement
//
//	TEI = ∫_L^up (f - best) N(f; mu, sigma²) df,  L = min(max(best, lo), up)
//	    = (mu - best)[Φ(zL) - Φ(zU)] + sigma[φ(zL) - φ(zU)],
//
// zL = (mu - L)/sigma, zU = (mu - up)/sigma. best must be finite; lo may be -Inf
// and up +Inf, which gives EI. Where up <= max(best, lo) see [Rejected].
//
// This is the paper's truncated expected improvement with the sign of its second
// term corrected: as printed it does not reduce to EI without bounds.
func LogTEI(mu, sigma, best, lo, up float64) Value {
	s := math.Max(sigma, MinSigma)
	low := math.Max(best, lo)
	m := integrate((low-mu)/s, (up-low)/s, (low-best)/s)
	if !(m.gain > 0) {
		return rejected(sigma, best, lo, up)
	}
	c := 1 / (s * m.gain)
	v := Value{
		F:     math.Log(s) + m.logScale + math.Log(m.gain),
		Mu:    c * m.gainMu,
		Sigma: c * m.gainSigma,
		Up:    c * m.upper,
	}
	if lo > best {
		v.Lo = -c * m.lower
	}
	return v.overSigma(sigma)
}

// LogTPI returns the logarithm of the truncated probability of improvement
// TPI = P(L < f < up), L = min(max(best, lo), up). Where up <= max(best, lo) see
// [Rejected].
func LogTPI(mu, sigma, best, lo, up float64) Value {
	s := math.Max(sigma, MinSigma)
	low := math.Max(best, lo)
	m := integrate((low-mu)/s, (up-low)/s, 0)
	if !(m.prob > 0) {
		return rejected(sigma, best, lo, up)
	}
	c := 1 / (s * m.prob)
	v := Value{
		F:     m.logScale + math.Log(m.prob),
		Mu:    c * m.probMu,
		Sigma: c * m.probSigma,
		Up:    c * m.pdfUp,
	}
	if lo > best {
		v.Lo = -c * m.pdfLo
	}
	return v.overSigma(sigma)
}

// rejected continues a logarithmic acquisition into the region up <= low.
func rejected(sigma, best, lo, up float64) Value {
	s := math.Max(sigma, MinSigma)
	low := math.Max(best, lo)
	gap := math.Min(up-low, 0)
	v := Value{F: Rejected + gap/s, Sigma: -gap / (s * s), Up: 1 / s}
	if lo > best {
		v.Lo = -1 / s
	}
	return v.overSigma(sigma)
}
