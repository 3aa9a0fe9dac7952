package suites_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// What is said to be gained over today's values holds the truth, on functions on which nothing of
// it was chosen, where noise of 2, 10, 30 and 100 % of a deviation has shown itself, after 15, 25,
// 40 and 60 trials.
func TestGainHolds(t *testing.T) {
	seeds := effort.Sequential[uint64](0, 1, 12)
	all, held, tooMuch, sure, wrong := 0.0, 0.0, 0.0, 0.0, 0.0
	for seed := range seeds {
		for name, objectives := range judged(700 + seed) {
			n, holds := 0.0, 0.0
			for _, o := range objectives {
				for _, noise := range []float64{0.02, 0.1, 0.3, 1} {
					gainsOf(t, o, 700+seed, noise, func(said optimizer.Recommendation, truth float64) {
						n++
						if math.Abs(truth-said.Gain) <= 1.96*said.GainSD {
							holds++
						} else if truth < said.Gain {
							tooMuch++
						}
						if said.Gain > 1.96*said.GainSD {
							sure++
							if truth <= 0 {
								wrong++
							}
						}
					})
				}
			}
			t.Logf("seed %d, %s: %.0f of %.0f hold", seed, name, holds, n)
			all, held = all+n, held+holds
		}
	}
	t.Logf("%.1f %% of %.0f hold, %.1f %% promise too much; %.0f are sure of a gain, %.0f of them wrongly", 100*held/all, all, 100*tooMuch/all, sure, wrong)
	if seeds > 0 && (held/all < 0.88 || wrong > 0.05*all) {
		t.Errorf("%.1f %% of %.0f hold; %.0f of %.0f are wrongly sure of a gain", 100*held/all, all, wrong, sure)
	}
}

// gainsOf studies an objective from any values of today's, and tells of each gain that is said.
func gainsOf(t *testing.T, o problems.Objective, seed uint64, noise float64, told func(said optimizer.Recommendation, truth float64)) {
	t.Helper()
	space, f := o.Space, observed(o)
	rng := rand.New(rand.NewPCG(seed, 12))
	p := optimizer.Proposal{Origin: optimizer.OriginDefault}
	var values []float64
	for len(values) < 400 {
		at := space.Draw(rng)
		if v := f(at); !math.IsNaN(v) {
			p.Point, values = at, append(values, v)
		}
	}
	noise *= stat.PopStdDev(values, nil)
	opt := newOptimizer(t, space, seed)
	var truths []float64
	for trial := 1; trial <= 60; trial++ {
		if trial > 1 {
			var err error
			if p, err = opt.Ask(t.Context(), optimizer.Query{Trial: trial}); errors.Is(err, optimizer.ErrExhausted) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
		v := f(p.Point)
		truths = append(truths, v)
		if err := opt.Tell(evaluated(trial, p, func(spaces.Point) float64 { return v + noise*rng.NormFloat64() })); err != nil {
			t.Fatal(err)
		}
		switch trial {
		case 15, 25, 40, 60:
			r, err := opt.(optimizer.Recommender).Recommend(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r.Over > 0 {
				told(r, truths[r.Trial-1]-truths[r.Over-1])
			}
		}
	}
}
