package optimizer

import (
	"fmt"
	"math"
	"slices"

	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
	"github.com/lbotune/lbotune/optimizer/internal/gp"
)

// rule is an acquisition that the settings can select. To add one, write its function and give it
// a row in rules.
type rule struct {
	word string // in the settings
	// value is the acquisition at one point, in order to improve upon target. The bounds enter
	// as mode says, which is a word of the setting lipschitz. It is nil for Thompson sampling,
	// which is none of single points.
	value func(a *ask, target float64, mode string) pointwise
	// capped says that where the bounds leave nothing, for they are too tight to be true, the
	// acquisition as they cap it decides, and not the expected improvement without them.
	capped bool
}

// rules are the acquisitions, the default first.
func rules() []rule {
	return []rule{{"ei", improvement, false}, {"pi", probability, false}, {"ucb", confidence, true}, {"ts", nil, true}}
}

// rule is the selected one, and Thompson sampling beside many pending trials.
func (a *ask) rule() rule {
	word := a.set.Acquisition
	if a.many() {
		word = "ts"
	}
	all := rules()
	return all[slices.IndexFunc(all, func(r rule) bool { return r.word == word })] // Validate knows the same words
}

// score is what to maximize in order to improve upon target, over the view's models. The bounds
// are nil in a box, where mode is off.
func (r rule) score(a *ask, target float64, b *bounds, mode string) (*score, error) {
	if r.value == nil {
		p, err := thompson(a, target, b, mode)
		return a.score(p), err
	}
	f := r.value(a, target, mode)
	parts := mapped(a.view.models, func(m *gp.Model) part { return &modelPart{f, m.Predictor(), b} })
	return a.score(parts...), nil
}

// globalScore is what to maximize over the whole cube.
func (a *ask) globalScore() (*score, error) {
	return a.rule().score(a, a.view.target, a.view.surrogate.bounds, a.set.Lipschitz)
}

// relaxedScore is what decides where the bounds leave nothing of globalScore.
func (a *ask) relaxedScore() (*score, error) {
	if r := a.rule(); r.capped {
		return r.score(a, a.view.target, a.view.surrogate.bounds, "clip")
	}
	return rules()[0].score(a, a.view.target, nil, off)
}

// score multiplies what holds for every acquisition into one. As long as no point is
// known that holds every limit there is nothing to improve upon: the chances alone count.
// Relations are not weighed but obeyed.
func (a *ask) score(parts ...part) *score {
	s := &score{parts: parts}
	if a.view.success != nil {
		s.factors = append(s.factors, a.view.success)
	}
	for _, c := range a.view.limits.chances() {
		s.factors = append(s.factors, c)
	}
	if a.lbo.guess != nil {
		s.factors = append(s.factors, a.guessed())
	}
	if len(s.factors) > 0 && !a.view.holds {
		s.parts = nil
	}
	if a.view.risky != nil {
		s = s.outside(a.view.risky)
	}
	if a.dom.partial() {
		s = s.outside(func(p []float64) bool { return !a.dom.allows(p) })
	}
	return s
}

func improvement(_ *ask, best float64, mode string) pointwise {
	return func(mu, sigma, lo, up float64) acquisition.Value {
		switch mode {
		case off:
			return acquisition.LogEI(mu, sigma, best)
		case "clip":
			return acquisition.LogCEI(mu, sigma, best, lo, up)
		}
		return acquisition.LogTEI(mu, sigma, best, lo, up)
	}
}

func probability(_ *ask, best float64, mode string) pointwise {
	return func(mu, sigma, lo, up float64) acquisition.Value {
		if mode == off {
			return acquisition.LogPI(mu, sigma, best)
		}
		return acquisition.LogTPI(mu, sigma, best, lo, up)
	}
}

// confidence is the upper confidence bound, above best and in logarithms, so
// that factors can be added to it.
func confidence(a *ask, best float64, mode string) pointwise {
	beta, stated := a.set.Beta.number()
	if !stated {
		beta = acquisition.Beta(string(a.set.Beta), a.past.space.Len(), len(a.past.y)+len(a.pending))
	}
	return func(mu, sigma, lo, up float64) acquisition.Value {
		if mode != "reject" {
			lo = math.Inf(-1)
		}
		return above(acquisition.UCB(mu, sigma, beta), best, mode, lo, up)
	}
}

// above is the logarithm of a value on the objective's scale within the bounds, as mode has it,
// above best.
func above(v acquisition.Value, best float64, mode string, lo, up float64) acquisition.Value {
	switch {
	case mode == "reject":
		v = acquisition.AcceptReject(v, lo, up)
	case mode != off:
		v = acquisition.Clip(v, lo, up)
	}
	v.F -= best
	return acquisition.LogSoftplus(v)
}

// drawn is a function drawn from the posterior, treated like a mean without uncertainty.
type drawn struct{ *gp.Draw }

func (d drawn) Predict(x []float64) (mean, variance float64) { return d.Value(x), 0 }

func (d drawn) PredictGrad(x, dmean, _ []float64) (mean, variance float64) {
	return d.ValueGrad(x, dmean), 0
}

func (d drawn) Batch(xs [][]float64, mean, _ []float64) {
	for i, x := range xs {
		mean[i] = d.Value(x)
	}
}

// Ahead does nothing: a draw is quick anywhere.
func (drawn) Ahead([][]float64) {}

// thompson draws a function from the posterior of one of the models. It is maximized above best
// and in logarithms, so that factors can be added to it.
func thompson(a *ask, best float64, b *bounds, mode string) (part, error) {
	rng := a.rng("thompson")
	m := a.view.models[rng.IntN(len(a.view.models))]
	var draw *gp.Draw
	var err error
	if a.set.Thompson == "rff" {
		draw, err = m.DrawWeights(gp.WeightFeatures, rng)
	} else {
		draw, err = m.DrawPath(gp.PathFeatures, rng)
	}
	if err != nil {
		return nil, fmt.Errorf("drawing from the posterior: %w", err)
	}
	value := func(f, _, lo, up float64) acquisition.Value {
		return above(acquisition.Value{F: f, Mu: 1}, best, mode, lo, up)
	}
	return &modelPart{value, drawn{draw}, b}, nil
}
