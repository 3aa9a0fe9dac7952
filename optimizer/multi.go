package optimizer

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lbotune/lbotune/internal/pareto"
	"github.com/lbotune/lbotune/optimizer/internal/warp"
)

// Several objectives. Each has a part: a method of its own that is told of that
// objective alone, for its model of the values and the Lipschitz bounds. Two or three
// are weighed by the expected hypervolume improvement, more by a scalar that is drawn
// anew for every trial.

// exactObjectives is the number of objectives up to which that improvement is computed.
const exactObjectives = 3

// manyOnFront is the number of pending trials up to which it is: each is believed to lie on
// the front, which has to be tiled anew for every proposal.
const manyOnFront = 32

var errSeveral = errors.New("of several objectives there is no one best trial")

// tellParts tells each part of its objective, from the first success on, which shows how
// many there are.
func (l *lbo) tellParts(o Observation) error {
	if l.past.objectives < 2 {
		return nil
	}
	news := []Observation{o}
	if l.parts == nil {
		for j := range l.past.objectives {
			part := newLBO(newHistory(l.past.space, mix(l.past.seed+uint64(j)+1)), l.set) // with numbers of its own
			part.tailsOnly = true
			l.parts = append(l.parts, part)
		}
		news = l.past.told
	}
	for _, o := range news {
		if o.Status == Failed {
			continue
		}
		fits := recall(o.Proposal.Note).Fits
		for j, part := range l.parts {
			own := o
			own.Proposal = Proposal{Point: o.Proposal.Point, Origin: OriginGiven}
			if j < len(fits) {
				own.Proposal.Note.State = memory{Fit: fits[j]}.write()
			}
			if j < len(o.Values) {
				own.Values = o.Values[j : j+1]
			}
			if err := part.Tell(own); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *ask) several() (Proposal, error) {
	f, err := a.lookAtAll()
	if err != nil {
		return a.spread(originFallback, "far from all points: %v", err)
	}
	switch {
	case a.featureless():
		return a.fill(OriginExplore, "all values are the same")
	case a.trial > firstExplore && a.exploreTurn(): // a front is wanting in trials longer than a best value
		return a.escapeSeveral(f)
	case len(a.lbo.parts) > exactObjectives || len(a.pending) > manyOnFront:
		return a.scalarized(f)
	}
	ends := a.maximize(a.score(f))
	if len(ends) == 0 {
		return a.anything("every candidate was tried")
	}
	return a.described(ends[0].x, OriginModel, "largest expected hypervolume improvement"), nil
}

// lookAtAll prepares the view: the front in model units, and what improves upon it.
func (a *ask) lookAtAll() (*volumeScore, error) {
	f := &volumeScore{}
	scales := slices.Repeat([]float64{1}, a.past.space.Dim())
	for _, part := range a.lbo.parts {
		own, err := part.looking(a.ctx, a.query)
		if err != nil {
			return nil, err
		}
		f.views = append(f.views, own.view)
		f.warps = append(f.warps, own.view.surrogate.warp)
		f.parts = append(f.parts, own.view.models[len(own.view.models)-1].Predictor())
		fit := &own.view.surrogate.fit
		a.memory.Fits, a.note.Fitted = append(a.memory.Fits, fit), fit.N
		for j, s := range climbScales(own.view.surrogate) {
			scales[j] = math.Min(scales[j], s)
		}
	}
	limits, err := a.lbo.constraintModels(a.ctx)
	if err != nil {
		return nil, err
	}
	all, front := f.fronts(a, limits)
	first := f.views[0]
	v := &view{surrogate: first.surrogate, models: first.models, holds: len(front) > 0}
	believed := slices.Clone(first.believed) // −∞ from here on where a limit is broken
	if v.limits, err = a.assumeLimits(limits, believed); err != nil {
		return nil, err
	}
	points := pick(all, front)
	for k, z := range believed {
		if !math.IsInf(z, -1) {
			points, v.holds = append(points, mapped(f.views, func(own *view) float64 { return own.believed[k] })), true
		}
	}
	if v.success, err = a.lbo.successModel(a.ctx); err != nil {
		return nil, err
	}
	f.ref = a.reference(f.views, all, points)
	if len(a.lbo.parts) <= exactObjectives {
		f.tile(points)
	}
	v.scales, v.seeds = scales, pick(a.past.x, front)
	a.view = v
	return f, nil
}

// fronts returns the values of all successes in model units, under noise their posterior
// means, and which of those that hold every limit are not dominated.
func (f *volumeScore) fronts(a *ask, limits *limits) (all [][]float64, front []int) {
	var rows []int
	var held [][]float64
	m := len(f.views)
	room := make([]float64, m*len(a.past.x))
	for i, x := range a.past.x {
		z := room[m*i : m*(i+1) : m*(i+1)]
		for j, v := range f.views {
			if z[j] = v.surrogate.z[i]; v.surrogate.noisy() {
				z[j] = v.surrogate.model.Predictor().Mean(x)
			}
		}
		all = append(all, z)
		if limits.hold(i) {
			rows, held = append(rows, i), append(held, z)
		}
	}
	return all, pick(rows, pareto.Front(held))
}

// slack is how far below the worst values the reference point lies that was not given, as
// a share of the range (Ishibuchi et al. 2018): so near the ends of the front are worth
// something, and not all.
const slack = 0.1

// reference returns the point above which volume counts, in model units: the thresholds,
// and where there is none the worst of the front and of the first trials, less some
// slack. Of the front alone it would be too near while that is narrow.
func (a *ask) reference(views []*view, all, front [][]float64) []float64 {
	ref := make([]float64, len(views))
	for j, v := range views {
		if given := a.query.Thresholds; j < len(given) && !math.IsInf(given[j], -1) {
			if ref[j] = v.surrogate.warp.Apply(given[j] / v.surrogate.unit); !math.IsNaN(ref[j]) && !math.IsInf(ref[j], 0) {
				continue
			} // it lies beyond what the warp knows
		}
		low, high := spanOf(append(all[:min(len(all), a.set.DesignSize):len(all)], front...), j)
		w := &v.surrogate.warp
		if w.Kind == warp.Identity {
			ref[j] = low - slack*math.Max(high-low, 1e-6)
			continue
		}
		least, most := w.Inverse(low), w.Inverse(high)
		ref[j] = math.Min(w.Apply(least-slack*(most-least)), low-1e-6)
	}
	return ref
}

// spanOf returns the least and the largest value of coordinate j.
func spanOf(points [][]float64, j int) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range points {
		low, high = math.Min(low, p[j]), math.Max(high, p[j])
	}
	return low, high
}

// escapeSeveral proposes, among uniform points, the one whose upper Lipschitz bounds
// would add most to the volume, times the probability that it counts.
func (a *ask) escapeSeveral(f *volumeScore) (Proposal, error) {
	const why = "far from all points: explore turn"
	if a.set.Lipschitz == off || f.boxes == nil || !a.view.holds {
		return a.spread(OriginExplore, why)
	}
	of := make([]*bounds, len(f.views))
	for j, v := range f.views {
		of[j] = a.lbo.parts[j].newBounds(v.surrogate)
	}
	var ups [][]float64 // of the points whose gain had to be computed, no less than those below them
	var gains []float64
	return a.roomiest(0, func(p []float64, matters func(float64) bool) float64 {
		up := make([]float64, len(f.views))
		for j := range of {
			_, up[j] = of[j].at(p, nil, nil)
		}
		for k, above := range ups {
			if pareto.Covers(above, up) && !matters(gains[k]) {
				return math.NaN()
			}
		}
		gain := pareto.Gain(f.boxes, up)
		if !math.IsNaN(gain) {
			ups, gains = append(ups, up), append(gains, gain)
		}
		return gain
	}, "explore turn", "largest volume below the Lipschitz upper bounds: %s")
}

// augmentation is the weight of the sum in the augmented Chebyshev scalar (Knowles 2006).
const augmentation = 0.05

// scalarized asks the method for one objective about a scalar of all: with weights λ,
// drawn uniformly from the simplex for this trial, and uⱼ the values over the front's
// range,
//
//	s = minⱼ λⱼ uⱼ + 0.05 Σⱼ λⱼ uⱼ.
//
// Over the trials the weights lead to all parts of the front.
//
// Other weights make other values: so there is a model to be fitted for each proposal, and
// none to be kept. Whose turn it is was decided for all objectives together.
func (a *ask) scalarized(f *volumeScore) (Proposal, error) {
	rng := a.rng("weights")
	weights := mapped(f.views, func(*view) float64 { return rng.ExpFloat64() })
	total := 0.0
	for _, w := range weights {
		total += w
	}
	all, front := f.fronts(a, a.view.limits)
	if len(front) == 0 {
		front = pareto.Front(all)
	}
	points := pick(all, front)
	set := a.set
	set.LipschitzConstant = 0 // which is in the objectives' units, as noise is
	if sd, _ := set.Noise.number(); sd > 0 {
		set.Noise = auto
	}
	scalar := newLBO(newHistory(a.past.space, mix(a.past.seed+uint64(a.trial))), set)
	for _, o := range a.past.told {
		o.Proposal = Proposal{Point: o.Proposal.Point, Origin: OriginGiven}
		if i := a.past.success(o.Trial); i >= 0 {
			least, sum := math.Inf(1), 0.0
			for j, w := range weights {
				low, high := spanOf(points, j)
				u := w / total * (all[i][j] - high) / math.Max(high-low, 1e-9)
				least, sum = math.Min(least, u), sum+u
			}
			o.Values = []float64{least + augmentation*sum}
		} else if len(o.Values) > 1 {
			o.Values = []float64{0} // pruned: its value is not used
		}
		if err := scalar.Tell(o); err != nil {
			return Proposal{}, fmt.Errorf("scalarizing the objectives: %w", err)
		}
	}
	own, err := scalar.looking(a.ctx, a.query)
	if err != nil {
		return a.anything(err.Error())
	}
	p, err := own.global()
	if err != nil {
		return Proposal{}, err
	}
	return a.described(p.Point, OriginModel, "largest acquisition of a random weighting"), nil
}
