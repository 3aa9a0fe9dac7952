package suites_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// judged are functions on which the factors of the bands were not chosen, in at most six
// dimensions or of parameters of all kinds; some fail in places.
func judged(seed uint64) map[string][]problems.Objective {
	out := map[string][]problems.Objective{"mixed": problems.Mixed(seed), "failing": problems.Hidden(seed)}
	for name, suite := range map[string][]problems.Problem{
		"paper": problems.Paper(), "standard": problems.Standard(seed), "basins": problems.ManyBasins(seed), "deceptive": problems.Deceptive(seed),
	} {
		for _, p := range suite {
			if p.Dim() <= 6 {
				out[name] = append(out[name], p.Objective())
			}
		}
	}
	return out
}

// The bands of 95 % hold the truth about as often as they say: at uniform points, on slices
// through the best trial, and at the next proposal; without noise, and with 2, 10 and 30 % of the
// function's standard deviation; after 10, 14, 29 and 60 trials.
func TestBandsHold(t *testing.T) {
	seeds, noises := effort.Sequential[uint64](1, 1, 12), effort.Sequential([]float64{0.02}, []float64{0, 0.1}, []float64{0, 0.02, 0.1, 0.3})
	all, held := map[string][3]float64{}, map[string][3]float64{}
	var total, right float64
	for seed := range seeds {
		for name, objectives := range judged(500 + seed) {
			for _, o := range objectives {
				for _, noise := range noises {
					bandsOf(t, o, 500+seed, noise, func(kind int, holds bool) {
						a, h := all[name], held[name]
						a[kind]++
						total++
						if holds {
							h[kind]++
							right++
						}
						all[name], held[name] = a, h
					})
				}
			}
		}
	}
	for name, n := range all {
		for kind, what := range []string{"uniform points", "slices", "the next proposal"} {
			share := held[name][kind] / n[kind]
			t.Logf("%s: %.1f %% of %.0f bands at %s hold", name, 100*share, n[kind], what)
			if seeds > 1 && (share < 0.9 || share > 0.99) {
				t.Errorf("%s: %.1f %% of %.0f bands at %s hold", name, 100*share, n[kind], what)
			}
		}
	}
	if share := right / total; share < 0.92 || share > 0.98 {
		t.Errorf("%.1f %% of the bands of 95 %% hold", 100*share)
	}
}

// bandsOf studies an objective, and tells of each band that is looked at whether it holds.
func bandsOf(t *testing.T, o problems.Objective, seed uint64, noise float64, look func(kind int, holds bool)) {
	t.Helper()
	space, f := o.Space, observed(o)
	rng := rand.New(rand.NewPCG(seed, 11))
	var values []float64
	for range 400 {
		if v := f(space.Draw(rng)); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	noise *= stat.PopStdDev(values, nil)
	opt, err := optimizer.New(space, seed, optimizer.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	best, most := spaces.Point(nil), math.Inf(-1)
	for trial := 1; trial <= 61; trial++ {
		proposal, err := opt.Ask(t.Context(), optimizer.Query{Trial: trial})
		if errors.Is(err, optimizer.ErrExhausted) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		switch trial {
		case 11, 15, 30, 61:
			points, kinds := []spaces.Point{proposal.Point}, []int{2}
			for range 50 {
				points, kinds = append(points, space.Draw(rng)), append(kinds, 0)
			}
			for j := range best {
				for i := range 10 {
					at := append(spaces.Point{}, best...)
					at[j] = (float64(i) + 0.5) / 10
					points, kinds = append(points, space.Snap(at)), append(kinds, 1)
				}
			}
			e, err := opt.(optimizer.Explainer).Explain(t.Context(), optimizer.Query{Trial: trial}, slices.Values(points))
			if errors.Is(err, optimizer.ErrNoModel) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, b := range e.Beliefs {
				if truth := f(points[i]); !math.IsNaN(truth) {
					look(kinds[i], b.Low <= truth && truth <= b.High)
				}
			}
		}
		told := optimizer.Observation{Trial: trial, Proposal: proposal, Status: optimizer.Failed}
		if v := f(proposal.Point) + noise*rng.NormFloat64(); !math.IsNaN(v) {
			told.Status, told.Values = optimizer.Succeeded, []float64{v}
			if v > most {
				best, most = proposal.Point, v
			}
		}
		if err := opt.Tell(told); err != nil {
			t.Fatal(err)
		}
	}
}
