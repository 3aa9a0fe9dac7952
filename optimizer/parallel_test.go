package optimizer_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// together runs a study with some workers, whose trials end in an order that is
// not that of their starts, and returns what was told.
func together(t *testing.T, opt optimizer.Optimizer, workers, trials int, f func(spaces.Point) float64) []optimizer.Observation {
	t.Helper()
	var told, running []optimizer.Observation
	for next := 1; len(told) < trials; {
		for next <= trials && len(running) < workers {
			q := optimizer.Query{Trial: next}
			for _, o := range running {
				q.Pending = append(q.Pending, optimizer.Pending{Trial: o.Trial, Point: o.Proposal.Point})
			}
			p, err := opt.Ask(t.Context(), q)
			if err != nil {
				t.Fatalf("asking for trial %d: %v", next, err)
			}
			running = append(running, evaluated(next, p, f))
			next++
		}
		i := (next * 7) % len(running)
		if err := opt.Tell(running[i]); err != nil {
			t.Fatal(err)
		}
		told = append(told, running[i])
		running = append(running[:i], running[i+1:]...)
	}
	return told
}

// What many workers are given before the first result is known must fill the cube.
// Uniform points do as well as points can in ten dimensions; the farthest from all
// others would lie in its corners.
func TestFirstBatchFillsTheCube(t *testing.T) {
	space, f := objective(t, michalewicz(10))
	const workers = 64
	told := together(t, newOptimizer(t, space, 1, optimizer.Settings{}), workers, workers, f)
	for j := range space.Len() {
		var us []float64
		for _, o := range told {
			us = append(us, o.Proposal.Point[j])
		}
		sort.Float64s(us)
		distance := 0.0 // of Kolmogorov and Smirnov, from the uniform distribution
		for i, u := range us {
			distance = math.Max(distance, math.Max(float64(i+1)/workers-u, u-float64(i)/workers))
		}
		if distance > 0.1 { // 64 uniform draws have a median of 0.10
			t.Errorf("coordinate %d is at a distance of %.3f from uniform: %.2f", j, distance, us)
		}
	}
}

// Where curvatures differ by a factor of 1e6 only the quadratic gets anywhere, and
// it has to be asked while other trials run.
func TestWorkersDoNotKeepOutTheQuadratic(t *testing.T) {
	effort.Quality(t)
	space, _ := objective(t, rosenbrock(5))
	f := func(u spaces.Point) float64 {
		s := 0.0
		for j, x := range u {
			s -= math.Pow(1e6, float64(j)/4) * (x - 0.3) * (x - 0.3)
		}
		return s
	}
	best := math.Inf(-1)
	for _, o := range together(t, newOptimizer(t, space, 3, optimizer.Settings{}), 8, 100, f) {
		best = math.Max(best, o.Value())
	}
	if best < -1e-6 {
		t.Errorf("the best of 100 is %g", best)
	}
}

// That eight steps have failed says little when all were made before the first of
// them had: a valley must not be given up for it.
func TestMissesOfOneRoundCountOnce(t *testing.T) {
	effort.Quality(t)
	space, f := objective(t, rosenbrock(2))
	var regrets []float64
	for seed := range 5 {
		best := math.Inf(-1)
		for _, o := range together(t, newOptimizer(t, space, uint64(seed), optimizer.Settings{}), 8, 100, f) {
			best = math.Max(best, o.Value())
		}
		regrets = append(regrets, -best)
	}
	sort.Float64s(regrets)
	if regrets[2] > 0.02 {
		t.Errorf("regrets %.2g on Rosenbrock's function in two dimensions", regrets)
	}
}

// alike is how close two proposals lie, in every coordinate, that say the same.
const alike = 1e-3

// Whoever runs many trials at a time pays for each: none may repeat another that is
// still running. Discrete parameters are equal or far apart in the cube, so that one
// distance serves all.
func TestProposalsDifferFromThePending(t *testing.T) {
	effort.Thorough(t, "the contract has four workers whose proposals differ")
	both := []string{"rounds", "asynchronous"}
	widths := effort.Sequential([]int{8}, effort.Daily([]int{2, 32}, []int{2, 8, 32}), []int{2, 4, 8, 16, 32, 64})
	for _, s := range surfaces(t) {
		for _, workers := range widths {
			for _, mode := range effort.Sequential(both[1:], effort.Daily(both[1:], both), both) {
				t.Run(fmt.Sprintf("%s/%d/%s", s.name, workers, mode), func(t *testing.T) {
					t.Parallel()
					opt := &watched{Optimizer: newOptimizer(t, s.space, 1, optimizer.Settings{})}
					trials := max(48, 3*workers)
					if mode == "rounds" {
						rounds(t, opt, workers, trials, s.f)
					} else {
						together(t, opt, workers, trials, s.f)
					}
					if 1000*opt.repeats > 5*opt.proposals || opt.proposals < trials/4 {
						t.Errorf("%d of %d proposals after the design repeat a pending one", opt.repeats, opt.proposals)
					}
				})
			}
		}
	}
}

// Beside hundreds of running trials proposals are still near none of them, and not random.
func TestProposalsBesideHundreds(t *testing.T) {
	space, f := objective(t, hartmann3())
	told := together(t, newOptimizer(t, space, 1, optimizer.Settings{}), 1, 12, f)
	ask := func(pending int) []optimizer.Proposal {
		opt := newOptimizer(t, space, 1, optimizer.Settings{})
		for _, o := range told {
			if err := opt.Tell(o); err != nil {
				t.Fatal(err)
			}
		}
		rng := rand.New(rand.NewPCG(1, 2))
		q := optimizer.Query{Trial: len(told)}
		for range pending {
			q.Trial++
			q.Pending = append(q.Pending, optimizer.Pending{Trial: q.Trial, Point: space.Draw(rng)})
		}
		w := &watched{Optimizer: opt}
		var out []optimizer.Proposal
		for range 6 {
			q.Trial++
			p, err := w.Ask(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			q.Pending = append(q.Pending, optimizer.Pending{Trial: q.Trial, Point: p.Point})
			out = append(out, p)
		}
		if w.proposals != len(out) || w.repeats > 0 {
			t.Errorf("beside %d trials %d of %d proposals repeat a pending one", pending, w.repeats, w.proposals)
		}
		return out
	}
	var values []float64
	for _, o := range told {
		values = append(values, o.Value())
	}
	sort.Float64s(values)
	for _, pending := range []int{200, 300} { // believed, and too many for that
		good := 0
		for _, p := range ask(pending) {
			if f(p.Point) > values[len(values)/2] {
				good++
			}
		}
		if good < 4 {
			t.Errorf("beside %d trials %d of 6 proposals are better than the median so far", pending, good)
		}
	}
}

// watched counts the proposals after the initial design, and those among them that
// repeat a pending trial.
type watched struct {
	optimizer.Optimizer
	proposals, repeats int
}

func (w *watched) Ask(ctx context.Context, q optimizer.Query) (optimizer.Proposal, error) {
	p, err := w.Optimizer.Ask(ctx, q)
	if err != nil || p.Origin == optimizer.OriginInitial {
		return p, err
	}
	w.proposals++
	for _, other := range q.Pending {
		far := 0.0
		for j, x := range p.Point {
			far = math.Max(far, math.Abs(x-other.Point[j]))
		}
		if far <= alike {
			w.repeats++
			break
		}
	}
	return p, nil
}

// rounds runs a study in batches: all trials of one have ended before the next is
// asked for.
func rounds(t *testing.T, opt optimizer.Optimizer, workers, trials int, f func(spaces.Point) float64) {
	t.Helper()
	for done := 0; done < trials; done += workers {
		q := optimizer.Query{}
		var batch []optimizer.Observation
		for k := range workers {
			q.Trial = done + k + 1
			p, err := opt.Ask(t.Context(), q)
			if err != nil {
				t.Fatalf("asking for trial %d: %v", q.Trial, err)
			}
			batch = append(batch, evaluated(q.Trial, p, f))
			q.Pending = append(q.Pending, optimizer.Pending{Trial: q.Trial, Point: p.Point})
		}
		for _, o := range batch {
			if err := opt.Tell(o); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// surfaces are those on which the best proposal of a careless model is the same
// again and again.
func surfaces(t *testing.T) []contractCase {
	unit := func(name string) spaces.Param {
		return spaces.Param{Name: name, Kind: spaces.KindFloat, Min: 0, Max: 1}
	}
	tenths := func(name string) spaces.Param {
		return spaces.Param{Name: name, Kind: spaces.KindFloat, Min: 0, Max: 10, Format: ".1f"}
	}
	make := func(params ...spaces.Param) *spaces.Space {
		s, err := spaces.New(params...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	plane := make(unit("x"), unit("y"))
	bowl := func(u spaces.Point) float64 {
		sum := 0.0
		for j, x := range u {
			d := x - 0.3 - 0.1*float64(j)
			sum -= d * d
		}
		return sum
	}
	return []contractCase{
		{name: "bowl", space: plane, f: bowl},
		{name: "tent", space: plane, f: func(u spaces.Point) float64 { return -math.Abs(u[0]-0.3) - math.Abs(u[1]-0.6) }},
		{name: "plateau", space: plane, f: func(u spaces.Point) float64 { return math.Round(50*math.Max(0.4, math.Exp(10*bowl(u)))) / 50 }},
		{name: "rounded", space: make(tenths("x"), tenths("y")), f: bowl},
		{name: "mixed", f: bowl, space: make(unit("x"), spaces.Param{Name: "n", Kind: spaces.KindInt, Min: 1, Max: 100},
			spaces.Param{Name: "kind", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("a"), spaces.String("b"), spaces.String("c")}},
			spaces.Param{Name: "on", Kind: spaces.KindBool})},
	}
}
