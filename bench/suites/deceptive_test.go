package suites_test

import (
	"math"
	"testing"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
)

// Where what a search sees first misleads it, a study that begins with a walk is not worse, after
// 25 and 50 trials, than points that fill the space.
func TestWalkIsNotDeceived(t *testing.T) {
	if effort.Sequential(true, false, false) {
		t.Skip("runs many studies")
	}
	better, worse := map[int]int{}, map[int]int{}
	for seed := range effort.Sequential[uint64](0, 2, 10) {
		for _, p := range problems.Deceptive(200 + seed) {
			bests := map[string][]float64{}
			for _, design := range []string{"walk", "lhs"} {
				space, f := objective(t, p)
				opt, err := optimizer.New(space, seed, optimizer.Settings{Design: design})
				if err != nil {
					t.Fatal(err)
				}
				best := math.Inf(-1)
				for trial := 1; trial <= 50; trial++ {
					p, err := opt.Ask(t.Context(), optimizer.Query{Trial: trial})
					if err != nil {
						t.Fatal(err)
					}
					value := f(p.Point)
					if err := opt.Tell(optimizer.Observation{Trial: trial, Proposal: p, Status: optimizer.Succeeded, Values: []float64{value}}); err != nil {
						t.Fatal(err)
					}
					best = math.Max(best, value)
					bests[design] = append(bests[design], best)
				}
			}
			for _, at := range []int{25, 50} {
				by := bests["walk"][at-1] - bests["lhs"][at-1]
				switch equal := 1e-3 * math.Abs(p.Min); {
				case by > equal:
					better[at]++
				case by < -equal:
					worse[at]++
				}
			}
		}
	}
	for _, at := range []int{25, 50} {
		n := float64(better[at] + worse[at])
		t.Logf("after %d trials better in %d studies and worse in %d", at, better[at], worse[at])
		if float64(worse[at]-better[at]) > 2*math.Sqrt(n) { // two standard deviations of chance
			t.Errorf("after %d trials better in %d studies and worse in %d", at, better[at], worse[at])
		}
	}
}
