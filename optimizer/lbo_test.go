package optimizer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

func newOptimizer(t *testing.T, space *spaces.Space, seed uint64, s optimizer.Settings) optimizer.Optimizer {
	t.Helper()
	opt, err := optimizer.New(space, seed, s)
	if err != nil {
		t.Fatal(err)
	}
	return opt
}

// regrets runs studies of some seeds and returns their simple regrets, sorted.
func regrets(t *testing.T, p function, s optimizer.Settings, trials, seeds int) []float64 {
	t.Helper()
	space, f := objective(t, p)
	var out []float64
	for seed := range seeds {
		best := math.Inf(1)
		for _, o := range runStudy(t, newOptimizer(t, space, uint64(seed), s), trials, f) {
			best = math.Min(best, p.regret(-o.Value()))
		}
		out = append(out, best)
	}
	sort.Float64s(out)
	return out
}

func TestDefaultReachesTheOptimum(t *testing.T) {
	for _, c := range []struct {
		p      function
		trials int
		regret float64
	}{
		{branin(), 45, 1e-6},
		{goldsteinPrice(), 60, 1e-4},
		{hartmann3(), 50, 1e-5},
		{rosenbrock(2), 100, 1e-2},
	} {
		t.Run(c.p.name, func(t *testing.T) {
			if c.trials > 45 {
				effort.Quality(t)
			}
			if r := regrets(t, c.p, optimizer.Settings{}, c.trials, 3); r[1] > c.regret {
				t.Errorf("regrets %v after %d trials, want a median of at most %g", r, c.trials, c.regret)
			}
		})
	}
}

// TestEverySelectable runs each setting on Branin, where 30 uniform points have
// a median regret of about 1, and asks for what that setting must leave behind.
func TestEverySelectable(t *testing.T) {
	effort.Quality(t)
	for name, c := range map[string]struct {
		s    optimizer.Settings
		want float64 // median regret
		why  string  // a reason that must be given at least once
	}{
		"pi":            {optimizer.Settings{Acquisition: "pi"}, 0.1, "acquisition"},
		"ucb":           {optimizer.Settings{Acquisition: "ucb"}, 0.5, "acquisition"},
		"ts":            {optimizer.Settings{Acquisition: "ts"}, 0.5, "acquisition"},
		"ei off":        {optimizer.Settings{Lipschitz: "off"}, 0.1, "acquisition"},
		"ei clip":       {optimizer.Settings{Lipschitz: "clip"}, 0.1, "acquisition"},
		"pi off":        {optimizer.Settings{Acquisition: "pi", Lipschitz: "off"}, 0.1, "acquisition"},
		"ucb reject":    {optimizer.Settings{Acquisition: "ucb", Lipschitz: "reject"}, 0.5, "acquisition"},
		"ucb off":       {optimizer.Settings{Acquisition: "ucb", Lipschitz: "off"}, 0.5, "acquisition"},
		"ucb fixed":     {optimizer.Settings{Acquisition: "ucb", Beta: "4"}, 0.5, "acquisition"},
		"ucb kandasamy": {optimizer.Settings{Acquisition: "ucb", Beta: "kandasamy"}, 1.5, "acquisition"},
		"ucb group":     {optimizer.Settings{Acquisition: "ucb", Beta: "group"}, 0.5, "acquisition"},
		"ts off":        {optimizer.Settings{Acquisition: "ts", Lipschitz: "off"}, 0.5, "acquisition"},
		"ts rff":        {optimizer.Settings{Acquisition: "ts", Thompson: "rff"}, 0.5, "acquisition"},
		"ts truncate":   {optimizer.Settings{Acquisition: "ts", Lipschitz: "truncate"}, 0.5, "acquisition"},
		"known":         {optimizer.Settings{LipschitzConstant: 1673}, 0.1, "acquisition"},
		"slope":         {optimizer.Settings{Estimator: "slope"}, 0.1, "acquisition"},
		"gradient":      {optimizer.Settings{Estimator: "gradient"}, 0.1, "acquisition"},
		"cube metric":   {optimizer.Settings{Metric: "cube"}, 0.1, "acquisition"},
		"root":          {optimizer.Settings{Schedule: "root"}, 0.1, "acquisition"},
		"paper t":       {optimizer.Settings{Schedule: "paper", Kappa: 10}, 0.1, "acquisition"},
		"random":        {optimizer.Settings{ExploreEvery: 4, Explore: "random"}, 0.1, "uniform within the Lipschitz bounds"},
		"explore bound": {optimizer.Settings{ExploreEvery: 4}, 0.1, "largest Lipschitz upper bound"},
		"explore off":   {optimizer.Settings{ExploreEvery: 4, Lipschitz: "off"}, 0.1, "far from all points"},
		"local off":     {optimizer.Settings{Local: "off"}, 0.1, "acquisition"},
		"sobol":         {optimizer.Settings{Design: "sobol", DesignSize: 8}, 0.1, "initial design"},
		"random design": {optimizer.Settings{Design: "random", DesignSize: 8}, 0.1, "initial design"},
		"slice":         {optimizer.Settings{Hyperparameters: "slice"}, 0.1, "acquisition"},
		"direct":        {optimizer.Settings{Maximizer: "direct"}, 0.1, "acquisition"},
		"identity":      {optimizer.Settings{Warp: "identity"}, 0.1, "acquisition"},
		"log":           {optimizer.Settings{Warp: "log"}, 0.1, "acquisition"},
		"asinh":         {optimizer.Settings{Warp: "asinh"}, 0.1, "acquisition"},
		"yeo-johnson":   {optimizer.Settings{Warp: "yeo-johnson"}, 0.1, "acquisition"},
		"noise 0":       {optimizer.Settings{Noise: "0"}, 0.1, "acquisition"},
		"noise 1":       {optimizer.Settings{Noise: "1"}, 0.5, "acquisition"},
		"lipschitz":     {optimizer.Settings{Method: "lipschitz"}, 2, "Lipschitz"},
		"paper":         {optimizer.Settings{Preset: "paper"}, 0.5, "uniform within the Lipschitz bounds"},
		"paper ts":      {optimizer.Settings{Preset: "paper", Acquisition: "ts"}, 0.5, "acquisition"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := branin()
			space, f := objective(t, p)
			said, model := "", 0
			var r []float64
			for seed := range effort.Daily[uint64](1, 3) {
				best := math.Inf(1)
				for _, o := range runStudy(t, newOptimizer(t, space, seed, c.s), 30, f) {
					best = math.Min(best, p.regret(-o.Value()))
					said += o.Proposal.Note.Why + "\n"
					if o.Proposal.Origin == optimizer.OriginModel {
						model++
					}
					if o.Proposal.Origin == "fallback" {
						t.Errorf("trial %d fell back: %s", o.Trial, o.Proposal.Note.Why)
					}
				}
				r = append(r, best)
			}
			sort.Float64s(r)
			if r[len(r)/2] > c.want || model == 0 || !strings.Contains(said, c.why) {
				t.Errorf("regrets %v, want a median of at most %g; %d proposals of the model; %q was said: %v",
					r, c.want, model, c.why, strings.Contains(said, c.why))
			}
		})
	}
}

// TestHugeBetaIsRescued repeats the paper's experiment with beta = 10^16: plain
// UCB looks at nothing but the uncertainty, while the bound caps it.
func TestHugeBetaIsRescued(t *testing.T) {
	effort.Quality(t)
	const huge = "1e16"
	plain := optimizer.Settings{Acquisition: "ucb", Beta: huge, Local: "off", Lipschitz: "off"}
	bounded := optimizer.Settings{Acquisition: "ucb", Beta: huge, Local: "off"}
	p := hartmann3()
	without, with := regrets(t, p, plain, 40, 5), regrets(t, p, bounded, 40, 5)
	if with[2] > without[2]/2 {
		t.Errorf("median regret %g with the bound, %g without: no rescue", with[2], without[2])
	}
}

func TestNotesDescribeTheProposal(t *testing.T) {
	space, f := objective(t, hartmann3())
	told := runStudy(t, newOptimizer(t, space, 1, optimizer.Settings{}), 30, f)
	for _, o := range told[10:] {
		n := o.Proposal.Note
		var kept struct {
			Fit *struct {
				N    int
				Warp string
			}
			Step *struct{ Radius, Gain float64 }
		}
		if err := json.Unmarshal(n.State, &kept); err != nil {
			t.Fatal(err)
		}
		if kept.Fit == nil || kept.Fit.N < 1 || kept.Fit.N >= o.Trial || kept.Fit.Warp == "" {
			t.Fatalf("trial %d: the fit is not kept: %s", o.Trial, n.State)
		}
		l := n.Lipschitz
		if l == nil || l.Slope <= 0 || l.Constant < 2*l.Slope || l.Excluded < 0 || l.Excluded > 1 || l.Gap != nil && *l.Gap < 0 {
			t.Fatalf("trial %d: the Lipschitz bounds are not described: %+v", o.Trial, l)
		}
		if o.Proposal.Origin == "local" && (kept.Step == nil || kept.Step.Gain <= 0 || kept.Step.Radius <= 0) {
			t.Errorf("trial %d: the step is not kept: %s", o.Trial, n.State)
		}
	}
}

func TestExplorationNeverEnds(t *testing.T) {
	space, f := objective(t, hartmann3())
	told := runStudy(t, newOptimizer(t, space, 1, optimizer.Settings{}), 64, f)
	for k, where := range map[int]string{12: "uniform", 28: "largest", 44: "uniform", 60: "largest"} {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			if p := told[k-1].Proposal; p.Origin != optimizer.OriginExplore || !strings.HasPrefix(p.Note.Why, where) {
				t.Errorf("trial %d is of origin %s: %s", k, p.Origin, p.Note.Why)
			}
		})
	}
}

func TestRecommendUnderNoise(t *testing.T) {
	p := branin()
	space, f := objective(t, p)
	const sd = 15 // about 5 % of the range
	noise := rand.New(rand.NewPCG(1, 2))
	opt := newOptimizer(t, space, 3, optimizer.Settings{})
	rec, ok := opt.(optimizer.Recommender)
	if !ok {
		t.Fatal("the default method recommends nothing")
	}
	if _, err := rec.Recommend(t.Context()); !errors.Is(err, optimizer.ErrNoModel) {
		t.Errorf("without a success: got error %v", err)
	}
	told := runStudy(t, opt, 60, func(u spaces.Point) float64 { return f(u) + sd*noise.NormFloat64() })
	r, err := rec.Recommend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	regret := p.regret(-f(told[r.Trial-1].Proposal.Point))
	if regret > sd {
		t.Errorf("the recommended trial %d has a noiseless regret of %g", r.Trial, regret)
	}
	if truth := f(told[r.Trial-1].Proposal.Point); math.Abs(r.Mean-truth) > 4*math.Max(r.SD, 1) || r.SD <= 0 {
		t.Errorf("the expectation %g ± %g is far from the truth %g", r.Mean, r.SD, truth)
	}
}

func TestRecommendWithoutNoise(t *testing.T) {
	space, f := objective(t, branin())
	opt := newOptimizer(t, space, 3, optimizer.Settings{})
	best := math.Inf(-1)
	trial := 0
	for _, o := range runStudy(t, opt, 20, f) {
		if o.Value() > best {
			best, trial = o.Value(), o.Trial
		}
	}
	r, err := opt.(optimizer.Recommender).Recommend(t.Context())
	if err != nil || r.Trial != trial || r.Mean != best {
		t.Errorf("recommended %+v (error %v), want trial %d with %g", r, err, trial, best)
	}
}

// TestFailuresAreAvoided: a third of the cube fails. Of uniform points, so do a
// third; of the last proposals at most a third of that.
func TestFailuresAreAvoided(t *testing.T) {
	effort.Quality(t)
	p := hartmann6()
	space, f := objective(t, p)
	failing := func(u spaces.Point) float64 {
		if u[0]+u[3] > 1.18 {
			return math.NaN()
		}
		return f(u)
	}
	late := 0
	const seeds = 4
	for seed := range uint64(seeds) {
		told := runStudy(t, newOptimizer(t, space, seed, optimizer.Settings{}), 60, failing)
		for _, o := range told[30:] {
			if o.Status == optimizer.Failed {
				late++
			}
		}
	}
	if share := float64(late) / float64(30*seeds); share > 1.0/9 {
		t.Errorf("%.0f %% of the last trials failed", 100*share)
	}
}

// TestPrunedTrialsAreNoValues: pruned trials with absurd readings change neither
// what is recommended nor the scale of the model.
func TestPrunedTrialsAreNoValues(t *testing.T) {
	space, f := objective(t, branin())
	opt := newOptimizer(t, space, 1, optimizer.Settings{})
	best := math.Inf(-1)
	for k := 1; k <= 40; k++ {
		p, err := opt.Ask(t.Context(), optimizer.Query{Trial: k})
		if err != nil {
			t.Fatal(err)
		}
		o := evaluated(k, p, f)
		if o.Value() < -60 && k > 5 {
			o.Status, o.Values = optimizer.Pruned, []float64{1e9}
		} else {
			best = math.Max(best, o.Value())
		}
		if err := opt.Tell(o); err != nil {
			t.Fatal(err)
		}
	}
	r, err := opt.(optimizer.Recommender).Recommend(t.Context())
	if err != nil || r.Mean != best {
		t.Errorf("recommended %+v (error %v), want the value %g", r, err, best)
	}
	if best < -0.45 {
		t.Errorf("the best value is %g, the maximum -0.398", best)
	}
}

// TestMixedSpace: choices and ints are searched, not only floats.
func TestMixedSpace(t *testing.T) {
	effort.Quality(t)
	choice := func(name string, levels ...string) spaces.Param {
		p := spaces.Param{Name: name, Kind: spaces.KindChoice}
		for _, l := range levels {
			p.Choices = append(p.Choices, spaces.String(l))
		}
		return p
	}
	space, err := spaces.New(
		spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1},
		spaces.Param{Name: "n", Kind: spaces.KindInt, Min: 1, Max: 100},
		choice("a", "p", "q", "r", "s"), choice("b", "p", "q", "r"), spaces.Param{Name: "c", Kind: spaces.KindBool})
	if err != nil {
		t.Fatal(err)
	}
	f := func(u spaces.Point) float64 {
		v := space.Decode(u)
		x, n := v[0].Value.Any().(float64), float64(v[1].Value.Any().(int64))
		y := -(x-0.3)*(x-0.3) - (n-71)*(n-71)/1e4
		if v[2].Value.Text() != "r" {
			y -= 0.3
		}
		if v[3].Value.Text() != "q" {
			y -= 0.3
		}
		if v[4].Value.Any() != true {
			y -= 0.2
		}
		return y
	}
	reached, seeds := 0, 3
	for seed := range uint64(seeds) {
		best := math.Inf(-1)
		for _, o := range runStudy(t, newOptimizer(t, space, seed, optimizer.Settings{}), 60, f) {
			best = math.Max(best, o.Value())
		}
		if best > -1e-4 {
			reached++
		}
	}
	if 2*reached < seeds {
		t.Errorf("%d of %d studies found the right levels and came close in the others", reached, seeds)
	}
}

// The optimum lies where a relation ends: the search follows the border, and comes as near
// to the best allowed value as it does inside.
func TestRelationsAreFollowed(t *testing.T) {
	space, err := spaces.New(spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1},
		spaces.Param{Name: "y", Kind: spaces.KindFloat, Min: 0, Max: 1})
	if err != nil {
		t.Fatal(err)
	}
	// Inside the circle of radius ½ around the origin the nearest point to (0.8, 0.6) is
	// (0.4, 0.3), at the distance ½.
	space, err = space.Where(spaces.Relation{Text: "x² + y² ≤ ¼", Holds: func(v spaces.Values) bool {
		x, _ := v[0].Value.Number()
		y, _ := v[1].Value.Number()
		return x*x+y*y <= 0.25
	}})
	if err != nil {
		t.Fatal(err)
	}
	f := func(p spaces.Point) float64 {
		if !space.Allows(p) {
			t.Errorf("%v was proposed", p)
		}
		return -math.Hypot(p[0]-0.8, p[1]-0.6)
	}
	all := []optimizer.Settings{{}, {Acquisition: "ucb", Design: "sobol"}, {Maximizer: "direct"}, {Preset: "paper"}, {Acquisition: "ts"}}
	for _, s := range all[:effort.Sequential(1, len(all), len(all))] {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			t.Parallel()
			best := math.Inf(-1)
			for _, o := range runStudy(t, newOptimizer(t, space, 1, s), 30, f) {
				best = math.Max(best, o.Value())
			}
			if miss := -0.5 - best; miss > 1e-3 {
				t.Errorf("%+v misses the optimum by %g", s, miss)
			}
		})
	}
}

// Where a relation leaves next to nothing, proposals obey it all the same, and differ.
func TestThinSpacesAreSearched(t *testing.T) {
	space, err := spaces.New(spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1},
		spaces.Param{Name: "y", Kind: spaces.KindFloat, Min: 0, Max: 1})
	if err != nil {
		t.Fatal(err)
	}
	space, err = space.Where(spaces.Relation{Text: "x is y, nearly", Holds: func(v spaces.Values) bool {
		x, _ := v[0].Value.Number()
		y, _ := v[1].Value.Number()
		return math.Abs(x-y) < 1e-3
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"lbo", "random", "sobol", "lipschitz"} {
		t.Run(method, func(t *testing.T) {
			best := math.Inf(-1)
			told := runStudy(t, newOptimizer(t, space, 1, optimizer.Settings{Method: method}), 12, func(p spaces.Point) float64 {
				if !space.Allows(p) {
					t.Errorf("%s proposed %v", method, p)
				}
				return -math.Abs(p[0] - 0.3)
			})
			for _, o := range told {
				best = math.Max(best, o.Value())
			}
			if len(told) < 12 || best < -0.1 {
				t.Errorf("%s: %d proposals, the best misses by %g", method, len(told), -best)
			}
		})
	}
}
