package optimizer_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/optimizer/optimizertest"
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
	optimizertest.Run(t, effort.Of(8, 16, 30), func(space *spaces.Space, seed uint64) (optimizer.Optimizer, error) {
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
	outside := earlier(space, 1, 5, 0.5)
	outside.Points[2] = spaces.Point{1.5}
	for want, c := range map[string]struct {
		set optimizer.Settings
		e   optimizer.Earlier
	}{
		"method random":        {optimizer.Settings{Method: optimizer.MethodRandom}, good},
		"5 points but 4":       {e: optimizer.Earlier{Points: good.Points, Values: good.Values[:4]}},
		"too few for a model":  {e: optimizer.Earlier{Points: good.Points[:2], Values: good.Values[:2]}},
		"outside [0,1]":        {e: outside},
		"earlier study 1: tel": {e: optimizer.Earlier{Points: good.Points[:1], Values: []float64{math.Inf(1)}, Same: true}},
	} {
		if _, err := optimizer.New(space, 1, c.set, c.e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q; got %v", want, err)
		}
	}
}
