package acquisition

import "math"

// TEI returns the truncated expected improvement, 0 where up <= max(best, lo).
func TEI(mu, sigma, best, lo, up float64) Value {
	if v := LogTEI(mu, sigma, best, lo, up); v.F > Rejected {
		return v.exp()
	}
	return Value{}
}

// TPI returns the truncated probability of improvement.
func TPI(mu, sigma, best, lo, up float64) Value {
	if v := LogTPI(mu, sigma, best, lo, up); v.F > Rejected {
		return v.exp()
	}
	return Value{}
}

// CEI returns the clipped expected improvement, 0 where up <= best.
func CEI(mu, sigma, best, lo, up float64) Value {
	if v := LogCEI(mu, sigma, best, lo, up); v.F > Rejected {
		return v.exp()
	}
	return Value{}
}

// exp maps a logarithmic value to the plain scale: F = e^L, dF = F dL.
func (v Value) exp() Value {
	f := math.Exp(v.F)
	return Value{F: f, Mu: f * v.Mu, Sigma: f * v.Sigma, Lo: f * v.Lo, Up: f * v.Up}
}

// Erfcx returns the scaled complementary error function e^(x²) erfc(x).
func Erfcx(x float64) float64 {
	if x < 0 {
		return 2*math.Exp(x*x) - Erfcx(-x)
	}
	r, _ := mills(math.Sqrt2 * x)
	return math.Sqrt(2/math.Pi) * r
}
