package optimizer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/spaces"
)

// ErrNothingSafe means that every configuration which is known to be safe was tried or is
// pending. More may be known once pending trials are told. It is an ErrExhausted.
var ErrNothingSafe = fmt.Errorf("%w that is known to be safe", ErrExhausted)

// safety is where trials are known to be safe, under a stated Lipschitz constant L of the
// margin by which they are: at x if
//
//	max_i { m_i − L‖x − x_i‖ } ≥ 0
//
// over the told trials, the lower bound of Sui et al. (Safe exploration for optimization
// with Gaussian processes, 2015) with a stated slope in place of a model's.
type safety struct {
	slope  float64
	points [][]float64
	margin []float64 // positive
}

const (
	// rounding is the share of a margin that is not used, for sums that round.
	rounding = 1e-9
	// worthwhile is the least reach of a trial from which the safe set is stretched, in
	// units of the largest: towards what is not safe the steps get ever shorter.
	worthwhile = 0.1
)

// newSafety returns nil unless a constant is stated: everything is safe then.
func newSafety(set Settings) *safety {
	if set.SafetyConstant <= 0 {
		return nil
	}
	return &safety{slope: set.SafetyConstant}
}

func (s *safety) tell(o Observation) {
	if s != nil && o.Margin > 0 {
		s.points, s.margin = append(s.points, o.Proposal.Point), append(s.margin, o.Margin*(1-rounding))
	}
}

// nearest returns the trial that says most of p, and the lower bound of the margin there.
func (s *safety) nearest(p []float64) (trial int, lower float64) {
	trial, lower = -1, math.Inf(-1)
	for i, x := range s.points {
		if v := s.margin[i] - s.slope*spaces.Distance(p, x); v > lower {
			trial, lower = i, v
		}
	}
	return trial, lower
}

// allows reports whether p is known to be safe.
func (s *safety) allows(p []float64) bool {
	if s == nil {
		return true
	}
	_, lower := s.nearest(p)
	return lower >= 0
}

// reach is how far from trial i all is safe.
func (s *safety) reach(i int) float64 { return s.margin[i] / s.slope }

// draw returns a snapped point that is safe, around a random one of the trials: half the
// time at the edge of what it makes safe, and half the time after a change of level.
func (s *safety) draw(d *domain, rng *rand.Rand) []float64 {
	if len(s.points) == 0 {
		return d.space.Draw(rng)
	}
	for range redraws {
		i := rng.IntN(len(s.points))
		p := slices.Clone(s.points[i])
		if cs := d.changes(p); len(cs) > 0 && rng.IntN(2) == 0 {
			p = d.with(p, cs[rng.IntN(len(cs))])
		}
		free, way, length := d.free(p), make([]float64, len(p)), 0.0
		for _, j := range free {
			way[j] = rng.NormFloat64()
			length += way[j] * way[j]
		}
		r := s.reach(i)
		if rng.IntN(2) == 0 {
			r *= math.Pow(rng.Float64(), 1/float64(len(p)))
		}
		for _, j := range free {
			p[j] = math.Min(math.Max(p[j]+r*way[j]/math.Sqrt(length), 0), 1)
		}
		if p = d.snap(p); d.allows(p) {
			return p
		}
	}
	return slices.Clone(s.points[rng.IntN(len(s.points))])
}

// stretch goes where the acquisition is largest, were everything safe, as far as is known
// to be safe: so the safe set grows where that is worth it.
func (a *ask) stretch() (Proposal, bool) {
	safe := a.dom.safe
	if safe == nil {
		return Proposal{}, false
	}
	free, dom := *a, *a.dom
	dom.safe = nil
	free.dom, free.taken = &dom, never
	f, err := free.globalScore()
	if err != nil {
		return Proposal{}, false
	}
	ends := free.search(f, wholeCube(a.past.space.Dim()), a.rng("stretch"))
	if len(ends) == 0 {
		return Proposal{}, false
	}
	goal := ends[0].x
	i, lower := safe.nearest(goal)
	if i < 0 || lower >= 0 {
		return Proposal{}, false
	}
	share := safe.reach(i) / spaces.Distance(goal, safe.points[i])
	for range redraws {
		p := slices.Clone(safe.points[i])
		for j := range p {
			p[j] += share * (goal[j] - p[j])
		}
		if p = a.dom.snap(p); a.dom.allows(p) {
			if a.taken(p) || nearestDistance(p, a.past.x) < worthwhile*safe.reach(floats.MaxIdx(safe.margin)) {
				return Proposal{}, false
			}
			return a.described(p, OriginModel, "towards the largest acquisition, as far as is known to be safe"), true
		}
		share *= 0.9
	}
	return Proposal{}, false
}
