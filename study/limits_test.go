package study_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/study"
)

func number(x float64) *float64 { return &x }

// limited is a study whose trials hold size ≤ 10 and 2 ≤ speed.
func limited(t *testing.T, change func(*study.Config)) *study.State {
	t.Helper()
	c := config()
	c.Metrics = append(c.Metrics, study.Metric{Name: "size", Max: number(10)}, study.Metric{Name: "speed", Min: number(2)})
	change(&c)
	st := &study.State{}
	apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: c})
	return st
}

func apply(t *testing.T, st *study.State, e study.Event) {
	t.Helper()
	if err := st.Apply(study.Record{At: time.Unix(0, 0), Event: e}); err != nil {
		t.Fatal(err)
	}
}

// Who holds the limits by luck alone is the best no more once the study has ended, until it goes
// on; what was confirmed is judged by its means.
func TestDoubtful(t *testing.T) {
	st := limited(t, func(c *study.Config) { c.Run.Confirm = 2 })
	lucky, safe := try(t, st, 1, 9, 3), try(t, st, 2, 9, 3)
	over := try(t, st, 0, 11, 3)
	if st.Best() != lucky {
		t.Errorf("before the end the best is trial %d", st.Best().Number)
	}
	end := study.Closed{Why: study.EndTrials, Doubtful: []int{1}}
	apply(t, st, end)
	if st.Best() != safe || st.Feasible(lucky) || !st.Doubtful(lucky) || !slices.Equal(st.Ranked(), []*study.Trial{safe, lucky, over}) || infeasible(st) != 2 {
		t.Errorf("the best is trial %d of %v", st.Best().Number, st.Ranked())
	}
	apply(t, st, study.Closed{Why: study.EndTrials, Doubtful: []int{1, 2}})
	if st.Best() != lucky || st.Feasible(st.Best()) {
		t.Errorf("with both in doubt the best is trial %d", st.Best().Number)
	}
	more := st.Config
	more.Run.Workers++
	if apply(t, st, study.ConfigChanged{Config: more}); !st.Ended() || st.Feasible(lucky) || st.Config.Run.Workers != more.Run.Workers {
		t.Errorf("nothing that has ended it is another, and it goes on: %s", st.Standing(false))
	}
	more.Budget.Trials++
	apply(t, st, study.ConfigChanged{Config: more})
	if st.Best() != lucky || !st.Feasible(lucky) {
		t.Errorf("as it goes on the best is trial %d", st.Best().Number)
	}
	for range 2 {
		apply(t, st, study.Confirmed{Trial: 1, Attempt: lucky.NextAttempt(), Metrics: study.Metrics{"loss": 1, "size": 9, "speed": 3}})
	}
	apply(t, st, end)
	if !st.Feasible(lucky) {
		t.Error("a trial whose means hold the limits is in doubt")
	}
}

// try makes a trial that ends with these values.
func try(t *testing.T, st *study.State, loss, size, speed float64) *study.Trial {
	t.Helper()
	n := len(st.Trials) + 1
	apply(t, st, study.Proposed{Trial: n, Told: len(st.Order), Pending: []int{}, Origin: optimizer.OriginGiven, Values: values(float64(n)/100, 3)})
	apply(t, st, study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded,
		Metrics: study.Metrics{"loss": loss, "size": size, "speed": speed}})
	return st.Trials[n-1]
}

// The best is feasible as soon as something is, and before that the least violating.
func TestBestHoldsTheLimits(t *testing.T) {
	st := limited(t, func(c *study.Config) { c.Budget.Goal, c.Budget.Patience = number(1), 3 })
	best := func(n int) {
		t.Helper()
		if b := st.Best(); b == nil || b.Number != n {
			t.Fatalf("after %d trials the best is %v, want trial %d", len(st.Trials), b, n)
		}
	}
	ends := func(want study.Ending) {
		t.Helper()
		var got study.Ending
		if e := st.Ending(0); e != nil {
			got = e.Why
		}
		if got != want {
			t.Fatalf("after %d trials the study ends for %q, want %q", len(st.Trials), got, want)
		}
	}
	try(t, st, 0, 30, 3) // 2 over
	best(1)
	ends("")             // the goal is reached, but not within the limits
	try(t, st, 9, 15, 1) // 0.5 + 0.5 over
	best(2)
	try(t, st, 5, 10, 2) // exactly at the limits
	best(3)
	try(t, st, 1, 10.1, 2)
	try(t, st, 4, 1, 2)
	best(5)
	try(t, st, 4.5, 1, 2)
	try(t, st, 0, 11, 2)
	ends("")
	try(t, st, 8, 1, 2)
	ends(study.EndPatience)
	try(t, st, 1, 9, 9)
	best(9)
	ends(study.Ending("goal"))
	if infeasible(st) != 4 || st.Feasible(st.Trials[3]) || !st.Feasible(st.Trials[2]) {
		t.Errorf("%d are infeasible", infeasible(st))
	}
	tighter := st.Config
	tighter.Metrics = slices.Clone(tighter.Metrics)
	tighter.Metrics[1].Max = number(1)
	apply(t, st, study.ConfigChanged{Fingerprint: "g", Config: tighter})
	best(5)
}

// Of trials that were confirmed the means are held against the limits.
func TestConfirmationKnowsTheLimits(t *testing.T) {
	st := limited(t, func(c *study.Config) { c.Run.Confirm = 2 })
	a, b := try(t, st, 1, 10, 3), try(t, st, 2, 5, 3)
	try(t, st, 0, 20, 3) // breaks a limit, and need not be run again
	if u := st.Unconfirmed(); len(u) != 2 || u[0] != a || u[1] != b {
		t.Errorf("to be confirmed: %v", u)
	}
	for _, n := range []int{1, 2} {
		for attempt := range 2 {
			size := float64(5)
			if n == 1 {
				size = 11
			}
			apply(t, st, study.Confirmed{Trial: n, Attempt: 2 + attempt, Metrics: study.Metrics{"loss": float64(n), "size": size, "speed": 3}})
		}
	}
	if st.Best() != b {
		t.Errorf("the best is trial %d", st.Best().Number)
	}
}

// What the optimizer is told: shares over the limits, and what a failure means.
func TestObservationsTellOfLimits(t *testing.T) {
	st := limited(t, func(c *study.Config) { c.Run.FailedMeans = "size" })
	o := st.Observation(try(t, st, 1, 15, 3))
	if !slices.Equal(o.Constraints, []float64{0.5, -0.5}) {
		t.Errorf("constraints %v", o.Constraints)
	}
	unsaid := limited(t, func(*study.Config) {})
	apply(t, unsaid, study.Proposed{Trial: 1, Pending: []int{}, Values: values(0.5, 3)})
	apply(t, unsaid, study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Failed, Failure: &study.Failure{Kind: study.FailExit}})
	if c := unsaid.Observation(unsaid.Trials[0]).Constraints; c != nil {
		t.Errorf("a failure that means nothing: constraints %v", c)
	}
	for kind, explained := range map[study.FailureKind]bool{study.FailTimeout: true, study.FailSignal: true, study.FailNoMetric: false} {
		t.Run(string(kind), func(t *testing.T) {
			n := len(st.Trials) + 1
			apply(t, st, study.Proposed{Trial: n, Told: len(st.Order), Pending: []int{}, Origin: optimizer.OriginGiven, Values: values(0.5, 3)})
			apply(t, st, study.Finished{Trial: n, Attempt: 1, Status: optimizer.Failed, Failure: &study.Failure{Kind: kind}})
			c := st.Observation(st.Trials[n-1]).Constraints
			if explained != (len(c) == 2) || explained && !(math.IsInf(c[0], 1) && math.IsNaN(c[1])) {
				t.Errorf("%s: constraints %v", kind, c)
			}
		})
	}
}

// Of a trial that was stopped at a limit that one is told, by as much as the reading breaks
// it, if it does; of one that was stopped on its rung all are.
func TestStoppedAtALimit(t *testing.T) {
	for reading, want := range map[float64]float64{12: 0.2, 10: math.NaN(), 8: math.NaN()} {
		t.Run(fmt.Sprint(reading), func(t *testing.T) {
			st := limited(t, func(*study.Config) {})
			apply(t, st, study.Proposed{Trial: 1, Pending: []int{}, Values: values(0.5, 3)})
			apply(t, st, study.Cut{Trial: 1, Attempt: 1, Metric: "size", Reading: study.Reading{Step: 1, Value: reading}})
			apply(t, st, study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Pruned, Metrics: study.Metrics{"loss": 1}})
			o := st.Observation(st.Trials[0])
			if o.Status != optimizer.Failed || len(o.Constraints) != 2 || !math.IsNaN(o.Constraints[1]) ||
				math.Abs(o.Constraints[0]-want) > 1e-12 || math.IsNaN(want) != math.IsNaN(o.Constraints[0]) {
				t.Errorf("of %v: %+v", reading, o)
			}
		})
	}
	for rungs, known := range map[bool]int{false: 0, true: 2} {
		t.Run(fmt.Sprint("rungs ", rungs), func(t *testing.T) {
			st := limited(t, func(c *study.Config) {
				if rungs {
					halves(c)
				}
			})
			apply(t, st, study.Proposed{Trial: 1, Pending: []int{}, Values: values(0.5, 4)})
			apply(t, st, study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Pruned, Metrics: study.Metrics{"loss": 1, "size": 5, "speed": 4}})
			if o := st.Observation(st.Trials[0]); len(o.Constraints) != known || (o.Status == optimizer.Succeeded) != rungs {
				t.Errorf("with rungs %v: %+v", rungs, o)
			}
		})
	}
}

// What is shown of a trial that breaks limits: which, by what, and what is not known.
func TestBrokenLimits(t *testing.T) {
	st := limited(t, func(c *study.Config) { c.Metrics[1].Min = number(0) })
	for _, c := range []struct {
		metrics study.Metrics
		want    []string
	}{
		{study.Metrics{"size": 10, "speed": 2}, nil},
		{study.Metrics{"size": 10.25, "speed": 1e-7}, []string{"size = 10.25, above 10", "speed = 1e-07, below 2"}},
		{study.Metrics{"size": 10.0000001, "speed": 1.9999999}, []string{"size = 10.0000001, above 10", "speed = 1.9999999, below 2"}},
		{study.Metrics{"size": -0.125}, []string{"size = -0.125, below 0", "speed is not known, its limit is 2"}},
	} {
		t.Run(fmt.Sprint(c.metrics), func(t *testing.T) {
			if got := st.Config.Broken(c.metrics); !slices.Equal(got, c.want) {
				t.Errorf("%v breaks %q; want %q", c.metrics, got, c.want)
			}
		})
	}
	if v := st.Config.Violation(study.Metrics{"size": 99}); !math.IsInf(v, 1) {
		t.Errorf("what is not known is %v over the limits", v)
	}
	for l, want := range map[study.Limit]float64{{Metric: "size"}: 3, {Metric: "size", At: -2}: 2.5, {Metric: "size", At: -2, Least: true}: -2.5} {
		t.Run(fmt.Sprintf("%+v", l), func(t *testing.T) {
			if over := l.Over(study.Metrics{"size": 3}); over != want {
				t.Errorf("3 is %v over the limit %+v; want %v", over, l, want)
			}
		})
	}
}

// A trial is stopped only for a limit that says so, and of which readings come in time.
func TestStopsEarly(t *testing.T) {
	for name, c := range map[string]struct {
		metric study.Metric
		want   bool
	}{
		"stop at a limit":             {study.Metric{Max: number(1), Stop: true}, true},
		"a limit without stop":        {study.Metric{Max: number(1)}, false},
		"stop without a limit":        {study.Metric{Stop: true}, false},
		"measured, without a limit":   {study.Metric{Measure: study.Seconds, Stop: true}, false},
		"measured":                    {study.Metric{Max: number(1), Stop: true, Measure: study.Seconds}, false},
		"read from a file at the end": {study.Metric{Max: number(1), Stop: true, Rule: parser.Rule{Source: parser.File}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.metric.StopsEarly(); got != c.want {
				t.Errorf("%+v stops early: %v", c.metric, got)
			}
		})
	}
}

// Runs are combined metric by metric, over those that have it.
func TestCombine(t *testing.T) {
	huge := math.MaxFloat64
	first, second := study.Metrics{"a": 1, "odd": 1, "huge": huge}, study.Metrics{"a": 9, "odd": 2, "huge": huge, "late": 5}
	for i := range 20 { // so that what follows one that both have is seldom the last
		first[string(rune('A'+i))], second[string(rune('A'+i))] = 0, 0
	}
	runs := []study.Metrics{first, second, {"odd": 9}, {"nan": math.NaN()}, {"nan": 1}}
	for how, want := range map[string]study.Metrics{
		"mean":   {"a": 5, "odd": 4, "huge": huge, "late": 5},
		"median": {"a": 5, "odd": 2, "huge": huge, "late": 5},
	} {
		t.Run(how, func(t *testing.T) {
			got := study.Combine(runs, how)
			for name, v := range want {
				if is, ok := got[name]; !ok || is != v {
					t.Errorf("the %s of %s is %v, %v; want %v", how, name, is, ok, v)
				}
			}
			if v := float64(got["nan"]); !math.IsNaN(v) || len(got) != 25 {
				t.Errorf("the %s of what is no number is %v; %d metrics", how, v, len(got))
			}
		})
	}
}

// The gap ends a study only when the best holds its limits, and under a stated constant.
func TestGapEnding(t *testing.T) {
	st := limited(t, func(c *study.Config) { c.Budget.Gap, c.Optimizer.LipschitzConstant = 0.5, 2 })
	note := func(gap float64, stated bool) optimizer.Note {
		return optimizer.Note{Lipschitz: &optimizer.LipschitzNote{Gap: &gap, Stated: stated}}
	}
	if try(t, st, 1, 11, 3); st.GapEnding(note(0.25, true)) != nil {
		t.Error("the gap of what breaks a limit ends the study")
	}
	try(t, st, 1, 1, 3)
	for want, n := range map[string]optimizer.Note{
		"at most 0.124 is left to gain": note(0.12345, true),
		"at most 0.25 is left to gain over trial 2 if the objective has no noise and the stated Lipschitz constant 2": note(0.25, true),
		"": note(0.51, true),
	} {
		t.Run(want, func(t *testing.T) {
			end := st.GapEnding(n)
			if (end == nil) != (want == "") || end != nil && (end.Why != "gap" || !strings.HasPrefix(end.Detail, want)) {
				t.Errorf("ended by %+v; want %q", end, want)
			}
		})
	}
	if st.GapEnding(note(0, false)) != nil {
		t.Error("an estimated constant ends the study")
	}
	st.Config.Budget.Gap = 0
	if st.GapEnding(note(0, true)) != nil {
		t.Error("a gap that nobody asked for ends the study")
	}
	if st.GapEnding(optimizer.Note{}) != nil {
		t.Error("a proposal that knows of no gap ends the study")
	}
}

// What is left to gain is so beside the study's own best trial, whatever the results that it
// began with were.
func TestGapBesideEarlierResults(t *testing.T) {
	st := limited(t, func(c *study.Config) { c.Budget.Gap, c.Optimizer.LipschitzConstant = 0.5, 2 })
	best := try(t, st, 1, 1, 3)
	gap := 0.125
	note := optimizer.Note{Lipschitz: &optimizer.LipschitzNote{Gap: &gap, Stated: true}}
	for _, c := range []struct {
		better float64
		same   bool
		want   string
	}{
		{0.25, true, "at most 0.375 is left to gain over trial 1 if the objective has no noise and the stated Lipschitz constant 2, and the results that it began with are its own"},
		{-1, true, "at most 0.125 is left to gain over trial 1 if the objective has no noise and the stated Lipschitz constant 2, and the results that it began with are its own"},
		{1, true, ""},
		{1, false, "at most 0.125 is left to gain over trial 1 if the objective has no noise and the stated Lipschitz constant 2"},
	} {
		t.Run(fmt.Sprint(c.better, c.same), func(t *testing.T) {
			value := best.Value + st.Config.Objective().Direction.Maximized(c.better)
			st.Earlier = []study.Earlier{{Same: c.same, Trials: []study.EarlierResult{{Values: best.Values(), Value: &value}, {Values: best.Values()}}}}
			got := ""
			if end := st.GapEnding(note); end != nil {
				got = end.Detail
			}
			if got != c.want {
				t.Errorf("better by %v, the same %v: %q; want %q", c.better, c.same, got, c.want)
			}
		})
	}
}

// No trial is stopped for one that breaks a limit or was stopped at one, nor, by a rule that stops what cannot
// become the best, for one that lies outside of the ranges by now. What ended well sets the bar by its value.
func TestNoBarForOthers(t *testing.T) {
	for _, method := range []string{"reachable", "median", "asha"} {
		t.Run(method, func(t *testing.T) { noBarForOthers(t, method) })
	}
}

func noBarForOthers(t *testing.T, method string) {
	st := limited(t, func(c *study.Config) { c.Prune = &study.Prune{Method: method, MaxStep: 4, Slope: 1} })
	fine := try(t, st, 1, 10, 3)
	try(t, st, 0.5, 11, 3)
	told := func() (finished, forgotten []int) {
		for _, w := range st.Watched {
			switch {
			case w.Finish > 0:
				finished = append(finished, w.Finish)
				if w.Reading.Value != -1 || w.Reading.Trial != 0 {
					t.Errorf("trial %d sets the bar at %v", w.Finish, w.Reading.Value)
				}
			case w.Forget > 0:
				forgotten = append(forgotten, w.Forget)
			}
		}
		return finished, forgotten
	}
	apply(t, st, study.Proposed{Trial: 3, Told: 2, Pending: []int{}, Values: values(0.5, 3)})
	apply(t, st, study.Cut{Trial: 3, Attempt: 1, Metric: "size", Reading: study.Reading{Step: 3, Value: 12}}) // and step 4 was read
	if _, b := told(); !slices.Equal(b, []int{2, 3}) {
		t.Errorf("trials %v set no bar while trial 3 ends", b)
	}
	apply(t, st, study.Finished{Trial: 3, Attempt: 1, Status: optimizer.Pruned, Metrics: study.Metrics{"loss": 0.25, "size": 12}})
	if a, b := told(); !slices.Equal(a, []int{1}) || !slices.Equal(slices.Compact(b), []int{2, 3}) {
		t.Errorf("trials %v set the bar, %v do not", a, b)
	}
	narrow := st.Config
	narrow.Params = slices.Clone(narrow.Params)
	x, _ := fine.Values().Get("x")
	narrow.Params[0].Max = x.Any().(float64) / 2
	apply(t, st, study.ConfigChanged{Fingerprint: "g", Config: narrow})
	if _, b := told(); !fine.Outside || slices.Contains(b, 1) != (method == "reachable") {
		t.Errorf("trial 1 is outside: %v; forgotten are %v", fine.Outside, b)
	}
}

// infeasible is how many trials have succeeded and break a limit.
func infeasible(st *study.State) (n int) {
	for _, t := range st.Trials {
		if t.Succeeded() && !st.Feasible(t) {
			n++
		}
	}
	return n
}
