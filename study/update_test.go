package study_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// An observer sees the trial of a record, if it has one, and the best so far.
func TestUpdate(t *testing.T) {
	st := limited(t, func(*study.Config) {})
	show := func(e study.Event) study.Update { return st.Update(study.Record{Event: e}) }
	if u := show(study.Session{}); u.Trial.Number != 0 || u.Best.Number != 0 || u.Better || u.Finished != 0 || u.Proposed != 0 {
		t.Errorf("of an empty study: %+v", u)
	}
	try(t, st, 2, 1, 3)
	if u := show(study.Noted{Trial: 1}); u.Trial.Number != 1 || u.Best.Number != 1 || !u.Better || u.Finished != 1 || u.Proposed != 1 {
		t.Errorf("after the first: %+v", u)
	}
	try(t, st, 3, 1, 3)
	if u := show(study.Started{Trial: 2}); u.Trial.Number != 2 || u.Best.Number != 1 || u.Better {
		t.Errorf("after a worse one: %+v", u)
	}
	for _, n := range []int{0, 3} { // no trial, and none that there is
		if u := show(study.Started{Trial: n}); u.Trial.Number != 0 {
			t.Errorf("of trial %d: %+v", n, u.Trial)
		}
	}
}

// Who asks for what cannot be done hears why, trial by trial.
func TestRequestsOfTrials(t *testing.T) {
	st := begun(t, config())
	apply(t, st, study.Proposed{Trial: 2, Told: 1, Pending: []int{}, Values: values(0, 1)})
	ask := func(want string, r study.Request) {
		t.Helper()
		e, err := st.Event(r)
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%+v: %v; want %q", r, err, want)
		}
		if err == nil {
			apply(t, st, e)
		}
	}
	ask("there is no trial 9", study.Request{Action: study.ActionExclude, Trial: 9})
	ask("trial 2 is not finished yet", study.Request{Action: study.ActionExclude, Trial: 2})
	ask("trial 1 is not excluded", study.Request{Action: study.ActionInclude, Trial: 1})
	ask("there is no trial 9", study.Request{Action: study.ActionInclude, Trial: 9})
	ask("", study.Request{Action: study.ActionExclude, Trial: 1})
	ask("trial 1 is excluded already", study.Request{Action: study.ActionExclude, Trial: 1})
	ask("", study.Request{Action: study.ActionInclude, Trial: 1})
	ask("there is no trial 9", study.Request{Action: study.ActionNote, Trial: 9})
	ask("", study.Request{Action: study.ActionNote, Trial: 2})
	ask("", study.Request{Action: study.ActionNote})
	ask(`there is no action ""`, study.Request{})
	c, share := config(), 0.25
	c.Budget.Trials, c.Budget.Enqueued = 8, &share
	st = begun(t, c)
	apply(t, st, study.Proposed{Trial: 2, Told: 1, Pending: []int{}, Origin: optimizer.OriginGiven, Values: values(0, 1)})
	apply(t, st, study.Proposed{Trial: 3, Told: 1, Pending: []int{}, Origin: optimizer.OriginModel, Values: values(0, 1)})
	ask("", study.Request{Action: study.ActionEnqueue, Values: values(0.25, 3)})
	ask("2 trials were enqueued, and [budget] enqueued = 0.25 of 8 trials allows no more", study.Request{Action: study.ActionEnqueue, Values: values(0.25, 3)})
}

// A trial has a value unless it has failed, or was stopped before there was one.
func TestHasValue(t *testing.T) {
	for _, c := range []struct {
		status optimizer.Status
		value  float64
		want   bool
	}{
		{"", 1, false}, {optimizer.Failed, 1, false}, {optimizer.Succeeded, 1, true},
		{optimizer.Pruned, 1, true}, {optimizer.Pruned, math.NaN(), false},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if got := (&study.Trial{Status: c.status, Value: c.value}).HasValue(); got != c.want {
				t.Errorf("%+v: %v", c, got)
			}
		})
	}
}

func TestStanding(t *testing.T) {
	st := begun(t, config())
	if got := st.Standing(false); got != "stopped" {
		t.Errorf("a study that nobody works on is %s", got)
	}
	apply(t, st, study.Closed{Why: study.Ending("time"), Detail: "time is up"})
	if a, b := st.Standing(false), st.Standing(true); a != "ended: time is up" || b != "running" {
		t.Errorf("a study that has ended is %s, and at work %s", a, b)
	}
}

// The optimizer is told by how much a trial was safe, to either side, of those that have a
// value.
func TestMargins(t *testing.T) {
	for _, c := range []struct {
		safety study.Safety
		status optimizer.Status
		size   study.Metrics
		want   float64
	}{
		{study.Safety{Metric: "size", At: 5}, optimizer.Succeeded, study.Metrics{"loss": 1, "size": 3}, 2},
		{study.Safety{Metric: "size", At: 5, Least: true}, optimizer.Succeeded, study.Metrics{"loss": 1, "size": 8}, 3},
		{study.Safety{Metric: "size", At: 5, Noise: 0.5}, optimizer.Succeeded, study.Metrics{"loss": 1, "size": 3}, 1.5},
		{study.Safety{Metric: "size", At: 5}, optimizer.Succeeded, study.Metrics{"loss": 1}, 0},
		{study.Safety{Metric: "size", At: 5}, optimizer.Pruned, study.Metrics{"loss": 1, "size": 3}, 0},
		{study.Safety{Metric: "loss", At: 5}, optimizer.Failed, nil, 0},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			cfg := config()
			cfg.Safety = &c.safety
			st := &study.State{}
			apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: cfg})
			apply(t, st, study.Proposed{Trial: 1, Pending: []int{}, Values: values(0, 1)})
			apply(t, st, study.Finished{Trial: 1, Attempt: 1, Status: c.status, Metrics: c.size})
			if o := st.Observation(st.Trials[0]); o.Margin != c.want {
				t.Errorf("%+v: margin %v", c, o.Margin)
			}
		})
	}
}

// A slot's environment follows that of all trials; a slot that is none has no more.
func TestEnvironmentOfSlots(t *testing.T) {
	c := config()
	c.Run.Env, c.Run.Slots = []string{"A=1"}, []study.Slot{{Env: []string{"B=2"}}}
	for slot, want := range [][]string{{"A=1", "B=2"}, {"A=1"}} {
		if got := study.TrialBindings("/s", &c, &study.Trial{Number: 1}, 1, slot).Environment(); !slices.Equal(got, want) {
			t.Errorf("slot %d: %q", slot, got)
		}
	}
}

// What was set up stays so until the setup command is another, or none.
func TestSetUpAgain(t *testing.T) {
	c := config()
	c.Setup = "make"
	st := begun(t, c)
	if st.SetUp {
		t.Error("set up without having been")
	}
	for setup, want := range map[string]bool{"make other": false, "": true} {
		t.Run(setup, func(t *testing.T) {
			now := c
			now.Setup = setup
			if apply(t, st, study.ConfigChanged{Fingerprint: "g", Config: now}); st.SetUp != want {
				t.Errorf("%q: set up %v", setup, st.SetUp)
			}
		})
	}
}

// Of several objectives the pruner hears all, and the optimizer of a trial that was stopped
// the first alone, and nothing of limits.
func TestReadingsOfSeveral(t *testing.T) {
	st := two(t, func(*study.Config) {})
	r := st.Maximized(1, study.Reading{Step: 1, Value: 2, Others: []float64{3}})
	if r.Value != -2 || !slices.Equal(r.Others, []float64{3}) {
		t.Errorf("the pruner hears %+v", r)
	}
	apply(t, st, study.Proposed{Trial: 1, Pending: []int{}, Values: values(0, 1)})
	apply(t, st, study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Pruned, Metrics: study.Metrics{"loss": 7}})
	if o := st.Observation(st.Trials[0]); !slices.Equal(o.Values, []float64{-7}) || o.Constraints != nil {
		t.Errorf("the optimizer is told %+v of a trial that was stopped", o)
	}
	tryTwo(t, st, 5, 4, 1)
	fail(t, st, nil)
	tryTwo(t, st, 6, 3, 1) // worse than the first, whatever failed in between
	if u := st.Update(study.Record{Event: study.Noted{}}); u.Better || st.Best().Number != 2 {
		t.Errorf("trial %d is the best; better %v", st.Best().Number, u.Better)
	}
}
