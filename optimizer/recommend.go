package optimizer

import (
	"context"
	"math"
	"slices"

	"github.com/lbotune/lbotune/spaces"
)

const (
	// The trial whose posterior mean μ is the largest owes that in part to its noise (the
	// winner's curse), and one fit of the hyper-parameters is too sure of it: by about one posterior
	// deviation σ, with about twice the variance. Both are measured, see lbo.md.
	winnersCurse = 1.0        // in units of σ
	unsureBy     = math.Sqrt2 // factor of σ
	// noiseless is the noise in model units up to which there is none: the model of an
	// objective that is declared deterministic has √gp.DeterministicNoise.
	noiseless = 1.1e-3
)

// shown reports whether what the model takes for noise is: it was declared, or twins
// disagree. Where there can be no twins, the model is believed.
func (l *lbo) shown(s *surrogate) bool {
	if _, declared := l.set.Noise.number(); declared || len(l.past.twins) > 0 {
		return declared || !s.agree(l.past.twins)
	}
	return l.set.Local != on || !slices.ContainsFunc(l.past.space.Coords(), func(c spaces.Coord) bool { return c.Cells == 0 })
}

// Recommend names the success with the largest expected value. Under noise that is shown
// that is the largest posterior mean, else the largest value. It expects
// μ − winnersCurse·σ ± unsureBy·σ there, in model units, and where noise is too little to
// matter the value as it was told, ± unsureBy·σn.
func (l *lbo) Recommend(ctx context.Context) (Recommendation, error) {
	if _, err := l.distrust(ctx); err != nil {
		return Recommendation{}, err
	}
	r, err := l.recommend(ctx)
	if err == nil {
		l.doubt(ctx, &r)
	}
	if ended := ctx.Err(); ended != nil {
		return Recommendation{}, ended
	}
	return r, err
}

// doubt adds what is known of the constraints of each success where noise may have been its luck.
// Without a model nothing is.
func (l *lbo) doubt(ctx context.Context, r *Recommendation) {
	m, err := l.constraintModels(ctx)
	if err != nil || m == nil || !slices.ContainsFunc(m.each, (*chance).noisy) {
		return
	}
	r.Holds = map[int]float64{}
	for _, o := range l.past.told {
		if o.Status != Succeeded || o.Trial <= 0 { // of an earlier study
			continue
		}
		r.Holds[o.Trial] = m.truly(o)
		if m.over[l.past.success(o.Trial)] > 0 && o.violation() == 0 {
			r.Doubtful = append(r.Doubtful, o.Trial)
		}
	}
}

// equalMeans is up to where, in model units, two means are the same.
const equalMeans = 1e-6

// amongEqual returns the success that the model expects most of among those that are as good as
// the best, the first of them where it expects the same.
func (l *lbo) amongEqual(s *surrogate, best int) int {
	first, most := best, math.Inf(-1)
	for i, trial := range l.past.trial {
		if trial <= 0 || l.past.better(first, i) || l.past.better(i, first) {
			continue
		}
		if mean := s.model.Predictor().Mean(l.past.x[i]); mean > most+equalMeans {
			best, most = i, mean
		}
	}
	return best
}

func (l *lbo) recommend(ctx context.Context) (Recommendation, error) {
	if l.past.objectives > 1 {
		return Recommendation{}, errSeveral
	}
	best := l.past.bestWhere(func(i int) bool { return l.past.trial[i] > 0 }) // others are of earlier studies
	if best < 0 {
		return Recommendation{}, ErrNoModel
	}
	told := Recommendation{Trial: l.past.trial[best], Mean: l.past.y[best]}
	s, err := l.surrogate(ctx)
	if err != nil {
		return told, nil
	}
	best = l.amongEqual(s, best)
	told.Trial = l.past.trial[best]
	switch {
	case s.exact || s.noise <= noiseless:
		return l.gained(told, 0), nil // without noise the values speak for themselves
	case !s.noisy():
		told.SD = unsureBy * s.noise * s.slope(s.z[best])
		return told, nil // how much noise there is has not shown itself
	}
	shown := l.shown(s)
	if shown {
		ranks := s.limits.rank(s.values(), s.rows)
		order := orderBy(len(ranks), func(k int) float64 { return -ranks[k] })
		k := slices.IndexFunc(order, func(k int) bool { return l.past.trial[s.rows[k]] > 0 })
		if k < 0 {
			return told, nil
		}
		best = s.rows[order[k]]
	}
	mu, variance := s.model.Predictor().Predict(l.past.x[best])
	sd := math.Sqrt(variance)
	mu -= winnersCurse * sd
	mean := s.value(mu)
	if math.IsInf(mean, 0) {
		return told, nil
	}
	r := Recommendation{Trial: l.past.trial[best], Mean: mean, SD: unsureBy * sd * s.slope(mu)}
	if over := l.reference(); shown && over != nil {
		r = l.gained(r, unsureBy*s.noise*max(s.slope(s.best), s.slope(s.z[l.past.success(over.Trial)])))
	}
	return r, nil
}

// reference is the success with today's values, or the first where there are none; nil if there is
// neither.
func (l *lbo) reference() *Observation {
	i := slices.IndexFunc(l.past.told, func(o Observation) bool { return o.Trial > 0 && o.Proposal.Origin == OriginDefault })
	if i < 0 {
		i = slices.IndexFunc(l.past.told, func(o Observation) bool { return o.Trial > 0 && o.Status == Succeeded })
	}
	if i < 0 || l.past.told[i].Status != Succeeded {
		return nil
	}
	return &l.past.told[i]
}

// gained adds by how much the trial is better than the reference as that was measured, with such an
// error: what the model expects of one that mostly lies far from all others is drawn towards them.
func (l *lbo) gained(r Recommendation, measured float64) Recommendation {
	over := l.reference()
	if over == nil || over.Trial == r.Trial {
		return r
	}
	gain, sd := r.Mean-over.Value(), math.Hypot(r.SD, measured)
	if !math.IsInf(gain, 0) && sd < math.Inf(1) { // else one of both is beyond what numbers hold
		r.Over, r.Gain, r.GainSD = over.Trial, gain, sd
	}
	return r
}
