package optimizer

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer/internal/lipschitz"
	"github.com/lbotune/lbotune/optimizer/internal/warp"
)

// What is absurd is tamed, and what is merely steep is not.
func TestTamed(t *testing.T) {
	for _, c := range []struct {
		name string
		y    []float64
		wild []int
	}{
		{"ordinary", []float64{1, 5, 3, 2, 4}, nil},
		{"a lucky overflow", []float64{1, 5, 1e308, 2, 4}, []int{2}},
		{"the same with large values", []float64{-1e308, 5, 1e100, 2, 4}, []int{2}},
		{"growth by 1e6", []float64{1e-6, 1e-3, 1, 1e3, 1e6}, nil},
		{"a loss that falls from 1e6 to 1e-6", []float64{-1e6, -1e6, -1e5, -1e6, -1e-6}, nil},
		{"chance, and then learned", []float64{0.1, 0.1, 0.1, 0.1, 0.9}, nil},
		{"a likelihood", []float64{1e-300, 1e-200, 0, 1e-90, 0.5}, nil},
		{"all huge", []float64{1e300, 1e308, 2e307, 1e305}, nil},
		{"few", []float64{1, 2, 1e308}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			y, wild := tamed(c.y)
			if !slices.Equal(wild, c.wild) {
				t.Errorf("%s: %v are tamed, not %v", c.name, wild, c.wild)
			}
			for i, v := range c.y {
				if tame := slices.Contains(c.wild, i); !tame && y[i] != v || tame && !(y[i] < 5 && y[i] > 4.9) {
					t.Errorf("%s: %v became %v", c.name, v, y[i])
				}
			}
		})
	}
}

// One lucky outlier neither ends the search nor hides itself. How far a search of 40 trials
// gets is luck, hence the median of many.
func TestOutlierDoesNotEndTheSearch(t *testing.T) {
	var bests, means []float64
	seeds := effort.Sequential(2, effort.Daily[uint64](6, 60), 60)
	for seed := range seeds {
		best, r := searchWithOutlier(t, seed+1)
		if r.Trial == 9 {
			t.Errorf("seed %d: the outlier is recommended", seed+1)
		}
		bests, means = append(bests, best), append(means, math.Abs(r.Mean))
	}
	if best, mean := warp.Median(bests), warp.Median(means); seeds > 6 && (best > 1e-3 || mean > 1e-3) {
		t.Errorf("the best of the others is %v, and %v what is recommended", best, mean)
	}
}

// searchWithOutlier returns the best value but for the outlier's, which trial 9 is, and what
// is recommended.
func searchWithOutlier(t *testing.T, seed uint64) (float64, Recommendation) {
	t.Helper()
	opt, err := New(guessed(t, -1), seed, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	best, explored := math.Inf(1), 0
	for k := 1; k <= 40; k++ {
		p, err := opt.Ask(t.Context(), Query{Trial: k})
		if err != nil {
			t.Fatal(err)
		}
		if k > 16 && p.Origin == OriginExplore {
			explored++
		}
		if said := strings.Contains(p.Note.Why, "trial 9, more than 1e+06 times beyond all others"); said != (k > 9) {
			t.Errorf("seed %d, trial %d: %s", seed, k, p.Note.Why)
		}
		y := 0.0
		for j, u := range p.Point {
			y += math.Pow(u-0.3-0.1*float64(j), 2) * float64(1+5*j)
		}
		if best = math.Min(best, y); k == 9 {
			y = -1e308
		}
		if err := opt.Tell(Observation{Trial: k, Proposal: p, Status: Succeeded, Values: []float64{-y}}); err != nil {
			t.Fatal(err)
		}
	}
	if explored > 4 {
		t.Errorf("seed %d: %d of 24 proposals explore", seed, explored)
	}
	r, err := opt.(Recommender).Recommend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return best, r
}

// The bounds of adaLIPO stand on the values as they are now: a tamed one rises with the best of the others.
func TestOutlierRisesWithTheOthers(t *testing.T) {
	opt, err := New(guessed(t, -1), 1, Settings{Method: methodLipschitz})
	if err != nil {
		t.Fatal(err)
	}
	l := opt.(*adaLIPO)
	for i, y := range []float64{1, 2, 3, 1e300, 4, 9, 5, 7, 20} {
		p := []float64{float64(i) / 9, 0.5, 0.5, 0.5}
		if err := l.Tell(Observation{Trial: i + 1, Proposal: Proposal{Point: p}, Status: Succeeded, Values: []float64{y}}); err != nil {
			t.Fatal(err)
		}
		want := lipschitz.NewEstimator(nil, 0)
		for j, x := range l.past.x {
			want.Add(x, l.past.y[j]/unitOf(l.past.y))
		}
		if got := l.estimator.Slope(); got != want.Slope() {
			t.Errorf("after %d trials the slope is %v; want %v", i+1, got, want.Slope())
		}
	}
}
