package optimizer

import (
	"fmt"

	"github.com/lbotune/lbotune/optimizer/internal/sobol"
	"github.com/lbotune/lbotune/spaces"
)

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
