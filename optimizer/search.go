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
	r := region{lo: make([]float64, d), up: make([]float64, d)}
	for j := range d {
		r.up[j] = 1
	}
	return r
}

const (
	candidates      = 500 // points at which a search first looks
	parents         = 5   // the best points, of which perturbations are looked at
	climbIterations = 40
	discreteSweeps  = 4 // rounds of the search over levels
)

// found is an end point of a search.
type found struct {
	x []float64 // snapped
	v float64
}

// searcher maximizes scores over regions of one domain.
type searcher struct {
	ctx    context.Context // when it ends, a search soon returns what it has found
	dom    *domain
	scales []float64 // typical lengths of the coordinates, for the climb
	seeds  [][]float64
	taken  func([]float64) bool
}

// search looks at random points of the region and at perturbations of the
// seeds, climbs from a few of the best by projected L-BFGS in the coordinates
// that have gradients and then level by level in the others, and returns the
// end points that are not taken, the best first.
func (s *searcher) search(f *score, r region, rng *rand.Rand) []found {
	points := s.candidates(r, rng)
	values := evaluate(s.ctx, f, points)
	var ends []found
	for _, k := range maximize.PickStarts(values, rng) {
		ends = append(ends, s.climb(f, r, points[k]))
	}
	if s.dom.partial() && len(ends) > 0 {
		best := slices.MaxFunc(ends, func(a, b found) int { return cmp.Compare(a.v, b.v) })
		ends = append(ends, s.slide(f.at, r, best, rng))
	}
	// The candidates themselves stand by for ends that are taken.
	order := orderBy(len(points), func(i int) float64 { return -values[i] })
	for _, k := range order[:min(3*maximize.Starts, len(order))] {
		if !math.IsInf(values[k], -1) {
			ends = append(ends, found{points[k], values[k]})
		}
	}
	ends = slices.DeleteFunc(ends, func(e found) bool { return s.taken(e.x) || math.IsNaN(e.v) })
	slices.SortStableFunc(ends, func(a, b found) int { return cmp.Compare(b.v, a.v) })
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
func (s *searcher) candidates(r region, rng *rand.Rand) [][]float64 {
	points := make([][]float64, 0, candidates)
	for k := range candidates {
		switch {
		case r.base != nil:
			points = append(points, s.inBox(r, rng))
		case k%4 == 0 && len(s.seeds) > 0:
			sd := math.Pow(10, -3+2.5*rng.Float64())
			points = append(points, s.dom.perturb(s.seeds[rng.IntN(len(s.seeds))], sd, rng))
		default:
			points = append(points, s.dom.uniform(rng))
		}
	}
	return points
}

// inBox draws a point of a box: uniform in the gradual coordinates, otherwise
// the base or, half the time, a neighbour of it. Where relations forbid it, the box
// shrinks towards the base.
func (s *searcher) inBox(r region, rng *rand.Rand) (p []float64) {
	for k := range redraws {
		p = slices.Clone(r.base)
		if !s.dom.plain && rng.IntN(2) == 0 {
			if cs := s.dom.changes(p); len(cs) > 0 {
				p = s.dom.with(p, cs[rng.IntN(len(cs))])
			}
		}
		for _, j := range s.dom.free(p) {
			x := r.lo[j] + rng.Float64()*(r.up[j]-r.lo[j])
			if k > 0 {
				x = p[j] + math.Pow(0.7, float64(k))*(x-p[j])
			}
			p[j] = x
		}
		if p = s.dom.snap(p); s.dom.allows(p) {
			break
		}
	}
	return p
}

// climb ascends from a candidate to an end point.
func (s *searcher) climb(f *score, r region, start []float64) found {
	x := s.ascend(f, r, start)
	if s.dom.plain {
		return x
	}
	for range discreteSweeps {
		if s.ctx.Err() != nil {
			break
		}
		from := x
		for _, c := range s.dom.changes(from.x) {
			if p := s.dom.with(from.x, c); inside(p, r, s.dom) {
				if v := f.at(p, nil); v > x.v {
					x = found{p, v}
				}
			}
		}
		if !(x.v > from.v) {
			break
		}
		if y := s.ascend(f, r, x.x); y.v > x.v {
			x = y
		}
	}
	return x
}

// slide goes on by random steps from where a climb has ended: at a relation it stops, and
// does not follow the border. The steps grow by a half after a success and shrink by a
// tenth after a failure (a (1+1) evolution strategy, Schumer and Steiglitz 1968).
func (s *searcher) slide(f func(x, grad []float64) float64, r region, from found, rng *rand.Rand) found {
	free, size := s.dom.free(from.x), 0.1
	for range slides {
		if s.ctx.Err() != nil {
			break
		}
		q := slices.Clone(from.x)
		for _, j := range free {
			q[j] = math.Min(math.Max(q[j]+size*(r.up[j]-r.lo[j])*rng.NormFloat64(), r.lo[j]), r.up[j])
		}
		if q = s.dom.snap(q); s.dom.allows(q) {
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
func (s *searcher) ascend(f *score, r region, start []float64) found {
	lo, up := slices.Clone(start), slices.Clone(start)
	for _, j := range s.dom.free(start) {
		lo[j], up[j] = r.lo[j], r.up[j]
	}
	m := maximize.New(lo, up, maximize.Settings{MaxIterations: climbIterations, Scale: s.scales})
	result := m.Maximize(s.ctx, f.at, start)
	p := s.dom.snap(result.X)
	if s.dom.plain {
		return found{p, result.F}
	}
	return found{p, f.at(p, nil)}
}
