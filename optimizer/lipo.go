package optimizer

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/lbotune/lbotune/optimizer/internal/lipschitz"
	"github.com/lbotune/lbotune/spaces"
)

// adaLIPO is global optimization of a function with an unknown Lipschitz
// constant (Malherbe and Vayatis, Global optimization of Lipschitz functions,
// 2017, algorithm 2): now and then a uniform point, to learn the constant;
// otherwise a uniform one among those where the upper bound allows an
// improvement.
type adaLIPO struct {
	past      *history
	estimator *lipschitz.Estimator
	values    []float64 // those that it knows, in units
}

const (
	lipoExplore = 0.1   // probability of a point for the constant's sake
	lipoGrid    = 0.01  // over d: ratio of the grid of constants, less 1
	lipoDraws   = 10000 // of which one should be allowed
)

func (l *adaLIPO) Tell(o Observation) error {
	if len(o.Values) > 1 {
		return fmt.Errorf("telling trial %d: method %s takes one objective; found %d values", o.Trial, methodLipschitz, len(o.Values))
	}
	if err := l.past.add(o); err != nil {
		return err
	}
	if o.Status != Succeeded {
		return nil
	}
	values, known := scaled(l.past.y, unitOf(l.past.y)), len(l.values)
	if l.estimator == nil || !slices.Equal(l.values, values[:known]) { // a later one changes the unit, or tames others
		l.estimator, known = lipschitz.NewEstimator(nil, 0), 0
	}
	for i, x := range l.past.x[known:] {
		l.estimator.Add(x, values[known+i])
	}
	l.values = values
	return nil
}

func (l *adaLIPO) Ask(ctx context.Context, q Query) (Proposal, error) {
	_, taken, err := l.past.begin(ctx, q)
	if err != nil {
		return Proposal{}, err
	}
	rng := stream(l.past.seed, q.Trial, "adalipo")
	if len(l.past.y) < 2 || rng.Float64() < lipoExplore {
		return l.past.uniform(rng, taken, "uniform, to learn the Lipschitz constant")
	}
	slope := l.estimator.Slope()
	b := l.estimator.Bounds(lipschitz.GeometricGrid(slope, lipoGrid/float64(l.past.space.Len())), 0)
	best, top := l.values[l.past.best], math.Inf(-1)
	var second spaces.Point
	for range lipoDraws {
		if err := ctx.Err(); err != nil {
			return Proposal{}, err
		}
		p := l.past.space.Draw(rng)
		if taken(p) {
			continue
		}
		up := b.Upper(p)
		if up >= best {
			return l.proposal(p, "uniform where the Lipschitz bound allows an improvement", slope, b), nil
		}
		if up > top {
			second, top = p, up
		}
	}
	if second == nil {
		return l.past.uniform(rng, taken, "uniform, every draw was tried")
	}
	return l.proposal(second, "largest Lipschitz upper bound, none allows an improvement", slope, b), nil
}

func (l *adaLIPO) proposal(p spaces.Point, why string, slope float64, b *lipschitz.Bounds) Proposal {
	note := Note{Why: why, Lipschitz: &LipschitzNote{Slope: slope, Constant: b.L()}}
	return Proposal{Point: p, Origin: OriginModel, Note: note}
}
