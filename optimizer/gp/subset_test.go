package gp_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/optimizer/gp"
)

func hyperWithMean(h gp.Hyper, mean float64) gp.Hyper {
	h = h.Clone()
	h.Mean = mean
	return h
}

func TestSubsetKeepsTheBestAndCoversTheSpace(t *testing.T) {
	x, y, _ := sample(3, 400, 2)
	got := gp.Subset(x, y, 60, nil)
	if len(got) != 60 || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != 60 {
		t.Fatalf("not 60 different indices in order: %v", got)
	}
	if !reflect.DeepEqual(got, gp.Subset(x, y, 60, nil)) {
		t.Error("two calls differ")
	}
	order := make([]int, len(y))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if y[a] > y[b] {
			return -1
		}
		return 1
	})
	for _, i := range order[:15] {
		if !slices.Contains(got, i) {
			t.Errorf("one of the 15 best, %d, is missing", i)
		}
	}
	// 30 farthest points leave no hole of the size that 400 random points fill.
	for i, p := range x {
		nearest := 2.0
		for _, k := range got {
			nearest = min(nearest, (p[0]-x[k][0])*(p[0]-x[k][0])+(p[1]-x[k][1])*(p[1]-x[k][1]))
		}
		if nearest > 0.2*0.2 {
			t.Errorf("point %d is %v away from the subset", i, nearest)
		}
	}
}

func TestSubsetOfFewOrEqualPoints(t *testing.T) {
	x := [][]float64{{0.1}, {0.1}, {0.1}, {0.1}, {0.1}}
	y := []float64{1, 1, 1, 1, 1}
	if got := gp.Subset(x, y, 3, nil); len(got) != 3 {
		t.Errorf("3 of 5 equal points: %v", got)
	}
	for _, m := range []int{0, 5, 9} {
		if got := gp.Subset(x, y, m, nil); len(got) != 5 {
			t.Errorf("m = %d: %v", m, got)
		}
	}
	if got := gp.Subset(x, []float64{0, 0, 7, 0, 0}, 1, nil); !reflect.DeepEqual(got, []int{2}) {
		t.Errorf("the best alone: %v", got)
	}
}

func TestFitModelWithinItsLimits(t *testing.T) {
	x, y, _ := sample(5, 120, 3)
	s := gp.NewSettings(3)
	whole, r, used, err := gp.FitModel(x, y, nil, s, gp.Limits{Fit: 500, Model: 500})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gp.Fit(x, y, nil, s)
	if err != nil {
		t.Fatal(err)
	}
	if whole.Len() != 120 || len(used) != 120 || !reflect.DeepEqual(r, plain) {
		t.Errorf("below the limits FitModel is not Fit: %d points, %+v, %+v", whole.Len(), r, plain)
	}
	part, _, used, err := gp.FitModel(x, y, &r.Hyper, s, gp.Limits{Fit: 40, Model: 80})
	if err != nil {
		t.Fatal(err)
	}
	if part.Len() != 80 || len(used) != 80 {
		t.Fatalf("%d observations, limit 80", part.Len())
	}
	// The bounded model still predicts: far better than the mean would.
	rng := rand.New(rand.NewPCG(5, 6))
	a, b := whole.Predictor(), part.Predictor()
	var between, spread float64
	for range 200 {
		q := point(rng, 3)
		m := a.Mean(q)
		between += (m - b.Mean(q)) * (m - b.Mean(q))
		spread += m * m
	}
	if between > 0.01*spread {
		t.Errorf("bounded and whole model differ by %v of %v", between, spread)
	}
}
