package optimizer

import (
	"context"
	"fmt"

	"github.com/lbotune/lbotune/optimizer/internal/sobol"
	"github.com/lbotune/lbotune/spaces"
)

// sobolSequence proposes the points of a scrambled Sobol sequence, one for each trial:
// they fill the space evenly, however many there are.
type sobolSequence struct{ past *history }

func (s *sobolSequence) Tell(o Observation) error {
	_, err := s.past.meet(o)
	return err
}

func (s *sobolSequence) Ask(ctx context.Context, q Query) (Proposal, error) {
	_, taken, err := s.past.begin(ctx, q)
	if err != nil {
		return Proposal{}, err
	}
	u := sobol.Scrambled(s.past.space.Len(), s.past.seed).Points(uint32(q.Trial-1), 1)[0]
	if p := s.past.space.FromUniform(u); !taken(p) {
		return Proposal{Point: p, Origin: OriginExplore, Note: Note{Why: "Sobol sequence"}}, nil
	}
	return s.past.uniform(stream(s.past.seed, q.Trial, "sobol"), taken, "uniform: the next point of the Sobol sequence was tried")
}

// grid proposes every configuration of a finite space, in lexicographic order.
type grid struct {
	past   *history
	points []spaces.Point
	done   int // of them, all told
}

// gridLimit bounds the configurations of a grid: nobody tries more.
const gridLimit = 1_000_000

func newGrid(h *history) (*grid, error) {
	for _, p := range h.space.Params() {
		if _, finite := p.Levels(); !finite {
			return nil, fmt.Errorf("method grid: %s has no end of values: give it a step, or values", p.Name)
		}
	}
	if _, few := h.space.Size(gridLimit); !few {
		return nil, fmt.Errorf("method grid: the space has more than %d configurations", gridLimit)
	}
	return &grid{past: h, points: remaining(h.space, never, gridLimit)}, nil
}

func (g *grid) Tell(o Observation) error {
	if _, err := g.past.meet(o); err != nil {
		return err
	}
	for g.done < len(g.points) && g.past.seen[key(g.points[g.done])] {
		g.done++
	}
	return nil
}

func (g *grid) Ask(ctx context.Context, q Query) (Proposal, error) {
	_, taken, err := g.past.begin(ctx, q)
	if err != nil {
		return Proposal{}, err
	}
	for _, p := range g.points[g.done:] {
		if !taken(p) {
			return Proposal{Point: p, Origin: OriginExplore, Note: Note{Why: fmt.Sprintf("grid of %d configurations", len(g.points))}}, nil
		}
	}
	return Proposal{}, ErrExhausted
}
