package optimizer

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/lbotune/lbotune/optimizer/internal/sobol"
	"github.com/lbotune/lbotune/spaces"
)

// filling is a method that fills the space: of what it is told it knows the points alone.
type filling struct {
	past *history
	// next proposes a point that is not taken.
	next func(h *history, trial int, taken func([]float64) bool) (Proposal, error)
}

func (f *filling) Tell(o Observation) error { return f.past.meet(&o) }

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

// sobolSequence proposes the points of a scrambled Sobol sequence, one for each trial:
// they fill the space evenly, however many there are.
func sobolSequence(h *history, trial int, taken func([]float64) bool) (Proposal, error) {
	u := sobol.Scrambled(h.space.Len(), h.seed).Points(uint32(trial-1), 1)[0]
	if p := h.space.FromUniform(u); !taken(p) {
		return Proposal{Point: p, Origin: OriginExplore, Note: Note{Why: "Sobol sequence"}}, nil
	}
	return h.uniform(stream(h.seed, trial, "sobol"), taken, "uniform: the next point of the Sobol sequence was tried")
}

// grid proposes every configuration of a finite space, in lexicographic order.
type grid struct {
	points []spaces.Point
	done   int // of them, all told
}

// gridLimit bounds the configurations of a grid: nobody tries more.
const gridLimit = 1_000_000

func newGrid(space *spaces.Space) (*grid, error) {
	for _, p := range space.Params() {
		if _, finite := p.Levels(); !finite {
			return nil, fmt.Errorf("method grid: %s has no end of values: give it a step, or values", p.Name)
		}
	}
	if _, few := space.Size(gridLimit); !few {
		return nil, fmt.Errorf("method grid: the space has more than %d configurations", gridLimit)
	}
	return &grid{points: remaining(space, never, gridLimit)}, nil
}

func (g *grid) next(h *history, _ int, taken func([]float64) bool) (Proposal, error) {
	for g.done < len(g.points) && h.seen[key(g.points[g.done])] {
		g.done++
	}
	for _, p := range g.points[g.done:] {
		if !taken(p) {
			return Proposal{Point: p, Origin: OriginExplore, Note: Note{Why: fmt.Sprintf("grid of %d configurations", len(g.points))}}, nil
		}
	}
	return Proposal{}, ErrExhausted
}

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

// mostListed bounds the configurations that remaining looks at: where most are not safe, or likely to
// fail, a large space would take hours.
const mostListed = 1 << 18

// remaining lists at most limit points of a finite space that are not taken, of its first mostListed.
// If the space is infinite the list is empty.
func remaining(space *spaces.Space, taken func([]float64) bool, limit int) []spaces.Point {
	var left []spaces.Point
	looked := 0
	space.Enumerate(func(v spaces.Values) bool {
		p, err := space.Encode(v)
		if err == nil && !taken(p) {
			left = append(left, p)
		}
		looked++
		return len(left) < limit && looked < mostListed
	})
	return left
}
