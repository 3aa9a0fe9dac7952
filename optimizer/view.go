package optimizer

import (
	"math"

	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
	"github.com/lbotune/lbotune/optimizer/internal/gp"
	"github.com/lbotune/lbotune/optimizer/internal/warp"
)

// view is what one ask sees: the surrogate, conditioned on what is assumed of
// trials without a result. Assumptions reach the posterior alone, never the
// incumbent, the standardization or the Lipschitz bounds.
type view struct {
	surrogate *surrogate
	models    []*gp.Model // with the assumptions
	// believed is what the last of them assumes of each pending trial, −∞ where that
	// breaks a limit; nil beside many.
	believed []float64
	// target is the value to improve upon: the incumbent, or what a pending trial
	// is believed to reach. Without that the place beside it would promise the same
	// gain once more.
	target  float64
	holds   bool    // target is of a point that holds every limit
	limits  *limits // with the assumptions
	success *chance // nil when nothing failed
	// risky is where trials fail too often for a careful proposal; nil for others.
	risky  func([]float64) bool
	scales []float64   // typical lengths of the coordinates, for a climb
	seeds  [][]float64 // points beside which a search looks
	flat   *plateaus   // nil without ties
}

// manyPending is the number of pending trials beyond which proposals are
// maximizers of independent draws from the posterior: what they need of variety
// comes from chance, not from conditioning on each other.
const manyPending = 256

// many reports whether there are that many.
func (a *ask) many() bool { return len(a.pending) > manyPending }

// look prepares the view of this ask.
func (a *ask) look() error {
	s, err := a.lbo.surrogate(a.ctx)
	if err != nil {
		return err
	}
	v := &view{surrogate: s, target: s.best, holds: s.holds, flat: a.plateaus(s)}
	for _, m := range s.samples {
		if m, v.believed, err = a.assume(m, s); err != nil {
			return err
		}
		v.models = append(v.models, m)
	}
	if v.limits, err = a.assumeLimits(s.limits, v.believed); err != nil {
		return err
	}
	for _, z := range v.believed {
		switch {
		case v.holds:
			v.target = math.Max(v.target, z)
		case !math.IsInf(z, -1):
			v.target, v.holds = z, true
		}
	}
	if v.success, err = a.lbo.successModel(a.ctx); err != nil {
		return err
	}
	if v.success != nil && a.lbo.careful() {
		v.risky = func(p []float64) bool { return a.lbo.besideBest(p) && v.success.probability(p) < sure }
		taken := a.taken
		a.taken = func(p []float64) bool { return taken(p) || v.risky(p) }
	}
	v.scales, v.seeds = climbScales(s), a.seeds(s)
	a.view = v
	a.memory.Fit, a.note.Fitted = &s.fit, s.fit.N
	if s.bounds != nil {
		a.note.Lipschitz = s.bounds.note(s, a.past.y[a.past.best])
		if a.past.over[a.past.best] > 0 {
			a.note.Lipschitz.Gap = nil // there is no best yet to be improved upon
		}
	}
	return nil
}

// assume conditions a model on the pending trials, each with its posterior mean
// (the kriging believer of Ginsbourger et al. 2010), which it returns, and on the
// pruned ones.
func (a *ask) assume(m *gp.Model, s *surrogate) (_ *gp.Model, believed []float64, err error) {
	for _, x := range a.past.pruned {
		mu, variance := m.Predictor().Predict(x)
		if m, err = m.Append(x, below(mu, math.Sqrt(variance), warp.Median(s.z))); err != nil {
			return nil, nil, err
		}
	}
	if a.many() {
		return m, nil, nil
	}
	return a.believe(m)
}

// believe conditions a model on the pending trials' posterior means.
func (a *ask) believe(m *gp.Model) (_ *gp.Model, means []float64, err error) {
	for _, x := range a.pending {
		mu := m.Predictor().Mean(x)
		if m, err = m.Append(x, mu); err != nil {
			return nil, nil, err
		}
		means = append(means, mu)
	}
	return m, means, nil
}

// below is E[f | f < c] for f ~ N(mu, sigma²): what to assume of a pruned trial, which looked
// worse than the typical one. Its last reading says nothing on the scale of final values.
func below(mu, sigma, c float64) float64 {
	z := (c - mu) / sigma
	return mu - sigma*math.Exp(acquisition.LogPDF(z)-acquisition.LogCDF(z))
}

// seeds are the best points of the surrogate.
func (a *ask) seeds(s *surrogate) [][]float64 {
	ranks := s.limits.rank(pick(s.z, s.rows), s.rows)
	out := [][]float64{a.past.x[s.bestRow]}
	for _, k := range orderBy(len(s.rows), func(k int) float64 { return -ranks[k] }) {
		if len(out) < parents && s.rows[k] != s.bestRow {
			out = append(out, a.past.x[s.rows[k]])
		}
	}
	return out
}

// climbScales are the length scales, none longer than the cube.
func climbScales(s *surrogate) []float64 {
	return mapped(s.fit.Hyper.Lengths(), func(l float64) float64 { return math.Min(l, 1) })
}

// probability is that of a trial which succeeds and holds every limit.
func (v *view) probability(x []float64) float64 {
	return v.success.probability(x) * v.limits.probability(x)
}
