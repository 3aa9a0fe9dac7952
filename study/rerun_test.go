package study_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/study"
)

func applyAll(t *testing.T, st *study.State, events ...study.Event) {
	t.Helper()
	for _, e := range events {
		apply(t, st, e)
	}
}

// failing is a study of three failures: two that ran well and printed no value, one that crashed.
func failing(t *testing.T) *study.State {
	t.Helper()
	st := &study.State{}
	apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: config()})
	for n, kind := range []study.FailureKind{study.FailNoMetric, study.FailExit, study.FailNotFinite} {
		applyAll(t, st, study.Proposed{Trial: n + 1, Told: n, Pending: []int{}, Values: values(0.25*float64(n), 3)},
			study.Started{Trial: n + 1, Attempt: 1},
			study.Finished{Trial: n + 1, Attempt: 1, Status: optimizer.Failed, Failure: &study.Failure{Kind: kind, Code: 7 * n, Text: "no"}, Seconds: 5})
	}
	return st
}

// A failure that is taken back counts nowhere, and the trial can succeed.
func TestRerun(t *testing.T) {
	st := failing(t)
	apply(t, st, study.Closed{Why: study.EndTrials})
	apply(t, st, study.Rerun{Trials: []int{1, 3}, Read: []int{3}})
	if !slices.Equal(st.Order, []int{2}) || st.Count(optimizer.Failed) != 1 || st.Ended() || len(st.Pending()) != 2 {
		t.Errorf("order %v, %d failed, ended %v, %d pending", st.Order, st.Count(optimizer.Failed), st.Ended(), len(st.Pending()))
	}
	if a, b := st.Trials[0].NextAttempt(), st.Trials[2].NextAttempt(); a != 2 || b != 1 {
		t.Errorf("attempts %d and %d follow; want 2, and 1 read again", a, b)
	}
	if !slices.Equal(st.Failed(), []int{2}) {
		t.Errorf("may be run again: %v", st.Failed())
	}
	apply(t, st, study.Finished{Trial: 1, Attempt: 2, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 0.5}})
	if best := st.Best(); best == nil || best.Number != 1 {
		t.Errorf("the best is %v", best)
	}
	for _, again := range [][]int{{1}, {3}, {7}, {2, 2}} {
		t.Run(fmt.Sprint(again), func(t *testing.T) {
			if err := st.Apply(study.Record{At: time.Now(), Event: study.Rerun{Trials: again}}); err == nil {
				t.Errorf("%v has not failed", again)
			}
		})
	}
	// What was known at a proposal before is not made up of what is known now.
	if knew := st.Knew(st.Trials[2]); len(knew) != 1 || knew[0].Number != 2 {
		t.Errorf("the third trial was proposed when %v was known", knew)
	}
}

// Of trials that failed in a later one of their repeats none has a value, so that the command may be
// mended. What the former one has measured is not mixed with what the present one does.
func TestRepeatsOfFailures(t *testing.T) {
	cfg := config()
	cfg.Run.Repeats = 3
	st := &study.State{}
	apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: cfg})
	for n := 1; n <= 2; n++ {
		applyAll(t, st, study.Proposed{Trial: n, Told: n - 1, Pending: []int{}, Values: values(0.25*float64(n), 3)},
			study.Ended{Trial: n, Attempt: 1, Metrics: study.Metrics{"loss": 7}},
			study.Finished{Trial: n, Attempt: 2, Status: optimizer.Failed, Failure: &study.Failure{Kind: study.FailNoMetric, Text: "no"}})
	}
	apply(t, st, study.Closed{Why: study.EndGuard})
	if r := st.Mended(nil); r == nil || len(r.Trials) != 2 || r.Read != nil {
		t.Errorf("taken back: %+v", r)
	}
	apply(t, st, study.Rerun{Trials: []int{1}})
	if n := len(st.Trials[0].Repeats); n != 1 {
		t.Errorf("of the same command %d values are left", n)
	}
	if _, err := st.Reconfigured(cfg); err != nil {
		t.Error(err)
	}
	apply(t, st, study.Finished{Trial: 1, Attempt: 3, Status: optimizer.Failed, Failure: &study.Failure{Kind: study.FailExit, Text: "no"}})
	for _, edit := range []func(*study.Config){
		func(c *study.Config) {
			c.Metrics = []study.Metric{{Name: "loss", Rule: parser.Rule{LastNumber: true}, Direction: study.Minimize}}
		},
		func(c *study.Config) { c.Command.Argv = slices.Concat(c.Command.Argv, []string{"--mended"}) },
	} {
		now := st.Config
		edit(&now)
		change, err := st.Reconfigured(now)
		if err != nil {
			t.Fatal(err)
		}
		r := st.Mended(change)
		if r == nil || len(r.Trials) != 2 || r.Read != nil {
			t.Fatalf("taken back: %+v", r)
		}
		applyAll(t, st, *change, *r)
		for _, trial := range st.Trials {
			if len(trial.Repeats) > 0 {
				t.Errorf("trial %d begins with %v", trial.Number, trial.Repeats)
			}
			apply(t, st, study.Ended{Trial: trial.Number, Attempt: trial.NextAttempt(), Metrics: study.Metrics{"loss": 8}})
			apply(t, st, study.Finished{Trial: trial.Number, Attempt: trial.NextAttempt(), Status: optimizer.Failed, Failure: &study.Failure{Kind: study.FailNoMetric, Text: "no"}})
		}
	}
}

// A trial that ran beside the one proposed was not known to it, though one that is run again has made
// room in the order.
func TestKnewBesideOthers(t *testing.T) {
	st := failing(t)
	applyAll(t, st, study.Proposed{Trial: 4, Told: 3, Pending: []int{}, Values: values(0.8, 3)},
		study.Proposed{Trial: 5, Told: 3, Pending: []int{4}, Values: values(0.9, 3)},
		study.Finished{Trial: 4, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 0.5}},
		study.Rerun{Trials: []int{2}})
	var got []int
	for _, k := range st.Knew(st.Trials[4]) {
		got = append(got, k.Number)
	}
	if !slices.Equal(got, []int{1, 3}) {
		t.Errorf("trial 5 was proposed when %v were known", got)
	}
}

// A change that may have mended failures takes them back, and one of a rule alone, or of the
// exit codes that count as success, has outputs read; nothing does once there is a value.
func TestMended(t *testing.T) {
	st := failing(t)
	change := func(edit func(*study.Config)) *study.ConfigChanged {
		c := st.Config
		c.Metrics = slices.Clone(c.Metrics)
		c.Params = slices.Clone(c.Params)
		edit(&c)
		return &study.ConfigChanged{Config: c}
	}
	rule := change(func(c *study.Config) { c.Metrics[0].Rule = parser.Rule{LastNumber: true} })
	for name, c := range map[string]struct {
		change       *study.ConfigChanged
		trials, read []int
	}{
		"nothing":        {nil, nil, nil},
		"the budget":     {change(func(c *study.Config) { c.Budget.Trials = 99 }), nil, nil},
		"the setup":      {change(func(c *study.Config) { c.Setup = "true" }), []int{1, 2, 3}, nil},
		"the directory":  {change(func(c *study.Config) { c.Run.Cwd = "/tmp" }), []int{1, 2, 3}, nil},
		"the rule":       {rule, []int{1, 2, 3}, []int{1, 3}},
		"another place":  {change(func(c *study.Config) { c.Dir = "/tmp" }), []int{1, 2, 3}, nil},
		"the exit codes": {change(func(c *study.Config) { c.Run.OKExit = []int{0, 7} }), []int{2}, []int{2}},
		"other ones":     {change(func(c *study.Config) { c.Run.OKExit = []int{0, 14} }), nil, nil},
		"a limit's rule": {change(func(c *study.Config) {
			c.Metrics = append(c.Metrics, study.Metric{Name: "size", Rule: parser.Rule{LastNumber: true}})
		}), []int{1, 2, 3}, []int{1, 3}},
		"and a range": {change(func(c *study.Config) {
			c.Setup, c.Params[0].Max = "true", 0.3
		}), []int{1, 2}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got study.Rerun
			if r := st.Mended(c.change); r != nil {
				got = *r
			}
			if !slices.Equal(got.Trials, c.trials) || !slices.Equal(got.Read, c.read) {
				t.Errorf("%s: %+v; want %v, of which %v are read", name, got, c.trials, c.read)
			}
		})
	}
	apply(t, st, study.Excluded{Trial: 2})
	if r := st.Mended(rule); r == nil || !slices.Equal(r.Trials, []int{1, 3}) {
		t.Errorf("an excluded trial: %+v", r)
	}
	apply(t, st, study.Closed{Why: study.EndGuard})
	for name, r := range map[string]*study.Rerun{
		"more workers": st.Mended(change(func(c *study.Config) { c.Run.Workers = 2 })),
		"a range":      st.Mended(change(func(c *study.Config) { c.Params[0].Max = 0.3 })),
	} {
		t.Run(name, func(t *testing.T) {
			if want := map[string][]int{"more workers": {1, 3}, "a range": {1}}[name]; r == nil || !slices.Equal(r.Trials, want) || r.Read != nil {
				t.Errorf("the guard's, and %s: %+v; want %v", name, r, want)
			}
		})
	}
	guarded := st.Mended(nil)
	if guarded == nil || !slices.Equal(guarded.Trials, []int{1, 3}) {
		t.Fatalf("the guard's: %+v", guarded)
	}
	apply(t, st, *guarded)
	for _, n := range guarded.Trials {
		apply(t, st, study.Finished{Trial: n, Attempt: 2, Status: optimizer.Failed, Failure: &study.Failure{Kind: study.FailExit, Text: "no"}})
	}
	apply(t, st, study.Closed{Why: study.EndGuard})
	if again := st.Mended(nil); again != nil {
		t.Errorf("the guard's a second time: %+v", again)
	}
	applyAll(t, st, study.Proposed{Trial: 4, Pending: []int{}, Values: values(0.9, 3)},
		study.Finished{Trial: 4, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 0.5}})
	if r := st.Mended(rule); r != nil {
		t.Errorf("beside a value: %+v", r)
	}
}

// A request names each trial once, and only failures.
func TestRerunRequest(t *testing.T) {
	st := failing(t)
	e, err := st.Event(study.Request{Action: study.ActionRerun, Rerun: []int{3, 1, 3}})
	if r, is := e.(study.Rerun); err != nil || !is || !slices.Equal(r.Trials, []int{1, 3}) {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := st.Event(study.Request{Action: study.ActionRerun}); err == nil {
		t.Errorf("a request that names none: %+v", e)
	}
	if _, err := st.Event(study.Request{Action: study.ActionRerun, Rerun: []int{1, 9}}); err == nil || !strings.Contains(err.Error(), "9") {
		t.Errorf("trial 9: %v", err)
	}
}

// An attempt whose output is read again has ended when it did, and did not run until then.
func TestReadAgainEndedThen(t *testing.T) {
	st := failing(t)
	ended, worked := st.Trials[2].Attempts[0].Ended, st.Worked
	apply(t, st, study.Rerun{Trials: []int{3}, Read: []int{3}})
	later := study.Record{At: ended.Add(time.Hour), Elapsed: time.Hour, Event: study.Finished{Trial: 3, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 0.5}, Seconds: 5}}
	if err := st.Apply(later); err != nil || st.Trials[2].Attempts[0].Ended != ended || worked != 15*time.Second || st.Worked != worked {
		t.Errorf("%v; it ended %v after its end, and the runs have taken %v, and before %v", err, st.Trials[2].Attempts[0].Ended.Sub(ended), st.Worked, worked)
	}
}
