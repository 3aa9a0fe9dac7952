package study_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// The course is that of the last attempt that has one, piece by piece.
func TestCourseOfTheLastAttempt(t *testing.T) {
	st := begun(t, config())
	one := st.Trials[0]
	measure := func(attempt int, steps ...float64) {
		e := study.Measured{Trial: 1, Attempt: attempt}
		for _, s := range steps {
			e.Measurements = append(e.Measurements, study.Measurement{Step: s})
		}
		apply(t, st, e)
	}
	measure(1, 1, 2)
	measure(1, 3)
	if one.MeasuredBy(1) != 3 || one.MeasuredBy(2) != 0 {
		t.Errorf("measured %d and %d", one.MeasuredBy(1), one.MeasuredBy(2))
	}
	if measure(2, 1); one.MeasuredBy(1) != 0 || one.MeasuredBy(2) != 1 {
		t.Errorf("then measured %d and %d", one.MeasuredBy(1), one.MeasuredBy(2))
	}
}

// An attempt that confirms is one that has started and not ended.
func TestConfirming(t *testing.T) {
	st := begun(t, config())
	one := st.Trials[0]
	for _, c := range []struct {
		event study.Event
		want  bool
	}{
		{nil, false},
		{study.Started{Trial: 1, Attempt: 2}, true},
		{study.Confirmed{Trial: 1, Attempt: 2, Metrics: study.Metrics{"loss": 1}}, false},
	} {
		if c.event != nil {
			apply(t, st, c.event)
		}
		if got := one.Confirming(); got != c.want {
			t.Errorf("after %+v: %v", c.event, got)
		}
	}
	apply(t, st, study.Proposed{Trial: 2, Told: 1, Pending: []int{}, Values: values(0, 1)})
	if apply(t, st, study.Started{Trial: 2, Attempt: 1}); st.Trials[1].Confirming() {
		t.Error("a trial that runs is being confirmed")
	}
	apply(t, st, study.Proposed{Trial: 3, Told: 1, Pending: []int{}, Values: values(0, 1), Hand: true})
	if apply(t, st, study.Finished{Trial: 3, Status: optimizer.Failed}); st.Trials[2].Confirming() {
		t.Error("a trial without attempts is being confirmed")
	}
}

// A reading that lacks an objective is none: it could not be compared.
func TestReadingsHaveAllObjectives(t *testing.T) {
	st := two(t, func(*study.Config) {})
	apply(t, st, study.Proposed{Trial: 1, Pending: []int{}, Values: values(0, 1)})
	err := st.Apply(study.Record{Event: study.Readings{Trial: 1, Attempt: 1, Readings: []study.Reading{{Step: 1, Value: 2}}}})
	if err == nil || err.Error() != "readings record: a reading of 1 values, and there are 2 objectives" {
		t.Error(err)
	}
}

// Without a value no trial has ended well; one that broke a limit before it had any is
// stopped all the same, and keeps what it has.
func TestEndsWithoutValues(t *testing.T) {
	cut := &study.Cut{Trial: 1, Attempt: 1, Reading: study.Reading{Step: 1, Value: 9}, Metric: "size"}
	for name, c := range map[string]struct {
		status  optimizer.Status
		cut     *study.Cut
		metrics study.Metrics
		want    float64
		fails   bool
	}{
		"all":                    {optimizer.Succeeded, nil, study.Metrics{"loss": 1, "gain": 2}, 1, false},
		"one of two":             {optimizer.Succeeded, nil, study.Metrics{"loss": 1}, 0, true},
		"the other":              {optimizer.Succeeded, nil, study.Metrics{"gain": 1}, 0, true},
		"stopped":                {optimizer.Pruned, nil, study.Metrics{"loss": 1}, 1, false},
		"stopped without":        {optimizer.Pruned, nil, study.Metrics{"gain": 1}, 0, true},
		"beyond a limit":         {optimizer.Pruned, cut, study.Metrics{"loss": 1}, 1, false},
		"beyond it, without":     {optimizer.Pruned, cut, nil, math.NaN(), false},
		"beyond it, and ends":    {optimizer.Succeeded, cut, nil, 0, true},
		"stopped for its values": {optimizer.Pruned, &study.Cut{Trial: 1, Attempt: 1, Reading: study.Reading{Others: []float64{1}}}, nil, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			st := two(t, func(*study.Config) {})
			apply(t, st, study.Proposed{Trial: 1, Pending: []int{}, Values: values(0, 1)})
			if c.cut != nil {
				apply(t, st, *c.cut)
			}
			err := st.Apply(study.Record{Event: study.Finished{Trial: 1, Attempt: 1, Status: c.status, Metrics: c.metrics, Seconds: 2}})
			if (err != nil) != c.fails || c.fails && !strings.Contains(err.Error(), "without a value") {
				t.Errorf("%s: %v", name, err)
			}
			if one := st.Trials[0]; !c.fails && (one.Took != 2*time.Second || one.Value != c.want && !(math.IsNaN(one.Value) && math.IsNaN(c.want))) {
				t.Errorf("%s: %v after %v", name, one.Value, one.Took)
			}
		})
	}
}

// The last of several repeats is one of them, and combined they are the value.
func TestLastRepeatIsKept(t *testing.T) {
	st := &study.State{}
	runs := []study.Metrics{{"loss": 1}, {"loss": 3}, {"loss": 8}}
	apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: config()})
	apply(t, st, study.Proposed{Trial: 1, Pending: []int{}, Values: values(0, 1)})
	for i := range runs[:2] {
		apply(t, st, study.Ended{Trial: 1, Attempt: i + 1, Metrics: runs[i]})
	}
	apply(t, st, study.Finished{Trial: 1, Attempt: 3, Status: optimizer.Succeeded, Metrics: study.Combine(runs, "mean"), Last: runs[2]})
	if one := st.Trials[0]; one.Value != 4 || !reflect.DeepEqual(one.Repeats, runs) {
		t.Errorf("the runs %v have %v", one.Repeats, one.Value)
	}
}

// Attempts that fail count as retries if the program is to blame, and a pruner forgets the
// readings of a first run that begins again.
func TestRetriesAreCounted(t *testing.T) {
	exit, lost := &study.Failure{Kind: study.FailExit}, &study.Failure{Kind: study.FailLost}
	value := study.Metrics{"loss": 1}
	for name, c := range map[string]struct {
		method  string
		ends    []study.Ended
		retries int
		forgets int
	}{
		"unpruned":         {"", []study.Ended{{Failure: exit}}, 1, 0},
		"pruned":           {"median", []study.Ended{{Failure: exit}, {Failure: lost}}, 1, 2},
		"a value":          {"median", []study.Ended{{Metrics: value}}, 0, 0},
		"a second run":     {"median", []study.Ended{{Metrics: value}, {Failure: exit}}, 1, 0},
		"nothing is known": {"median", []study.Ended{{}}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			if c.method != "" {
				cfg.Prune = &study.Prune{Method: c.method}
			}
			st := &study.State{}
			apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: cfg})
			if !st.SetUp || cfg.Prunes() != (c.method != "") {
				t.Errorf("%s: set up %v, prunes %v", name, st.SetUp, cfg.Prunes())
			}
			apply(t, st, study.Proposed{Trial: 1, Pending: []int{}, Values: values(0, 1)})
			for i, e := range c.ends {
				e.Trial, e.Attempt = 1, i+1
				apply(t, st, e)
			}
			forgets := 0
			for _, w := range st.Watched {
				if w.Forget == 1 {
					forgets++
				}
			}
			if st.Trials[0].Retries != c.retries || forgets != c.forgets {
				t.Errorf("%s: %d retries, forgotten %d times", name, st.Trials[0].Retries, forgets)
			}
		})
	}
	c := config()
	halves(&c)
	if c.Prunes() {
		t.Error("what has rungs is stopped for its readings")
	}
}

// A pruner hears how trials end, and of an exclusion until it is taken back.
func TestPrunerHears(t *testing.T) {
	c := config()
	c.Prune = &study.Prune{Method: "median"}
	st := begun(t, c)
	fail(t, st, nil)
	heard := func() (finished, forgotten []int) {
		for _, w := range st.Watched {
			if w.Finish > 0 {
				finished = append(finished, w.Finish)
			}
			if w.Forget > 0 {
				forgotten = append(forgotten, w.Forget)
			}
		}
		return finished, forgotten
	}
	for _, e := range []study.Event{study.Excluded{Trial: 1}, study.Excluded{Trial: 2}, study.Included{Trial: 1}} {
		apply(t, st, e)
	}
	finished, forgotten := heard()
	if !slices.Equal(finished, []int{1}) || !slices.Equal(forgotten, []int{2, 2}) {
		t.Errorf("finished %v, forgotten %v", finished, forgotten)
	}
	apply(t, st, study.Included{Trial: 2}) // and has failed all the same
	if finished, forgotten = heard(); !slices.Equal(finished, []int{1}) || !slices.Equal(forgotten, []int{2}) {
		t.Errorf("once both count again: finished %v, forgotten %v", finished, forgotten)
	}
}

// The first of equals stays the best, and values that a person enqueued wait for a trial
// that takes them.
func TestFirstOfEqualsAndQueue(t *testing.T) {
	st := limited(t, func(*study.Config) {})
	one := try(t, st, 1, 1, 3)
	if try(t, st, 1, 1, 3); st.Best() != one {
		t.Errorf("the best is trial %d", st.Best().Number)
	}
	apply(t, st, study.Enqueued{Values: values(0.25, 3)})
	apply(t, st, study.Proposed{Trial: 3, Told: 2, Pending: []int{}, Origin: optimizer.OriginModel, Values: values(0, 1)})
	if len(st.Queue) != 1 {
		t.Error("the optimizer's trial took what was enqueued")
	}
	if apply(t, st, study.Proposed{Trial: 4, Told: 2, Pending: []int{}, Origin: optimizer.OriginGiven, Values: values(0.25, 3)}); len(st.Queue) != 0 {
		t.Error("what was enqueued is still there")
	}
}

// What a record says that a trial took is what everybody is told, to the last digit.
func TestSecondsStayAsTheyWere(t *testing.T) {
	for thousandths := range 5000 {
		want := float64(thousandths) / 1000
		took := time.Duration(want * float64(time.Second)) // as the fold has it
		if got := journal.Seconds(took); got != want {
			t.Fatalf("%v s became %v", want, got)
		}
	}
}
