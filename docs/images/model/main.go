// Model draws what the optimizer knows of a function of one variable as its
// trials go on: steps.svg and bounds.svg, into the directory that it is given.
// The trials are proposed by the optimizer itself.
package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/optimizer/gp"
	"github.com/lbotune/lbotune/optimizer/lipschitz"
	"github.com/lbotune/lbotune/spaces"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: model DIR")
		os.Exit(2)
	}
	if err := drawAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "model:", err)
		os.Exit(1)
	}
}

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
	return nil
}

// loss has a wide basin, and a narrow one that is deeper.
func loss(x float64) float64 {
	basin := func(at, width, depth float64) float64 { return depth * math.Exp(-math.Pow((x-at)/width, 2)) }
	return 1 - basin(0.3, 0.16, 0.45) - basin(0.78, 0.1, 0.75) + 0.15*math.Sin(7*x)
}

// study holds the trials of a run in their order.
type study struct {
	x      [][]float64
	y      []float64 // losses
	origin []optimizer.Origin
}

func (s study) first(n int) study { return study{s.x[:n], s.y[:n], s.origin[:n]} }

// tune minimizes the loss by ask and tell.
func tune(trials int) (study, error) {
	var s study
	space, err := spaces.New(spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1})
	if err != nil {
		return s, err
	}
	opt, err := optimizer.New(space, 1, optimizer.Settings{})
	if err != nil {
		return s, err
	}
	for trial := 1; trial <= trials; trial++ {
		p, err := opt.Ask(context.Background(), optimizer.Query{Trial: trial})
		if err != nil {
			return s, err
		}
		y := loss(p.Point[0])
		s.x, s.y, s.origin = append(s.x, p.Point), append(s.y, y), append(s.origin, p.Origin)
		if err := opt.Tell(optimizer.Observation{Trial: trial, Proposal: p, Status: optimizer.Succeeded, Value: -y}); err != nil {
			return s, err
		}
	}
	return s, nil
}

// model is what is known after some trials, in the units of the negated and
// standardized loss, in which larger is better.
type model struct {
	mean, sd  float64 // of the losses
	best      float64
	predictor *gp.Predictor
	bounds    *lipschitz.Bounds
}

// kappa is what the largest slope between two trials is multiplied by.
const kappa = 2

func fit(s study) (model, error) {
	var m model
	n := float64(len(s.y))
	for _, y := range s.y {
		m.mean += y / n
	}
	for _, y := range s.y {
		m.sd += (y - m.mean) * (y - m.mean) / n
	}
	m.sd, m.best = math.Sqrt(m.sd), math.Inf(-1)
	var z []float64
	for _, y := range s.y {
		z = append(z, (m.mean-y)/m.sd)
		m.best = max(m.best, z[len(z)-1])
	}
	settings := gp.NewSettings(1)
	settings.FixedNoise = gp.DeterministicNoise
	found, err := gp.Fit(s.x, z, nil, settings)
	if err != nil {
		return m, err
	}
	process, err := gp.New(s.x, z, found.Hyper)
	if err != nil {
		return m, err
	}
	m.predictor = process.Predictor()
	m.bounds = lipschitz.NewBounds(s.x, z, nil, kappa*lipschitz.Slope(s.x, z, nil, 0), 0)
	return m, nil
}

// loss turns a value in the model's units back into a loss.
func (m model) loss(z float64) float64 { return m.mean - m.sd*z }
