// Package optimizertest is the contract that every optimizer.Optimizer keeps,
// as a test suite.
package optimizertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Maker makes a new optimizer of the kind under test.
type Maker func(space *spaces.Space, seed uint64) (optimizer.Optimizer, error)

// Run tests the contract. Trials is the length of the simulated studies.
func Run(t *testing.T, trials int, mk Maker) {
	t.Run("proposals", func(t *testing.T) {
		eachSpace(t, func(t *testing.T, c Case) {
			told := Study(t, start(t, mk, c.Space), trials, c.F)
			testPoints(t, told, c)
			testPure(t, told, mk, c)
		})
	})
	t.Run("workers", func(t *testing.T) { eachSpace(t, func(t *testing.T, c Case) { testWorkers(t, trials, mk, c) }) })
	t.Run("values", func(t *testing.T) { testValues(t, trials, mk) })
	t.Run("exhausted", func(t *testing.T) { testExhausted(t, mk) })
	t.Run("refuses", func(t *testing.T) { testRefuses(t, mk) })
	t.Run("cancelled", func(t *testing.T) { testCancelled(t, mk) })
}

// Case is a space with an objective on it, to be maximized, that fails where
// it is NaN.
type Case struct {
	Name  string
	Space *spaces.Space
	F     func(spaces.Point) float64
}

// Cases are the spaces on which the contract is tested.
func Cases(t *testing.T) []Case {
	float := func(name string) spaces.Param {
		return spaces.Param{Name: name, Kind: spaces.KindFloat, Min: 0, Max: 1}
	}
	rate := spaces.Param{Name: "rate", Kind: spaces.KindFloat, Min: 1e-6, Max: 1, Scale: spaces.Log}
	depth := spaces.Param{Name: "depth", Kind: spaces.KindInt, Min: 1, Max: 12}
	width := spaces.Param{Name: "width", Kind: spaces.KindInt, Min: 1, Max: 1024, Scale: spaces.Log}
	bias := spaces.Param{Name: "bias", Kind: spaces.KindBool}
	kind := spaces.Param{Name: "kind", Kind: spaces.KindChoice,
		Choices: []spaces.Value{spaces.String("sgd"), spaces.String("adam"), spaces.String("lion")}}
	momentum := float("momentum")
	momentum.When = "kind == 'sgd'"
	steps := spaces.Param{Name: "steps", Kind: spaces.KindInt, Min: 1, Max: 5, When: "bias == true and kind in ['sgd', 'adam']"}

	batch := spaces.Param{Name: "batch", Kind: spaces.KindOrdered,
		Choices: []spaces.Value{spaces.Int(16), spaces.Int(32), spaces.Int(64), spaces.Int(128)}}
	units := spaces.Param{Name: "units", Kind: spaces.KindInt, Min: 32, Max: 512, Step: 32}
	share := spaces.Param{Name: "share", Kind: spaces.KindFloat, Min: 1e-3, Max: 0.999, Scale: spaces.Logit}
	fine := spaces.Param{Name: "fine", Kind: spaces.KindFloat, Min: 0, Max: 1, Step: 0.005}

	// Relations whose border the bowl's top lies beyond, among kinds of all sorts and where
	// one parameter may not exist.
	tight := spaces.Relation{Text: "x + y <= 0.5", Params: []string{"x", "y"}, Holds: func(v spaces.Values) bool {
		return number(v, "x")+number(v, "y") <= 0.5
	}}
	wide := spaces.Relation{Text: "depth >= log2(width)", Params: []string{"depth", "width"}, Holds: func(v spaces.Values) bool {
		return math.Exp2(number(v, "depth")) >= number(v, "width")
	}}
	slow := spaces.Relation{Text: "momentum + rate <= 0.4", Params: []string{"momentum", "rate"}, Holds: func(v spaces.Values) bool {
		return number(v, "momentum")+number(v, "rate") <= 0.4
	}}
	even := spaces.Relation{Text: "units a multiple of batch", Holds: func(v spaces.Values) bool {
		return math.Mod(number(v, "units"), number(v, "batch")) == 0
	}}

	spacesByName := []struct {
		name   string
		params []spaces.Param
		where  []spaces.Relation
	}{
		{"one float", []spaces.Param{float("x")}, nil},
		{"five floats", []spaces.Param{float("a"), float("b"), rate, float("c"), float("d")}, nil},
		{"int", []spaces.Param{width}, nil},
		{"mixed", []spaces.Param{rate, depth, kind, bias, width}, nil},
		{"conditional", []spaces.Param{kind, bias, momentum, steps, rate}, nil},
		{"levels", []spaces.Param{batch, units, share, fine}, nil},
		{"related floats", []spaces.Param{float("x"), float("y"), rate}, []spaces.Relation{tight}},
		{"related mixed", []spaces.Param{rate, depth, kind, bias, width}, []spaces.Relation{wide}},
		{"related conditional", []spaces.Param{kind, bias, momentum, steps, rate}, []spaces.Relation{slow}},
		{"related levels", []spaces.Param{batch, units, share, fine}, []spaces.Relation{even}},
	}
	var out []Case
	for _, s := range spacesByName {
		space, err := spaces.New(s.params...)
		if err != nil {
			t.Fatal(err)
		}
		if space, err = space.Where(s.where...); err != nil {
			t.Fatal(err)
		}
		out = append(out, Case{s.name, space, bowl})
		if s.where == nil {
			out = append(out, Case{s.name + ", failing", space, func(p spaces.Point) float64 {
				if p[0] > 0.6 {
					return math.NaN()
				}
				return bowl(p)
			}})
		}
	}
	return out
}

func number(v spaces.Values, name string) float64 {
	value, _ := v.Get(name)
	x, _ := value.Number()
	return x
}

// bowl has its maximum, 0, off the centre.
func bowl(p spaces.Point) float64 {
	sum := 0.0
	for j, x := range p {
		d := x - 0.3 - 0.05*float64(j)
		sum -= d * d
	}
	return sum
}

func eachSpace(t *testing.T, f func(*testing.T, Case)) {
	for _, c := range Cases(t) {
		t.Run(c.Name, func(t *testing.T) { f(t, c) })
	}
}

// Evaluate runs one trial of f.
func Evaluate(trial int, p optimizer.Proposal, f func(spaces.Point) float64) optimizer.Observation {
	o := optimizer.Observation{Trial: trial, Proposal: p, Status: optimizer.Succeeded, Values: []float64{f(p.Point)}}
	if math.IsNaN(o.Value()) {
		o.Status = optimizer.Failed
	}
	return o
}

// Study asks and tells one trial after another and returns what was told. It
// stops early where the space is exhausted.
func Study(t *testing.T, opt optimizer.Optimizer, trials int, f func(spaces.Point) float64) []optimizer.Observation {
	t.Helper()
	var told []optimizer.Observation
	for k := 1; k <= trials; k++ {
		p, err := opt.Ask(t.Context(), optimizer.Query{Trial: k})
		if errors.Is(err, optimizer.ErrExhausted) {
			return told
		}
		if err != nil {
			t.Fatalf("asking for trial %d: %v", k, err)
		}
		o := Evaluate(k, p, f)
		if err := opt.Tell(o); err != nil {
			t.Fatalf("telling trial %d: %v", k, err)
		}
		told = append(told, o)
	}
	return told
}

func start(t *testing.T, mk Maker, space *spaces.Space) optimizer.Optimizer {
	t.Helper()
	opt, err := mk(space, 7)
	if err != nil {
		t.Fatal(err)
	}
	return opt
}

func testPoints(t *testing.T, told []optimizer.Observation, c Case) {
	seen := map[string]int{}
	for _, o := range told {
		p := o.Proposal.Point
		if !reflect.DeepEqual(p, c.Space.Snap(p)) {
			t.Errorf("trial %d: %v is not what would be run, %v", o.Trial, p, c.Space.Snap(p))
		}
		if !c.Space.Allows(p) {
			t.Errorf("trial %d breaks a relation: %s", o.Trial, c.Space.Decode(p))
		}
		v := c.Space.Decode(p).String()
		if k := seen[v]; k > 0 {
			t.Errorf("trial %d repeats trial %d: %s", o.Trial, k, v)
		}
		seen[v] = o.Trial
		if o.Proposal.Origin == "" || o.Proposal.Note.Why == "" {
			t.Errorf("trial %d does not say which rule made it", o.Trial)
		}
	}
}

// testPure asks twice, in another order, with other questions in between, and
// of an optimizer that was told everything at once through JSON.
func testPure(t *testing.T, told []optimizer.Observation, mk Maker, c Case) {
	trials := len(told)
	for _, n := range []int{0, 1, 2, trials / 3, trials / 2, trials - 3, trials - 1} {
		if n < 0 || n >= len(told) {
			continue
		}
		again := start(t, mk, c.Space)
		for _, o := range throughJSON(t, told[:n]) {
			if err := again.Tell(o); err != nil {
				t.Fatal(err)
			}
		}
		other := []optimizer.Pending{{Trial: n + 1, Point: c.Space.Center()}}
		for range 2 {
			if _, err := again.Ask(t.Context(), optimizer.Query{Trial: n + 2, Pending: other}); err != nil && !errors.Is(err, optimizer.ErrExhausted) {
				t.Fatal(err)
			}
			got, err := again.Ask(t.Context(), optimizer.Query{Trial: n + 1})
			if err != nil {
				t.Fatal(err)
			}
			if want := told[n].Proposal; !reflect.DeepEqual(got, want) {
				t.Fatalf("after %d observations trial %d is\n%s\nin one optimizer and\n%s\nin another", n, n+1, text(t, got), text(t, want))
			}
		}
	}
}

func throughJSON(t *testing.T, os []optimizer.Observation) []optimizer.Observation {
	var out []optimizer.Observation
	for _, o := range os {
		if math.IsNaN(o.Value()) {
			o.Values = nil
		}
		b, err := json.Marshal(o)
		if err != nil {
			t.Fatalf("trial %d cannot be journaled: %v", o.Trial, err)
		}
		var back optimizer.Observation
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		out = append(out, back)
	}
	return out
}

func text(t *testing.T, p optimizer.Proposal) string {
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// testWorkers simulates four workers whose trials end out of order, one of
// them now and then pruned.
func testWorkers(t *testing.T, trials int, mk Maker, c Case) {
	const workers = 4
	opt := start(t, mk, c.Space)
	var running []optimizer.Observation
	seen := map[string]bool{}
	for next := 1; next <= trials || len(running) > 0; {
		for next <= trials && len(running) < workers {
			p, err := opt.Ask(t.Context(), optimizer.Query{Trial: next, Pending: pending(running)})
			if errors.Is(err, optimizer.ErrExhausted) {
				next = trials + 1
				break
			}
			if err != nil {
				t.Fatalf("asking for trial %d: %v", next, err)
			}
			if !c.Space.Allows(p.Point) {
				t.Errorf("trial %d breaks a relation: %s", next, c.Space.Decode(p.Point))
			}
			v := c.Space.Decode(p.Point).String()
			if seen[v] {
				t.Errorf("trial %d is pending or was told: %s", next, v)
			}
			seen[v] = true
			running = append(running, Evaluate(next, p, c.F))
			next++
		}
		if len(running) == 0 {
			return
		}
		i := (next * 7) % len(running)
		o := running[i]
		running = append(running[:i], running[i+1:]...)
		if o.Trial%5 == 0 && o.Status == optimizer.Succeeded {
			o.Status = optimizer.Pruned
		}
		if err := opt.Tell(o); err != nil {
			t.Fatalf("telling trial %d: %v", o.Trial, err)
		}
	}
}

func pending(running []optimizer.Observation) []optimizer.Pending {
	var out []optimizer.Pending
	for _, o := range running {
		out = append(out, optimizer.Pending{Trial: o.Trial, Point: o.Proposal.Point})
	}
	return out
}

func testValues(t *testing.T, trials int, mk Maker) {
	x := func(name string) spaces.Param {
		return spaces.Param{Name: name, Kind: spaces.KindFloat, Min: -3, Max: 3}
	}
	space, err := spaces.New(x("x"), x("y"))
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(spaces.Point) float64{
		"constant":    func(spaces.Point) float64 { return 3 },
		"all failed":  func(spaces.Point) float64 { return math.NaN() },
		"huge":        func(p spaces.Point) float64 { return math.MaxFloat64 * (p[0] - 0.5) * 2 },
		"tiny":        func(p spaces.Point) float64 { return 1e-300 * bowl(p) },
		"one outlier": func(p spaces.Point) float64 { return bowl(p) - 1e200*math.Floor(p[0]+0.1) },
		"far away":    func(p spaces.Point) float64 { return 1e15 + bowl(p) },
		"needle": func(p spaces.Point) float64 {
			if p[0] > 0.98 && p[1] > 0.98 {
				return 1
			}
			return 0
		},
		"steps": func(p spaces.Point) float64 { return math.Floor(4*p[0]) + math.Floor(3*p[1]) },
	} {
		t.Run(name, func(t *testing.T) {
			if told := Study(t, start(t, mk, space), trials, f); len(told) != trials {
				t.Errorf("%d trials instead of %d", len(told), trials)
			}
		})
	}
}

func testExhausted(t *testing.T, mk Maker) {
	flag := spaces.Param{Name: "flag", Kind: spaces.KindBool}
	level := spaces.Param{Name: "level", Kind: spaces.KindInt, Min: 1, Max: 6}
	coarse := spaces.Param{Name: "coarse", Kind: spaces.KindFloat, Scale: spaces.Log, Min: 0.1, Max: 3, Format: ".1f"}
	for _, c := range []struct {
		size   int
		params []spaces.Param
	}{{2, []spaces.Param{flag}}, {12, []spaces.Param{flag, level}}, {30, []spaces.Param{coarse}}} {
		t.Run(fmt.Sprint(c.size), func(t *testing.T) {
			space, err := spaces.New(c.params...)
			if err != nil {
				t.Fatal(err)
			}
			opt := start(t, mk, space)
			told := Study(t, opt, c.size+5, bowl)
			if len(told) != c.size {
				t.Fatalf("a space of %d configurations ended after %d", c.size, len(told))
			}
			testLastPending(t, start(t, mk, space), told)
		})
	}
}

// testLastPending tells all but the last trial, which is pending.
func testLastPending(t *testing.T, opt optimizer.Optimizer, told []optimizer.Observation) {
	n := len(told) - 1
	for _, o := range told[:n] {
		if err := opt.Tell(o); err != nil {
			t.Fatal(err)
		}
	}
	last := optimizer.Pending{Trial: n + 1, Point: told[n].Proposal.Point}
	_, err := opt.Ask(t.Context(), optimizer.Query{Trial: n + 2, Pending: []optimizer.Pending{last}})
	if !errors.Is(err, optimizer.ErrExhausted) {
		t.Errorf("with the last configuration pending: got error %v, want ErrExhausted", err)
	}
}

func testRefuses(t *testing.T, mk Maker) {
	space, err := spaces.New(spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1})
	if err != nil {
		t.Fatal(err)
	}
	opt := start(t, mk, space)
	good := optimizer.Observation{Trial: 1, Status: optimizer.Succeeded, Values: []float64{1},
		Proposal: optimizer.Proposal{Point: spaces.Point{0.5}, Origin: optimizer.OriginGiven}}
	if err := opt.Tell(good); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*optimizer.Observation){
		"told twice":   func(o *optimizer.Observation) { o.Trial = 1 },
		"outside":      func(o *optimizer.Observation) { o.Proposal.Point = spaces.Point{1.1} },
		"NaN point":    func(o *optimizer.Observation) { o.Proposal.Point = spaces.Point{math.NaN()} },
		"dimension":    func(o *optimizer.Observation) { o.Proposal.Point = spaces.Point{0.1, 0.2} },
		"NaN value":    func(o *optimizer.Observation) { o.Values = []float64{math.NaN()} },
		"no value":     func(o *optimizer.Observation) { o.Values = nil },
		"infinite":     func(o *optimizer.Observation) { o.Values = []float64{math.Inf(1)} },
		"no status":    func(o *optimizer.Observation) { o.Status = "" },
		"NaN, pruned":  func(o *optimizer.Observation) { o.Status, o.Values = optimizer.Pruned, []float64{math.NaN()} },
		"other status": func(o *optimizer.Observation) { o.Status = "running" },
	} {
		o := good
		o.Trial = 2
		spoil(&o)
		if opt.Tell(o) == nil {
			t.Errorf("%s: the observation was accepted", name)
		}
	}
	bad := []optimizer.Pending{{Trial: 2, Point: spaces.Point{0.1, 0.2}}}
	if _, err := opt.Ask(t.Context(), optimizer.Query{Trial: 3, Pending: bad}); err == nil {
		t.Error("a pending point of another dimension was accepted")
	}
}

func testCancelled(t *testing.T, mk Maker) {
	space, err := spaces.New(spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := start(t, mk, space).Ask(ctx, optimizer.Query{Trial: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("asked with a cancelled context: got error %v", err)
	}
}
