package gp_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/gp"
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
	best := 0
	for i := range y {
		if y[i] > y[best] {
			best = i
		}
	}
	if !slices.Contains(got, best) {
		t.Error("the best observation is missing")
	}
	if near := nearest(x, best); !slices.Contains(got, near) {
		t.Errorf("the neighbour %d of the best is missing", near)
	}
	// 24 farthest points leave no hole of the size that 400 random points fill.
	for i, p := range x {
		gap := 2.0
		for _, k := range got {
			gap = min(gap, squaredDistance(p, x[k]))
		}
		if gap > 0.2*0.2 {
			t.Errorf("point %d is farther than 0.2 from the subset", i)
		}
	}
}

func nearest(x [][]float64, to int) int {
	near := -1
	for i := range x {
		if i != to && (near < 0 || squaredDistance(x[i], x[to]) < squaredDistance(x[near], x[to])) {
			near = i
		}
	}
	return near
}

func squaredDistance(a, b []float64) float64 {
	sum := 0.0
	for j, v := range a {
		sum += (v - b[j]) * (v - b[j])
	}
	return sum
}

// A study's observations come in cycles (every fourth is random, say). The
// subset must not fall in step with them, nor turn over when one more arrives.
func TestSubsetFollowsTheDensityAndIsStable(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	var x [][]float64
	var y []float64
	for i := range 2000 {
		p := point(rng, 4)
		if i%4 != 0 { // three quarters in a corner of 1/16 of the volume
			for j := range p {
				p[j] /= 2
			}
		}
		x, y = append(x, p), append(y, p[0])
	}
	got := gp.Subset(x[:1999], y[:1999], 200, nil)
	corner := 0
	for _, i := range got {
		if i%4 != 0 {
			corner++
		}
	}
	if corner < 75 || corner > 150 {
		t.Errorf("%d of 200 chosen points are from the dense corner", corner)
	}
	kept := 0
	for _, i := range gp.Subset(x, y, 200, nil) {
		if slices.Contains(got, i) {
			kept++
		}
	}
	if kept < 150 {
		t.Errorf("one more observation changed %d of 200 chosen points", 200-kept)
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

// A model of a third of the observations predicts nearly as well as the whole.
func TestSubsetModelPredicts(t *testing.T) {
	x, y, h := sample(5, 240, 3)
	whole := newModel(t, x, y, h)
	chosen := gp.Subset(x, y, 80, h.Lengths())
	px, py := make([][]float64, 80), make([]float64, 80)
	for k, i := range chosen {
		px[k], py[k] = x[i], y[i]
	}
	part := newModel(t, px, py, h)
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
