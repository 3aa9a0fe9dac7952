package study_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// fail makes a trial that fails.
func fail(t *testing.T, st *study.State, f *study.Failure) *study.Trial {
	t.Helper()
	n := len(st.Trials) + 1
	apply(t, st, study.Proposed{Trial: n, Told: len(st.Order), Pending: []int{}, Origin: optimizer.OriginInitial, Values: values(0.5, 3)})
	apply(t, st, study.Finished{Trial: n, Attempt: 1, Status: optimizer.Failed, Failure: f})
	return st.Trials[n-1]
}

// The guard ends a study as soon as as many trials as it says have failed, a time
// that is over one at that very moment.
func TestGuardAndTime(t *testing.T) {
	st := &study.State{}
	c := config()
	c.Run.FailureGuard, c.Budget.Time = 2, study.Duration(time.Hour)
	apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: c})
	for elapsed, want := range map[time.Duration]bool{time.Hour - 1: false, time.Hour: true} {
		if end := st.Ending(elapsed); (end != nil && end.Why == study.Ending("time")) != want {
			t.Errorf("after %v: %+v", elapsed, end)
		}
	}
	for n, want := range []study.Ending{"", study.EndGuard} {
		fail(t, st, &study.Failure{Kind: study.FailExit, Code: 1, Text: "exit code 1"})
		if end := st.Ending(0); (end == nil) != (want == "") || end != nil && (end.Why != want || end.Detail != "the first 2 trials all failed: exit code 1") {
			t.Errorf("after %d failures: %+v", n+1, end)
		}
	}
	fail(t, st, &study.Failure{Kind: study.FailExit, Code: 2, Text: "exit code 2"})
	if end := st.Ending(0); end == nil || end.Detail != "the first 3 trials all failed, not all for the same reason: exit code 1" {
		t.Errorf("failures of two kinds: %+v", end)
	}
}

// A budget that is spent on nothing but failures is not what ends the study: they are run again
// once what was wrong is mended.
func TestGuardOfASpentBudget(t *testing.T) {
	for name, c := range map[string]struct {
		trials, guard int
		detail        string
	}{
		"as many":   {2, 2, "the first 2 trials all failed: exit code 1"},
		"fewer":     {3, 5, "the first 3 trials all failed: exit code 1"},
		"one":       {1, 5, "the first trial failed: exit code 1"},
		"not asked": {3, -1, "all 3 trials are finished"},
	} {
		t.Run(name, func(t *testing.T) {
			st, cfg := &study.State{}, config()
			cfg.Budget.Trials, cfg.Run.FailureGuard = c.trials, c.guard
			apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: cfg})
			for n := range c.trials {
				if end := st.Ending(0); end != nil {
					t.Fatalf("%s: %+v after %d", name, end, n)
				}
				fail(t, st, &study.Failure{Kind: study.FailExit, Code: 1, Text: "exit code 1"})
			}
			if end := st.Ending(0); end == nil || end.Detail != c.detail {
				t.Errorf("%s: %+v", name, end)
			}
		})
	}
}

// After a success a row of failures for one reason ends a study, where so few had failed before
// that it was not to be expected; a grid goes on.
func TestGuardLater(t *testing.T) {
	exit := func(code int) *study.Failure {
		return &study.Failure{Kind: study.FailExit, Code: code, Text: fmt.Sprintf("exit code %d", code)}
	}
	for name, c := range map[string]struct {
		change func(*study.Config)
		before int // failures, each after a success
		ends   int // at this failure of the row; 0: not among 100
	}{
		"a good program":     {nil, 0, 8},
		"more workers":       {func(c *study.Config) { c.Run.Workers = 5 }, 0, 12},
		"half had failed":    {nil, 20, 20},
		"nobody guards":      {func(c *study.Config) { c.Run.FailureGuard = -1 }, 0, 0},
		"a grid":             {func(c *study.Config) { c.Optimizer.Method = "grid" }, 0, 0},
		"in another session": {nil, 0, 15},
		"for two reasons":    {nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			st, cfg := &study.State{}, config()
			cfg.Run.FailureGuard, cfg.Budget.Trials = 2, 500
			if c.change != nil {
				c.change(&cfg)
			}
			apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: cfg})
			for i := range 20 {
				n := len(st.Trials) + 1
				apply(t, st, study.Proposed{Trial: n, Told: len(st.Order), Pending: []int{}, Origin: optimizer.OriginInitial, Values: values(0.5, 3)})
				apply(t, st, study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": float64(i)}})
				if i < c.before {
					fail(t, st, exit(9))
				}
			}
			ended := 0
			for n := 1; n <= 100 && ended == 0; n++ {
				if name == "in another session" && n == 6 {
					apply(t, st, study.Session{Number: 2})
				}
				code := 3
				if name == "for two reasons" {
					code += n / 5 % 2
				}
				fail(t, st, exit(code))
				if end := st.Ending(0); end != nil {
					ended = n
					if end.Why != study.EndGuard || !strings.HasSuffix(end.Detail, "trials all failed: exit code 3") {
						t.Errorf("%s: ended by %+v", name, end)
					}
				}
			}
			if ended != c.ends {
				t.Errorf("%s: ended at failure %d; want %d", name, ended, c.ends)
			}
		})
	}
}

// Failures without a reason are not alike, and without a positive number of the guard none ends the study.
func TestNoGuard(t *testing.T) {
	exit := &study.Failure{Kind: study.FailExit, Code: 1}
	many := slices.Repeat([]*study.Failure{exit}, 100)
	for name, c := range map[string]struct {
		guard    int
		failures []*study.Failure
	}{
		"of a config that says nothing": {study.Run{}.FailureGuard, many},
		"switched off":                  {-1, many},
		"no reasons":                    {2, []*study.Failure{nil, nil}},
		"the first has a reason":        {2, []*study.Failure{exit, nil}},
		"the last has a reason":         {2, []*study.Failure{nil, exit}},
	} {
		t.Run(name, func(t *testing.T) {
			st, cfg := &study.State{}, config()
			cfg.Run.FailureGuard, cfg.Budget.Trials = c.guard, 500
			apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: cfg})
			for n, f := range c.failures {
				fail(t, st, f)
				if end := st.Ending(0); end != nil {
					t.Fatalf("after %d failures: ended by %+v", n+1, end)
				}
			}
		})
	}
}

// The last trial of the budget ends a study, and no patience is boundless.
func TestLastTrialEnds(t *testing.T) {
	c := config()
	c.Budget.Trials = 2
	st := begun(t, c)
	if end := st.Ending(0); end != nil || st.Room() != 1 {
		t.Errorf("after one of two: %+v, and room for %d", end, st.Room())
	}
	if st.Config.Budget.Trials = 0; st.Room() < 1000 {
		t.Errorf("without a budget there is room for %d", st.Room())
	}
	fail(t, st, nil)
	for trials, want := range map[int]string{2: "all 2 trials are finished", 1: "all 2 trials are finished, and the budget is 1"} {
		st.Config.Budget.Trials = trials
		if end := st.Ending(0); end == nil || end.Why != study.EndTrials || end.Detail != want {
			t.Errorf("after both of %d: %+v", trials, end)
		}
	}
	apply(t, st, study.Enqueued{Values: values(0.25, 3)})
	for trials, want := range map[int]string{2: "all 2 trials are finished; enqueued and not tried: 1", 0: "the study has run for 1s; enqueued and not tried: 1"} {
		st.Config.Budget = study.Budget{Trials: trials, Time: study.Duration(time.Second)}
		if end := st.Ending(time.Minute); end == nil || end.Detail != want {
			t.Errorf("with values that wait: %+v; want %s", end, want)
		}
	}
}
