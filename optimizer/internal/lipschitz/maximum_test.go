package lipschitz

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Two cones on a line meet halfway, at the ends only one counts.
func TestMaxUpperOnALine(t *testing.T) {
	b := NewBounds([][]float64{{0.2}, {0.6}}, []float64{1, 1}, nil, 3, 0)
	bound, seen := b.MaxUpper([]float64{0}, []float64{1}, 1e-9, 1000)
	want := 1 + 3*0.4 // at 1
	if bound < want-1e-12 || bound > want+1e-6 || seen > want+1e-12 || seen < want-1e-6 {
		t.Errorf("bound %v, seen %v, want %v", bound, seen, want)
	}
}

// The bound is never below what a thorough search finds, and close to it where there
// are few dimensions.
func TestMaxUpperBoundsEveryPoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for d := 1; d <= 6; d++ {
		var x [][]float64
		var y []float64
		lo, hi, scale := make([]float64, d), make([]float64, d), make([]float64, d)
		for j := range d {
			hi[j], scale[j] = 1, 0.3+rng.Float64()
		}
		for range 30 {
			p := make([]float64, d)
			for j := range p {
				p[j] = rng.Float64()
			}
			x, y = append(x, p), append(y, math.Sin(3*p[0]))
		}
		b := NewBounds(x, y, scale, 5, 0.01)
		bound, seen := b.MaxUpper(lo, hi, 1e-3, 2000)
		largest := math.Inf(-1)
		p := make([]float64, d)
		for range 20_000 {
			for j := range p {
				p[j] = math.Round(rng.Float64()*4) / 4 // corners and edges too
				if rng.IntN(2) == 0 {
					p[j] = rng.Float64()
				}
			}
			largest = math.Max(largest, b.Upper(p))
		}
		if largest > bound+1e-12 {
			t.Errorf("d = %d: %v at a point, more than the bound %v", d, largest, bound)
		}
		if seen > bound {
			t.Errorf("d = %d: saw %v, more than the bound %v", d, seen, bound)
		}
		if d <= 2 && bound > seen+2e-3 {
			t.Errorf("d = %d: bound %v, seen %v", d, bound, seen)
		}
	}
}

func TestMaxUpperOfARefutedConstant(t *testing.T) {
	b := NewBounds([][]float64{{0.2}, {0.3}}, []float64{0, 1}, nil, 3, 0)
	if bound, _ := b.MaxUpper([]float64{0}, []float64{1}, 1e-3, 100); !math.IsInf(bound, 1) {
		t.Errorf("bound %v for a constant that two observations refute", bound)
	}
	if bound, _ := b.WithL(10).MaxUpper([]float64{0}, []float64{1}, 1e-3, 100); math.IsInf(bound, 1) {
		t.Error("no bound for a constant that holds")
	}
}
