package acquisition

import "math"

// UCB returns the upper confidence bound mu + √beta sigma.
func UCB(mu, sigma, beta float64) Value {
	c := math.Sqrt(beta)
	return Value{F: mu + c*sigma, Mu: 1, Sigma: c}
}

// AcceptReject applies the accept-reject rule to v, a value on the scale of f (UCB, a
// posterior sample, the mean): v itself where lo <= v.F <= up, minus infinity elsewhere. When every candidate is rejected
// (bounds that are too tight, a huge beta) rank the candidates by [Clip] instead.
func AcceptReject(v Value, lo, up float64) Value {
	if lo <= v.F && v.F <= up {
		return v
	}
	return Value{F: math.Inf(-1)}
}

// Clip returns min(max(v, lo), up) with its derivatives: what to maximize when the accept-reject
// rule leaves nothing. Of UCB and no lower bound it is the truncated upper confidence bound, which keeps
// what that rule would reject above up, as the regret proof needs: it is no less than f(x) wherever UCB(x)
// and up are bounds.
func Clip(v Value, lo, up float64) Value {
	switch {
	case v.F > up || lo > up:
		return Value{F: up, Up: 1}
	case v.F < lo:
		return Value{F: lo, Lo: 1}
	}
	return v
}

// BetaRules are the names of the rules for the exploration weight of UCB.
func BetaRules() []string { return []string{"dragonfly", "kandasamy", "group"} }

// Beta returns the weight of a rule for d active dimensions after t evaluations (finished and
// pending, so that it never decreases):
//
//	dragonfly  0.5 d ln(2dt+1), as in the program dragonfly (Kandasamy et al. 2020)
//	kandasamy  5 d ln(2dt+1), as in the code of Kandasamy et al., Parallelised Bayesian
//	           Optimisation via Thompson Sampling (2018)
//	group      0.2 d ln(2dt+1), dragonfly's for a group of d dimensions of an additive model
func Beta(rule string, d, t int) float64 {
	scale := map[string]float64{"dragonfly": 0.5, "kandasamy": 5, "group": 0.2}[rule]
	d, t = max(d, 1), max(t, 1)
	return scale * float64(d) * math.Log(2*float64(d)*float64(t)+1)
}
