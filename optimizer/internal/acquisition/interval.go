package acquisition

import "math"

// moments are integrals over a standard normal interval [a, a+w], all divided by
// e^logScale. With u running over the interval and q = u - a:
type moments struct {
	logScale  float64
	gain      float64 // ∫ (g+q) φ(u) du
	gainMu    float64 // ∫ (g+q) u φ(u) du, sigma times the derivative of gain by mu
	gainSigma float64 // ∫ (g+q)(u²-1) φ(u) du, the derivative of sigma·gain by sigma
	prob      float64 // ∫ φ(u) du
	probMu    float64 // ∫ u φ(u) du
	probSigma float64 // ∫ (u²-1) φ(u) du
	pdfLo     float64 // φ(a)
	pdfUp     float64 // φ(a+w)
	lower     float64 // g φ(a)
	upper     float64 // (g+w) φ(a+w)
}

// integrate returns the moments of [a, a+w] with offset g >= 0; w may be +Inf.
// For w <= 0 (and NaN) all are zero.
//
// Everything is scaled by the density at the end of the interval that is nearer
// to 0, so that nothing underflows. Where the interval is narrow, differences of
// closed forms would cancel and Gauss-Legendre quadrature is used instead; the
// integrand's exponent then varies by at most 3/2, and 8 nodes are exact to
// double precision.
func integrate(a, w, g float64) (m moments) {
	if !(w > 0) {
		return m
	}
	b := a + w
	near, sign := a, 1.0 // the end nearer to 0, below it where 0 is inside
	if b <= 0 {
		near, sign = -b, -1
	}
	switch {
	case w*math.Max(1, near) <= 1:
		m = narrow(w, g, near, sign)
	case near < 0:
		m = middle(a, b, w, g)
	case sign > 0:
		m = tail(near, w, g, g+w, sign)
	default:
		m = tail(near, w, g+w, g, sign)
		m.pdfLo, m.pdfUp = m.pdfUp, m.pdfLo
	}
	m.lower = g * m.pdfLo
	if m.pdfUp > 0 { // else w may be infinite
		m.upper = (g + w) * m.pdfUp
	}
	return m
}

// tail handles intervals on one side of 0, given by its sign, whose nearer end is v away from it,
// where the offset is near, and far at the other end. It is scaled by φ(v), and takes the nearer end
// for the lower one.
func tail(v, w, near, far, sign float64) moments {
	r, h := mills(v)
	m := moments{
		logScale:  LogPDF(v),
		gain:      float64(sign*h) + near*r,
		gainMu:    r + sign*near,
		gainSigma: sign + near*v,
		prob:      r,
		probMu:    sign,
		probSigma: v,
		pdfLo:     1,
	}
	e := math.Exp(-w * (v + 0.5*w))
	if e == 0 {
		return m
	}
	r, h = mills(v + w)
	m.gain -= e * (float64(sign*h) + far*r)
	m.gainMu -= e * (r + sign*far)
	m.gainSigma -= e * (sign + far*(v+w))
	m.prob -= e * r
	m.probMu -= e * sign
	m.probSigma -= e * (v + w)
	m.pdfUp = e
	return m
}

// middle handles a < 0 < b with b - a > 1, unscaled.
func middle(a, b, w, g float64) moments {
	pa, pb := PDF(a), PDF(b)
	p := 1 - CDF(a) - CDF(-b)
	m := moments{
		gain:      pa - pb + (g-a)*p,
		prob:      p,
		probMu:    pa - pb,
		probSigma: a * pa,
		pdfLo:     pa,
		pdfUp:     pb,
	}
	lower := g * pa
	m.gainMu = p + lower
	m.gainSigma = pa + a*lower
	if pb > 0 { // else w may be infinite
		upper := (g + w) * pb
		m.gainMu -= upper
		m.gainSigma -= pb + b*upper
		m.probSigma -= b * pb
	}
	return m
}

// narrow integrates numerically from the end of the interval with |u| = v into
// its interior, which lies in the direction sign; scaled by φ(v).
func narrow(w, g, v, sign float64) moments {
	m := moments{logScale: LogPDF(v)}
	u0 := sign * v
	for i, t := range legendreNodes {
		q := t * w // distance from the end
		u := u0 + sign*q
		k := legendreWeights[i] * w * math.Exp(-q*(sign*u0+0.5*q))
		gain := k * (g + q)
		if sign < 0 {
			gain = k * (g + w - q)
		}
		u2 := u*u - 1
		m.gain += gain
		m.gainMu += gain * u
		m.gainSigma += gain * u2
		m.prob += k
		m.probMu += k * u
		m.probSigma += k * u2
	}
	e := math.Exp(-w * (sign*u0 + 0.5*w))
	m.pdfLo, m.pdfUp = 1, e
	if sign < 0 {
		m.pdfLo, m.pdfUp = e, 1
	}
	return m
}

// Gauss-Legendre rule with 8 nodes on [0, 1] (Abramowitz and Stegun, table 25.4).
var (
	legendreNodes = [8]float64{
		(1 - 0.9602898564975363) / 2, (1 - 0.7966664774136267) / 2,
		(1 - 0.5255324099163290) / 2, (1 - 0.1834346424956498) / 2,
		(1 + 0.1834346424956498) / 2, (1 + 0.5255324099163290) / 2,
		(1 + 0.7966664774136267) / 2, (1 + 0.9602898564975363) / 2,
	}
	legendreWeights = [8]float64{
		0.1012285362903763 / 2, 0.2223810344533745 / 2,
		0.3137066458778873 / 2, 0.3626837833783620 / 2,
		0.3626837833783620 / 2, 0.3137066458778873 / 2,
		0.2223810344533745 / 2, 0.1012285362903763 / 2,
	}
)
