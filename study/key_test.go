package study_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/study"
)

// A study can take another command until something that counts was measured by the one it
// has: not a trial that only runs, but one of whose repeats one has ended, or that is being
// stopped for its readings.
func TestCommitted(t *testing.T) {
	pending := study.Proposed{Trial: 1, Pending: []int{}, Values: values(0, 1)}
	failure := &study.Failure{Kind: study.FailExit, Code: 1}
	for name, c := range map[string]struct {
		event     study.Event
		committed bool
	}{
		"runs":           {study.Started{Trial: 1, Attempt: 1}, false},
		"a failed run":   {study.Ended{Trial: 1, Attempt: 1, Failure: failure}, false},
		"a run's value":  {study.Ended{Trial: 1, Attempt: 1, Metrics: study.Metrics{"loss": 1}}, true},
		"to be stopped":  {study.Cut{Trial: 1, Attempt: 1, Reading: study.Reading{Step: 1, Value: 2}}, true},
		"a failed trial": {study.Finished{Trial: 1, Attempt: 1, Status: "failed", Failure: failure}, false},
	} {
		t.Run(name, func(t *testing.T) {
			st := &study.State{}
			apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: config()})
			apply(t, st, pending)
			apply(t, st, c.event)
			now := config()
			now.Command.Argv = []string{"other", "{x}", "{n}"}
			_, err := st.Reconfigured(now)
			var refused *study.ConfigError
			if errors.As(err, &refused) != c.committed {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// A finished trial keeps the key of the command that measured it, a new one has another.
func TestKeyOfAnEarlierCommand(t *testing.T) {
	st := begun(t, config())
	was := st.Key(st.Trials[0])
	apply(t, st, study.Excluded{Trial: 1})
	apply(t, st, study.Proposed{Trial: 2, Told: 1, Pending: []int{}, Values: values(0, 1)})
	pending := st.Key(st.Trials[1])
	now := config()
	now.Command.Argv = []string{"other", "{x}", "{n}"}
	apply(t, st, study.ConfigChanged{Fingerprint: "g", Config: now})
	if st.Key(st.Trials[0]) != was || st.Key(st.Trials[1]) == pending {
		t.Error("a key is not that of the command that runs the trial")
	}
}

// Once something was measured, trials keep their key whatever else may change.
func TestKeyOfACommittedStudy(t *testing.T) {
	st, now := begun(t, config()), config()
	apply(t, st, study.Proposed{Trial: 2, Told: 1, Pending: []int{}, Values: values(0, 1)})
	was := st.Key(st.Trials[1])
	now.Run.Cwd = "elsewhere"
	apply(t, st, study.ConfigChanged{Fingerprint: "g", Config: now})
	if st.Key(st.Trials[1]) != was {
		t.Error("a trial that runs has another key")
	}
}

// A result that was excluded before the command or the metric was changed stays out; other
// changes do not matter.
func TestIncludeOfAnEarlierCommand(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*study.Config)
		refused bool
	}{
		"command":     {func(c *study.Config) { c.Command.Argv = []string{"other", "{x}", "{n}"} }, true},
		"metric":      {func(c *study.Config) { c.Metrics[0].Name, c.Metrics[0].Rule.Metric = "acc", "acc" }, true},
		"range":       {func(c *study.Config) { c.Params[0].Max = 0.75 }, false},
		"environment": {func(c *study.Config) { c.Run.Env = []string{"A=1"} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			st, now := begun(t, config()), config()
			apply(t, st, study.Excluded{Trial: 1})
			c.change(&now)
			change, err := st.Reconfigured(now)
			if err != nil {
				t.Fatal(err)
			}
			apply(t, st, *change)
			change.Config.Budget.Trials++ // a change that matters for nothing
			apply(t, st, *change)
			_, err = st.Event(study.Request{Action: study.ActionInclude, Trial: 1})
			if (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), "trial 1 was excluded before the command") {
				t.Errorf("another %s: %v", name, err)
			}
		})
	}
}
