package optimizer

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/spaces"
)

// Batcher is an Optimizer that can propose several trials from one model, where workers would
// wait for a proposal of their own.
type Batcher interface {
	// More returns a proposal for another trial from what the last Ask knew, beside the proposals
	// that it and More have made since. It takes a fraction of an Ask's time, and looks at fewer
	// points. It returns ErrNoMore where only Ask can answer: after a Tell, without a model, or when
	// what it looks at is used up.
	More(ctx context.Context, trial int) (Proposal, error)
}

// ErrNoMore means that there is no further proposal without another Ask.
var ErrNoMore = errors.New("no further proposal without another ask")

// pooled is how many points More chooses from: as many of those at which the global search first
// looks, the best of them.
const pooled = 128

// pool is what More chooses from: points with their joint posterior, which each proposal
// conditions on its own expected value, as Ask does with pending trials. Points explored once it is
// filled only keep others away.
type pool struct {
	ask    *ask
	known  int // pending trials that its model is conditioned on
	points [][]float64
	mean   []float64
	joint  [][]float64 // posterior covariances
	lo, up []float64   // Lipschitz bounds
	other  []float64   // logarithm of what else the acquisition is multiplied by
	rule   rule        // also beside more pending trials than Ask would use it
	value  pointwise
	target float64
}

// More implements Batcher.
func (l *lbo) More(ctx context.Context, trial int) (Proposal, error) {
	if l.pool == nil {
		return Proposal{}, ErrNoMore
	}
	a := l.pool.ask
	a.ctx, a.trial = ctx, trial
	if a.exploreTurn() { // which these trials would otherwise pass over for ever
		a.note = Note{Fitted: a.note.Fitted}
		p, err := a.explore()
		if err != nil {
			l.pool = nil
			return Proposal{}, errors.Join(err, ErrNoMore)
		}
		p.Point = a.past.space.Snap(p.Point)
		a.pending = append(slices.Clip(a.pending), p.Point)
		return p, nil
	}
	if l.pool.points == nil && !l.pool.fill(ctx) {
		l.pool = nil
		return Proposal{}, errors.Join(ctx.Err(), ErrNoMore)
	}
	i := l.pool.best()
	if i < 0 {
		l.pool = nil
		return Proposal{}, ErrNoMore
	}
	return l.pool.propose(i), nil
}

// pooling keeps what More needs of an ask that was answered.
func (a *ask) pooling(p Proposal) *pool {
	rule := a.rule()
	alone := a.lbo.finite != nil || a.lbo.parts != nil || a.lbo.printed != nil || a.past.safe != nil // these propose one by one
	if alone || rule.value == nil || a.view == nil || !a.view.holds || len(a.view.models) != 1 || a.featureless() {
		return nil
	}
	known := len(a.pending)
	a.pending = append(slices.Clip(a.pending), p.Point)
	a.memory.Step, a.memory.Finished = nil, nil // they are of the proposal that was made
	return &pool{ask: a, known: known, rule: rule, target: a.view.target}
}

// fill looks at the points, and reports whether there are any.
func (b *pool) fill(ctx context.Context) bool {
	a := b.ask
	model := a.view.models[0]
	for _, p := range a.pending[b.known:] {
		var err error
		if model, err = model.Append(p, model.Predictor().Mean(p)); err != nil {
			return false
		}
		b.target = math.Max(b.target, model.Predictor().Mean(p))
	}
	a.view.models[0] = model
	score, err := b.rule.score(a, b.target, a.view.surrogate.bounds, a.set.Lipschitz)
	if err != nil {
		return false
	}
	looked := a.candidates(wholeCube(a.past.space.Dim()), a.rng("more"))
	values := evaluate(ctx, score, looked)
	if ctx.Err() != nil {
		return false
	}
	closed, flat := a.closed(), a.view.flat
	for _, i := range orderBy(len(looked), func(i int) float64 { return -values[i] }) {
		if len(b.points) == pooled || math.IsInf(values[i], -1) {
			break
		}
		if x := looked[i]; !math.IsNaN(values[i]) && !a.taken(x) && !closed(x) && (flat == nil || !flat.holds(x)) {
			b.points, b.other = append(b.points, a.past.space.Snap(x)), append(b.other, values[i])
		}
	}
	b.value, b.joint = b.rule.value(a, b.target, a.set.Lipschitz), model.Joint(b.points)
	for i, x := range b.points {
		lo, up := a.view.surrogate.bounds.at(x, nil, nil)
		b.mean, b.lo, b.up = append(b.mean, model.Predictor().Mean(x)), append(b.lo, lo), append(b.up, up)
		b.other[i] -= b.acquisition(i)
	}
	return len(b.points) > 0
}

// acquisition is that of a point, without the other factors.
func (b *pool) acquisition(i int) float64 {
	return b.value(b.mean[i], math.Sqrt(b.joint[i][i]), b.lo[i], b.up[i]).F
}

// best is the point with the largest acquisition, -1 if none is left.
func (b *pool) best() int {
	best, most := -1, math.Inf(-1)
	for i, x := range b.points {
		if v := b.acquisition(i) + b.other[i]; v > most && !b.ask.taken(x) {
			best, most = i, v
		}
	}
	return best
}

// propose proposes a point, and conditions the others on its expected value.
func (b *pool) propose(i int) Proposal {
	a := b.ask
	a.pending = append(a.pending, b.points[i])
	sd := a.view.surrogate.noise
	row := slices.Clone(b.joint[i])
	for k, c := range row {
		floats.AddScaled(b.joint[k], -c/(row[i]+sd*sd), row)
		b.joint[k][k] = math.Max(b.joint[k][k], minPooled*row[i])
	}
	if b.mean[i] > b.target {
		b.target = b.mean[i]
		b.value = b.rule.value(a, b.target, a.set.Lipschitz)
	}
	a.note = Note{Fitted: a.note.Fitted}
	return a.described(spaces.Point(b.points[i]), OriginModel, "largest acquisition beside those of one ask")
}

// minPooled keeps rounding from making variances negative, in units of a variance before.
const minPooled = 1e-12
