package optimizer

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Results of an earlier study that are said to be those of today's objective, and are not, spoil
// a study more than none would: the model keeps to them. So a model of each such study alone
// predicts this study's first successes. The study is contradicted once leastFar of them, and at
// least half, are more than farSD deviations from what it expects,
//
//	|z − μ| > farSD √(unsureBy² σ² + σn² + noisySD²),
//
// in its own model's units. It counts as related from then on. All of it follows from what was
// told, in its order.
const (
	farSD        = 8.0
	leastFar     = 4
	mostSuspects = 30 // successes that are looked at: later ones lie close to each other
)

// suspect is an earlier study that claims to have today's objective.
type suspect struct {
	number int // of the study
	model  *surrogate
}

// distrust begins anew where a study's results are contradicted, and returns which ones are.
func (l *lbo) distrust(ctx context.Context) ([]int, error) {
	if !slices.ContainsFunc(l.earlier, func(e Earlier) bool { return e.Same }) || l.past.objectives > 1 {
		return l.contradicted, nil
	}
	var own []int
	for i, trial := range l.past.trial {
		if trial > 0 && len(own) < mostSuspects {
			own = append(own, i)
		}
	}
	if len(own) < leastFar {
		return nil, nil
	}
	if l.suspects == nil {
		l.suspects = []*suspect{}
		for number, e := range l.earlier {
			if !e.Same {
				continue
			}
			x, y := e.successes()
			if _, s, err := l.alone(ctx, number, x, y); err == nil { // else there are too few for a model
				l.suspects = append(l.suspects, &suspect{number: number, model: s})
			}
		}
		if err := ctx.Err(); err != nil {
			l.suspects = nil
			return nil, err
		}
	}
	var wrong []int
	for _, s := range l.suspects {
		far, p := 0, s.model.model.Predictor()
		for n, i := range own {
			mu, variance := p.Predict(l.past.x[i])
			z := s.model.warp.Apply(l.past.raw[i] / s.model.unit)
			if sd := math.Sqrt(unsureBy*unsureBy*variance + s.model.noise*s.model.noise + noisySD*noisySD); !(math.Abs(z-mu) <= farSD*sd) {
				far++
			}
			if far >= leastFar && 2*far > n {
				wrong = append(wrong, s.number)
				break
			}
		}
	}
	if len(wrong) == 0 {
		return l.contradicted, nil
	}
	wrong = append(wrong, l.contradicted...)
	slices.Sort(wrong)
	fresh := newLBO(newHistory(l.past.space, l.past.seed), l.set)
	earlier := slices.Clone(l.earlier)
	for _, k := range wrong {
		earlier[k].Same = false
	}
	err := fresh.inherit(ctx, earlier)
	for _, o := range l.past.told {
		if err == nil && o.Trial > 0 {
			err = fresh.Tell(o)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("beginning anew without what was contradicted: %w", err)
	}
	fresh.contradicted = wrong
	*l = *fresh
	return wrong, nil
}
