package optimizer

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lbotune/lbotune/optimizer/internal/maximize"
)

// region is the part of the cube in which a score is maximized.
type region struct {
	lo, up []float64
	// base, in a box around a point, is that point: parameters that a gradient
	// cannot move keep its levels or differ from them in one parameter.
	base []float64
}

func wholeCube(d int) region {
	return region{lo: make([]float64, d), up: slices.Repeat([]float64{1}, d)}
}

const (
	candidates      = 500 // points at which a search first looks
	parents         = 5   // the best points, of which perturbations are looked at
	climbIterations = 40
	enoughGain      = 1e-5 // relative: a climb of several models ends after two steps that gain less
	discreteSweeps  = 4    // rounds of the search over levels
)

// found is an end point of a search.
type found struct {
	x []float64 // snapped
	v float64
}

// search looks at random points of the region and at perturbations of the
// seeds, climbs from a few of the best by projected L-BFGS in the coordinates
// that have gradients and then level by level in the others, and returns the
// end points that are not taken, the best first. When the context ends, it soon returns what it has
// found.
func (a *ask) search(f *score, r region, rng *rand.Rand) []found {
	points := a.candidates(r, rng)
	values := evaluate(a.ctx, f, points)
	starts := maximize.PickStarts(values, rng)
	ends := make([]found, len(starts))
	maximize.Together(len(ends), func(k int, f maximize.Func) {
		ends[k] = a.climb(f, r, points[starts[k]])
	}, f.at, f.closes, f.ahead)
	if a.dom.partial() && len(ends) > 0 {
		best := slices.MaxFunc(ends, func(x, y found) int { return cmp.Compare(x.v, y.v) })
		ends = append(ends, a.slide(f.at, r, best, rng))
	}
	// The candidates themselves stand by for ends that are taken.
	order := orderBy(len(points), func(i int) float64 { return -values[i] })
	for _, k := range order[:min(3*maximize.Starts, len(order))] {
		if !math.IsInf(values[k], -1) {
			ends = append(ends, found{points[k], values[k]})
		}
	}
	ends = slices.DeleteFunc(ends, func(e found) bool { return a.taken(e.x) || math.IsNaN(e.v) })
	slices.SortStableFunc(ends, func(x, y found) int { return cmp.Compare(y.v, x.v) })
	return ends
}

// evaluate returns the values of a score, as far as it comes until ctx ends.
func evaluate(ctx context.Context, f *score, points [][]float64) []float64 {
	const atOnce = 128
	values := make([]float64, len(points))
	for k := 0; k < len(points) && ctx.Err() == nil; k += atOnce {
		end := min(k+atOnce, len(points))
		f.batch(points[k:end], values[k:end])
	}
	return values
}

// candidates draws the points at which a search first looks.
func (a *ask) candidates(r region, rng *rand.Rand) [][]float64 {
	n := candidates
	if len(a.lbo.parts) == exactObjectives && len(a.past.y) > exactLimit { // a volume takes long, and much is known
		n /= 2
	}
	points := make([][]float64, 0, n)
	for k := range n {
		switch {
		case r.base != nil:
			points = append(points, a.inBox(r, rng))
		case k%4 == 0 && len(a.view.seeds) > 0:
			sd := math.Pow(10, -3+2.5*rng.Float64())
			points = append(points, a.dom.perturb(a.view.seeds[rng.IntN(len(a.view.seeds))], sd, rng))
		default:
			points = append(points, a.dom.uniform(rng))
		}
	}
	return points
}

// inBox draws a point of a box: uniform in the gradual coordinates, otherwise
// the base or, half the time, a neighbour of it. Where relations forbid it, the box
// shrinks towards the base.
func (a *ask) inBox(r region, rng *rand.Rand) (p []float64) {
	for k := range redraws {
		p = slices.Clone(r.base)
		if !a.dom.plain && rng.IntN(2) == 0 {
			if cs := a.dom.changes(p); len(cs) > 0 {
				p = a.dom.with(p, cs[rng.IntN(len(cs))])
			}
		}
		for _, j := range a.dom.free(p) {
			x := r.lo[j] + rng.Float64()*(r.up[j]-r.lo[j])
			if k > 0 {
				x = p[j] + math.Pow(0.7, float64(k))*(x-p[j])
			}
			p[j] = x
		}
		if p = a.dom.snap(p); a.dom.allows(p) {
			break
		}
	}
	return p
}

// climb ascends from a candidate to an end point.
func (a *ask) climb(f maximize.Func, r region, start []float64) found {
	x := a.ascend(f, r, start)
	if a.dom.plain {
		return x
	}
	for range discreteSweeps {
		if a.ctx.Err() != nil {
			break
		}
		from := x
		for _, c := range a.dom.changes(from.x) {
			if p := a.dom.with(from.x, c); inside(p, r, a.dom) {
				if v := f(p, nil); v > x.v {
					x = found{p, v}
				}
			}
		}
		if !(x.v > from.v) {
			break
		}
		if y := a.ascend(f, r, x.x); y.v > x.v {
			x = y
		}
	}
	return x
}

// slide goes on by random steps from where a climb has ended: at a relation it stops, and
// does not follow the border. The steps grow by a half after a success and shrink by a
// tenth after a failure (a (1+1) evolution strategy, Schumer and Steiglitz 1968).
func (a *ask) slide(f func(x, grad []float64) float64, r region, from found, rng *rand.Rand) found {
	free, size := a.dom.free(from.x), 0.1
	for range slides {
		if a.ctx.Err() != nil {
			break
		}
		q := slices.Clone(from.x)
		for _, j := range free {
			q[j] = math.Min(math.Max(q[j]+size*(r.up[j]-r.lo[j])*rng.NormFloat64(), r.lo[j]), r.up[j])
		}
		if q = a.dom.snap(q); a.dom.allows(q) {
			if v := f(q, nil); v > from.v {
				from, size = found{q, v}, 1.5*size
				continue
			}
		}
		size *= 0.9
	}
	return from
}

const slides = 200

// inside reports whether the gradual coordinates of p lie in the region.
func inside(p []float64, r region, d *domain) bool {
	for j, c := range d.space.Coords() {
		if gradual(c) && (p[j] < r.lo[j] || p[j] > r.up[j]) {
			return false
		}
	}
	return true
}

// ascend climbs in the coordinates that a gradient may move, and snaps.
func (a *ask) ascend(f maximize.Func, r region, start []float64) found {
	lo, up := slices.Clone(start), slices.Clone(start)
	for _, j := range a.dom.free(start) {
		lo[j], up[j] = r.lo[j], r.up[j]
	}
	set := maximize.Settings{MaxIterations: climbIterations, Scale: a.view.scales}
	if a.lbo.parts != nil || a.view.limits != nil { // each step asks several models
		set.ValueTol = enoughGain
	}
	result := maximize.New(lo, up, set).Maximize(a.ctx, f, start)
	p := a.dom.snap(result.X)
	if a.dom.plain {
		return found{p, result.F}
	}
	return found{p, f(p, nil)}
}
