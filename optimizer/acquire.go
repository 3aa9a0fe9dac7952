package optimizer

import "github.com/lbotune/lbotune/optimizer/internal/acquisition"

// rule is an acquisition that the settings can select. To add one, write its
// functions in a file of their own and give it a row in rules.
type rule struct {
	word string // in the settings
	// score is what to maximize in order to improve upon target. The bounds enter as
	// mode says, which is a word of the setting lipschitz; they are nil in a box,
	// where mode is off.
	score func(a *ask, target float64, b *bounds, mode string) (score, error)
	// relaxed decides where the bounds leave nothing of score: they are too tight to
	// be true.
	relaxed func(a *ask) (score, error)
}

// rules are the acquisitions, the default first.
func rules() []rule {
	return []rule{
		{"ei", pointwiseScore(improvement), withoutBounds},
		{"pi", pointwiseScore(probability), withoutBounds},
		{"ucb", pointwiseScore(confidence), cutAtBounds(pointwiseScore(confidence))},
		{"ts", thompson, cutAtBounds(thompson)},
	}
}

func acquisitionWords() []string {
	var words []string
	for _, r := range rules() {
		words = append(words, r.word)
	}
	return words
}

// rule is the selected one, and Thompson sampling beside many pending trials.
func (a *ask) rule() rule {
	word := a.set.Acquisition
	if a.many() {
		word = "ts"
	}
	for _, r := range rules() {
		if r.word == word {
			return r
		}
	}
	panic("optimizer: no acquisition is called " + word) // Validate knows the same words
}

// globalScore is what to maximize over the whole cube.
func (a *ask) globalScore() (score, error) {
	return a.rule().score(a, a.view.target, a.view.surrogate.bounds, a.set.Lipschitz)
}

// boxScore is what to maximize in a box around a point, to improve upon target.
func (a *ask) boxScore(target float64) (score, error) { return a.rule().score(a, target, nil, off) }

func withoutBounds(a *ask) (score, error) {
	return pointwiseScore(improvement)(a, a.view.target, nil, off)
}

// cutAtBounds caps a score by the bounds, whatever the setting.
func cutAtBounds(f func(*ask, float64, *bounds, string) (score, error)) func(*ask) (score, error) {
	return func(a *ask) (score, error) { return f(a, a.view.target, a.view.surrogate.bounds, "clip") }
}

// pointwiseScore builds scores of an acquisition that looks at one point at a time,
// over the view's models.
func pointwiseScore(make func(a *ask, target float64, mode string) pointwise) func(*ask, float64, *bounds, string) (score, error) {
	return func(a *ask, target float64, b *bounds, mode string) (score, error) {
		f := make(a, target, mode)
		parts := []score{}
		for _, m := range a.view.models {
			parts = append(parts, newModelScore(m, b, f))
		}
		if len(parts) > 1 {
			return a.withFactors(&average{parts: parts}), nil
		}
		return a.withFactors(parts[0]), nil
	}
}

// withFactors multiplies into s what holds for every acquisition. As long as no point is
// known that holds every limit there is nothing to improve upon: the chances alone count.
// Relations are not weighed but obeyed.
func (a *ask) withFactors(s score) score {
	var factors []factor
	if a.view.success != nil {
		factors = append(factors, a.view.success)
	}
	for _, c := range a.view.limits.chances() {
		factors = append(factors, c)
	}
	if a.lbo.guess != nil {
		factors = append(factors, a.lbo.guess.after(len(a.past.y), a.set.DesignSize, a.past.x[a.past.best], a.lbo.guess.doubt(a)))
	}
	if len(factors) > 0 {
		if !a.view.holds {
			s = indifferent{}
		}
		s = &product{score: s, factors: factors}
	}
	if a.view.risky != nil {
		s = &outside{s, a.view.risky}
	}
	if a.dom.partial() {
		s = &outside{s, func(p []float64) bool { return !a.dom.allows(p) }}
	}
	return s
}

func improvement(_ *ask, best float64, mode string) pointwise {
	switch mode {
	case off:
		return func(mu, sigma, _, _ float64) acquisition.Value { return acquisition.LogEI(mu, sigma, best) }
	case "clip":
		return func(mu, sigma, lo, up float64) acquisition.Value {
			return acquisition.LogCEI(mu, sigma, best, lo, up)
		}
	}
	return func(mu, sigma, lo, up float64) acquisition.Value {
		return acquisition.LogTEI(mu, sigma, best, lo, up)
	}
}

func probability(_ *ask, best float64, mode string) pointwise {
	if mode == off {
		return func(mu, sigma, _, _ float64) acquisition.Value { return acquisition.LogPI(mu, sigma, best) }
	}
	return func(mu, sigma, lo, up float64) acquisition.Value {
		return acquisition.LogTPI(mu, sigma, best, lo, up)
	}
}

// confidence is the upper confidence bound, above best and in logarithms, so
// that factors can be added to it.
func confidence(a *ask, best float64, mode string) pointwise {
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
	return acquisition.Beta(a.set.Beta.Word(), a.past.space.Len(), len(a.past.y)+len(a.pending))
}
