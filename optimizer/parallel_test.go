package optimizer_test

import (
	"math"
	"sort"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/optimizer/optimizertest"
	"github.com/lbotune/lbotune/problems"
	"github.com/lbotune/lbotune/spaces"
)

// together runs a study with some workers, whose trials end in an order that is
// not that of their starts, and returns what was told.
func together(t *testing.T, opt optimizer.Optimizer, workers, trials int, f func(spaces.Point) float64) []optimizer.Observation {
	t.Helper()
	var told, running []optimizer.Observation
	for next := 1; len(told) < trials; {
		for next <= trials && len(running) < workers {
			q := optimizer.Query{Trial: next}
			for _, o := range running {
				q.Pending = append(q.Pending, optimizer.Pending{Trial: o.Trial, Point: o.Proposal.Point})
			}
			p, err := opt.Ask(t.Context(), q)
			if err != nil {
				t.Fatalf("asking for trial %d: %v", next, err)
			}
			running = append(running, optimizertest.Evaluate(next, p, f))
			next++
		}
		i := (next * 7) % len(running)
		if err := opt.Tell(running[i]); err != nil {
			t.Fatal(err)
		}
		told = append(told, running[i])
		running = append(running[:i], running[i+1:]...)
	}
	return told
}

// What many workers are given before the first result is known must fill the cube.
// Uniform points do as well as points can in ten dimensions; the farthest from all
// others would lie in its corners.
func TestFirstBatchFillsTheCube(t *testing.T) {
	space, f := objective(t, problems.Michalewicz(10))
	const workers = 64
	told := together(t, newOptimizer(t, space, 1, optimizer.Settings{}), workers, workers, f)
	for j := range space.Len() {
		var us []float64
		for _, o := range told {
			us = append(us, o.Proposal.Point[j])
		}
		sort.Float64s(us)
		distance := 0.0 // of Kolmogorov and Smirnov, from the uniform distribution
		for i, u := range us {
			distance = math.Max(distance, math.Max(float64(i+1)/workers-u, u-float64(i)/workers))
		}
		if distance > 0.1 { // 64 uniform draws have a median of 0.10
			t.Errorf("coordinate %d is at a distance of %.3f from uniform: %.2f", j, distance, us)
		}
	}
}

// Where curvatures differ by a factor of 1e6 only the quadratic gets anywhere, and
// it has to be asked while other trials run.
func TestWorkersDoNotKeepOutTheQuadratic(t *testing.T) {
	space, _ := objective(t, problems.Rosenbrock(5))
	f := func(u spaces.Point) float64 {
		s := 0.0
		for j, x := range u {
			s -= math.Pow(1e6, float64(j)/4) * (x - 0.3) * (x - 0.3)
		}
		return s
	}
	best := math.Inf(-1)
	for _, o := range together(t, newOptimizer(t, space, 3, optimizer.Settings{}), 8, 100, f) {
		best = math.Max(best, o.Value)
	}
	if best < -1e-6 {
		t.Errorf("the best of 100 is %g", best)
	}
}

// That eight steps have failed says little when all were made before the first of
// them had: a valley must not be given up for it.
func TestMissesOfOneRoundCountOnce(t *testing.T) {
	space, f := objective(t, problems.Rosenbrock(2))
	var regrets []float64
	for seed := range 5 {
		best := math.Inf(-1)
		for _, o := range together(t, newOptimizer(t, space, uint64(seed), optimizer.Settings{}), 8, 100, f) {
			best = math.Max(best, o.Value)
		}
		regrets = append(regrets, -best)
	}
	sort.Float64s(regrets)
	if regrets[2] > 0.02 {
		t.Errorf("regrets %.2g on Rosenbrock's function in two dimensions", regrets)
	}
}

func TestManyWorkersRepeatNothing(t *testing.T) {
	space, f := objective(t, problems.Hartmann6())
	seen := map[string]bool{}
	for _, o := range together(t, newOptimizer(t, space, 1, optimizer.Settings{}), 64, 192, f) {
		key := space.Decode(o.Proposal.Point).String()
		if seen[key] {
			t.Errorf("trial %d repeats %s", o.Trial, key)
		}
		seen[key] = true
	}
}
