package pruner_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/pruner"
)

func TestRungs(t *testing.T) {
	for _, c := range []struct {
		least, most            int
		minResource, reduction float64
		want                   []int
	}{
		{1, 81, 1, 3, []int{1, 3, 9, 27, 81}},
		{1, 100, 1, 3, []int{1, 4, 11, 33, 100}},
		{2, 81, 1, 3, []int{3, 9, 27, 81}},
		{1, 81, 20, 3, []int{27, 81}},
		{1, 1000, 1, 10, []int{1, 10, 100, 1000}},
		{1, 16, 1, 2, []int{1, 2, 4, 8, 16}},
		{1, 4, 1, 1.1, []int{1, 2, 3, 4}},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			got, err := pruner.Settings{MinResource: c.minResource, Reduction: c.reduction}.Rungs(c.least, c.most)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%+v: %v, %v", c, got, err)
			}
		})
	}
	for want, c := range map[string]struct {
		least, most            int
		minResource, reduction float64
	}{
		"min_resource: found 28; want at most 27": {1, 81, 28, 3},
		"min_resource: found 0":                   {1, 81, 0, 3},
		"reduction: found 1;":                     {1, 81, 1, 1},
		"resource: found the range 0 to 5":        {0, 5, 1, 3},
		"resource: found the range 5 to 5":        {5, 5, 1, 3},
	} {
		t.Run(want, func(t *testing.T) {
			_, err := pruner.Settings{MinResource: c.minResource, Reduction: c.reduction}.Rungs(c.least, c.most)
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%+v: error %v, want %q", c, err, want)
			}
		})
	}
}

// One worker, nine trials of the given values, η = 3: what algorithm 2 of Li et
// al. 2020 does, by hand. A trial's values are the same on every rung.
func TestPromotableByHand(t *testing.T) {
	values := []float64{3, 1, 2, 9, 4, 5, 6, 7, 8}
	var rungs [3]pruner.Rung
	var got [][2]int // trial, rung
	trials := 0
	next := func() (trial, rung int) {
		for k := 1; k >= 0; k-- {
			if n := rungs[k].Promotable(3); n > 0 {
				rungs[k].Promote(n)
				return n, k + 1
			}
		}
		trials++
		return trials, 0
	}
	for {
		trial, rung := next()
		if trial > len(values) {
			break
		}
		if rung > 0 {
			got = append(got, [2]int{trial, rung})
		}
		rungs[rung].Add(trial, values[trial-1])
	}
	want := [][2]int{
		{1, 1}, // of 3 1 2 the 3
		{4, 1}, // of 9 3 1 2 the 9
		{6, 1}, // of 9 5 4 3 2 1 the 9 and the 5
		{4, 2}, // of 9 5 3 on rung 1 the 9
		{7, 1}, // the 6 displaces the 5
		{8, 1}, // the 7 does so again
		{9, 1}, // of nine the 9, 8 and 7
		{9, 2}, // of 9 8 7 6 5 3 on rung 1 the 9 and the 8
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

func TestPromotable(t *testing.T) {
	type result struct {
		trial    int
		value    float64
		promoted bool
	}
	type rung = []result
	for name, c := range map[string]struct {
		rung      rung
		reduction float64
		want      int
	}{
		"nobody":             {nil, 3, 0},
		"too few":            {rung{{1, 5, false}, {2, 6, false}}, 3, 0},
		"the best":           {rung{{1, 5, false}, {2, 6, false}, {3, 4, false}}, 3, 2},
		"it is promoted":     {rung{{1, 5, false}, {2, 6, true}, {3, 4, false}}, 3, 0},
		"the earlier":        {rung{{4, 7, false}, {2, 7, false}, {3, 7, false}, {1, 7, true}}, 2, 2},
		"displaced":          {rung{{1, 5, true}, {2, 6, true}, {3, 9, false}, {4, 1, false}}, 2, 3},
		"a small reduction":  {rung{{1, 5, false}, {2, 6, true}, {3, 9, true}}, 1.5, 0},
		"a fractional share": {rung{{1, 5, false}, {2, 6, true}, {3, 9, true}, {4, 1, false}, {5, 0, false}}, 1.5, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var r pruner.Rung
			for _, x := range c.rung {
				r.Add(x.trial, x.value)
				if x.promoted {
					r.Promote(x.trial)
				}
			}
			if got := r.Promotable(c.reduction); got != c.want {
				t.Errorf("trial %d, want %d", got, c.want)
			}
		})
	}
}

// A rung that grows, whose trials are promoted and whose continuations fail, against the
// definition by sorting.
func TestRungAgainstItsDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(42, 1))
	for range 50 {
		var rung pruner.Rung
		values, promoted := map[int]float64{}, map[int]bool{}
		reduction := 1 + 3*random.Float64()
		for trial := 1; trial <= 60; trial++ {
			values[trial] = math.Floor(10 * random.Float64()) // many are equal
			rung.Add(trial, values[trial])
			best := slices.SortedFunc(maps.Keys(values), func(a, b int) int { return cmp.Or(cmp.Compare(values[b], values[a]), cmp.Compare(a, b)) })
			want := 0
			for _, n := range best[:int(float64(len(best))/reduction)] {
				if !promoted[n] {
					want = n
					break
				}
			}
			got := rung.Promotable(reduction)
			if got != want {
				t.Fatalf("of %d results trial %d, want %d", len(best), got, want)
			}
			if got > 0 && random.IntN(2) == 0 {
				rung.Promote(got)
				promoted[got] = true
			} else if any := best[random.IntN(len(best))]; promoted[any] && random.IntN(4) == 0 {
				rung.Remove(any)
				delete(values, any)
				delete(promoted, any)
			}
		}
	}
}
