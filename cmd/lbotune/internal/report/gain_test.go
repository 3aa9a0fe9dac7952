package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// gaining is a noisy study of 60 trials whose first has today's values, and whose best are run again
// as often as each of confirms says: of one search there is a history for each. Today's values are such
// that a search might gain so many deviations of the noise.
func gaining(t *testing.T, seed uint64, judged bool, deviations float64, confirms []int) (ended []*history, truth []float64, noise float64) {
	t.Helper()
	source := rand.NewPCG(seed, 21)
	rng := rand.New(source)
	params := spaceOf([]string{"float", "float", "mixed", "conditional"}[seed%4], rng)
	p := problem{params: params, f: sums(params, judged, rng)}
	for _, confirm := range confirms {
		ended = append(ended, beginAs(t, func(c *study.Config) { c.Run.Confirm, c.Seed, c.Budget.Trials = confirm, seed, 60 }, params...))
	}
	h := ended[0]
	space := h.st.Search.Space
	var points []spaces.Point
	var values []float64
	for range 4000 {
		points = append(points, space.Draw(rng))
		values = append(values, p.value(space, points[len(points)-1]))
	}
	noise = []float64{0.1, 0.3, 0.6}[rng.IntN(3)] * stat.PopStdDev(values, nil)
	least, today := slices.Min(values), 0
	for i, v := range values {
		if math.Abs(v-least-deviations*noise) < math.Abs(values[today]-least-deviations*noise) {
			today = i
		}
	}
	opt, err := optimizer.New(space, seed, h.st.Search.Settings)
	if err != nil {
		t.Fatal(err)
	}
	measure := func(n int) study.Metrics { return study.Metrics{"loss": truth[n-1] + noise*rng.NormFloat64()} }
	a := optimizer.Proposal{Point: points[today], Origin: optimizer.OriginDefault}
	for n := 1; n <= 60; n++ {
		if n > 1 {
			if a, err = opt.Ask(t.Context(), optimizer.Query{Trial: n}); err != nil {
				break
			}
		}
		truth = append(truth, p.value(space, a.Point))
		v, result := space.Decode(a.Point), measure(n)
		for _, h := range ended {
			h.record(study.Proposed{Trial: n, Told: n - 1, Origin: a.Origin, Values: v, Note: a.Note}, study.Started{Trial: n, Attempt: 1},
				study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded, Metrics: result, Seconds: 1})
		}
		if err := opt.Tell(h.st.Observation(h.st.Trials[n-1])); err != nil {
			t.Fatal(err)
		}
	}
	r, err := opt.(optimizer.Recommender).Recommend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	after := *source // the search: each history goes on from there
	for _, h := range ended {
		*source = after
		for u := h.st.Unconfirmed(); len(u) > 0; u = h.st.Unconfirmed() {
			h.record(study.Confirmed{Trial: u[0].Number, Attempt: u[0].NextAttempt(), Metrics: measure(u[0].Number)})
		}
		end := study.Closed{Why: study.EndTrials, Recommended: &study.Recommended{Trial: r.Trial, Mean: -r.Mean, SD: r.SD}}
		if r.Over > 0 {
			end.Recommended.Gain = &study.Gain{Over: r.Over, By: r.Gain, SD: r.GainSD}
		}
		h.record(end)
	}
	return ended, truth, noise
}

// What is said to be gained at the end of noisy studies, whose best trials and today's values were run
// again, holds the truth, and where nothing was gained it is seldom said to be.
func TestGainIsTrue(t *testing.T) {
	effort.Quality(t)
	confirms := effort.Of([]int{0, 3}, []int{0, 3}, []int{0, 3, 15}) // of 60 trials, 12 and 60 runs more
	for _, judged := range []bool{false, true} {
		studies := map[bool]uint64{true: effort.Of(0, effort.Daily[uint64](12, 24), 1000), false: effort.Of[uint64](0, 0, 240)}[judged]
		if studies == 0 {
			continue
		}
		type count struct {
			n, held, wrong float64
			none           int
			power          [4][2]int
		}
		counts := make([]count, len(confirms))
		for k := range studies {
			seed := k
			if judged {
				seed += 10000
			}
			ended, truth, noise := gaining(t, seed, judged, []float64{0, 0.5, 1, 1.5, 2, 3}[k%6], confirms)
			for j, h := range ended {
				c, g := &counts[j], GainOf(&h.st)
				if g == nil {
					c.none++
					continue
				}
				c.n++
				gained := truth[g.Over-1] - truth[g.Trial-1]
				if math.Abs(gained-g.By) <= g.Margin {
					c.held++
				}
				if g.Sure && gained <= 0 {
					c.wrong++
				}
				for i, from := range []float64{0.25, 0.75, 1.25, 1.75} {
					if gained >= from*noise && gained < (from+0.5)*noise {
						c.power[i][1]++
						if g.Sure {
							c.power[i][0]++
						}
					}
				}
			}
		}
		for j, c := range counts {
			t.Logf("judged %v, confirm %d: of %d studies nothing is said in %d; %.1f %% of %.0f intervals hold, %.0f say better and are wrong; of gains of 0.5, 1, 1.5 and 2 deviations are sure: %v",
				judged, confirms[j], studies, c.none, 100*c.held/c.n, c.n, c.wrong, c.power)
			if effort.Long() && (c.held < 0.9*c.n || c.held > 0.98*c.n) || c.wrong > 0.05*c.n {
				t.Errorf("judged %v, confirm %d: %.0f of %.0f intervals hold, %.0f are wrongly sure", judged, confirms[j], c.held, c.n, c.wrong)
			}
		}
	}
}

// A gain is said to be one only where its interval lies above 0.
func TestGainSaysHowSureItIs(t *testing.T) {
	for want, g := range map[string]study.Gain{
		"trial 7 beats the first trial by 0.5 ± 0.392 (95 % interval, without the noise)":                   {Over: 1, By: 0.5, SD: 0.2},
		"trial 7 can't be told apart from the first trial: 0.3 ± 0.392 (95 % interval, without the noise)":  {Over: 1, By: 0.3, SD: 0.2},
		"trial 7 can't be told apart from the first trial: -0.5 ± 0.392 (95 % interval, without the noise)": {Over: 1, By: -0.5, SD: 0.2},
		"trial 7 beats the first trial by 0.5 ± 0 (95 % interval, without the noise)":                       {Over: 1, By: 0.5},
	} {
		t.Run(want, func(t *testing.T) {
			h := begin(t, float("x"))
			h.trial(0.5)
			h.st.Closed = &study.Closed{Recommended: &study.Recommended{Trial: 7, Gain: &g}}
			if got := GainOf(&h.st).Text(); got != want {
				t.Errorf("%+v: %q; want %q", g, got, want)
			}
		})
	}
	limited := beginAs(t, func(c *study.Config) { c.Metrics[1].Max = new(float64) }, float("x"))
	limited.trial(0.5)
	limited.st.Closed = &study.Closed{Recommended: &study.Recommended{Trial: 7, Gain: &study.Gain{Over: 1, By: 0.5, SD: 0.2}}}
	for name, st := range map[string]*study.State{
		"one whose first breaks a limit": &limited.st,
		"a study that goes on":           {},
		"one without a choice":           {Closed: &study.Closed{}},
		"one without noise so far":       {Closed: &study.Closed{Recommended: &study.Recommended{Trial: 7}}},
		"one that lies":                  {Closed: &study.Closed{Recommended: &study.Recommended{Trial: 7, Gain: &study.Gain{Over: 9}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if g := GainOf(st); g != nil {
				t.Errorf("%s: %+v", name, g)
			}
		})
	}
}
