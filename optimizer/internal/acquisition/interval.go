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
func integrate(a, w, g float64) moments {
	if !(w > 0) {
		return moments{}
	}
	b := a + w
	switch {
	case a >= 0:
		if w*math.Max(1, a) <= 1 {
			return narrow(w, g, a, 1)
		}
		return upperTail(a, w, g)
	case b <= 0:
		if w*math.Max(1, -b) <= 1 {
			return narrow(w, g, -b, -1)
		}
		return lowerTail(b, w, g)
	case w <= 1:
		return narrow(w, g, a, 1)
	}
	return middle(a, b, w, g)
}

// upperTail handles 0 <= a, scaled by φ(a).
func upperTail(a, w, g float64) moments {
	r, h := mills(a)
	m := moments{
		logScale:  LogPDF(a),
		gain:      h + g*r,
		gainMu:    r + g,
		gainSigma: 1 + g*a,
		prob:      r,
		probMu:    1,
		probSigma: a,
		pdfLo:     1,
		lower:     g,
	}
	e := math.Exp(-w * (a + 0.5*w))
	if e == 0 {
		return m
	}
	b := a + w
	rb, hb := mills(b)
	m.gain -= e * (hb + (g+w)*rb)
	m.gainMu -= e * (rb + g + w)
	m.gainSigma -= e * (1 + (g+w)*b)
	m.prob -= e * rb
	m.probMu -= e
	m.probSigma -= e * b
	m.pdfUp = e
	m.upper = e * (g + w)
	return m
}

// lowerTail handles b <= 0, scaled by φ(b).
func lowerTail(b, w, g float64) moments {
	v := -b
	r, h := mills(v)
	m := moments{
		logScale:  LogPDF(v),
		gain:      (g+w)*r - h,
		gainMu:    r - (g + w),
		gainSigma: (g+w)*v - 1,
		prob:      r,
		probMu:    -1,
		probSigma: v,
		pdfUp:     1,
		upper:     g + w,
	}
	e := math.Exp(-w * (v + 0.5*w))
	if e == 0 {
		return m
	}
	ra, ha := mills(v + w)
	m.gain += e * (ha - g*ra)
	m.gainMu += e * (g - ra)
	m.gainSigma += e * (1 - g*(v+w))
	m.prob -= e * ra
	m.probMu += e
	m.probSigma -= e * (v + w)
	m.pdfLo = e
	m.lower = e * g
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
		lower:     g * pa,
	}
	m.gainMu = p + m.lower
	m.gainSigma = pa + a*m.lower
	if pb > 0 { // else w may be infinite
		m.upper = (g + w) * pb
		m.gainMu -= m.upper
		m.gainSigma -= pb + b*m.upper
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
	m.lower = g * m.pdfLo
	m.upper = (g + w) * m.pdfUp
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
