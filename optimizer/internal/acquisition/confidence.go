package acquisition

import (
	"fmt"
	"math"
	"strings"
)

// UCB returns the upper confidence bound mu + √beta sigma.
func UCB(mu, sigma, beta float64) Value {
	c := math.Sqrt(beta)
	return Value{F: mu + c*sigma, Mu: 1, Sigma: c}
}

// TUCB returns the truncated upper confidence bound min(mu + √beta sigma, up).
// It keeps what the accept-reject rule would reject above up, which the regret
// proof needs: TUCB(x) >= f(x) wherever UCB(x) and up are bounds.
func TUCB(mu, sigma, beta, up float64) Value {
	if v := UCB(mu, sigma, beta); v.F <= up {
		return v
	}
	return Value{F: up, Up: 1}
}

// Accepted reports whether the accept-reject rule keeps a point: lo <= g <= up,
// where g is a value on the scale of f (UCB, a posterior sample, the mean).
func Accepted(g, lo, up float64) bool { return lo <= g && g <= up }

// AcceptReject applies the accept-reject rule to v: v itself where
// lo <= v.F <= up, minus infinity elsewhere. When every candidate is rejected
// (bounds that are too tight, a huge beta) rank the candidates by [Clip] instead.
func AcceptReject(v Value, lo, up float64) Value {
	if Accepted(v.F, lo, up) {
		return v
	}
	return Value{F: math.Inf(-1)}
}

// Clip returns min(max(v, lo), up) with its derivatives: what to maximize when
// the accept-reject rule leaves nothing.
func Clip(v Value, lo, up float64) Value {
	switch {
	case v.F > up || lo > up:
		return Value{F: up, Up: 1}
	case v.F < lo:
		return Value{F: lo, Lo: 1}
	}
	return v
}

// BetaRule names a rule for the exploration weight beta_t of UCB.
type BetaRule string

// The rules of the literature; d is the number of active dimensions and t the
// number of evaluations so far.
const (
	// BetaDragonfly is 0.5 d ln(2dt+1), as in the program dragonfly (Kandasamy
	// et al. 2020).
	BetaDragonfly BetaRule = "dragonfly"
	// BetaKandasamy is 5 d ln(2dt+1), as in the code of Kandasamy et al., Parallelised
	// Bayesian Optimisation via Thompson Sampling (2018).
	BetaKandasamy BetaRule = "kandasamy"
	// BetaGroup is 0.2 d ln(2dt+1), dragonfly's for a group of d dimensions of an
	// additive model.
	BetaGroup BetaRule = "group"
)

var betaScales = map[BetaRule]float64{BetaDragonfly: 0.5, BetaKandasamy: 5, BetaGroup: 0.2}

// BetaRules returns the names of all rules.
func BetaRules() []string {
	return []string{string(BetaDragonfly), string(BetaKandasamy), string(BetaGroup)}
}

// Beta returns beta_t of the rule for d active dimensions after t evaluations
// (finished and pending, so that it never decreases).
func (r BetaRule) Beta(d, t int) (float64, error) {
	scale, known := betaScales[r]
	if !known {
		return 0, fmt.Errorf("unknown beta rule %q, want one of %s", r, strings.Join(BetaRules(), ", "))
	}
	d, t = max(d, 1), max(t, 1)
	return scale * float64(d) * math.Log(2*float64(d)*float64(t)+1), nil
}
