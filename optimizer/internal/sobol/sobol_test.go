package sobol_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/sobol"
)

// The first ten points as printed in Joe and Kuo's notes on their generator.
func TestFirstPoints(t *testing.T) {
	want := [][]float64{
		{0, 0, 0, 0, 0},
		{0.5, 0.5, 0.5, 0.5, 0.5},
		{0.75, 0.25, 0.25, 0.25, 0.75},
		{0.25, 0.75, 0.75, 0.75, 0.25},
		{0.375, 0.375, 0.625, 0.875, 0.375},
		{0.875, 0.875, 0.125, 0.375, 0.875},
		{0.625, 0.125, 0.875, 0.625, 0.625},
		{0.125, 0.625, 0.375, 0.125, 0.125},
		{0.1875, 0.3125, 0.9375, 0.4375, 0.5625},
		{0.6875, 0.8125, 0.4375, 0.9375, 0.0625},
	}
	got := sobol.PlainPoints(5, len(want))
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%v, want\n%v", got, want)
	}
}

// checkStrata verifies that every aligned block of 2^k points has one point in
// each of the 2^k equal intervals of every dimension.
func checkStrata(t *testing.T, points [][]float64) {
	t.Helper()
	for size := 1; size <= len(points); size *= 2 {
		for from := 0; from < len(points); from += size {
			for j := range points[0] {
				seen := make([]bool, size)
				for _, p := range points[from : from+size] {
					cell := int(p[j] * float64(size))
					if seen[cell] {
						t.Fatalf("dimension %d, block of %d at %d: two points in cell %d", j, size, from, cell)
					}
					seen[cell] = true
				}
			}
		}
	}
}

func TestEveryBlockIsStratified(t *testing.T) {
	t.Run("plain", func(t *testing.T) { checkStrata(t, sobol.PlainPoints(64, 1024)) })
	for _, dim := range []int{1, 6, 64, 65, 200} {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			checkStrata(t, sobol.Scrambled(dim, 42).Points(0, 512))
			checkStrata(t, sobol.Scrambled(dim, 43).Points(1<<20, 128))
		})
	}
}

// In two dimensions the first two coordinates are a (0,2)-sequence: each block of
// 2^k points has one in every elementary rectangle of area 2^-k. Scrambling keeps it.
func TestScramblingKeepsNets(t *testing.T) {
	for seed := range uint64(20) {
		points := sobol.Scrambled(2, seed).Points(0, 256)
		for a := 0; a <= 8; a++ {
			w, h := 1<<a, 1<<(8-a)
			seen := map[[2]int]bool{}
			for _, p := range points {
				cell := [2]int{int(p[0] * float64(w)), int(p[1] * float64(h))}
				if seen[cell] {
					t.Fatalf("seed %d: two points in a cell of %d by %d", seed, w, h)
				}
				seen[cell] = true
			}
		}
	}
}

func TestNoDuplicatesAndOpenInterval(t *testing.T) {
	for _, dim := range []int{1, 3, 70} {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			seen := map[string]bool{}
			for _, p := range sobol.Scrambled(dim, 7).Points(0, 4096) {
				key := fmt.Sprint(p)
				if seen[key] {
					t.Fatalf("%d dimensions: point %v twice", dim, p)
				}
				seen[key] = true
				for _, v := range p {
					if !(v > 0 && v < 1) {
						t.Fatalf("coordinate %v", v)
					}
				}
			}
		})
	}
}

// Over seeds, one point must be uniform, and two dimensions of it independent,
// digit by digit.
func TestScrambledPointsAreUniform(t *testing.T) {
	const seeds, digits = 4000, 10
	for _, i := range []uint32{0, 1, 5, 1000} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			var ones [3][digits]int
			var both [digits]int
			x := make([]float64, 3)
			for seed := range uint64(seeds) {
				sobol.Scrambled(3, seed).At(i, x)
				for k := range digits {
					var bit [3]int
					for j, v := range x {
						bit[j] = int(v*float64(int(2)<<k)) & 1
						ones[j][k] += bit[j]
					}
					both[k] += bit[0] ^ bit[1]
				}
			}
			limit := 4.5 * math.Sqrt(seeds) / 2
			for k := range digits {
				for j := range ones {
					if d := math.Abs(float64(ones[j][k]) - seeds/2); d > limit {
						t.Errorf("point %d, dimension %d, digit %d: %d ones of %d", i, j, k+1, ones[j][k], seeds)
					}
				}
				if d := math.Abs(float64(both[k]) - seeds/2); d > limit {
					t.Errorf("point %d, digit %d: dimensions 1 and 2 differ %d times of %d", i, k+1, both[k], seeds)
				}
			}
		})
	}
}

// Scrambled nets integrate smooth functions far better than random points do.
func TestIntegrationError(t *testing.T) {
	const n, dim, seeds = 256, 6, 50
	f := func(x []float64) float64 {
		p := 1.0
		for _, v := range x {
			p *= 1 + (v-0.5)/2
		}
		return p
	}
	var scrambled, random float64
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var a, b float64
		x := make([]float64, dim)
		for _, p := range sobol.Scrambled(dim, seed).Points(0, n) {
			a += f(p) / n
			for j := range x {
				x[j] = rng.Float64()
			}
			b += f(x) / n
		}
		scrambled += (a - 1) * (a - 1) / seeds
		random += (b - 1) * (b - 1) / seeds
	}
	if scrambled > random/100 {
		t.Errorf("mean squared errors: scrambled %.3g, random %.3g", scrambled, random)
	}
}

// Dimensions of different padding groups must not follow each other.
func TestPaddedGroupsAreNotCorrelated(t *testing.T) {
	points := sobol.Scrambled(130, 3).Points(0, 1024)
	for _, pair := range [][2]int{{0, 64}, {5, 69}, {1, 65}, {64, 128}, {0, 65}} {
		t.Run(fmt.Sprint(pair), func(t *testing.T) {
			var sum float64
			for _, p := range points {
				sum += (p[pair[0]] - 0.5) * (p[pair[1]] - 0.5) * 12 / 1024
			}
			if math.Abs(sum) > 0.15 {
				t.Errorf("dimensions %v: correlation %.3f", pair, sum)
			}
		})
	}
}

func TestSeedsDiffer(t *testing.T) {
	a, b := sobol.Scrambled(2, 1).Points(0, 4), sobol.Scrambled(2, 2).Points(0, 4)
	if fmt.Sprint(a) == fmt.Sprint(b) {
		t.Error("two seeds gave the same points")
	}
	if fmt.Sprint(a) != fmt.Sprint(sobol.Scrambled(2, 1).Points(0, 4)) {
		t.Error("one seed gave different points")
	}
	if got := sobol.Scrambled(5, 1).Points(3, 1)[0]; fmt.Sprint(got) != fmt.Sprint(sobol.Scrambled(5, 1).Points(0, 4)[3]) {
		t.Error("a later start gives other points")
	}
}

func TestMaximinLatinHypercube(t *testing.T) {
	for _, c := range []struct{ n, dim int }{{1, 1}, {5, 2}, {12, 7}, {40, 3}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			points := sobol.Maximin(c.n, c.dim, 20, nil, rand.New(rand.NewPCG(1, 1)))
			for j := range c.dim {
				seen := make([]bool, c.n)
				for _, p := range points {
					cell := int(p[j] * float64(c.n))
					if seen[cell] {
						t.Fatalf("%v: two points in interval %d of dimension %d", c, cell, j)
					}
					seen[cell] = true
				}
			}
		})
	}
	center := [][]float64{{0.5, 0.5}}
	distance := func(points [][]float64) float64 {
		least := math.Inf(1)
		all := append(points[:len(points):len(points)], center...)
		for i, p := range all {
			for _, q := range all[:i] {
				least = math.Min(least, math.Hypot(p[0]-q[0], p[1]-q[1]))
			}
		}
		return least
	}
	// The best of 50 equals the best of the same 50 drawn one by one.
	rng := rand.New(rand.NewPCG(2, 2))
	most := 0.0
	for range 50 {
		most = math.Max(most, distance(sobol.LatinHypercube(6, 2, rng)))
	}
	if got := distance(sobol.Maximin(6, 2, 50, center, rand.New(rand.NewPCG(2, 2)))); got != most {
		t.Errorf("smallest distance %v, want %v", got, most)
	}
}

func BenchmarkAt(b *testing.B) {
	for _, dim := range []int{6, 100} {
		b.Run(fmt.Sprint(dim), func(b *testing.B) {
			s := sobol.Scrambled(dim, 1)
			x := make([]float64, dim)
			b.ReportAllocs()
			i := uint32(0)
			for b.Loop() {
				s.At(i, x)
				i++
			}
		})
	}
}

func BenchmarkScrambled(b *testing.B) {
	for b.Loop() {
		sobol.Scrambled(6, 1)
	}
}
