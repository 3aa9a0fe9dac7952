package study_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// A study that has ended by a goal goes on once the result that reached it is taken out, and has
// ended again once that counts again; doubts at the end open nothing.
func TestExclusionTakesTheGoalBack(t *testing.T) {
	for name, st := range map[string]*study.State{
		"one":     limited(t, func(c *study.Config) { c.Budget.Goal = number(1) }),
		"several": two(t, func(c *study.Config) { c.Metrics[0].Goal = number(1) }),
	} {
		t.Run(name, func(t *testing.T) {
			for _, loss := range []float64{2, 0.5, 3} {
				n := len(st.Trials) + 1
				apply(t, st, study.Proposed{Trial: n, Told: n - 1, Pending: []int{}, Origin: optimizer.OriginGiven, Values: values(float64(n)/100, 3)})
				apply(t, st, study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": loss, "gain": 1, "size": 1, "speed": 3}})
			}
			end := st.Ending(0)
			if end == nil || end.Why != study.Ending("goal") {
				t.Fatalf("%s: the goal is reached, and the end is %+v", name, end)
			}
			end.Doubtful = []int{2}
			apply(t, st, *end)
			if !st.Ended() {
				t.Errorf("%s: a doubt has opened it", name)
			}
			apply(t, st, study.Excluded{Trial: 2})
			if st.Ended() {
				t.Errorf("%s: it has ended by a trial that is excluded", name)
			}
			apply(t, st, study.Included{Trial: 2})
			if !st.Ended() {
				t.Errorf("%s: its goal is reached again, and it goes on", name)
			}
			apply(t, st, study.Excluded{Trial: 2})
			apply(t, st, study.Session{Number: 2})
			if st.Closed != nil || st.Ending(0) != nil || st.Best().Number != 1 {
				t.Errorf("%s: closed %+v in a new session; the end would be %+v", name, st.Closed, st.Ending(0))
			}
		})
	}
}

// So does one that has ended for what was left to gain, which followed from all results.
func TestExclusionTakesWhatWasLeftBack(t *testing.T) {
	for _, why := range []study.Ending{"gap", "regret", study.EndTrials} {
		t.Run(string(why), func(t *testing.T) {
			st := limited(t, func(*study.Config) {})
			for _, loss := range []float64{1, 2, 3} {
				try(t, st, loss, 9, 3)
			}
			apply(t, st, study.Excluded{Trial: 1})
			apply(t, st, study.Closed{Why: why, Detail: "at most 1"})
			ended := []bool{st.Ended()}
			apply(t, st, study.Excluded{Trial: 3})
			ended = append(ended, st.Ended())
			if said := strings.Contains(st.Standing(false), "at most 1"); said != (why == study.EndTrials) {
				t.Errorf("by %s, and without a result: %s", why, st.Standing(false))
			}
			apply(t, st, study.Included{Trial: 3})
			if ended = append(ended, st.Ended()); st.Standing(false) != "ended: at most 1" {
				t.Errorf("by %s, and with all results: %s", why, st.Standing(false))
			}
			if want := []bool{true, why == study.EndTrials, true}; !slices.Equal(ended, want) {
				t.Errorf("by %s, and without a result, and with it, the study has ended: %v; want %v", why, ended, want)
			}
		})
	}
}

// So does one that has ended by the gap over a trial which is taken out.
func TestExclusionTakesTheGapBack(t *testing.T) {
	st := limited(t, func(c *study.Config) { c.Budget.Gap, c.Optimizer.LipschitzConstant = 0.5, 2 })
	try(t, st, 3, 1, 3)
	try(t, st, 1, 1, 3)
	apply(t, st, study.Excluded{Trial: 1})
	gap := 0.25
	end := st.GapEnding(optimizer.Note{Lipschitz: &optimizer.LipschitzNote{Gap: &gap, Stated: true}})
	if end == nil || end.Over != 2 {
		t.Fatalf("ended by %+v", end)
	}
	if apply(t, st, *end); !st.Ended() {
		t.Error("what was taken out before opens it")
	}
	if apply(t, st, study.Excluded{Trial: 2}); st.Ended() {
		t.Error("it has ended by a trial that is excluded")
	}
	if apply(t, st, study.Included{Trial: 2}); !st.Ended() {
		t.Error("the trial counts again, and it goes on")
	}
}

// So does one whose patience has ended with the result that was so hard to beat, and one that has tried
// all there is.
func TestExclusionTakesTheEndBack(t *testing.T) {
	for name, c := range map[string]struct {
		end    study.Closed
		losses []float64
	}{
		"patience":  {study.Closed{Why: study.EndPatience}, []float64{3, 0, 2, 1}},
		"exhausted": {study.Closed{Why: study.EndExhausted}, []float64{3, 0, 1, 2}},
		"trials":    {study.Closed{Why: study.EndTrials}, []float64{3, 0, 2, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			st := limited(t, func(c *study.Config) { c.Budget.Patience = 2 })
			apply(t, st, study.Excluded{Trial: try(t, st, 4, 1, 3).Number})
			for _, loss := range c.losses {
				try(t, st, loss, 1, 3)
			}
			if end := st.Ending(0); end == nil || end.Why != study.EndPatience {
				t.Fatalf("%s: %+v", name, end)
			}
			if apply(t, st, c.end); !st.Ended() {
				t.Errorf("%s: what was taken out before opens it", name)
			}
			if apply(t, st, study.Excluded{Trial: 3}); st.Ended() != (name == "trials") || (st.Standing(false) == "stopped") == st.Ended() {
				t.Errorf("%s: ended is %v without the best, %q", name, st.Ended(), st.Standing(false))
			}
			if apply(t, st, study.Included{Trial: 3}); !st.Ended() {
				t.Errorf("%s: the best counts again, and it goes on", name)
			}
			apply(t, st, study.Excluded{Trial: 3})
			if apply(t, st, study.Session{Number: 2}); (st.Closed != nil) != (name == "trials") {
				t.Errorf("%s: closed %+v in a new session", name, st.Closed)
			}
		})
	}
}

// What is said at the end of the best and of the model's choice is of the trials that counted then.
// The doubts about other trials stay.
func TestOtherTrialsAfterTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		event study.Event
		best  int
	}{
		"excluded": {study.Excluded{Trial: 2}, 3},
		"included": {study.Included{Trial: 4}, 4},
		"told":     {study.Finished{Trial: 5, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 1.2, "size": 1, "speed": 3}}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			st := limited(t, func(*study.Config) {})
			for _, loss := range []float64{1, 2, 3, 1.5} {
				try(t, st, loss, 9, 3)
			}
			apply(t, st, study.Excluded{Trial: 4})
			apply(t, st, study.Proposed{Trial: 5, Told: 4, Pending: []int{}, Origin: optimizer.OriginGiven, Values: values(0.5, 3), Hand: true})
			apply(t, st, study.Closed{Why: study.Ending("time"), Doubtful: []int{1}, Holds: number(0.99),
				Recommended: &study.Recommended{Trial: 3, Gain: &study.Gain{Over: 2, By: 1}}})
			apply(t, st, c.event)
			if end := st.Closed; end == nil || end.Holds != nil || end.Recommended != nil || !st.Doubtful(st.Trials[0]) || st.Best().Number != c.best {
				t.Errorf("%s: the best is trial %d, closed %+v", name, st.Best().Number, end)
			}
		})
	}
}
