package optimizer

import "github.com/lbotune/lbotune/optimizer/acquisition"

// pointwise returns the acquisition that the settings select, to improve upon
// best.
func (a *ask) pointwise(best float64) pointwise {
	bounded, clipped := a.set.Lipschitz != off, a.set.Lipschitz == "clip"
	switch a.set.Acquisition {
	case "pi":
		if bounded {
			return func(mu, sigma, lo, up float64) acquisition.Value {
				return acquisition.LogTPI(mu, sigma, best, lo, up)
			}
		}
		return func(mu, sigma, _, _ float64) acquisition.Value { return acquisition.LogPI(mu, sigma, best) }
	case "ucb":
		return a.confidence(best, a.set.Lipschitz)
	}
	switch {
	case clipped:
		return func(mu, sigma, lo, up float64) acquisition.Value {
			return acquisition.LogCEI(mu, sigma, best, lo, up)
		}
	case bounded:
		return func(mu, sigma, lo, up float64) acquisition.Value {
			return acquisition.LogTEI(mu, sigma, best, lo, up)
		}
	}
	return plainEI(best)
}

func plainEI(best float64) pointwise {
	return func(mu, sigma, _, _ float64) acquisition.Value { return acquisition.LogEI(mu, sigma, best) }
}

// confidence is the upper confidence bound, above best and in logarithms, so
// that factors can be added to it.
func (a *ask) confidence(best float64, mode string) pointwise {
	beta := a.beta()
	g := func(mu, sigma, lo, up float64) acquisition.Value {
		switch mode {
		case "reject":
			return acquisition.AcceptReject(acquisition.UCB(mu, sigma, beta), lo, up)
		case off:
			return acquisition.UCB(mu, sigma, beta)
		}
		return acquisition.TUCB(mu, sigma, beta, up)
	}
	return func(mu, sigma, lo, up float64) acquisition.Value {
		v := g(mu, sigma, lo, up)
		v.F -= best
		return acquisition.LogSoftplus(v)
	}
}

// beta is the exploration weight of the confidence bound.
func (a *ask) beta() float64 {
	if x, ok := a.set.Beta.Number(); ok {
		return x
	}
	rule := map[string]acquisition.BetaRule{
		"dragonfly": acquisition.BetaDragonfly,
		"kandasamy": acquisition.BetaThompson,
		"group":     acquisition.BetaAdditive,
	}[a.set.Beta.Word()]
	beta, err := rule.Beta(a.space.Len(), len(a.y)+len(a.pending), 0)
	if err != nil {
		panic("optimizer: " + err.Error()) // Validate knows the same rules
	}
	return beta
}

// score builds the score of a pointwise acquisition over the view's models.
func (a *ask) score(f pointwise, b *bounds) score {
	parts := make([]score, len(a.view.models))
	for k, m := range a.view.models {
		parts[k] = newModelScore(m, b, f)
	}
	if len(parts) > 1 {
		return a.withFactors(&average{parts: parts})
	}
	return a.withFactors(parts[0])
}

// withFactors multiplies into s what holds for every acquisition.
func (a *ask) withFactors(s score) score {
	if a.view.success == nil && len(a.view.penalties) == 0 {
		return s
	}
	return &product{score: s, success: a.view.success, penalties: a.view.penalties}
}

// globalScore is what the settings ask to maximize over the whole cube.
func (a *ask) globalScore() (score, error) {
	if a.set.Acquisition == "ts" || a.many() {
		return a.thompson(a.view.bounds, a.set.Lipschitz)
	}
	return a.score(a.pointwise(a.view.best), a.view.bounds), nil
}

// relaxedScore decides where the bounds leave nothing of globalScore: they are
// too tight to be true, and only cap it, or are not used at all.
func (a *ask) relaxedScore() (score, error) {
	if a.set.Acquisition == "ts" || a.many() {
		return a.thompson(a.view.bounds, "clip")
	}
	if a.set.Acquisition == "ucb" {
		return a.score(a.confidence(a.view.best, "clip"), a.view.bounds), nil
	}
	return a.score(plainEI(a.view.best), nil), nil
}
