// Package suites_test holds the optimizer to what it must do on whole suites of problems, by
// what it exports alone. What a function or two can show is tested beside the optimizer itself.
package suites_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// objective is a problem as a maximization over the encoded cube.
func objective(t *testing.T, p problems.Problem) (*spaces.Space, func(spaces.Point) float64) {
	t.Helper()
	var params []spaces.Param
	for j := range p.Low {
		params = append(params, spaces.Param{Name: fmt.Sprintf("x%d", j), Kind: spaces.KindFloat, Min: p.Low[j], Max: p.High[j]})
	}
	space, err := spaces.New(params...)
	if err != nil {
		t.Fatal(err)
	}
	return space, func(u spaces.Point) float64 { return -p.Eval(p.FromUnit(u)) }
}

// observed returns what an objective without noise gives at a point of the cube, to be
// maximized; NaN where it fails.
func observed(o problems.Objective) func(spaces.Point) float64 {
	return func(u spaces.Point) float64 {
		y, ok := o.Observe(o.Space.Decode(u), 0)
		if !ok {
			return math.NaN()
		}
		return -y
	}
}

func newOptimizer(t *testing.T, space *spaces.Space, seed uint64) optimizer.Optimizer {
	t.Helper()
	opt, err := optimizer.New(space, seed, optimizer.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return opt
}

// runStudy asks and tells one trial after another, and returns what was told.
func runStudy(t *testing.T, opt optimizer.Optimizer, trials int, f func(spaces.Point) float64) []optimizer.Observation {
	t.Helper()
	var told []optimizer.Observation
	for k := 1; k <= trials; k++ {
		p, err := opt.Ask(t.Context(), optimizer.Query{Trial: k})
		if err != nil {
			t.Fatalf("asking for trial %d: %v", k, err)
		}
		told = append(told, evaluated(k, p, f))
		if err := opt.Tell(told[k-1]); err != nil {
			t.Fatalf("telling trial %d: %v", k, err)
		}
	}
	return told
}

// evaluated is a trial of f that has ended; where f is NaN, it failed.
func evaluated(trial int, p optimizer.Proposal, f func(spaces.Point) float64) optimizer.Observation {
	o := optimizer.Observation{Trial: trial, Proposal: p, Status: optimizer.Succeeded, Values: []float64{f(p.Point)}}
	if math.IsNaN(o.Value()) {
		o.Status = optimizer.Failed
	}
	return o
}

// Where trials fail no value bounds the objective. The steps that follow the bound
// must not therefore end there, once the best point is found and the rest of the
// search has stopped failing.
func TestEscapesDoNotSeekFailures(t *testing.T) {
	if effort.Sequential(true, false, false) {
		t.Skip("runs long studies")
	}
	failed, all := 0, 0
	for seed := range effort.Sequential[uint64](0, 1, 6) {
		o := problems.Hidden(seed)[0]
		for _, o := range runStudy(t, newOptimizer(t, o.Space, seed), 140, observed(o))[60:] {
			if o.Proposal.Origin == optimizer.OriginExplore {
				all++
				if o.Status == optimizer.Failed {
					failed++
				}
			}
		}
	}
	if all == 0 || 100*failed > 6*all {
		t.Errorf("%d of %d escapes failed", failed, all)
	}
}

// What lies beside a finished basin and leads into it is no basin of its own. On this objective
// each third trial repeated the best one of a wrong choice, to the last; leaving plateaus prevents
// that, too, so that it takes both to fail this.
func TestBesideAFinishedBasin(t *testing.T) {
	const seed = 51
	o := problems.Hidden(seed)[1]
	best := math.Inf(-1)
	for _, o := range runStudy(t, newOptimizer(t, o.Space, seed), 60, observed(o)) {
		if o.Status == optimizer.Succeeded {
			best = math.Max(best, o.Value())
		}
	}
	if best < -1e-3 {
		t.Errorf("the best of 60 is %g", best)
	}
}

// A program without noise is not told that its best value may be luck, however few the
// trials are and however rugged the values: nothing has shown yet that it is noisy.
func TestBestIsNotLuckWithoutNoise(t *testing.T) {
	for seed := range uint64(effort.Sequential(5, 5, 10)) {
		for _, p := range problems.Standard(50 + seed) {
			space, f := objective(t, p)
			opt := newOptimizer(t, space, 50+seed)
			best := math.Inf(-1)
			told := runStudy(t, opt, 10, f)
			for _, o := range told {
				best = math.Max(best, o.Value())
			}
			r, err := opt.(optimizer.Recommender).Recommend(t.Context())
			if err != nil || told[r.Trial-1].Value() < best {
				t.Errorf("%s, seed %d: trial %d is recommended with %g instead of the best %g (error %v)", p.Name, seed, r.Trial, told[r.Trial-1].Value(), best, err)
			}
		}
	}
}

// claims are uniform results of a function of the cube, said to be today's.
func claims(d int, seed uint64, n int, f func(x []float64) float64) optimizer.Earlier {
	e := optimizer.Earlier{Same: true}
	rng := rand.New(rand.NewPCG(seed, 5))
	for range n {
		p := make(spaces.Point, d)
		for j := range p {
			p[j] = rng.Float64()
		}
		e.Points, e.Values = append(e.Points, p), append(e.Values, f(p))
	}
	return e
}

// Results that are the same are believed, with noise and without, also where the search finds
// what they have not seen. The rule was chosen on the first ten functions.
func TestResultsThatAreTheSame(t *testing.T) {
	wrong, n := 0, 0
	for seed := range effort.Sequential[uint64](1, 2, 6) {
		for _, p := range slices.Concat(problems.Standard(70+seed), problems.Paper()) {
			for _, share := range []float64{0, 0.1} {
				space, f := objective(t, p)
				noise := rand.New(rand.NewPCG(seed, 6))
				rng := rand.New(rand.NewPCG(seed, 7))
				spread := 0.0
				for range 50 {
					spread = max(spread, math.Abs(f(space.Draw(rng))-f(space.Draw(rng))))
				}
				measured := func(x []float64) float64 { return f(x) + share*spread*noise.NormFloat64() }
				opt, err := optimizer.New(space, seed, optimizer.Settings{}, claims(space.Dim(), seed, 20, measured))
				if err != nil {
					t.Fatal(err)
				}
				for k := 1; k <= 15; k++ {
					p, err := opt.Ask(t.Context(), optimizer.Query{Trial: k})
					if err != nil {
						t.Fatal(err)
					}
					if k == 15 && len(p.Note.Contradicted) > 0 {
						wrong++
					}
					if err := opt.Tell(optimizer.Observation{Trial: k, Proposal: p, Status: optimizer.Succeeded, Values: []float64{measured(p.Point)}}); err != nil {
						t.Fatal(err)
					}
				}
				n++
			}
		}
	}
	t.Logf("%d of %d are not believed", wrong, n)
	if wrong > n/20 {
		t.Errorf("%d of %d are not believed", wrong, n)
	}
}
