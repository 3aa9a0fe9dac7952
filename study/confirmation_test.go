package study_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// confirmation is that of a trial whose repeats gave these values, each plus shift.
func confirmation(t *testing.T, shift float64, values ...float64) study.Confirmation {
	t.Helper()
	c := config()
	c.Run.Confirm = len(values)
	st := begun(t, c)
	for i, v := range values {
		apply(t, st, study.Confirmed{Trial: 1, Attempt: 2 + i, Metrics: study.Metrics{"loss": v + shift}})
	}
	cs := st.Confirmations()
	if len(cs) != 1 {
		t.Fatalf("confirmed %d trials", len(cs))
	}
	return cs[0]
}

// The margin and the ties are those of scipy.stats: t.ppf(0.975, 3)·s/2, and ttest_ind with
// equal_var=False, whose p-value is 0.05 at a difference of 5.3748.
func TestTied(t *testing.T) {
	a := confirmation(t, 0, 0, 1, 3, 8)
	if a.Mean != 3 || math.Abs(a.Margin-5.663204705734667) > 1e-6 {
		t.Errorf("mean %v ± %v", a.Mean, a.Margin)
	}
	for name, c := range map[string]struct {
		a, b study.Confirmation
		tied bool
	}{
		"within the margin":           {a, confirmation(t, 5.364, 2, 2.5, 4.5), true},
		"above it":                    {a, confirmation(t, 5.386, 2, 2.5, 4.5), false},
		"below it":                    {a, confirmation(t, -5.386, 2, 2.5, 4.5), false},
		"of the same spread":          {confirmation(t, 0, 0, 1), confirmation(t, 0.25, 0, 1), true},
		"equal, and of no spread":     {confirmation(t, 0, 2, 2), confirmation(t, 0, 2, 2, 2), true},
		"different, and of no spread": {confirmation(t, 0, 2, 2), confirmation(t, 0.25, 2, 2), false},
	} {
		t.Run(name, func(t *testing.T) {
			if c.a.Tied(c.b, 2) != c.tied || c.b.Tied(c.a, 2) != c.tied {
				t.Errorf("%+v and %+v: tied %v", c.a, c.b, !c.tied)
			}
		})
	}
}

// Of three contenders that are truly equal, one is told apart from the best in at most 5 % of
// studies, and one that is far behind nearly always.
func TestEqualContendersAreTied(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	apart, seen := 0, 0
	const studies = 400
	for range studies {
		var cs []study.Confirmation
		for k := range 4 {
			var runs []float64
			for range 5 {
				runs = append(runs, 10*float64(k/3)+rng.NormFloat64())
			}
			cs = append(cs, confirmation(t, runs[0], 0, runs[1]-runs[0], runs[2]-runs[0], runs[3]-runs[0], runs[4]-runs[0]))
		}
		equal := cs[:3]
		slices.SortFunc(equal, func(a, b study.Confirmation) int { return cmp.Compare(a.Mean, b.Mean) })
		if !equal[1].Tied(equal[0], 3) || !equal[2].Tied(equal[0], 3) {
			apart++
		}
		if !cs[3].Tied(equal[0], 4) {
			seen++
		}
	}
	if 100*apart > 5*studies || 100*seen < 99*studies {
		t.Errorf("of %d studies an equal one was told apart in %d, a worse one in %d", studies, apart, seen)
	}
	t.Logf("of %d studies an equal one was told apart in %d, a worse one in %d", studies, apart, seen)
}

// Every one of the best trials is confirmed as often as the config says, failures included,
// but those that are no fault of the program; each run has a seed of its own.
func TestUnconfirmed(t *testing.T) {
	st := limited(t, func(c *study.Config) { c.Run.Confirm = 3 })
	a, b, c := try(t, st, 1, 1, 3), try(t, st, 2, 1, 3), try(t, st, 3, 1, 3)
	confirm := func(trial int, f *study.Failure) {
		e := study.Confirmed{Trial: trial, Attempt: st.Trials[trial-1].NextAttempt(), Failure: f}
		if f == nil {
			e.Metrics = study.Metrics{"loss": 1, "size": 1, "speed": 3}
		}
		apply(t, st, e)
	}
	seeds := map[string]bool{}
	for _, f := range []*study.Failure{nil, {Kind: study.FailLost}, {Kind: study.FailExit}, nil} {
		seeds[st.Key(a)] = true
		if u := st.Unconfirmed(); len(u) != 3 {
			t.Errorf("with %d values and %d failures %d trials are left", len(a.Confirms), a.ConfirmFailures, len(u))
		}
		confirm(1, f)
	}
	seeds[st.Key(a)] = true
	if u := st.Unconfirmed(); len(u) != 2 || u[0] != b || u[1] != c || a.ConfirmFailures != 1 || len(seeds) != 4 {
		t.Errorf("left %v; %d failures, %d seeds", u, a.ConfirmFailures, len(seeds))
	}
	confirm(2, nil) // of which one value says nothing
	confirm(3, nil)
	confirm(3, nil)
	if cs := st.Confirmations(); len(cs) != 2 || cs[0].Trial != a || cs[1].Trial != c {
		t.Errorf("confirmed: %v", cs)
	}
}

// A trial that is better than those that were confirmed is the best until it is confirmed, too. What
// breaks a limit, has failed whenever it was run again, or is no better is not.
func TestBestBeyondTheConfirmed(t *testing.T) {
	st := limited(t, func(c *study.Config) { c.Run.Confirm = 2 })
	confirm := func(trial *study.Trial, losses ...float64) {
		t.Helper()
		for _, loss := range losses {
			e := study.Confirmed{Trial: trial.Number, Attempt: trial.NextAttempt(), Metrics: study.Metrics{"loss": loss, "size": loss, "speed": 3}}
			if math.IsNaN(loss) {
				e.Metrics, e.Failure = nil, &study.Failure{Kind: study.FailExit}
			}
			apply(t, st, e)
		}
	}
	best := func(what string, want *study.Trial) {
		t.Helper()
		if got := st.Best(); got != want {
			t.Errorf("%s: the best is trial %d, want %d", what, got.Number, want.Number)
		}
	}
	lucky, steady, failing := try(t, st, 2, 1, 3), try(t, st, 3, 1, 3), try(t, st, 1, 1, 3)
	confirm(failing, math.NaN(), math.NaN())
	confirm(lucky, 20, 20) // breaks size ≤ 10
	confirm(steady, 4, 4)
	best("all are confirmed", steady)
	try(t, st, 0, 20, 3)
	try(t, st, 3, 1, 3)
	best("nothing is better", steady)
	better := try(t, st, 2.5, 1, 3)
	best("one is better, though not than what was lucky", better)
	confirm(better, 5)
	best("it was run again once", better)
	confirm(better, 5)
	best("it is confirmed", steady)
}

// What holds the limits and has run again once only, since the other time it failed, is the best where the
// means of all others break one.
func TestBestOfOneConfirmation(t *testing.T) {
	st := limited(t, func(c *study.Config) { c.Run.Confirm = 2 })
	lucky, moody := try(t, st, 1, 1, 3), try(t, st, 2, 1, 3)
	confirm := func(trial *study.Trial, size float64) {
		apply(t, st, study.Confirmed{Trial: trial.Number, Attempt: trial.NextAttempt(), Metrics: study.Metrics{"loss": 1, "size": size, "speed": 3}})
	}
	confirm(lucky, 20)
	confirm(lucky, 20)
	confirm(moody, 1)
	apply(t, st, study.Confirmed{Trial: moody.Number, Attempt: moody.NextAttempt(), Failure: &study.Failure{Kind: study.FailExit}})
	if got := st.Best(); got != moody {
		t.Errorf("trial %d is the best", got.Number)
	}
	steady := try(t, st, 3, 1, 3)
	confirm(steady, 1)
	confirm(steady, 1)
	if got := st.Best(); got != steady {
		t.Errorf("trial %d is the best, and not the one that is confirmed", got.Number)
	}
}

// A run that fails is made once more for each retry. Where all of the best have failed too often to be
// confirmed, it is the next ones' turn: the best is none that was never run again.
func TestConfirmWithFailures(t *testing.T) {
	for retries, want := range [][]int{{5, 1}, {2, 3, 4, 1}} {
		st := limited(t, func(c *study.Config) { c.Run.Confirm, c.Run.Retries = 2, retries })
		applyAll(t, st, study.Proposed{Trial: 1, Pending: []int{}, Origin: optimizer.OriginDefault, Values: values(0.5, 3)},
			study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 9, "size": 1, "speed": 3}})
		for loss := range 4 {
			try(t, st, float64(loss), 1, 3)
		}
		for _, u := range st.Unconfirmed()[:3] {
			applyAll(t, st, study.Confirmed{Trial: u.Number, Attempt: u.NextAttempt(), Failure: &study.Failure{Kind: study.FailExit}},
				study.Confirmed{Trial: u.Number, Attempt: u.NextAttempt() + 1, Metrics: study.Metrics{"loss": u.Value, "size": 1, "speed": 3}})
		}
		got := lists.Map(st.Unconfirmed(), func(u *study.Trial) int { return u.Number })
		if !slices.Equal(got, want) {
			t.Errorf("with %d retries %v are run again; want %v", retries, got, want)
		}
	}
}

// The retries count for each run: that which has succeeded at its last one has not failed. One that has
// failed at all of them has, and so no trial is run again for ever.
func TestRetriesOfEachConfirmation(t *testing.T) {
	for _, c := range []struct {
		retries int
		runs    string
		left    bool
	}{
		{1, "FSFS", true}, {1, "FSFSFS", false}, {1, "SFFFF", false}, {1, "FSFFF", true},
		{1, "FSFFFF", false}, {2, "FFSFFSFF", true}, {0, "FFF", false}, {1, "FFFFF", true},
	} {
		st := limited(t, func(cfg *study.Config) { cfg.Run.Confirm, cfg.Run.Retries = 3, c.retries })
		best := try(t, st, 1, 1, 3)
		for _, run := range c.runs {
			e := study.Confirmed{Trial: 1, Attempt: best.NextAttempt(), Failure: &study.Failure{Kind: study.FailExit}}
			if run == 'S' {
				e.Metrics, e.Failure = study.Metrics{"loss": 1, "size": 1, "speed": 3}, nil
			}
			apply(t, st, e)
		}
		if left := len(st.Unconfirmed()) > 0; left != c.left {
			t.Errorf("%d retries, %s: run again is %v", c.retries, c.runs, left)
		}
	}
}

// An earlier version took a failure for a run that failed, and closed the study then: it keeps its best.
func TestBestOfAnEarlierVersion(t *testing.T) {
	st := limited(t, func(c *study.Config) { c.Run.Confirm, c.Run.Retries = 2, 1 })
	flaky, steady := try(t, st, 1, 1, 3), try(t, st, 2, 1, 3)
	value := study.Metrics{"loss": 2, "size": 1, "speed": 3}
	applyAll(t, st, study.Confirmed{Trial: 1, Attempt: 2, Failure: &study.Failure{Kind: study.FailExit}},
		study.Confirmed{Trial: 1, Attempt: 3, Metrics: value},
		study.Confirmed{Trial: 2, Attempt: 2, Metrics: value}, study.Confirmed{Trial: 2, Attempt: 3, Metrics: value})
	if got := st.Best(); got != flaky {
		t.Errorf("trial %d is the best, and trial 1 is not confirmed yet", got.Number)
	}
	applyAll(t, st, study.Closed{Why: study.EndTrials}, study.Session{Number: 2})
	if got := st.Best(); got != steady || !st.Ended() || len(st.Unconfirmed()) > 0 {
		t.Errorf("trial %d is the best; ended is %v, and %d are to be confirmed", got.Number, st.Ended(), len(st.Unconfirmed()))
	}
}

// Today's values are run again beside the best, be they ever so bad, since what is gained over them
// cannot be known from one run; but not where they failed.
func TestTodayIsConfirmed(t *testing.T) {
	for status, want := range map[optimizer.Status][]int{optimizer.Succeeded: {2, 3, 4, 1}, optimizer.Failed: {2, 3, 4}} {
		t.Run(string(status), func(t *testing.T) {
			st := limited(t, func(c *study.Config) { c.Run.Confirm = 3 })
			end := study.Finished{Trial: 1, Attempt: 1, Status: status, Metrics: study.Metrics{"loss": 9, "size": 1, "speed": 3}}
			if status == optimizer.Failed {
				end.Metrics, end.Failure = nil, &study.Failure{Kind: study.FailExit, Code: 1}
			}
			applyAll(t, st, study.Proposed{Trial: 1, Pending: []int{}, Origin: optimizer.OriginDefault, Values: values(0.5, 3)}, end)
			for loss := range 4 {
				try(t, st, float64(loss), 1, 3)
			}
			var got []int
			for _, u := range st.Unconfirmed() {
				got = append(got, u.Number)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v are run again; want %v", status, got, want)
			}
		})
	}
}
