package optimizer

import (
	"context"
	"math/rand/v2"

	"github.com/lbotune/lbotune/spaces"
)

// filling is a method that fills the space: of what it is told it knows the points alone.
type filling struct {
	past *history
	// next proposes a point that is not taken.
	next func(h *history, trial int, taken func([]float64) bool) (Proposal, error)
}

func (f *filling) Tell(o Observation) error {
	_, err := f.past.meet(o)
	return err
}

func (f *filling) Ask(ctx context.Context, q Query) (Proposal, error) {
	_, taken, err := f.past.begin(ctx, q)
	if err != nil {
		return Proposal{}, err
	}
	return f.next(f.past, q.Trial, taken)
}

// random proposes uniformly: every level of a discrete parameter equally
// often, floats uniform on their scale, nothing twice.
func random(h *history, trial int, taken func([]float64) bool) (Proposal, error) {
	return h.uniform(stream(h.seed, trial, "random"), taken, "uniform")
}

// uniform proposes a uniform point that is not taken.
func (h *history) uniform(rng *rand.Rand, taken func([]float64) bool, why string) (Proposal, error) {
	p, err := (&domain{space: h.space}).fresh(rng, taken)
	if err != nil {
		return Proposal{}, err
	}
	return Proposal{Point: p, Origin: OriginExplore, Note: Note{Why: why}}, nil
}

// fewConfigurations is the size up to which a space is listed rather than
// sampled.
const fewConfigurations = 4096

// freshDraws is how many draws look for a point that is not taken, and safeDraws for one that is
// also safe.
const (
	freshDraws = 64
	safeDraws  = 2000
)

// fresh draws a point that is not taken. Where draws keep hitting taken points the space is finite
// and nearly used up: the remaining configurations are listed, as many as fewConfigurations, and
// one of them is drawn.
func (d *domain) fresh(rng *rand.Rand, taken func([]float64) bool) (spaces.Point, error) {
	draw, draws, none := d.space.Draw, freshDraws, ErrExhausted
	if d.safe != nil {
		draw, draws, none = func(rng *rand.Rand) spaces.Point { return d.safe.draw(d, rng) }, safeDraws, ErrNothingSafe
	}
	for range draws {
		if p := draw(rng); !taken(p) {
			return p, nil
		}
	}
	left := remaining(d.space, taken, fewConfigurations)
	if len(left) == 0 {
		return nil, none
	}
	return left[rng.IntN(len(left))], nil
}

// remaining lists at most limit points of a finite space that are not taken.
// If the space is infinite the list is empty.
func remaining(space *spaces.Space, taken func([]float64) bool, limit int) []spaces.Point {
	var left []spaces.Point
	space.Enumerate(func(v spaces.Values) bool {
		p, err := space.Encode(v)
		if err == nil && !taken(p) {
			left = append(left, p)
		}
		return len(left) < limit
	})
	return left
}
