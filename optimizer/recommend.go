package optimizer

import (
	"context"
	"math"
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
	if l.best < 0 {
		return Recommendation{}, ErrNoSuccess
	}
	told := Recommendation{Trial: l.trial[l.best], Mean: l.y[l.best]}
	if len(l.y) < leastForModel {
		return told, nil
	}
	s, err := l.surrogate()
	if err != nil || !s.noisy() {
		return told, nil // without a model the values speak for themselves
	}
	mu, variance := s.model.Predictor().Predict(l.x[s.bestRow])
	mean := s.value(mu)
	if math.IsInf(mean, 0) {
		return told, nil
	}
	return Recommendation{Trial: l.trial[s.bestRow], Mean: mean, SD: math.Sqrt(variance) * s.slope(mu)}, nil
}
