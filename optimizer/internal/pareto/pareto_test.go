package pareto_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/pareto"
)

func cloud(rng *rand.Rand, n, m int) [][]float64 {
	var out [][]float64
	for range n {
		p := make([]float64, m)
		for j := range p {
			p[j] = math.Round(10*rng.Float64()) / 10 // with ties
		}
		out = append(out, p)
	}
	return out
}

// The volume is that of a union of boxes, by inclusion and exclusion over all subsets.
func TestVolumeByInclusionAndExclusion(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for m := 1; m <= 4; m++ {
		for range 30 {
			points, ref := cloud(rng, 7, m), slices.Repeat([]float64{0.2}, m)
			want := 0.0
			for set := 1; set < 1<<len(points); set++ {
				low, sign := slices.Repeat([]float64{math.Inf(1)}, m), -1.0
				for i, p := range points {
					if set>>i&1 == 1 {
						sign = -sign
						for j := range low {
							low[j] = math.Min(low[j], p[j])
						}
					}
				}
				product := sign
				for j := range low {
					product *= math.Max(0, low[j]-ref[j])
				}
				want += product
			}
			if got := pareto.Volume(points, ref); math.Abs(got-want) > 1e-9 {
				t.Errorf("%d objectives: volume %v, want %v of %v", m, got, want, points)
			}
		}
	}
}

// What a point gains by the boxes is the difference of two volumes, and every point of
// the space is in one box, unless it is dominated.
func TestBoxesTileTheUndominated(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for m := 1; m <= 4; m++ {
		for range 20 {
			points, ref := cloud(rng, 8, m), slices.Repeat([]float64{0.1}, m)
			boxes := pareto.Undominated(t.Context(), points, ref)
			for range 20 {
				y := make([]float64, m)
				for j := range y {
					y[j] = 1.3 * rng.Float64()
				}
				want := pareto.Volume(append(points[:len(points):len(points)], y), ref) - pareto.Volume(points, ref)
				if got := pareto.Gain(boxes, y); math.Abs(got-want) > 1e-9 {
					t.Errorf("%d objectives: gain %v, want %v", m, got, want)
				}
				inside := 0
				for _, b := range boxes {
					if !slices.ContainsFunc([]int{0, 1, 2, 3}[:m], func(j int) bool { return y[j] < b.Low[j] || y[j] >= b.Up[j] }) {
						inside++
					}
				}
				free := !slices.ContainsFunc(points, func(p []float64) bool { return pareto.Dominates(p, y) }) && slices.Min(y) > 0.1
				if free != (inside == 1) || inside > 1 {
					t.Errorf("%d objectives: %v is in %d boxes, undominated %v", m, y, inside, free)
				}
			}
		}
	}
}

func TestFront(t *testing.T) {
	points := [][]float64{{1, 1}, {2, 0}, {0, 2}, {1, 1}, {0.5, 1}, {2, -1}, {0, 0}}
	if got := pareto.Front(points); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("front %v", got)
	}
	if got := pareto.Front(nil); got != nil {
		t.Errorf("front of nothing: %v", got)
	}
	// For two objectives there is a box more than points of the front.
	if got := pareto.Undominated(t.Context(), points, []float64{-1, -1}); len(got) != 4 {
		t.Errorf("%d boxes", len(got))
	}
}
