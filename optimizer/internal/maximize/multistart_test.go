package maximize_test

import (
	"fmt"
	"math"
	"math/rand/v2"
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
