package study_test

import (
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// Of each rung the better half is continued, the highest rung first, each trial once. What
// has failed, was excluded or stopped at a limit, or whose continuation failed, is none of
// it. With the last of the budget the best goes on to the top, if nothing has been there.
func TestContinued(t *testing.T) {
	c := config()
	halves(&c)
	c.Budget.Trials = 12
	st := &study.State{}
	apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: c})
	// next checks which trial is continued on what; it is 0 if none is.
	next := func(from int, n int64) {
		t.Helper()
		p, ok := st.Unasked(false)
		if from == 0 {
			if ok {
				t.Fatalf("after %d trials: %+v", len(st.Trials), p)
			}
			return
		}
		v, _ := p.Values.Get("n")
		if !ok || p.Continues != from || v.Any() != n {
			t.Fatalf("after %d trials: continues trial %d with n=%v; want trial %d, n=%d", len(st.Trials), p.Continues, v, from, n)
		}
	}
	propose := func(from int, n int64) int {
		k := len(st.Trials) + 1
		apply(t, st, study.Proposed{Trial: k, Told: len(st.Order), Pending: []int{}, Origin: optimizer.OriginModel, Values: values(float64(k)/100, n), Continues: from})
		return k
	}
	end := func(k int, loss float64) {
		apply(t, st, study.Finished{Trial: k, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": loss}})
	}
	next(0, 0)
	one, two := propose(0, 2), propose(0, 2)
	end(one, 1)
	next(0, 0) // of one, no half
	end(two, 2)
	next(1, 4)
	three := propose(one, 4)
	next(0, 0)
	four, five := propose(0, 2), propose(0, 2)
	end(four, 3)
	apply(t, st, study.Finished{Trial: five, Attempt: 1, Status: optimizer.Failed, Failure: &study.Failure{Kind: study.FailExit}})
	next(0, 0) // of three, one, which is continued
	six := propose(0, 2)
	apply(t, st, study.Cut{Trial: six, Attempt: 1, Metric: "size", Reading: study.Reading{Step: 1, Value: 9}})
	apply(t, st, study.Finished{Trial: six, Attempt: 1, Status: optimizer.Pruned, Metrics: study.Metrics{"loss": 0}})
	next(0, 0) // of three still
	seven := propose(0, 2)
	end(seven, 4)
	next(two, 4)
	apply(t, st, study.Excluded{Trial: two})
	next(0, 0)
	apply(t, st, study.Included{Trial: two})
	eight := propose(two, 4)
	end(three, 5)
	end(eight, 6)
	next(three, 8) // rather than another of the first rung
	nine := propose(three, 8)
	apply(t, st, study.Finished{Trial: nine, Attempt: 1, Status: optimizer.Failed, Failure: &study.Failure{Kind: study.FailExit}})
	next(0, 0) // of the one on the second rung whose continuation has not failed
	for len(st.Trials) < 11 {
		end(propose(0, 2), 9)
	}
	next(eight, 8) // on the top, where the only one has failed
	apply(t, st, study.Finished{Trial: propose(eight, 8), Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 7}})
	st.Config.Budget.Trials++
	next(four, 4) // the third of six; not on the top, where one has succeeded
}

// Of trials that break a limit none goes on before one that holds it, nor is the last run its.
func TestContinuedHoldTheLimits(t *testing.T) {
	c := config()
	halves(&c)
	most := 10.0
	c.Metrics = append(c.Metrics, study.Metric{Name: "size", Rule: parser.Rule{Metric: "size"}, Max: &most})
	c.Budget.Trials = 5
	st := &study.State{}
	apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: c})
	for k, m := range []study.Metrics{{"loss": 1, "size": 99}, {"loss": 2, "size": 12}, {"loss": 4, "size": 9}, {"loss": 3, "size": 9}} {
		apply(t, st, study.Proposed{Trial: k + 1, Told: k, Pending: []int{}, Values: values(float64(k)/100, 2)})
		apply(t, st, study.Finished{Trial: k + 1, Attempt: 1, Status: optimizer.Pruned, Metrics: m})
	}
	if p, ok := st.Unasked(false); !ok || p.Continues != 4 || !p.Values.Equal(values(0.03, 8)) {
		t.Errorf("with the last of the budget: %+v", p)
	}
	st.Config.Budget.Trials = 50
	if p, ok := st.Unasked(false); !ok || p.Continues != 4 || !p.Values.Equal(values(0.03, 4)) {
		t.Errorf("with more: %+v", p)
	}
}

func TestLastRunOfTheBudget(t *testing.T) {
	c := config()
	halves(&c)
	c.Budget.Trials = 3
	st := begun(t, c)
	apply(t, st, study.Proposed{Trial: 2, Told: 1, Pending: []int{}, Values: values(0.25, 2)})
	apply(t, st, study.Finished{Trial: 2, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 1}})
	p, ok := st.Unasked(false)
	if !ok || p.Continues != 1 || !p.Values.Equal(values(0.5, 8)) {
		t.Errorf("with the last of the budget: %+v", p)
	}
	apply(t, st, study.Excluded{Trial: 1})
	if p, ok = st.Unasked(false); !ok || p.Continues != 2 || !p.Values.Equal(values(0.25, 8)) {
		t.Errorf("with one trial less: %+v", p)
	}
	apply(t, st, study.Excluded{Trial: 2})
	if p, ok = st.Unasked(false); ok || !st.Fresh(values(0, 2)).Equal(values(0, 8)) {
		t.Errorf("without any: %+v", p)
	}
}

// What gave no result with all of the resource, and today's values, do not stand in for what was found; what still
// runs with it may give one.
func TestLastRunAfterOthersOnTheTop(t *testing.T) {
	failed := study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Failed, Failure: &study.Failure{Kind: study.FailExit}}
	succeeded := study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 3}}
	for name, c := range map[string]struct {
		origin optimizer.Origin
		events []study.Event
		goesOn bool
	}{
		"it failed":                {optimizer.OriginModel, []study.Event{failed}, true},
		"it was excluded":          {optimizer.OriginModel, []study.Event{succeeded, study.Excluded{Trial: 1}}, true},
		"it succeeded":             {optimizer.OriginModel, []study.Event{succeeded}, false},
		"it was enqueued":          {optimizer.OriginGiven, []study.Event{succeeded}, false},
		"it runs":                  {optimizer.OriginModel, nil, false},
		"today's values failed":    {optimizer.OriginDefault, []study.Event{failed}, true},
		"today's values succeeded": {optimizer.OriginDefault, []study.Event{succeeded}, true},
		"today's values still run": {optimizer.OriginDefault, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			halves(&cfg)
			cfg.Budget.Trials = 3
			st := &study.State{}
			applyAll(t, st, study.Created{ID: "id", Fingerprint: "f", Config: cfg},
				study.Proposed{Trial: 1, Pending: []int{}, Origin: c.origin, Values: values(0.5, 8)})
			applyAll(t, st, c.events...)
			applyAll(t, st, study.Proposed{Trial: 2, Told: len(st.Order), Pending: []int{}, Values: values(0.25, 2)},
				study.Finished{Trial: 2, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 1}})
			p, ok := st.Unasked(false)
			if ok != c.goesOn || ok && (p.Continues != 2 || !p.Values.Equal(values(0.25, 8))) {
				t.Errorf("with the last of the budget: %v, %+v", ok, p)
			}
		})
	}
}

// Today's values are the first trial and no other.
func TestTodaysValuesComeFirst(t *testing.T) {
	c := config()
	c.Params[0].Default, c.Params[1].Default = spaces.Float(0.25), spaces.Int(3)
	st := &study.State{}
	apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: c})
	if p, ok := st.Unasked(false); !ok || p.Origin != optimizer.OriginDefault || !p.Values.Equal(values(0.25, 3)) {
		t.Errorf("first runs %+v", p)
	}
	if p, ok := begun(t, c).Unasked(false); ok {
		t.Errorf("then runs %+v", p)
	}
}

// Enqueued values beyond the last rung have the last.
func TestBeyondTheLastRung(t *testing.T) {
	c := config()
	c.Params[1].Max = 9
	c.Prune = &study.Prune{Method: "asha", Resource: "n", MinResource: 2, Reduction: 2}
	st := &study.State{}
	apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: c})
	st.Queue = append(st.Queue, values(0, 99))
	if p, ok := st.Unasked(false); !ok || !p.Values.Equal(values(0, 9)) {
		t.Errorf("runs %+v", p)
	}
	if st.Known() == nil || begun(t, config()).Known() != nil {
		t.Error("configurations are known with rungs, and only with them")
	}
}
