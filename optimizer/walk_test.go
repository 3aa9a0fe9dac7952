package optimizer

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

func floatsOf(t *testing.T, d int) *spaces.Space {
	t.Helper()
	var params []spaces.Param
	for i := range d {
		params = append(params, spaces.Param{Name: fmt.Sprint("x", i), Kind: spaces.KindFloat, Min: 0, Max: 1})
	}
	return spaceOf(t, params...)
}

func spaceOf(t *testing.T, params ...spaces.Param) *spaces.Space {
	t.Helper()
	space, err := spaces.New(params...)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// begun runs the first trials of a study; f is NaN where a trial fails.
func begun(t *testing.T, space *spaces.Space, set Settings, seed uint64, trials int, f func(spaces.Point) float64) []Observation {
	t.Helper()
	opt, err := New(space, seed, set)
	if err != nil {
		t.Fatal(err)
	}
	var told []Observation
	for k := 1; k <= trials; k++ {
		p, err := opt.Ask(t.Context(), Query{Trial: k})
		if err != nil {
			t.Fatal(err)
		}
		o := Observation{Trial: k, Proposal: p, Status: Succeeded, Values: []float64{f(p.Point)}}
		if math.IsNaN(f(p.Point)) {
			o.Status = Failed
		}
		if err := opt.Tell(o); err != nil {
			t.Fatal(err)
		}
		told = append(told, o)
	}
	return told
}

// changed lists the coordinates in which two points differ.
func changed(p, q spaces.Point) (out []int) {
	for j := range p {
		if p[j] != q[j] {
			out = append(out, j)
		}
	}
	return out
}

// From the centre each parameter takes one step from the best trial so far, and a second one to the
// other side only if the first was no better; then come the opposite and one point more.
func TestWalkClimbs(t *testing.T) {
	space := floatsOf(t, 4)
	for seed := range uint64(10) {
		told := begun(t, space, Settings{Design: walking}, seed, 13, func(p spaces.Point) float64 {
			return -math.Abs(p[0]-0.9) - math.Abs(p[1]-0.1) - math.Abs(p[2]-0.5) - 2*math.Abs(p[3]-0.8)
		})
		if !slices.Equal(told[0].Proposal.Point, space.Center()) {
			t.Fatalf("trial 1 is %v", told[0].Proposal.Point)
		}
		best, steps, k := told[0], make([]int, 4), 1
		for ; k < len(told); k++ {
			by := changed(best.Proposal.Point, told[k].Proposal.Point)
			if len(by) != 1 {
				break
			}
			j := by[0]
			if step := math.Abs(told[k].Proposal.Point[j] - best.Proposal.Point[j]); math.Abs(step-walkStep) > 1e-9 {
				t.Errorf("seed %d, trial %d is a step of %v", seed, k+1, step)
			}
			if steps[j]++; told[k].Value() > best.Value() {
				best = told[k]
			}
		}
		if want := (spaces.Point{0.75, 0.25, 0.5, 0.75}); spaces.Distance(best.Proposal.Point, want) > 1e-9 {
			t.Errorf("seed %d: the walk ends at %v after %v steps", seed, best.Proposal.Point, steps)
		}
		if slices.Min(steps) < 1 || slices.Max(steps) > 2 || steps[2] != 2 {
			t.Errorf("seed %d: %v steps along the parameters", seed, steps)
		}
		opposite := spaces.Point{0.125, 0.875, 0.5, 0.125}
		if spread := told[k+1].Proposal; !slices.Equal(told[k].Proposal.Point, opposite) || spread.Origin != OriginInitial || len(changed(spread.Point, opposite)) != 4 {
			t.Errorf("seed %d: after the walk come %v and %v", seed, told[k].Proposal.Point, spread.Point)
		}
		if told[k+2].Proposal.Origin == OriginInitial {
			t.Errorf("seed %d: the model has to wait for trial %d", seed, k+4)
		}
	}
}

// A walk begins at today's values, and where one side is short takes the longer one first.
func TestWalkBeginsAtTodaysValues(t *testing.T) {
	space := spaceOf(t, spaces.Param{Name: "a", Kind: spaces.KindFloat, Min: 0, Max: 1, Default: spaces.Float(0.9)},
		spaces.Param{Name: "b", Kind: spaces.KindFloat, Min: 0, Max: 1, Default: spaces.Float(0)})
	for seed := range uint64(10) {
		told := begun(t, space, Settings{Design: walking}, seed, 5, func(p spaces.Point) float64 { return 0 })
		if !slices.Equal(told[0].Proposal.Point, spaces.Point{0.9, 0}) {
			t.Errorf("trial 1 is %v", told[0].Proposal.Point)
		}
		for _, want := range []spaces.Point{{0.65, 0}, {1, 0}, {0.9, 0.25}} {
			if !slices.ContainsFunc(told, func(o Observation) bool { return spaces.Distance(o.Proposal.Point, want) < 1e-9 }) {
				t.Errorf("seed %d: no step to %v", seed, want)
			}
		}
	}
}

// A step that fails is worse, one that is better by less than a declared noise is none, and without
// a success there is nothing to walk from.
func TestWalkKeepsToWhatIsBetter(t *testing.T) {
	space := floatsOf(t, 3)
	for name, c := range map[string]struct {
		set Settings
		f   func(p spaces.Point) float64
	}{
		"failures": {Settings{Design: walking}, func(p spaces.Point) float64 {
			if len(changed(p, space.Center())) > 0 {
				return math.NaN()
			}
			return 0
		}},
		"noise": {Settings{Design: walking, Noise: "1"}, func(p spaces.Point) float64 { return p[0] + p[1] + p[2] }},
	} {
		t.Run(name, func(t *testing.T) {
			for _, o := range begun(t, space, c.set, 1, 7, c.f) {
				if len(changed(o.Proposal.Point, space.Center())) > 1 {
					t.Errorf("%s: trial %d is at %v", name, o.Trial, o.Proposal.Point)
				}
			}
		})
	}
	far := 0
	for _, o := range begun(t, space, Settings{Design: walking}, 1, 7, func(spaces.Point) float64 { return math.NaN() }) {
		far += len(changed(o.Proposal.Point, space.Center()))
	}
	if far != 3*6 {
		t.Errorf("without a success %d of 18 coordinates are changed", far)
	}
}

// Every level of a choice is tried, every number and bool moves, and a parameter that another one switches
// is tried as soon as it is there.
func TestWalkKnowsEveryKind(t *testing.T) {
	word := func(words ...string) (out []spaces.Value) {
		for _, w := range words {
			out = append(out, spaces.String(w))
		}
		return out
	}
	space := spaceOf(t,
		spaces.Param{Name: "kind", Kind: spaces.KindChoice, Choices: word("a", "b", "c", "d")},
		spaces.Param{Name: "level", Kind: spaces.KindOrdered, Choices: word("low", "mid", "high")},
		spaces.Param{Name: "n", Kind: spaces.KindInt, Min: 1, Max: 3},
		spaces.Param{Name: "rate", Kind: spaces.KindFloat, Min: 1e-5, Max: 1, Scale: spaces.Log},
		spaces.Param{Name: "on", Kind: spaces.KindBool},
		spaces.Param{Name: "momentum", Kind: spaces.KindFloat, Min: 0, Max: 1, When: "on == true"},
	)
	for seed := range uint64(20) {
		seen := map[string]map[string]bool{}
		for _, o := range begun(t, space, Settings{Design: walking}, seed, 13, func(p spaces.Point) float64 { return -math.Abs(p[5]) }) {
			for _, a := range space.Decode(o.Proposal.Point) {
				if seen[a.Name] == nil {
					seen[a.Name] = map[string]bool{}
				}
				if o.Proposal.Origin == OriginInitial {
					seen[a.Name][a.Value.Text()] = true
				}
			}
		}
		for name, least := range map[string]int{"kind": 4, "level": 2, "n": 2, "rate": 2, "on": 2, "momentum": 2} {
			t.Run(name, func(t *testing.T) {
				if len(seen[name]) < least {
					t.Errorf("seed %d: of %s the design has %v", seed, name, seen[name])
				}
			})
		}
	}
}

// However many parameters there are, each has taken its step when the walk ends.
func TestWalkOfManyParameters(t *testing.T) {
	for _, d := range []int{1, 12, 13, 50, 100} {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			space := floatsOf(t, d)
			w := newWalk(space, 1)
			moved := make([]bool, d)
			told := begun(t, space, Settings{Design: walking}, 1, w.most(), func(p spaces.Point) float64 { return -math.Abs(p[0] - 0.5) })
			for _, o := range told {
				for _, j := range changed(o.Proposal.Point, told[0].Proposal.Point) {
					moved[j] = true
				}
			}
			if w.most() > 25 || slices.Contains(moved, false) {
				t.Errorf("%d parameters: of the %d trials of the walk none has moved %v", d, w.most(), moved)
			}
		})
	}
}

// What a few workers get first is the start and a step of each of some parameters, and what many get
// fills the space; nobody waits, and nothing comes twice.
func TestWalkOfManyWorkers(t *testing.T) {
	space := floatsOf(t, 5)
	opt, err := New(space, 1, Settings{Design: walking})
	if err != nil {
		t.Fatal(err)
	}
	var pending []Pending
	moved := map[int]bool{}
	for k := 1; k <= 16; k++ {
		p, err := opt.Ask(t.Context(), Query{Trial: k, Pending: pending})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range pending {
			if len(changed(p.Point, q.Point)) == 0 {
				t.Errorf("trial %d is trial %d", k, q.Trial)
			}
		}
		switch by := changed(p.Point, space.Center()); {
		case k > 1 && k <= 1+walkBeside && (len(by) != 1 || moved[by[0]]), k > 1+walkBeside && len(by) < 4:
			t.Errorf("trial %d is at %v", k, p.Point)
		case k > 1:
			moved[by[0]] = true
		}
		pending = append(pending, Pending{Trial: k, Point: p.Point})
	}
}

// With several workers, too, a walk comes to its end: each parameter takes its steps, and then comes
// the opposite.
func TestWalkOfWorkersEnds(t *testing.T) {
	space := floatsOf(t, 5)
	opt, err := New(space, 1, Settings{Design: walking})
	if err != nil {
		t.Fatal(err)
	}
	var pending []Pending
	made := map[int]Proposal{}
	opposite := false
	for k := 1; k <= 30; k++ {
		p, err := opt.Ask(t.Context(), Query{Trial: k, Pending: pending})
		if err != nil {
			t.Fatal(err)
		}
		made[k], pending = p, append(pending, Pending{Trial: k, Point: p.Point})
		opposite = opposite || p.Origin == OriginInitial && k > 5 &&
			!slices.ContainsFunc(p.Point, func(u float64) bool { return u != walkBorder && u != 0.5 && u != 1-walkBorder })
		if len(pending) < 3 {
			continue
		}
		done := pending[k%3]
		pending = slices.DeleteFunc(pending, func(q Pending) bool { return q.Trial == done.Trial })
		y := 0.0
		for _, u := range done.Point {
			y -= math.Abs(u - 0.9)
		}
		if err := opt.Tell(Observation{Trial: done.Trial, Proposal: made[done.Trial], Status: Succeeded, Values: []float64{y}}); err != nil {
			t.Fatal(err)
		}
	}
	if !opposite {
		t.Error("the opposite is never proposed")
	}
}

// A walk goes on from the best of what is known before it begins, of the study and of earlier ones with
// its objective, and is none where as many results are known as it has trials.
func TestWalkGoesOnFromWhatIsKnown(t *testing.T) {
	space := floatsOf(t, 2)
	f := func(p spaces.Point) float64 { return -math.Abs(p[0]-0.8) - math.Abs(p[1]-0.2) }
	good := spaces.Point{0.85, 0.1}
	given := func(t *testing.T, opt Optimizer, points ...spaces.Point) {
		for i, p := range points {
			o := Observation{Trial: i + 1, Proposal: Proposal{Point: p, Origin: OriginGiven}, Status: Succeeded, Values: []float64{f(p)}}
			if err := opt.Tell(o); err != nil {
				t.Fatal(err)
			}
		}
	}
	many := []spaces.Point{good}
	for i := range newWalk(space, 1).most() + walkSpread {
		many = append(many, spaces.Point{0.1 * float64(i), 0.9})
	}
	for name, c := range map[string]struct {
		given   []spaces.Point
		earlier []Earlier
		walks   bool
	}{
		"enqueued":          {[]spaces.Point{{0.2, 0.9}, good}, nil, true},
		"enqueued by dozen": {many, nil, false},
		"an earlier study":  {nil, []Earlier{{Points: []spaces.Point{{0.2, 0.9}, good}, Values: []float64{f(spaces.Point{0.2, 0.9}), f(good)}, Same: true}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			opt, err := New(space, 1, Settings{Design: walking}, c.earlier...)
			if err != nil {
				t.Fatal(err)
			}
			given(t, opt, c.given...)
			p, err := opt.Ask(t.Context(), Query{Trial: len(c.given) + 1})
			if err != nil {
				t.Fatal(err)
			}
			by := changed(good, p.Point)
			steps := len(by) == 1 && math.Abs(math.Abs(p.Point[by[0]]-good[by[0]])-walkStep) < 1e-9
			if steps != c.walks || (p.Origin == OriginInitial) != c.walks {
				t.Errorf("from %v comes %v, by %s", good, p.Point, p.Origin)
			}
		})
	}
}
