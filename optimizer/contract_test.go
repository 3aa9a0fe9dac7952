package optimizer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// maker makes a new optimizer of the kind under test.
type maker func(space *spaces.Space, seed uint64) (optimizer.Optimizer, error)

// runContract tests the contract. Trials is the length of the simulated studies.
func runContract(t *testing.T, trials int, mk maker) {
	t.Run("proposals", func(t *testing.T) {
		eachSpace(t, func(t *testing.T, c contractCase) {
			told := runStudy(t, begun(t, mk, c.space), trials, c.f)
			testPoints(t, told, c)
			testPure(t, told, mk, c)
		})
	})
	t.Run("workers", func(t *testing.T) { eachSpace(t, func(t *testing.T, c contractCase) { testWorkers(t, trials, mk, c) }) })
	t.Run("values", func(t *testing.T) { testValues(t, trials, mk) })
	t.Run("exhausted", func(t *testing.T) { testExhausted(t, mk) })
	t.Run("refuses", func(t *testing.T) { testRefuses(t, mk) })
	t.Run("cancelled", func(t *testing.T) { testCancelled(t, mk) })
}

// evaluated runs one trial of f.
func evaluated(trial int, p optimizer.Proposal, f func(spaces.Point) float64) optimizer.Observation {
	o := optimizer.Observation{Trial: trial, Proposal: p, Status: optimizer.Succeeded, Values: []float64{f(p.Point)}}
	if math.IsNaN(o.Value()) {
		o.Status = optimizer.Failed
	}
	return o
}

// runStudy asks and tells one trial after another and returns what was told. It
// stops early where the space is exhausted.
func runStudy(t *testing.T, opt optimizer.Optimizer, trials int, f func(spaces.Point) float64) []optimizer.Observation {
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
		o := evaluated(k, p, f)
		tellAll(t, opt, o)
		told = append(told, o)
	}
	return told
}

func tellAll(t *testing.T, opt optimizer.Optimizer, observed ...optimizer.Observation) {
	t.Helper()
	for _, o := range observed {
		if err := opt.Tell(o); err != nil {
			t.Fatalf("telling trial %d: %v", o.Trial, err)
		}
	}
}

func begun(t *testing.T, mk maker, space *spaces.Space) optimizer.Optimizer {
	t.Helper()
	opt, err := mk(space, 7)
	if err != nil {
		t.Fatal(err)
	}
	return opt
}

func testPoints(t *testing.T, told []optimizer.Observation, c contractCase) {
	seen := map[string]int{}
	for _, o := range told {
		p := o.Proposal.Point
		if !reflect.DeepEqual(p, c.space.Snap(p)) {
			t.Errorf("trial %d: %v is not what would be run, %v", o.Trial, p, c.space.Snap(p))
		}
		if !c.space.Allows(p) {
			t.Errorf("trial %d breaks a relation: %s", o.Trial, c.space.Decode(p))
		}
		v := c.space.Decode(p).String()
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
func testPure(t *testing.T, told []optimizer.Observation, mk maker, c contractCase) {
	trials := len(told)
	all := []int{0, 1, 2, trials / 3, trials / 2, trials - 3, trials - 1}
	for _, n := range effort.Of(all[5:], all, all) {
		if n < 0 || n >= len(told) {
			continue
		}
		again := begun(t, mk, c.space)
		tellAll(t, again, throughJSON(t, told[:n])...)
		other := []optimizer.Pending{{Trial: n + 1, Point: c.space.Center()}}
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
func testWorkers(t *testing.T, trials int, mk maker, c contractCase) {
	const workers = 4
	opt := begun(t, mk, c.space)
	var running []optimizer.Observation
	seen := map[string]bool{}
	for next := 1; next <= trials || len(running) > 0; {
		for next <= trials && len(running) < workers {
			p, err := opt.Ask(t.Context(), optimizer.Query{Trial: next, Pending: pendingOf(running)})
			if errors.Is(err, optimizer.ErrExhausted) {
				next = trials + 1
				break
			}
			if err != nil {
				t.Fatalf("asking for trial %d: %v", next, err)
			}
			if !c.space.Allows(p.Point) {
				t.Errorf("trial %d breaks a relation: %s", next, c.space.Decode(p.Point))
			}
			v := c.space.Decode(p.Point).String()
			if seen[v] {
				t.Errorf("trial %d is pending or was told: %s", next, v)
			}
			seen[v] = true
			running = append(running, evaluated(next, p, c.f))
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
		tellAll(t, opt, o)
	}
}

func pendingOf(running []optimizer.Observation) []optimizer.Pending {
	var out []optimizer.Pending
	for _, o := range running {
		out = append(out, optimizer.Pending{Trial: o.Trial, Point: o.Proposal.Point})
	}
	return out
}

func testValues(t *testing.T, trials int, mk maker) {
	space := newSpace(t, float("x", -3, 3), float("y", -3, 3))
	for name, f := range map[string]func(spaces.Point) float64{
		"constant":    func(spaces.Point) float64 { return 3 },
		"all failed":  func(spaces.Point) float64 { return math.NaN() },
		"huge":        func(p spaces.Point) float64 { return math.MaxFloat64 * (p[0] - 0.5) * 2 },
		"tiny":        func(p spaces.Point) float64 { return 1e-300 * offCentre(p) },
		"one outlier": func(p spaces.Point) float64 { return offCentre(p) - 1e200*math.Floor(p[0]+0.1) },
		"far away":    func(p spaces.Point) float64 { return 1e15 + offCentre(p) },
		"needle": func(p spaces.Point) float64 {
			if p[0] > 0.98 && p[1] > 0.98 {
				return 1
			}
			return 0
		},
		"steps": func(p spaces.Point) float64 { return math.Floor(4*p[0]) + math.Floor(3*p[1]) },
	} {
		t.Run(name, func(t *testing.T) {
			if told := runStudy(t, begun(t, mk, space), trials, f); len(told) != trials {
				t.Errorf("%d trials instead of %d", len(told), trials)
			}
		})
	}
}

func testExhausted(t *testing.T, mk maker) {
	flag := spaces.Param{Name: "flag", Kind: spaces.KindBool}
	level := spaces.Param{Name: "level", Kind: spaces.KindInt, Min: 1, Max: 6}
	coarse := spaces.Param{Name: "coarse", Kind: spaces.KindFloat, Scale: spaces.Log, Min: 0.1, Max: effort.Sequential(1.0, 3, 3), Format: ".1f"}
	for _, c := range []struct {
		size   int
		params []spaces.Param
	}{{2, []spaces.Param{flag}}, {12, []spaces.Param{flag, level}}, {effort.Sequential(10, 30, 30), []spaces.Param{coarse}}} {
		t.Run(fmt.Sprint(c.size), func(t *testing.T) {
			space := newSpace(t, c.params...)
			opt := begun(t, mk, space)
			told := runStudy(t, opt, c.size+5, offCentre)
			if len(told) != c.size {
				t.Fatalf("a space of %d configurations ended after %d", c.size, len(told))
			}
			testLastPending(t, begun(t, mk, space), told)
		})
	}
}

// testLastPending tells all but the last trial, which is pending.
func testLastPending(t *testing.T, opt optimizer.Optimizer, told []optimizer.Observation) {
	n := len(told) - 1
	tellAll(t, opt, told[:n]...)
	last := optimizer.Pending{Trial: n + 1, Point: told[n].Proposal.Point}
	_, err := opt.Ask(t.Context(), optimizer.Query{Trial: n + 2, Pending: []optimizer.Pending{last}})
	if !errors.Is(err, optimizer.ErrExhausted) {
		t.Errorf("with the last configuration pending: got error %v, want ErrExhausted", err)
	}
}

func testRefuses(t *testing.T, mk maker) {
	opt := begun(t, mk, newSpace(t, float("x", 0, 1)))
	good := optimizer.Observation{Trial: 1, Status: optimizer.Succeeded, Values: []float64{1},
		Proposal: optimizer.Proposal{Point: spaces.Point{0.5}, Origin: optimizer.OriginGiven}}
	tellAll(t, opt, good)
	for want, spoil := range map[string]func(*optimizer.Observation){
		"telling trial 0: trials are numbered from 1":                                       func(o *optimizer.Observation) { o.Trial = 0 },
		"telling trial 1: it was told before":                                               func(o *optimizer.Observation) { o.Trial = 1 },
		"telling trial 2: coordinate 0 of the point is 1.1, outside [0,1]":                  func(o *optimizer.Observation) { o.Proposal.Point = spaces.Point{1.1} },
		"telling trial 2: coordinate 0 of the point is NaN, outside [0,1]":                  func(o *optimizer.Observation) { o.Proposal.Point = spaces.Point{math.NaN()} },
		"telling trial 2: the point has 2 coordinates, the space 1":                         func(o *optimizer.Observation) { o.Proposal.Point = spaces.Point{0.1, 0.2} },
		"telling trial 2: a trial that succeeded needs a value":                             func(o *optimizer.Observation) { o.Values = nil },
		"telling trial 2: a trial that succeeded needs a finite value; found NaN":           func(o *optimizer.Observation) { o.Values = []float64{math.NaN()} },
		"telling trial 2: a trial that succeeded needs a finite value; found +Inf":          func(o *optimizer.Observation) { o.Values = []float64{math.Inf(1)} },
		"telling trial 2: a trial that was pruned needs a finite value; found NaN":          func(o *optimizer.Observation) { o.Status, o.Values = optimizer.Pruned, []float64{math.NaN()} },
		`telling trial 2: found status ""; allowed are succeeded, failed and pruned`:        func(o *optimizer.Observation) { o.Status = "" },
		`telling trial 2: found status "running"; allowed are succeeded, failed and pruned`: func(o *optimizer.Observation) { o.Status = "running" },
	} {
		o := good
		o.Trial = 2
		spoil(&o)
		if err := opt.Tell(o); err == nil || err.Error() != want {
			t.Errorf("got %v; want %s", err, want)
		}
	}
	bad := []optimizer.Pending{{Trial: 2, Point: spaces.Point{0.1, 0.2}}}
	if _, err := opt.Ask(t.Context(), optimizer.Query{Trial: 3, Pending: bad}); err == nil || err.Error() != "asking for trial 3: pending trial 2: the point has 2 coordinates, the space 1" {
		t.Error(err)
	}
}

func testCancelled(t *testing.T, mk maker) {
	space := newSpace(t, float("x", 0, 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := begun(t, mk, space).Ask(ctx, optimizer.Query{Trial: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("asked with a cancelled context: got error %v", err)
	}
}
