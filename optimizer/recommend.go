package optimizer

import (
	"context"
	"math"
	"slices"
)

// Recommend names the success with the largest expected value: the largest
// value where there is no noise to speak of, else the largest posterior mean.
func (l *lbo) Recommend(ctx context.Context) (Recommendation, error) {
	if err := ctx.Err(); err != nil {
		return Recommendation{}, err
	}
	if l.objectives > 1 {
		return Recommendation{}, ErrSeveral
	}
	best := -1
	for i, trial := range l.trial {
		if trial > 0 && (best < 0 || l.better(i, best)) { // others are of earlier studies
			best = i
		}
	}
	if best < 0 {
		return Recommendation{}, ErrNoSuccess
	}
	told := Recommendation{Trial: l.trial[best], Mean: l.y[best]}
	if len(l.y) < leastForModel {
		return told, nil
	}
	s, err := l.surrogate()
	if err != nil || !s.noisy() {
		return told, nil // without a model the values speak for themselves
	}
	ranks := s.limits.rank(s.model.Fitted(nil), s.rows)
	order := orderBy(len(ranks), func(k int) float64 { return -ranks[k] })
	k := slices.IndexFunc(order, func(k int) bool { return l.trial[s.rows[k]] > 0 })
	if k < 0 {
		return told, nil
	}
	best = s.rows[order[k]]
	mu, variance := s.model.Predictor().Predict(l.x[best])
	mean := s.value(mu)
	if math.IsInf(mean, 0) {
		return told, nil
	}
	return Recommendation{Trial: l.trial[best], Mean: mean, SD: math.Sqrt(variance) * s.slope(mu)}, nil
}
