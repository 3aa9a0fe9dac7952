package optimizer_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// earlier are random results of a bowl around a point.
func earlier(space *spaces.Space, seed uint64, n int, at float64) optimizer.Earlier {
	var e optimizer.Earlier
	rng := rand.New(rand.NewPCG(seed, 4))
	for range n {
		p, sum := space.Draw(rng), 0.0
		for j, x := range p {
			d := x - at - 0.05*float64(j)
			sum -= d * d
		}
		e.Points, e.Values = append(e.Points, p), append(e.Values, sum)
	}
	return e
}

// With earlier studies, too, proposals depend on nothing but what was told.
func TestContractWithEarlierStudies(t *testing.T) {
	effort.Thorough(t, "what is broken off, and a study's turns, have earlier studies as well")
	runContract(t, effort.Of(0, 10, 30), func(space *spaces.Space, seed uint64) (optimizer.Optimizer, error) {
		return optimizer.New(space, seed, optimizer.Settings{}, earlier(space, 1, 10, 0.35), earlier(space, 2, 10, 0.7))
	})
}

func TestEarlierStudiesOfTheSameObjective(t *testing.T) {
	space, err := spaces.New(spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1},
		spaces.Param{Name: "y", Kind: spaces.KindFloat, Min: 0, Max: 1})
	if err != nil {
		t.Fatal(err)
	}
	e := earlier(space, 1, 20, 0.35)
	e.Same = true
	e.Values[7] = math.NaN()
	opt, err := optimizer.New(space, 3, optimizer.Settings{}, e)
	if err != nil {
		t.Fatal(err)
	}
	rec := opt.(optimizer.Recommender)
	if r, err := rec.Recommend(t.Context()); err == nil {
		t.Errorf("trial %d is recommended before there is one", r.Trial)
	}
	for k := 1; k <= 6; k++ {
		p, err := opt.Ask(t.Context(), optimizer.Query{Trial: k})
		if err != nil {
			t.Fatal(err)
		}
		if p.Origin == optimizer.OriginInitial {
			t.Errorf("trial %d fills a space that is known: %s", k, p.Note.Why)
		}
		// All that this study finds is worse than what is known.
		o := optimizer.Observation{Trial: k, Proposal: p, Status: optimizer.Succeeded, Values: []float64{-10 - float64(k)}}
		if err := opt.Tell(o); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := rec.Recommend(t.Context()); err != nil || r.Trial < 1 {
		t.Errorf("trial %d is recommended, %v; want one of this study", r.Trial, err)
	}
}

func TestEarlierStudiesThatCannotBe(t *testing.T) {
	space, err := spaces.New(spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1})
	if err != nil {
		t.Fatal(err)
	}
	good := earlier(space, 1, 5, 0.5)
	for want, c := range map[string]struct {
		set optimizer.Settings
		e   optimizer.Earlier
	}{
		"method random does not learn from earlier studies; lbo does":         {optimizer.Settings{Method: "random"}, good},
		"earlier study 1: 2 results are too few for a model; want at least 3": {e: optimizer.Earlier{Points: good.Points[:2], Values: good.Values[:2]}},
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := optimizer.New(space, 1, c.set, c.e); err == nil || err.Error() != want {
				t.Errorf("want %s; got %v", want, err)
			}
		})
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

// Results that are said to be today's and are not count as related once they are contradicted,
// and cost the search little.
func TestResultsThatAreNotTheSame(t *testing.T) {
	bowl := func(x []float64) float64 { return -(x[0]-0.4)*(x[0]-0.4) - (x[1]-0.6)*(x[1]-0.6) }
	moved := func(x []float64) float64 { return 0.3 + bowl([]float64{x[0] - 0.3, x[1] + 0.4}) }
	space := cube(2)
	for seed := range effort.Sequential[uint64](1, 4, 8) {
		opt, err := optimizer.New(space, seed, optimizer.Settings{}, claims(2, seed, 40, moved))
		if err != nil {
			t.Fatal(err)
		}
		late, err := optimizer.New(space, seed, optimizer.Settings{}, claims(2, seed, 40, moved)) // asked once, when it knows 19
		if err != nil {
			t.Fatal(err)
		}
		var twentieth optimizer.Proposal
		told := func(k int, o optimizer.Observation) error {
			if k == 20 {
				twentieth = o.Proposal
			}
			if k < 20 {
				return late.Tell(o)
			}
			return nil
		}
		best, at := math.Inf(-1), 0
		for k := 1; k <= 25; k++ {
			p, err := opt.Ask(t.Context(), optimizer.Query{Trial: k})
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Note.Contradicted) > 0 && at == 0 {
				at = k
			}
			best = max(best, bowl(p.Point))
			o := optimizer.Observation{Trial: k, Proposal: p, Status: optimizer.Succeeded, Values: []float64{bowl(p.Point)}}
			if err := errors.Join(opt.Tell(o), told(k, o)); err != nil {
				t.Fatal(err)
			}
		}
		if again, err := late.Ask(t.Context(), optimizer.Query{Trial: 20}); err != nil || !reflect.DeepEqual(again, twentieth) {
			t.Errorf("seed %d: asked anew, trial 20 is %+v, %v; it was %+v", seed, again, err, twentieth)
		}
		t.Logf("seed %d: contradicted at trial %d, best %g", seed, at, -best)
		if at == 0 || at > 8 || best < -1e-5 {
			t.Errorf("seed %d: contradicted at trial %d, and %g short of the best", seed, at, -best)
		}
	}
}
