package optimizer_test

import (
	"math"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Of four parameters of a tree one often does nothing, and the others act by steps. Trials that
// repeat the best value to the last digit find nothing.
func TestPlateausAreNotFilled(t *testing.T) {
	space, _ := objective(t, rosenbrock(4))
	f := func(u spaces.Point) float64 {
		s := 0.0
		for j, x := range u[:3] {
			s -= math.Abs(math.Floor(6*x) - float64(2+j))
		}
		return s
	}
	repeats, all := 0, 0
	for seed := range effort.Sequential[uint64](1, 3, 3) {
		best := math.Inf(-1)
		for k, o := range runStudy(t, newOptimizer(t, space, seed, optimizer.Settings{}), 80, f) {
			if k >= 24 {
				all++
				if o.Value() == best {
					repeats++
				}
			}
			best = math.Max(best, o.Value())
		}
		if best < 0 {
			t.Errorf("seed %d: the best of 80 is %g steps away", seed, -best)
		}
	}
	if 2*repeats > all {
		t.Errorf("%d of %d trials repeat the best value", repeats, all)
	}
}

// Where all values are equal trials still differ, and go everywhere.
func TestNothingButAPlateau(t *testing.T) {
	space, _ := objective(t, branin())
	quarters := map[[2]bool]int{}
	seen := map[[2]float64]bool{}
	for _, o := range runStudy(t, newOptimizer(t, space, 1, optimizer.Settings{}), 40, func(spaces.Point) float64 { return 1 }) {
		p := o.Proposal.Point
		quarters[[2]bool{p[0] > 0.5, p[1] > 0.5}]++
		seen[[2]float64(p)] = true
	}
	if len(quarters) < 4 || len(seen) < 40 {
		t.Errorf("40 trials are %d points in %d quarters", len(seen), len(quarters))
	}
}
