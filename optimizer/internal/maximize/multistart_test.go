package maximize_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/maximize"
)

func TestPickStarts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	inf, nan := math.Inf(1), math.NaN()
	if got := maximize.PickStarts([]float64{1, -inf, nan, 3}, rng); fmt.Sprint(got) != "[3 0]" {
		t.Errorf("picked %v, want [3 0]", got)
	}
	if got := maximize.PickStarts([]float64{-inf, -inf}, rng); len(got) != 0 {
		t.Errorf("picked infeasible candidates: %v", got)
	}
	values := make([]float64, 100)
	for i := range values {
		values[i] = float64(i) / 50
		if i < 40 {
			values[i] = -1e10 - float64(i)
		}
	}
	counts := make([]int, 100)
	for range 2000 {
		got := maximize.PickStarts(values, rng)
		if got[0] != 99 || got[1] != 98 {
			t.Fatalf("the two best are not first: %v", got)
		}
		seen := map[int]bool{}
		for _, k := range got {
			if seen[k] {
				t.Fatalf("picked twice: %v", got)
			}
			seen[k] = true
			counts[k]++
		}
	}
	sum := func(from, to int) (n int) {
		for _, c := range counts[from:to] {
			n += c
		}
		return n
	}
	if sum(0, 40) > 0 {
		t.Errorf("%d rejected candidates picked", sum(0, 40))
	}
	if high, low := sum(80, 98), sum(40, 58); !(high > 2*low && low > 50) {
		t.Errorf("%d from the better end and %d from the worse: not a soft choice", high, low)
	}
}

// Searches in turns end where each would alone, and their gradients are wanted together.
func TestTogether(t *testing.T) {
	closed := func(x []float64) bool { return x[0] > 0.32 && x[0] < 0.6 }
	met := 0
	f := func(x, grad []float64) float64 {
		if closed(x) {
			met++
			return math.Inf(-1)
		}
		if grad != nil {
			grad[0], grad[1] = -2*(x[0]-0.3), -8*(x[1]-0.6)
		}
		return -(x[0]-0.3)*(x[0]-0.3) - 4*(x[1]-0.6)*(x[1]-0.6)
	}
	starts := [][]float64{{0, 0}, {1, 0.2}, {0.3, 0.6}, {0.8, 0.1}, {0.7, 0.2}}
	search := func(k int, f maximize.Func) maximize.Result {
		return maximize.New([]float64{0, 0}, []float64{1, 1}, maximize.Settings{}).Maximize(t.Context(), f, starts[k])
	}
	var got, want []maximize.Result
	var first, known [][]float64
	calls, most := 0, 0
	ahead := func(points [][]float64) {
		if calls++; calls == 1 {
			first = slices.Clone(points)
		}
		known = known[:0]
		for _, p := range points {
			if closed(p) {
				t.Errorf("asked to prepare %v, which is closed", p)
			}
			known = append(known, slices.Clone(p))
		}
	}
	prepared := func(x, grad []float64) float64 {
		if grad != nil && !slices.ContainsFunc(known, func(p []float64) bool { return slices.Equal(p, x) }) {
			t.Errorf("a gradient at %v, of which nothing was said", x)
		}
		return f(x, grad)
	}
	got = make([]maximize.Result, len(starts))
	maximize.Together(len(starts), func(k int, f maximize.Func) { got[k] = search(k, f) }, prepared, closed, ahead)
	if met != 0 {
		t.Errorf("%d values where all is closed", met)
	}
	for k := range starts {
		want = append(want, search(k, f))
		most = max(most, want[k].Evaluations)
	}
	if met == 0 {
		t.Error("no search has met what is closed")
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("together %+v, alone %+v", got, want)
	}
	if len(first) != len(starts) || calls > most+1 {
		t.Errorf("%d calls for %d evaluations of the longest, the first of %v", calls, most, first)
	}
}
