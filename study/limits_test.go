package study_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/optimizer"
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

// try makes a trial that ends with these values.
func try(t *testing.T, st *study.State, loss, size, speed float64) *study.Trial {
	t.Helper()
	n := len(st.Trials) + 1
	apply(t, st, study.Proposed{Trial: n, Told: len(st.Order), Pending: []int{}, Origin: optimizer.OriginGiven, Values: values(float64(n)/100, 3)})
	apply(t, st, study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded,
		Metrics: study.Metrics{"loss": journal.Float(loss), "size": journal.Float(size), "speed": journal.Float(speed)}})
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
	ends(study.EndGoal)
	if st.Infeasible() != 4 || st.Feasible(st.Trials[3]) || !st.Feasible(st.Trials[2]) {
		t.Errorf("%d are infeasible", st.Infeasible())
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
	try(t, st, 0, 20, 3)
	if u := st.Unconfirmed(); len(u) != 3 || u[0] != a || u[1] != b {
		t.Errorf("to be confirmed: %v", u)
	}
	for _, n := range []int{1, 2} {
		for attempt := range 2 {
			size := journal.Float(5)
			if n == 1 {
				size = 11
			}
			apply(t, st, study.Confirmed{Trial: n, Attempt: 2 + attempt, Metrics: study.Metrics{"loss": journal.Float(n), "size": size, "speed": 3}})
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
	for kind, explained := range map[study.FailureKind]bool{study.FailTimeout: true, study.FailSignal: true, study.FailNoMetric: false} {
		n := len(st.Trials) + 1
		apply(t, st, study.Proposed{Trial: n, Told: len(st.Order), Pending: []int{}, Origin: optimizer.OriginGiven, Values: values(0.5, 3)})
		apply(t, st, study.Finished{Trial: n, Attempt: 1, Status: optimizer.Failed, Failure: &study.Failure{Kind: kind}})
		c := st.Observation(st.Trials[n-1]).Constraints
		if explained != (len(c) == 2) || explained && !(math.IsInf(c[0], 1) && math.IsNaN(c[1])) {
			t.Errorf("%s: constraints %v", kind, c)
		}
	}
}
