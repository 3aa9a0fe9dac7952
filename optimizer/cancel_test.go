package optimizer_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// looks is a context that counts how often it is looked at, and ends at one of these looks.
type looks struct {
	context.Context
	until int // 0: it does not end
	n     int
}

func (l *looks) Err() error {
	if l.n++; l.until > 0 && l.n >= l.until {
		return context.Canceled
	}
	return nil
}

// interrupted is a study whose Ask is broken off.
type interrupted struct {
	name        string
	set         optimizer.Settings
	objectives  int
	constraints int
	failing     bool
	noise       float64
	earlier     int // studies: a related one, and one that is contradicted
}

func interruptions() []interrupted {
	paper := optimizer.Settings{Preset: "paper"}
	paperTS := paper
	paperTS.Acquisition = "ts"
	return []interrupted{
		{name: "default"},
		{name: "noise", noise: 0.5},
		{name: "failures and constraints", failing: true, constraints: 2},
		{name: "two objectives", objectives: 2},
		{name: "three objectives and a constraint", objectives: 3, constraints: 1},
		{name: "four objectives", objectives: 4},
		{name: "paper", set: paper},
		{name: "paper, Thompson sampling", set: paperTS},
		{name: "slice", set: optimizer.Settings{Hyperparameters: "slice"}},
		{name: "direct", set: optimizer.Settings{Maximizer: "direct"}},
		{name: "Thompson sampling", set: optimizer.Settings{Acquisition: "ts"}},
		{name: "known constant", set: optimizer.Settings{LipschitzConstant: 30}},
		{name: "safety", set: optimizer.Settings{SafetyConstant: 0.1}},
		{name: "a related study", earlier: 1},
		{name: "a related study and a contradicted one", earlier: 2},
		{name: "random", set: optimizer.Settings{Method: "random"}},
		{name: "sobol", set: optimizer.Settings{Method: "sobol"}},
		{name: "lipschitz", set: optimizer.Settings{Method: "lipschitz"}},
	}
}

// start returns the study after n given trials in d dimensions.
func (c interrupted) start(t *testing.T, d, n int) optimizer.Optimizer {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	f := func(p spaces.Point, objective int) float64 {
		sum := 0.0
		for j, x := range p {
			away := x - 0.2 - 0.2*float64((j+objective)%4)
			sum -= away * away
		}
		return sum
	}
	draw := func() spaces.Point {
		p := make(spaces.Point, d)
		for j := range p {
			p[j] = rng.Float64()
		}
		return p
	}
	var earlier []optimizer.Earlier
	for k := range c.earlier {
		e := optimizer.Earlier{Same: k == 1}
		for range 30 {
			p := draw()
			e.Points, e.Values = append(e.Points, p), append(e.Values, f(p, 2*k))
		}
		earlier = append(earlier, e)
	}
	opt, err := optimizer.New(cube(d), 3, c.set, earlier...)
	if err != nil {
		t.Fatal(err)
	}
	for k := 1; k <= n; k++ {
		o := optimizer.Observation{Trial: k, Status: optimizer.Succeeded, Margin: 1,
			Proposal: optimizer.Proposal{Point: draw(), Origin: optimizer.OriginGiven}}
		for j := range max(c.objectives, 1) {
			o.Values = append(o.Values, f(o.Proposal.Point, j)+c.noise*rng.NormFloat64())
		}
		for j := range c.constraints {
			o.Constraints = append(o.Constraints, o.Proposal.Point[j]-0.7)
		}
		if c.failing && o.Proposal.Point[0] > 0.8 {
			o.Status, o.Values, o.Constraints = optimizer.Failed, nil, nil
		}
		if err := opt.Tell(o); err != nil {
			t.Fatal(err)
		}
	}
	return opt
}

// An Ask that is broken off says so after few more looks at its context, wherever it was, and
// so often does it look that none of its fits and searches is waited for.
func TestAskStopsSoonAfterItsContext(t *testing.T) {
	const few = 20
	for _, c := range interruptions() {
		t.Run(c.name, func(t *testing.T) {
			opt := c.start(t, 10, 300)
			for _, until := range effort.Sequential([]int{1, 3}, effort.Daily([]int{1, 17}, []int{1, 3, 17}), []int{1, 2, 3, 5, 9, 17, 33}) {
				if until > 1 && c.set.Method != "" {
					break // it has nothing to wait for
				}
				for trial := 301; trial <= 303; trial++ { // one of each kind of turn
					ctx := &looks{Context: t.Context(), until: until}
					if _, err := opt.Ask(ctx, optimizer.Query{Trial: trial}); !errors.Is(err, context.Canceled) {
						t.Fatalf("trial %d, to end at look %d: error %v after %d", trial, until, err, ctx.n)
					}
					if ctx.n > until+few {
						t.Errorf("trial %d, ended at look %d: went on for %d looks", trial, until, ctx.n-until)
					}
				}
			}
		})
	}
}

// Whatever was broken off, and wherever, leaves no trace: what is asked next is answered as by
// an optimizer that was never interrupted.
func TestWhatWasBrokenOffLeavesNoTrace(t *testing.T) {
	trials := effort.Sequential([]int{34}, effort.Daily([]int{34}, []int{32, 34}), []int{32, 33, 34, 35})
	soon := effort.Sequential([]int{2, 8}, effort.Daily([]int{2, 8}, []int{2, 4, 8, 16}), []int{2, 4, 8, 16})
	for i, c := range interruptions() {
		if i%effort.Sequential(3, 1, 1) != 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, trial := range trials {
				q := optimizer.Query{Trial: trial, Pending: []optimizer.Pending{{Trial: 31, Point: spaces.Point{0.3, 0.4, 0.5}}}}
				calls := map[string]func(context.Context, optimizer.Optimizer) (any, error){
					"ask": func(ctx context.Context, opt optimizer.Optimizer) (any, error) { return opt.Ask(ctx, q) },
				}
				if _, ok := c.start(t, 3, 30).(optimizer.Recommender); ok && c.objectives < 2 && trial == trials[0] {
					calls["recommend"] = func(ctx context.Context, opt optimizer.Optimizer) (any, error) {
						return opt.(optimizer.Recommender).Recommend(ctx)
					}
					calls["explain"] = func(ctx context.Context, opt optimizer.Optimizer) (any, error) {
						return opt.(optimizer.Explainer).Explain(ctx, q, slices.Values([]spaces.Point{{0.1, 0.2, 0.3}}))
					}
				}
				for name, call := range calls {
					want, err := call(t.Context(), c.start(t, 3, 30))
					if err != nil {
						t.Fatal(err)
					}
					opt, until, answered := c.start(t, 3, 30), 1, false
					for ; !answered; until++ {
						if c.earlier == 0 { // whose prior mean takes few of many looks
							until += until / 8
						}
						until += effort.Sequential(until/2, effort.Daily(until/4, 0), 0)
						// What one call has finished the next begins after: so ones that end soon follow.
						for _, end := range append([]int{until}, soon...) {
							ctx := &looks{Context: t.Context(), until: end}
							_, err := call(ctx, opt)
							if err == nil && ctx.n >= end || err != nil && !errors.Is(err, context.Canceled) {
								t.Fatalf("%s, ended at look %d of %d: error %v", name, end, ctx.n, err)
							}
							answered = answered || err == nil
						}
					}
					if got, err := call(t.Context(), opt); err != nil || !reflect.DeepEqual(got, want) {
						t.Errorf("trial %d, %s, broken off before look %d:\n%+v (%v), want\n%+v", trial, name, until, got, err, want)
					}
				}
			}
		})
	}
}
