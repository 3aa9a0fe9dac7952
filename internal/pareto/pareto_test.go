package pareto_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/internal/pareto"
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

// The front is found by its definition, and the volume grows point by point to what it is.
func TestFrontAndGrowthByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for m := 1; m <= 4; m++ {
		for range 40 {
			points, ref := cloud(rng, 12, m), slices.Repeat([]float64{0.2}, m)
			points[rng.IntN(12)][0] = []float64{math.NaN(), math.Inf(-1), math.Inf(-1)}[rng.IntN(3)]
			var want []int
			for i, p := range points {
				beaten := slices.ContainsFunc(points, func(q []float64) bool { return pareto.Dominates(q, p) })
				again := slices.ContainsFunc(points[:i], func(q []float64) bool { return slices.Equal(p, q) })
				if !beaten && !again && !math.IsNaN(p[0]) {
					want = append(want, i)
				}
			}
			if got := pareto.Front(points); !slices.Equal(got, want) {
				t.Errorf("%d objectives: front %v, want %v of %v", m, got, want, points)
			}
			for i, got := range pareto.Growth(points, ref) {
				if want := pareto.Volume(points[:i+1], ref); math.Abs(got-want) > 1e-12 {
					t.Errorf("%d objectives: volume %v after point %d, want %v of %v", m, got, i, want, points)
				}
			}
		}
	}
}

// Growth looks at each point beside the whole front, but takes no room for a copy of it.
func TestGrowthTakesLittleRoom(t *testing.T) {
	for m := 2; m <= 3; m++ {
		points := sphere(300, m)
		if n := testing.AllocsPerRun(1, func() { pareto.Growth(points, make([]float64, m)) }); n > 150 {
			t.Errorf("%d objectives: room was taken %v times for 300 points", m, n)
		}
	}
}

// sphere are points on a sphere: none dominates another.
func sphere(n, m int) (points [][]float64) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range n {
		p, length := make([]float64, m), 0.0
		for j := range p {
			p[j] = math.Abs(rng.NormFloat64())
			length = math.Hypot(length, p[j])
		}
		for j := range p {
			p[j] /= length
		}
		points = append(points, p)
	}
	return points
}

// A front of thousands of points is no wall: these took minutes.
func BenchmarkVolume(b *testing.B) {
	benchmark(b, func(p [][]float64, ref []float64) { pareto.Volume(p, ref) })
}
func BenchmarkGrowth(b *testing.B) {
	benchmark(b, func(p [][]float64, ref []float64) { pareto.Growth(p, ref) })
}
func BenchmarkFront(b *testing.B) { benchmark(b, func(p [][]float64, _ []float64) { pareto.Front(p) }) }

func benchmark(b *testing.B, f func(points [][]float64, ref []float64)) {
	for _, m := range []int{2, 3} {
		for _, n := range []int{1000, 5000} {
			points := sphere(n, m)
			b.Run(fmt.Sprintf("%dx%d", n, m), func(b *testing.B) {
				for b.Loop() {
					f(points, make([]float64, m))
				}
			})
		}
	}
}

// What a point gains by the boxes is the difference of two volumes, and every point of
// the space is in one box, unless it is dominated.
func TestBoxesTileTheUndominated(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for m := 2; m <= 3; m++ {
		for range 20 {
			points, ref := cloud(rng, 8, m), slices.Repeat([]float64{0.1}, m)
			boxes := pareto.Undominated(points, ref)
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
					if !slices.ContainsFunc([]int{0, 1, 2}[:m], func(j int) bool { return y[j] < b.Low[j] || y[j] >= b.Up[j] }) {
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

// A point beyond all bounds gains nothing in a box that it does not reach.
func TestGainWithoutBound(t *testing.T) {
	inf := math.Inf(1)
	boxes := pareto.Undominated([][]float64{{1, 2}, {2, 1}}, []float64{0, 0})
	for _, c := range []struct {
		y    []float64
		want float64
	}{
		{[]float64{inf, 0}, 0}, {[]float64{0, inf}, 0}, {[]float64{inf, -inf}, 0}, {[]float64{inf, 1}, inf}, {[]float64{inf, inf}, inf},
	} {
		t.Run(fmt.Sprint(c.y), func(t *testing.T) {
			if got := pareto.Gain(boxes, c.y); got != c.want {
				t.Errorf("%v gains %v, want %v", c.y, got, c.want)
			}
		})
	}
	above := []pareto.Box{{Low: []float64{inf, 0}, Up: []float64{inf, 1}}}
	if got := pareto.Gain(above, []float64{inf, 1}); got != 0 {
		t.Errorf("in a box without width: %v", got)
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
	if got := pareto.Undominated(points, []float64{-1, -1}); len(got) != 4 {
		t.Errorf("%d boxes", len(got))
	}
}

// strips are the boxes of the plane, from below: in each slice between two points what lies beyond
// those that reach above.
func strips(points [][]float64, ref []float64) (out []pareto.Box) {
	levels := []float64{ref[1], math.Inf(1)}
	points = slices.DeleteFunc(slices.Clone(points), func(p []float64) bool { return !(p[0] > ref[0] && p[1] > ref[1]) })
	for _, p := range points {
		levels = append(levels, p[1])
	}
	slices.Sort(levels)
	levels = slices.Compact(levels)
	for i, top := range levels[1:] {
		x := ref[0]
		for _, p := range points {
			if p[1] >= top {
				x = max(x, p[0])
			}
		}
		if n := len(out); n > 0 && out[n-1].Low[0] == x {
			out[n-1].Up[1] = top
			continue
		}
		out = append(out, pareto.Box{Low: []float64{x, levels[i]}, Up: []float64{math.Inf(1), top}})
	}
	return out
}

// The sweep of three dimensions finds, in their order, the boxes of slices from below: in each the
// boxes of the plane, and those that go on from one slice to the next are one.
func TestBoxesOfThree(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	ref := []float64{0.1, 0.1, 0.1}
	for range 200 {
		points := cloud(rng, 30, 3)
		for i := range points {
			for j := range points[i] {
				if rng.IntN(2) == 0 {
					points[i][j] = rng.Float64() // few ties
				}
			}
		}
		levels := []float64{ref[2], math.Inf(1)}
		for _, p := range points {
			if pareto.Dominates(p, ref) && min(p[0], p[1], p[2]) > 0.1 {
				levels = append(levels, p[2])
			}
		}
		slices.Sort(levels)
		levels = slices.Compact(levels)
		var want []pareto.Box
		for i, top := range levels[1:] {
			var reaching [][]float64
			for _, p := range points {
				if p[2] >= top && p[2] > ref[2] {
					reaching = append(reaching, p[:2])
				}
			}
		plane:
			for _, b := range strips(reaching, ref) {
				for k, below := range want {
					if below.Up[2] == levels[i] && slices.Equal(below.Low[:2], b.Low) && slices.Equal(below.Up[:2], b.Up) {
						want[k].Up[2] = top
						continue plane
					}
				}
				want = append(want, pareto.Box{Low: append(b.Low, levels[i]), Up: append(b.Up, top)})
			}
		}
		got := pareto.Undominated(points, ref)
		if len(got) != len(want) {
			t.Fatalf("%d boxes, want %d", len(got), len(want))
		}
		for i := range got {
			if !slices.Equal(got[i].Low, want[i].Low) || !slices.Equal(got[i].Up, want[i].Up) {
				t.Fatalf("box %d is %v, want %v", i, got[i], want[i])
			}
		}
	}
}

func TestVolumeOfWhatIsNoFront(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name      string
		values    [][]float64
		reference []float64
		want      float64
	}{
		{"two points", [][]float64{{1, 2}, {2, 1}}, []float64{0, 0}, 3},
		{"no point", nil, []float64{0, 0}, 0},
		{"below the reference", [][]float64{{1, 2}}, []float64{0, 3}, 0},
		{"beyond all bounds", [][]float64{{1, inf}}, []float64{0, 0}, inf},
		{"ragged", [][]float64{{1, 2}, {1}}, []float64{0, 0}, nan},
		{"too many values", [][]float64{{1, 2, 3}}, []float64{0, 0}, nan},
		{"short reference", [][]float64{{1, 2}, {2, 1}}, []float64{0}, nan},
		{"no reference", [][]float64{{1, 2}, {2, 1}}, nil, nan},
		{"nothing at all", nil, nil, nan},
		{"NaN in a value", [][]float64{{1, 2}, {nan, 5}}, []float64{0, 0}, nan},
		{"NaN in the reference", [][]float64{{1, 2}}, []float64{0, nan}, nan},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := pareto.Volume(c.values, c.reference); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
				t.Errorf("volume %v, want %v", got, c.want)
			}
		})
	}
}

func TestFrontOfWhatCannotBeCompared(t *testing.T) {
	nan := math.NaN()
	if got := pareto.Front([][]float64{{1, 2}, {nan, 9}, {0, 1}, {9, nan}, {2, 1}, {1}}); !slices.Equal(got, []int{0, 4, 5}) {
		t.Errorf("front %v, want 0, 4 and 5", got)
	}
	for _, pair := range [][2][]float64{{{1, 2}, {0}}, {{1}, {0, 0}}, {{1, nan}, {0, 0}}, {{1, 1}, {0, nan}}} {
		t.Run(fmt.Sprint(pair), func(t *testing.T) {
			if pareto.Dominates(pair[0], pair[1]) || pareto.Dominates(pair[1], pair[0]) {
				t.Errorf("%v and %v: one dominates", pair[0], pair[1])
			}
		})
	}
}
