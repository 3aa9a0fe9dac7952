// Package images_test draws what the optimizer knows of a function of one variable as its
// trials go on: steps.svg and bounds.svg. The trials are proposed by the optimizer itself.
// regret.svg and gains.svg draw tables of bench/results.
package images_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

func drawAll(dir string) error {
	s, err := tune(12)
	if err != nil {
		return err
	}
	if err := drawSteps(filepath.Join(dir, "steps.svg"), s, []int{4, 5, 7, 11}); err != nil {
		return fmt.Errorf("draw the steps: %w", err)
	}
	if err := drawBounds(filepath.Join(dir, "bounds.svg"), s, 4); err != nil {
		return fmt.Errorf("draw the bounds: %w", err)
	}
	if err := drawRegret(filepath.Join(dir, "regret.svg"), "../results/compare.md", "compare from seed 20"); err != nil {
		return fmt.Errorf("draw the regret: %w", err)
	}
	if err := drawGains(filepath.Join(dir, "gains.svg"), "../results/reproduction-gains.md"); err != nil {
		return fmt.Errorf("draw the gains: %w", err)
	}
	return nil
}

// loss has a wide basin, and a narrow one that is deeper.
func loss(x float64) float64 {
	basin := func(at, width, depth float64) float64 { return depth * math.Exp(-math.Pow((x-at)/width, 2)) }
	return 1 - basin(0.3, 0.16, 0.45) - basin(0.78, 0.1, 0.75) + 0.15*math.Sin(7*x)
}

// study holds the trials of a run in their order.
type study struct {
	trials []optimizer.Observation // of which the values are negated losses
}

func (s study) first(n int) study { return study{s.trials[:n]} }

// newOptimizer makes the optimizer of the pictures.
func newOptimizer(set optimizer.Settings) (optimizer.Optimizer, error) {
	space, err := spaces.New(spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1})
	if err != nil {
		return nil, err
	}
	return optimizer.New(space, 1, set)
}

// tune minimizes the loss by ask and tell.
func tune(trials int) (study, error) {
	var s study
	opt, err := newOptimizer(optimizer.Settings{})
	if err != nil {
		return s, err
	}
	for trial := 1; trial <= trials; trial++ {
		p, err := opt.Ask(context.Background(), optimizer.Query{Trial: trial})
		if err != nil {
			return s, err
		}
		o := optimizer.Observation{Trial: trial, Proposal: p, Status: optimizer.Succeeded, Values: []float64{-loss(p.Point[0])}}
		if err := opt.Tell(o); err != nil {
			return s, err
		}
		s.trials = append(s.trials, o)
	}
	return s, nil
}

// explain returns what the optimizer believes of the points of the grid once it knows
// the trials of s.
func explain(s study, set optimizer.Settings) (optimizer.Explanation, error) {
	opt, err := newOptimizer(set)
	if err != nil {
		return optimizer.Explanation{}, err
	}
	for _, o := range s.trials {
		if err := opt.Tell(o); err != nil {
			return optimizer.Explanation{}, err
		}
	}
	var points []spaces.Point
	for i := range grid + 1 {
		points = append(points, spaces.Point{at(i)})
	}
	return opt.(optimizer.Explainer).Explain(context.Background(), optimizer.Query{Trial: len(s.trials) + 1}, slices.Values(points))
}
