package acquisition

import "math"

// LogCEI returns the logarithm of the clipped expected improvement
//
//	CEI = E[max(0, clip(f, lo, up) - best)],  clip(f, lo, up) = min(max(f, lo), up).
//
// Unlike TEI, which throws the probability above up away, it moves that
// probability to up: CEI = TEI + (up - best) P(f > up) for lo <= best. It never
// exceeds EI for lo <= best and increases with mu. Where up <= best see
// [Rejected].
func LogCEI(mu, sigma, best, lo, up float64) Value {
	s := math.Max(sigma, MinSigma)
	low := math.Min(math.Max(best, lo), up)
	floor := low - best // gained for certain
	a, w := (low-mu)/s, (up-low)/s
	if up <= best || math.IsNaN(w) {
		return rejected(sigma, best, math.Inf(-1), up)
	}
	c := excess(a, w)
	if !(c.gain > 0) && floor <= 0 {
		return rejected(sigma, best, math.Inf(-1), up)
	}
	f := c.logScale + math.Log(s) + math.Log(c.gain)
	k := math.Exp(c.logScale)
	if floor <= 0 {
		k = 1 / (s * c.gain)
	} else {
		sum := floor + s*k*c.gain
		f, k = math.Log(sum), k/sum
	}
	v := Value{F: f, Mu: k * c.prob, Sigma: k * (c.pdfLo - c.pdfUp), Up: k * c.tailUp}
	switch {
	case lo >= up: // clipped to the constant up
		v = Value{F: math.Log(floor), Up: 1 / floor}
	case lo > best:
		v.Lo = math.Exp(-f) - k*c.tailLo
	}
	return v.overSigma(sigma)
}

// excesses are integrals of an interval [a, a+w], all divided by e^logScale.
type excesses struct {
	logScale float64
	gain     float64 // ∫ Φ(-u) du, which is E[max(0, min(u, a+w) - a)]
	prob     float64 // ∫ φ(u) du
	pdfLo    float64 // φ(a)
	pdfUp    float64 // φ(a+w)
	tailLo   float64 // Φ(-a)
	tailUp   float64 // Φ(-a-w)
}

// excess returns the tail integrals; w may be +Inf. The branches are those of
// integrate.
func excess(a, w float64) excesses {
	b := a + w
	if a < 0 {
		t := excesses{prob: 1 - CDF(a) - CDF(-b), pdfLo: PDF(a), pdfUp: PDF(b), tailLo: CDF(-a), tailUp: CDF(-b)}
		switch {
		case w <= 1:
			t.prob = 0
			for i, x := range legendreNodes {
				u := a + x*w
				t.gain += legendreWeights[i] * w * CDF(-u)
				t.prob += legendreWeights[i] * w * PDF(u)
			}
		case b > 0: // h(-a) - h(-b)
			t.gain = t.pdfLo - a*t.tailLo
			if t.pdfUp > 0 {
				t.gain -= t.pdfUp - b*t.tailUp
			}
		default: // the same by h(z) = z + h(-z)
			t.gain = w + math.Exp(LogH(a)) - math.Exp(LogH(b))
			t.prob = CDF(b) - CDF(a)
		}
		return t
	}
	r, h := mills(a)
	t := excesses{logScale: LogPDF(a), gain: h, prob: r, pdfLo: 1, tailLo: r}
	e := math.Exp(-w * (a + 0.5*w))
	if e == 0 {
		return t
	}
	rb, hb := mills(b)
	t.pdfUp, t.tailUp = e, e*rb
	if w*math.Max(1, a) > 1 {
		t.gain -= e * hb
		t.prob -= e * rb
		return t
	}
	t.gain, t.prob = 0, 0
	for i, x := range legendreNodes {
		q := x * w
		rq, _ := mills(a + q)
		k := legendreWeights[i] * w * math.Exp(-q*(a+0.5*q))
		t.gain += k * rq
		t.prob += k
	}
	return t
}
