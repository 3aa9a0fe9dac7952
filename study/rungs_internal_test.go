package study

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// rungsOf are the rungs of a state whose trials stand on any of them with any value.
type rungsOf struct{ state *State }

func ladder(n int) rungsOf {
	s := &State{Config: Config{Metrics: []Metric{{Name: "score", Direction: Maximize}}}, Search: &Search{resource: "epochs"}}
	for k := range n {
		s.Search.rungs = append(s.Search.rungs, k+1)
	}
	s.layRungs()
	return rungsOf{s}
}

// add has a trial of that number end on a rung.
func (r rungsOf) add(rung, trial int, value float64) {
	for len(r.state.Trials) < trial {
		r.state.Trials = append(r.state.Trials, &Trial{Number: len(r.state.Trials) + 1})
	}
	t := &Trial{Number: trial, Value: value, Status: optimizer.Succeeded, values: spaces.Values{{Name: "epochs", Value: spaces.Int(int64(rung + 1))}}}
	r.state.Trials[trial-1] = t
	r.state.climb(t)
}

func (r rungsOf) promotable(rung int, reduction float64) int {
	if t := r.state.promotable(rung, reduction); t != nil {
		return t.Number
	}
	return 0
}

// promote has a trial be continued, on which further ones do not depend.
func (r rungsOf) promote(trial int) {
	r.state.Trials[trial-1].next = int32(trial)
}

// fail has the continuation of a trial fail.
func (r rungsOf) fail(trial int) {
	r.state.climb(&Trial{Continues: trial, Status: optimizer.Failed})
}

// One worker, nine trials of the given values, η = 3: what algorithm 2 of Li et
// al. 2020 does, by hand. A trial's values are the same on every rung.
func TestPromotableByHand(t *testing.T) {
	values := []float64{3, 1, 2, 9, 4, 5, 6, 7, 8}
	rungs := ladder(3)
	var got [][2]int // trial, rung
	trials := 0
	next := func() (trial, rung int) {
		for k := 1; k >= 0; k-- {
			if n := rungs.promotable(k, 3); n > 0 {
				rungs.promote(n)
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
		rungs.add(rung, trial, values[trial-1])
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
			r := ladder(1)
			for _, x := range c.rung {
				r.add(0, x.trial, x.value)
				if x.promoted {
					r.promote(x.trial)
				}
			}
			if got := r.promotable(0, c.reduction); got != c.want {
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
		rung := ladder(1)
		values, promoted := map[int]float64{}, map[int]bool{}
		reduction := 1 + 3*random.Float64()
		for trial := 1; trial <= 60; trial++ {
			values[trial] = math.Floor(10 * random.Float64()) // many are equal
			rung.add(0, trial, values[trial])
			best := slices.SortedFunc(maps.Keys(values), func(a, b int) int { return cmp.Or(cmp.Compare(values[b], values[a]), cmp.Compare(a, b)) })
			want := 0
			for _, n := range best[:int(float64(len(best))/reduction)] {
				if !promoted[n] {
					want = n
					break
				}
			}
			got := rung.promotable(0, reduction)
			if got != want {
				t.Fatalf("of %d results trial %d, want %d", len(best), got, want)
			}
			if got > 0 && random.IntN(2) == 0 {
				rung.promote(got)
				promoted[got] = true
			} else if any := best[random.IntN(len(best))]; promoted[any] && random.IntN(4) == 0 {
				rung.fail(any)
				delete(values, any)
				delete(promoted, any)
			}
		}
	}
}
