package optimizer_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// What is left to gain is said to who asks for it, as far as it is no more than enough; it changes
// no proposal, and is the same in an optimizer that learns all at once.
func TestLeft(t *testing.T) {
	space, _ := objective(t, branin())
	f := func(u spaces.Point) float64 { return -(u[0]-0.3)*(u[0]-0.3) - (u[1]-0.6)*(u[1]-0.6) - u[0]*u[1]/10 }
	opt := newOptimizer(t, space, 4, optimizer.Settings{})
	told := runStudy(t, opt, 33, f)
	best := math.Inf(-1)
	for _, o := range told {
		best = math.Max(best, o.Value())
	}
	ask := func(opt optimizer.Optimizer, enough float64) optimizer.Proposal {
		t.Helper()
		a, err := opt.Ask(t.Context(), optimizer.Query{Trial: 34, Enough: enough})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	quiet, said := ask(opt, 0), ask(opt, 100)
	if quiet.Note.Left != nil || said.Note.Left == nil || !slices.Equal(quiet.Point, said.Point) {
		t.Fatalf("at %v %v is left, unasked; at %v %v", quiet.Point, quiet.Note.Left, said.Point, said.Note.Left)
	}
	left := *said.Note.Left
	top := f(spaces.Point{0.27 / 0.9975, 0.585 / 0.9975}) // where the gradient is 0
	if top-best > left || left > 0.01 {
		t.Errorf("%v is left, and %v is said", top-best, left)
	}
	if a := ask(opt, 0.99*left); a.Note.Left != nil {
		t.Errorf("%v is said, and %v is enough", *a.Note.Left, 0.99*left)
	}
	again := newOptimizer(t, space, 4, optimizer.Settings{})
	for _, o := range told {
		if err := again.Tell(o); err != nil {
			t.Fatal(err)
		}
	}
	if a := ask(again, 100); !reflect.DeepEqual(a.Note.Left, said.Note.Left) {
		t.Errorf("told at once %v is left; before %v", a.Note.Left, left)
	}
}

// Of several objectives nothing is said: what is left of the first is not what is left.
func TestNothingLeftOfSeveral(t *testing.T) {
	space, _ := objective(t, branin())
	opt := newOptimizer(t, space, 5, optimizer.Settings{})
	for trial := 1; trial < 8; trial++ {
		p, err := opt.Ask(t.Context(), optimizer.Query{Trial: trial, Enough: 1e9})
		if err != nil || p.Note.Left != nil {
			t.Fatalf("trial %d: %v, %v", trial, p.Note.Left, err)
		}
		tellAll(t, opt, optimizer.Observation{Trial: trial, Proposal: p, Status: optimizer.Succeeded, Values: []float64{p.Point[0], p.Point[1] - p.Point[0]}})
	}
}
