package optimizer_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Of four parameters of a tree one often does nothing, and the others act by steps. Trials that
// repeat the best value to the last digit find nothing.
func TestPlateausAreNotFilled(t *testing.T) {
	effort.Quality(t)
	space, _ := objective(t, rosenbrock(4))
	f := func(u spaces.Point) float64 {
		s := 0.0
		for j, x := range u[:3] {
			s -= math.Abs(math.Floor(6*x) - float64(2+j))
		}
		return s
	}
	repeats, all := 0, 0
	for seed := range uint64(3) {
		best := math.Inf(-1)
		for k, o := range runStudy(t, newOptimizer(t, space, seed, optimizer.Settings{}), 80, f) {
			if k >= 24 {
				all++
				if o.Value() == best {
					repeats++
				}
			}
			best = math.Max(best, o.Value())
		}
		if best < 0 {
			t.Errorf("seed %d: the best of 80 is %g steps away", seed, -best)
		}
	}
	if 2*repeats > all {
		t.Errorf("%d of %d trials repeat the best value", repeats, all)
	}
}

// Where all values are equal trials still differ, and go everywhere.
func TestNothingButAPlateau(t *testing.T) {
	space, _ := objective(t, branin())
	quarters := map[[2]bool]int{}
	seen := map[[2]float64]bool{}
	for _, o := range runStudy(t, newOptimizer(t, space, 1, optimizer.Settings{}), 40, func(spaces.Point) float64 { return 1 }) {
		p := o.Proposal.Point
		quarters[[2]bool{p[0] > 0.5, p[1] > 0.5}]++
		seen[[2]float64(p)] = true
	}
	if len(quarters) < 4 || len(seen) < 40 {
		t.Errorf("40 trials are %d points in %d quarters", len(seen), len(quarters))
	}
}

// While every value is the same, no region of the space is passed over, by one worker or by four: a model
// that has seen nothing is least sure of the corners, where nearly all trials went.
func TestWhereAllIsFlatTheSpaceIsFilled(t *testing.T) {
	const side = 4
	for _, c := range []struct {
		name       string
		set        optimizer.Settings
		objectives int
		limits     []float64
	}{
		{"lhs", optimizer.Settings{Design: "lhs"}, 1, nil},
		{"walk", optimizer.Settings{Design: "walk"}, 1, nil},
		{"local off", optimizer.Settings{Local: "off"}, 1, nil},
		{"noise", optimizer.Settings{Noise: "0.5"}, 1, nil},
		{"limits held", optimizer.Settings{}, 1, []float64{-1}},
		{"limits broken", optimizer.Settings{}, 1, []float64{0.5, -1}},
		{"two objectives", optimizer.Settings{}, 2, nil},
		{"four objectives and a limit", optimizer.Settings{}, 4, []float64{-1}},
	} {
		for _, workers := range []int{1, 4} {
			t.Run(fmt.Sprint(c.name, workers), func(t *testing.T) {
				space := cube(2)
				opt := newOptimizer(t, space, 1, c.set)
				cells := map[[2]int]bool{}
				var running []optimizer.Observation
				for k := 1; k <= 40; k++ {
					p, err := opt.Ask(t.Context(), optimizer.Query{Trial: k, Pending: pendingOf(running)})
					if err != nil {
						t.Fatal(err)
					}
					cells[[2]int{int(side * p.Point[0]), int(side * p.Point[1])}] = true
					o := evaluated(k, p, func(spaces.Point) float64 { return 0.1 })
					o.Values, o.Constraints = slices.Repeat(o.Values, c.objectives), c.limits
					if running = append(running, o); len(running) == workers {
						tellAll(t, opt, running[0])
						running = running[1:]
					}
				}
				seen := 0
				for i := range side {
					for j := range side {
						if cells[[2]int{i, j}] {
							seen++
						}
					}
				}
				if seen < side*side-1 {
					t.Errorf("40 trials are in %d of %d parts of the space", seen, side*side)
				}
			})
		}
	}
}

// Relations hold for the points that fill the space, and what fails, or is guessed, is not forgotten.
func TestFlatKeepsToWhatIsKnown(t *testing.T) {
	effort.Quality(t)
	below := spaces.Relation{Text: "a + b <= 0.5", Params: []string{"a", "b"}, Holds: func(v spaces.Values) bool {
		return numberOf(v, "a")+numberOf(v, "b") <= 0.5
	}}
	related, err := newSpace(t, float("a", 0, 1), float("b", 0, 1)).Where(below)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range runStudy(t, newOptimizer(t, related, 1, optimizer.Settings{}), 30, func(spaces.Point) float64 { return 1 }) {
		if !related.Allows(o.Proposal.Point) {
			t.Errorf("trial %d is at %v", o.Trial, o.Proposal.Point)
		}
	}
	opt, stopped := newOptimizer(t, cube(2), 1, optimizer.Settings{}), 0
	for trial := 1; trial <= 40; trial++ {
		p, err := opt.Ask(t.Context(), optimizer.Query{Trial: trial})
		if err != nil {
			t.Fatal(err)
		}
		o := evaluated(trial, p, func(spaces.Point) float64 { return 1 })
		if p.Point[0] > 0.5 {
			o.Status = optimizer.Pruned
			stopped++
		}
		tellAll(t, opt, o)
	}
	if stopped > 10 {
		t.Errorf("%d of 40 trials are pruned in the half where all are", stopped)
	}
	failures := 0
	for _, o := range runStudy(t, newOptimizer(t, cube(2), 1, optimizer.Settings{}), 40, func(p spaces.Point) float64 {
		if p[0] > 0.5 {
			return math.NaN()
		}
		return 1
	}) {
		if o.Trial > 20 && o.Status == optimizer.Failed {
			failures++
		}
	}
	if failures > 6 {
		t.Errorf("%d of the last 20 trials fail in the half that fails", failures)
	}
}
