package study_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// safely is a study whose loss must not be above 5, and changes by at most 8 from one end of
// x to the other.
func safely(t *testing.T, change func(*study.Config)) *study.State {
	t.Helper()
	c := config()
	c.Safety = &study.Safety{Metric: "loss", At: 5, Constant: 8 * 9. / 8}
	if change != nil {
		change(&c)
	}
	st := &study.State{}
	apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: c})
	return st
}

func measure(t *testing.T, st *study.State, origin optimizer.Origin, x, loss float64) *study.Trial {
	t.Helper()
	n := len(st.Trials) + 1
	apply(t, st, study.Proposed{Trial: n, Told: len(st.Order), Pending: []int{}, Origin: origin, Values: values(x, 3)})
	apply(t, st, study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": loss}})
	return st.Trials[n-1]
}

// Whoever makes the config, a safe study begins with known values, and runs what its optimizer has proposed.
func TestSafetyNeedsWhatItRestsOn(t *testing.T) {
	for want, change := range map[string]func(*study.Config){
		"": func(*study.Config) {},
		"safety: is for method lbo; the method here is random": func(c *study.Config) { c.Optimizer.Method = "random" },
		"parameter x needs a default":                          func(c *study.Config) { c.Params[0].Default = spaces.Value{} },
		"cannot stand beside successive halving":               halves,
	} {
		t.Run(want, func(t *testing.T) {
			c := config()
			c.Params = slices.Clone(c.Params)
			c.Params[0].Default, c.Params[1].Default = spaces.Float(0.5), spaces.Int(2)
			c.Safety = &study.Safety{Metric: "loss", At: 5, Constant: 9}
			change(&c)
			if err := c.Validate(); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%v", err)
			}
		})
	}
}

// Trials between which the metric is steeper than the constant disprove it; those over the
// limit end the study, too, unless a person wanted them.
func TestSafetyIsDisproved(t *testing.T) {
	noisy := func(c *study.Config) { c.Safety.Noise = 0.1 }
	sloped := func(c *study.Config) { c.Safety.Slopes = map[string]float64{"x": 9} }
	for name, c := range map[string]struct {
		change  func(*study.Config)
		origin  optimizer.Origin
		x, loss float64 // of the second trial; the first has 0 and 1
		want    string  // empty if nothing is wrong
	}{
		"as steep as stated":    {nil, optimizer.OriginModel, 0.5, 1 + 9*0.25, ""},
		"printed by six digits": {nil, optimizer.OriginModel, 1e-6, 1.00001, ""},
		"steeper":               {nil, optimizer.OriginModel, 0.5, 4.6, "constant = 8 of [safety] does not hold: loss is 1 in trial 1 and 4.6 in trial 2, which takes at least 12.8; to go on"},
		"steeper by hand":       {nil, optimizer.OriginGiven, 0.5, 4.6, "constant = 8 of [safety] does not hold"},
		"steeper slopes":        {sloped, optimizer.OriginModel, 0.5, 4.6, "change of [safety] does not hold: loss is 1 in trial 1 and 4.6 in trial 2, which takes slopes at least 1.6 times as large; to go on"},
		"over the limit":        {nil, optimizer.OriginModel, 1, 5.4, "trial 2 broke the safety limit: loss = 5.4, above 5; to go on"},
		"over it by hand":       {nil, optimizer.OriginGiven, 1, 5.4, ""},
		"both":                  {nil, optimizer.OriginModel, 0.5, 6, "trial 2 broke the safety limit: loss = 6, above 5; constant = 8 of [safety] does not hold"},
		"by chance":             {nil, optimizer.OriginModel, 0, 1.2, "which takes more than any, or the metric varies by chance: say noise = 0.1 or more; to go on"},
		"with noise":            {noisy, optimizer.OriginModel, 0, 1.2, ""},
		"with more noise":       {noisy, optimizer.OriginModel, 0.02, 1.4, "which takes at least 17.8, or the metric varies by chance: say noise = 0.155 or more"},
		"over it by the noise":  {noisy, optimizer.OriginModel, 1, 5.05, ""},
	} {
		t.Run(name, func(t *testing.T) {
			st := safely(t, c.change)
			measure(t, st, optimizer.OriginDefault, 0, 1)
			second := measure(t, st, c.origin, c.x, c.loss)
			got, end := st.Unsafe(), st.Ending(0)
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q; want %q", got, c.want)
			}
			if (end != nil && end.Why == study.EndUnsafe && end.Detail == got) != (got != "") {
				t.Errorf("ends with %+v", end)
			}
			if apply(t, st, study.Excluded{Trial: second.Number}); st.Unsafe() != "" {
				t.Errorf("without the trial: %s", st.Unsafe())
			}
			if apply(t, st, study.Included{Trial: second.Number}); st.Unsafe() != got {
				t.Errorf("with it again: %s", st.Unsafe())
			}
		})
	}
}

// A trial that is stopped at the safety limit has broken it, as one that ends beyond it.
func TestStoppedAtTheSafetyLimit(t *testing.T) {
	st := safely(t, nil)
	measure(t, st, optimizer.OriginDefault, 0, 1)
	apply(t, st, study.Proposed{Trial: 2, Told: 1, Pending: []int{}, Origin: optimizer.OriginModel, Values: values(0.5, 3)})
	apply(t, st, study.Cut{Trial: 2, Attempt: 1, Metric: "loss", Reading: study.Reading{Step: 1, Value: 5.5}, Why: "over"})
	apply(t, st, study.Finished{Trial: 2, Attempt: 1, Status: optimizer.Pruned})
	if got := st.Unsafe(); !strings.Contains(got, "trial 2 broke the safety limit: loss = 5.5, above 5") {
		t.Errorf("got %q", got)
	}
}

// The reading at which an attempt was stopped may break the limit, whatever became of the trial. It disproves no
// constant: slopes are those of the trials' values.
func TestSafetyOfALaterAttempt(t *testing.T) {
	for reading, want := range map[float64]string{4.5: "", 5.5: "trial 2 broke the safety limit: loss = 5.5, above 5; to go on"} {
		for attempt := 1; attempt <= 2; attempt++ {
			st := safely(t, nil)
			measure(t, st, optimizer.OriginDefault, 0, 1)
			apply(t, st, study.Proposed{Trial: 2, Told: 1, Pending: []int{}, Origin: optimizer.OriginModel, Values: values(0.5, 3)})
			apply(t, st, study.Cut{Trial: 2, Attempt: attempt, Metric: "loss", Reading: study.Reading{Step: 1, Value: reading}, Why: "over"})
			apply(t, st, study.Finished{Trial: 2, Attempt: 2, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 2}})
			if got := st.Unsafe(); !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Errorf("cut at %v in attempt %d: %q; want %q", reading, attempt, got, want)
			}
		}
	}
}

// Each run of a trial counts, and at once: that over the limit ends the study, whatever its mean is, and so does
// one that is too far from the run of another trial, or from another of its own.
func TestSafetyOfEveryRun(t *testing.T) {
	loss := func(v float64) study.Metrics { return study.Metrics{"loss": v} }
	repeat := func(v float64) study.Event { return study.Ended{Trial: 2, Attempt: 1, Metrics: loss(v)} }
	finish := func(v, last float64) study.Event {
		return study.Finished{Trial: 2, Attempt: 2, Status: optimizer.Succeeded, Metrics: loss(v), Last: loss(last)}
	}
	confirm := func(v float64) study.Event { return study.Confirmed{Trial: 2, Attempt: 3, Metrics: loss(v)} }
	cut := study.Cut{Trial: 2, Attempt: 1, Metric: "loss", Reading: study.Reading{Step: 1, Value: 5.5}, Why: "over"}
	crash := &study.Failure{Kind: study.FailExit, Code: 1}
	const (
		broke = "trial 2 broke the safety limit: loss = 5.5, above 5"
		steep = "constant = 8 of [safety] does not hold: loss is 1 in trial 1 and 4.8 in trial 2"
		own   = "noise = 0 of [safety] does not hold: loss is %v and %v in two runs of trial 2; say noise = %v or more; to go on"
	)
	for name, c := range map[string]struct {
		origin optimizer.Origin
		noise  float64
		events []study.Event
		want   string
	}{
		"a repeat over the limit":         {optimizer.OriginModel, 0, []study.Event{repeat(5.5)}, broke},
		"and its trial's end":             {optimizer.OriginModel, 0, []study.Event{repeat(5.5), study.Finished{Trial: 2, Attempt: 2, Status: optimizer.Failed, Failure: crash}}, broke},
		"the last repeat":                 {optimizer.OriginModel, 0, []study.Event{repeat(2.5), finish(4, 5.5)}, broke},
		"a repeat of what a person wants": {optimizer.OriginGiven, 2, []study.Event{repeat(5.5)}, ""},
		"a repeat within the noise":       {optimizer.OriginModel, 2, []study.Event{repeat(5.5)}, ""},
		"a steep repeat":                  {optimizer.OriginModel, 0, []study.Event{repeat(4.8)}, steep},
		"a steep last repeat":             {optimizer.OriginModel, 0, []study.Event{repeat(1.2), finish(3, 4.8)}, steep + ", which takes at least 13.6; " + fmt.Sprintf(own, 1.2, 4.8, 1.8)},
		"a confirming run over the limit": {optimizer.OriginModel, 0, []study.Event{repeat(2), finish(2, 2), confirm(5.5)}, broke},
		"of what a person wanted":         {optimizer.OriginGiven, 0, []study.Event{repeat(2), finish(2, 2), confirm(5.5)}, broke},
		"a steep confirming run":          {optimizer.OriginModel, 0, []study.Event{repeat(2), finish(2, 2), confirm(4.8)}, steep + ", which takes at least 13.6; " + fmt.Sprintf(own, 2, 4.8, 1.4)},
		"repeats that differ":             {optimizer.OriginModel, 0, []study.Event{repeat(2), finish(2.05, 2.1)}, fmt.Sprintf(own, 2, 2.1, 0.05)},
		"confirming runs that differ":     {optimizer.OriginGiven, 0, []study.Event{repeat(2), finish(2, 2), confirm(2.1)}, fmt.Sprintf(own, 2, 2.1, 0.05)},
		"by the noise":                    {optimizer.OriginModel, 0.05, []study.Event{repeat(2), finish(2.05, 2.1), confirm(2)}, ""},
		"by the last digit":               {optimizer.OriginModel, 0, []study.Event{repeat(2), finish(2, 2.00001)}, ""},
		"by rounding":                     {optimizer.OriginModel, 0, []study.Event{repeat(0), finish(0, 1e-17)}, ""},
		"within the noise":                {optimizer.OriginModel, 2, []study.Event{repeat(2), finish(2, 2), confirm(5.5)}, ""},
		"a run cut and to be run again":   {optimizer.OriginModel, 0, []study.Event{cut, study.Ended{Trial: 2, Attempt: 1, Failure: crash}}, broke},
	} {
		t.Run(name, func(t *testing.T) {
			st := safely(t, func(config *study.Config) { config.Safety.Noise = c.noise })
			measure(t, st, optimizer.OriginDefault, 0, 1)
			apply(t, st, study.Proposed{Trial: 2, Told: 1, Pending: []int{}, Origin: c.origin, Values: values(0.5, 3)})
			for _, e := range c.events {
				apply(t, st, e)
			}
			got := st.Unsafe()
			if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Fatalf("got %q; want %q", got, c.want)
			}
			apply(t, st, study.Excluded{Trial: 1})
			apply(t, st, study.Included{Trial: 1})
			if again := st.Unsafe(); again != got {
				t.Errorf("counted again: %q; want %q", again, got)
			}
			if got == "" {
				return
			}
			if st.MayRun(st.Trials[1]) && c.origin != optimizer.OriginGiven {
				t.Error("its trial may go on")
			}
			cfg, safety := st.Config, *st.Config.Safety
			safety.Constant, safety.Noise, cfg.Safety = 99, 1.8, &safety
			apply(t, st, study.ConfigChanged{Fingerprint: "f", Config: cfg})
			if got := st.Unsafe(); got != "" {
				t.Errorf("with another constant and noise: %q", got)
			}
			if !st.Trials[1].Done() || !st.Trials[1].Succeeded() {
				return
			}
			apply(t, st, study.Confirmed{Trial: 2, Attempt: 4, Metrics: loss(9)})
			if got := st.Unsafe(); !strings.HasPrefix(got, "trial 2 broke the safety limit: loss = 9, above 5") {
				t.Errorf("confirmed after that: %q", got)
			}
		})
	}
}

// A trial that was stopped at the safety limit and failed is not run again, whoever asks for that, unless the limit
// is another by then.
func TestSafetyOfARerun(t *testing.T) {
	st := safely(t, nil)
	measure(t, st, optimizer.OriginDefault, 0, 1)
	apply(t, st, study.Proposed{Trial: 2, Told: 1, Pending: []int{}, Origin: optimizer.OriginModel, Values: values(0.5, 3)})
	apply(t, st, study.Cut{Trial: 2, Attempt: 1, Metric: "loss", Reading: study.Reading{Step: 1, Value: 5.5}, Why: "over"})
	apply(t, st, study.Finished{Trial: 2, Attempt: 1, Status: optimizer.Failed, Failure: &study.Failure{Kind: study.FailExit, Code: 1}})
	apply(t, st, study.Rerun{Trials: []int{2}})
	if got := st.Unsafe(); !strings.HasPrefix(got, "trial 2 broke the safety limit: loss = 5.5, above 5") || st.MayRun(st.Trials[1]) {
		t.Errorf("got %q", got)
	}
	cfg, safety := st.Config, *st.Config.Safety
	safety.At, cfg.Safety = 6, &safety
	apply(t, st, study.ConfigChanged{Fingerprint: "f", Config: cfg})
	if got := st.Unsafe(); got != "" || !st.MayRun(st.Trials[1]) {
		t.Errorf("with another limit: %q", got)
	}
	apply(t, st, study.Finished{Trial: 2, Attempt: 2, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 7}})
	if got := st.Unsafe(); !strings.HasPrefix(got, "trial 2 broke the safety limit: loss = 7, above 6") {
		t.Errorf("run again: %q", got)
	}
}

// One that was stopped at a limit leaves nothing behind that would keep the command from being changed, and what that
// of before has broken says nothing of another.
func TestRerunForgetsACut(t *testing.T) {
	for name, change := range map[string]func(*study.Config){
		"at that of safety":     func(*study.Config) {},
		"without [safety]":      func(c *study.Config) { c.Safety = nil },
		"of another metric":     func(c *study.Config) { c.Safety.Metric = "size" },
		"within that of safety": func(c *study.Config) { c.Safety.At = 6 },
		"read by another rule":  func(c *study.Config) { c.Safety.Metric = "size" },
	} {
		t.Run(name, func(t *testing.T) {
			st := safely(t, func(c *study.Config) {
				c.Metrics = append(slices.Clone(c.Metrics), study.Metric{Name: "size"})
				change(c)
			})
			cut := study.Cut{Trial: 1, Attempt: 1, Metric: "loss", Reading: study.Reading{Step: 1, Value: 5.5}, Why: "over"}
			if name == "read by another rule" {
				cut.Metric = "size"
			}
			apply(t, st, study.Proposed{Trial: 1, Pending: []int{}, Origin: optimizer.OriginDefault, Values: values(0, 3)})
			apply(t, st, cut)
			apply(t, st, study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Failed, Failure: &study.Failure{Kind: study.FailExit, Code: 1}})
			apply(t, st, study.Rerun{Trials: []int{1}})
			if broken := st.Unsafe() != ""; broken != (name == "at that of safety" || cut.Metric == "size") {
				t.Error(st.Unsafe())
			}
			cfg := st.Config
			if cfg.Metrics = slices.Clone(cfg.Metrics); cut.Metric == "size" {
				cfg.Metrics[1].Rule.Metric = "bytes"
			} else {
				cfg.Command.Shell += " # repaired"
			}
			changed, err := st.Reconfigured(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if apply(t, st, *changed); st.Unsafe() != "" {
				t.Error(st.Unsafe())
			}
		})
	}
}

// What was interrupted before the limit was changed is run again under the new one, and may break that. What was left
// running is judged by neither.
func TestSafetyOfAnInterruptedTrial(t *testing.T) {
	interrupted := study.Ended{Trial: 1, Attempt: 1, Failure: &study.Failure{Kind: study.FailInterrupted}}
	failed := study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Failed, Failure: &study.Failure{Kind: study.FailExit, Code: 1}}
	cut := study.Cut{Trial: 1, Attempt: 1, Metric: "loss", Reading: study.Reading{Step: 1, Value: 5.5}, Why: "over"}
	const broke = "trial 1 broke the safety limit: loss = 9, above 5"
	for name, c := range map[string]struct {
		before, after []study.Event
		want          string
	}{
		"interrupted":      {[]study.Event{interrupted}, nil, broke},
		"cut and retried":  {[]study.Event{cut, interrupted}, nil, broke},
		"failed and rerun": {[]study.Event{failed}, []study.Event{study.Rerun{Trials: []int{1}}}, broke},
		"left":             {nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			st, attempt := safely(t, nil), 1
			apply(t, st, study.Proposed{Trial: 1, Pending: []int{}, Origin: optimizer.OriginDefault, Values: values(0, 3)})
			apply(t, st, study.Started{Trial: 1, Attempt: 1})
			for _, e := range c.before {
				apply(t, st, e)
				attempt = 2
			}
			cfg, safety := st.Config, *st.Config.Safety
			safety.Constant, cfg.Safety = 99, &safety
			apply(t, st, study.ConfigChanged{Fingerprint: "f", Config: cfg})
			for _, e := range c.after {
				apply(t, st, e)
			}
			apply(t, st, study.Ended{Trial: 1, Attempt: attempt, Metrics: study.Metrics{"loss": 9}})
			if got := st.Unsafe(); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("got %q; want %q", got, c.want)
			}
		})
	}
}

// Where trials far from each other differ by too much, too, chance is no explanation.
func TestSafetyDisprovedByMoreThanChance(t *testing.T) {
	st := safely(t, nil)
	measure(t, st, optimizer.OriginDefault, 0, 1)
	measure(t, st, optimizer.OriginModel, 0.01, 1.2)
	if got := st.Unsafe(); !strings.Contains(got, "say noise = 0.0775 or more") {
		t.Errorf("got %q", got)
	}
	measure(t, st, optimizer.OriginModel, 0.5, 4.9)
	if got := st.Unsafe(); !strings.Contains(got, "and 1.2 in trial 2") || strings.Contains(got, "noise") {
		t.Errorf("got %q", got)
	}
}

// Another constant lets a study go on, if it holds for what is known; the same does not.
func TestAnotherSafetyConstant(t *testing.T) {
	st := safely(t, nil)
	measure(t, st, optimizer.OriginDefault, 0, 1)
	measure(t, st, optimizer.OriginModel, 0.5, 6)
	apply(t, st, *st.Ending(0))
	apply(t, st, study.Session{Number: 1})
	if !st.Ended() {
		t.Error("a session opened it")
	}
	for _, c := range []struct {
		trials   int
		constant float64
		want     string
	}{{20, 9, "trial 2 broke"}, {20, 12, "does not hold: loss is 1 in trial 1 and 6 in trial 2"}, {20, 20, ""}, {21, 20, ""}} {
		cfg, safety := st.Config, *st.Config.Safety
		safety.Constant, cfg.Budget.Trials, cfg.Safety = c.constant, c.trials, &safety
		apply(t, st, study.ConfigChanged{Fingerprint: "f", Config: cfg})
		if got := st.Unsafe(); c.want == "" && got != "" || !strings.Contains(got, c.want) || st.Ended() {
			t.Errorf("with %v: %q, ended: %v", c.constant, got, st.Ended())
		}
	}
	measure(t, st, optimizer.OriginModel, 0.55, 5.5)
	if got := st.Unsafe(); !strings.Contains(got, "trial 3 broke") {
		t.Errorf("got %q", got)
	}
	apply(t, st, *st.Ending(0))
	apply(t, st, study.Excluded{Trial: 3})
	if apply(t, st, study.Session{Number: 2}); st.Ended() || st.Closed != nil {
		t.Error("a measurement that was taken out still ends it")
	}
}

// What breaks the safety limit is not the best while something holds it, and is not run
// again; the optimizer is told what it was told before.
func TestBreachIsNeverTheBest(t *testing.T) {
	st := safely(t, func(c *study.Config) {
		c.Metrics[0].Direction, c.Run.Confirm = study.Maximize, 2
	})
	over := measure(t, st, optimizer.OriginGiven, 1, 6)
	if st.Best() != over || st.Feasible(over) || !st.Breaks(over) || len(st.Unconfirmed()) > 0 {
		t.Errorf("best %+v", st.Best())
	}
	safe := measure(t, st, optimizer.OriginModel, 0.9, 4.9)
	measure(t, st, optimizer.OriginGiven, 0.95, 5.5)
	if st.Best() != safe || !st.Feasible(safe) || infeasible(st) != 2 || len(st.Unconfirmed()) != 1 {
		t.Errorf("best %+v, %d infeasible", st.Best(), infeasible(st))
	}
	if got := st.Config.Broken(over.Metrics); len(got) != 1 || got[0] != "loss = 6, above 5" {
		t.Errorf("broken: %q", got)
	}
	if o := st.Observation(over); o.Constraints != nil || o.Margin != -1 {
		t.Errorf("told %+v", o)
	}
}

// A constant for ranges that have become wider must be stated anew.
func TestWidenedRanges(t *testing.T) {
	ordered := func(n ...int64) spaces.Param {
		p := spaces.Param{Name: "n", Kind: spaces.KindOrdered}
		for _, v := range n {
			p.Choices = append(p.Choices, spaces.Int(v))
		}
		return p
	}
	constant := func(f float64) func(*study.Config) {
		return func(c *study.Config) { c.Safety.Constant = f * study.Stretch(c.Params) }
	}
	of := func(p spaces.Param) func(*study.Config) {
		return func(c *study.Config) { c.Params[1] = p; constant(8)(c) }
	}
	wider := func(c *study.Config) { c.Params[0].Max = 3 }
	const (
		whole   = "the constant of [safety], 8, is for the whole range, and the ranges have become wider: "
		instead = "restate it, or state change in its place"
		slope   = "restate it (%s has the same slope), or state change in its place"
	)
	toThree := "x was a number from -1 to 1 and is a number from -1 to 3; "
	for name, c := range map[string]struct {
		was, now, restated func(*study.Config)
		want               string
	}{
		"wider":           {nil, wider, constant(8), whole + toThree + fmt.Sprintf(slope, "16")},
		"wider, early":    {constant(8 / 1.125), wider, constant(8), whole + toThree + fmt.Sprintf(slope, "16")},
		"wider, restated": {nil, wider, constant(16), ""},
		"narrower":        {nil, func(c *study.Config) { c.Params[0].Max = 0.9 }, constant(8), ""},
		"fewer steps":     {nil, func(c *study.Config) { c.Params[1].Max = 8 }, constant(8), ""},
		"more steps": {nil, func(c *study.Config) { c.Params[1].Max = 13 }, constant(8),
			whole + "n was a whole number from 1 to 9 and is a whole number from 1 to 13; " + fmt.Sprintf(slope, "12")},
		"more steps, as it was": {nil, func(c *study.Config) { c.Params[1].Max = 13 }, func(*study.Config) {},
			whole + "n was a whole number from 1 to 9 and is a whole number from 1 to 13; " + fmt.Sprintf(slope, "12")},
		"another scale": {nil, func(c *study.Config) { c.Params[1].Scale = spaces.Log }, constant(8),
			whole + "n was a whole number from 1 to 9 and is a whole number from 1 to 9 (log); " + instead},
		"another value": {of(ordered(2, 4, 8)), of(ordered(2, 4, 8, 16)), constant(8),
			whole + "n was one of 2, 4, 8 and is one of 2, 4, 8, 16; " + instead},
		"uneven values": {of(ordered(1, 2, 3, 4)), of(ordered(1, 3, 4)), constant(8),
			whole + "n was one of 1, 2, 3, 4 and is one of 1, 3, 4; " + fmt.Sprintf(slope, "10.7")},
		"fewer values": {of(ordered(2, 4, 8)), of(ordered(4, 8)), constant(8), ""},
		"by change": {func(c *study.Config) { c.Safety.Slopes = map[string]float64{"x": 9, "n": 1} }, wider, func(*study.Config) {},
			"the change of [safety] along x, 9, is for the whole range, and that was a number from -1 to 1 and is a number from -1 to 3; " +
				`restate it, or state it by its unit: x = "... per unit"`},
		"a change restated": {func(c *study.Config) { c.Safety.Slopes = map[string]float64{"x": 9, "n": 1} }, wider,
			func(c *study.Config) { c.Safety.Slopes = map[string]float64{"x": 12, "n": 1} }, ""},
		"change instead":   {nil, wider, func(c *study.Config) { c.Safety.Slopes = map[string]float64{"x": 9} }, ""},
		"without [safety]": {nil, wider, func(c *study.Config) { c.Safety = nil }, ""},
		"one more": {nil, func(c *study.Config) {
			c.Params = append(c.Params, spaces.Param{Name: "k", Kind: spaces.KindBool, Default: spaces.Bool(true)})
			c.Command.Argv = append(c.Command.Argv, "{k}")
		}, constant(8), whole + "k is new; " + instead},
		"a gap": {func(c *study.Config) {
			c.Safety, c.Optimizer.LipschitzConstant, c.Budget.Gap = nil, 3, 0.1
		}, wider, func(c *study.Config) { c.Safety = nil },
			"the lipschitz_constant of [optimizer], 3, is for the whole range, and the ranges have become wider: " + toThree + "leave gap out, or begin a new study"},
	} {
		t.Run(name, func(t *testing.T) {
			st := safely(t, c.was)
			apply(t, st, study.Proposed{Trial: 1, Pending: []int{}, Values: values(0.5, 4)})
			apply(t, st, study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 2}})
			cfg := st.Config
			cfg.Params = append([]spaces.Param(nil), cfg.Params...)
			if cfg.Safety != nil {
				safety := *cfg.Safety
				cfg.Safety = &safety
			}
			c.now(&cfg)
			c.restated(&cfg)
			_, err := st.Reconfigured(cfg)
			_, params := st.ReconfiguredParams(cfg)
			var widened *study.SpecError
			if c.want == "" && (err != nil || params != nil) || c.want != "" && !(errors.As(err, &widened) && errors.As(params, &widened)) {
				t.Fatalf("%v; and the parameters alone: %v; want %q", err, params, c.want)
			}
			if c.want != "" && err.Error() != c.want {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
	if w := ordered(1, 2).Widening(spaces.Param{Kind: spaces.KindBool}); !math.IsNaN(w) {
		t.Errorf("another kind: %v", w)
	}
}
