package study_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// remarked is what is said of a study in which trial k has x = at(k) and value(x), or fails
// where there is none.
func remarked(t *testing.T, n int, at func(k int) float64, value func(x float64) (float64, bool), end *study.Closed) string {
	t.Helper()
	st := &study.State{}
	c := config()
	c.Budget.Trials, c.Run.FailureGuard = 1000, -1
	apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: c})
	for k := 1; k <= n; k++ {
		x := at(k)
		f := study.Finished{Trial: k, Attempt: 1, Status: optimizer.Failed, Failure: &study.Failure{Kind: study.FailExit, Code: 1, Text: "exit code 1"}}
		if v, ok := value(x); ok {
			f = study.Finished{Trial: k, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": v}}
		}
		applyAll(t, st, study.Proposed{Trial: k, Told: k - 1, Pending: []int{}, Values: values(x, 3)}, f)
	}
	if end != nil {
		apply(t, st, *end)
	}
	return strings.Join(st.Remarks(), "; ")
}

// A person is told of what a look at the whole table would show, and of nothing else.
func TestRemarks(t *testing.T) {
	spread := func(k int) float64 { return float64(k*7%19)/10 - 0.9 } // −0.9 to 0.9, all different
	square := func(x float64) (float64, bool) { return (x - 0.23) * (x - 0.23), true }
	for name, c := range map[string]struct {
		n     int
		at    func(int) float64
		value func(float64) (float64, bool)
		end   *study.Closed
		want  string
	}{
		"nothing":       {19, spread, square, nil, ""},
		"four equal":    {4, spread, func(float64) (float64, bool) { return 1000, true }, nil, ""},
		"all equal":     {5, spread, func(float64) (float64, bool) { return 1000, true }, nil, "all 5 values of loss are 1000: is it the metric, and does the program use its parameters?"},
		"one point":     {5, func(int) float64 { return 0.5 }, func(float64) (float64, bool) { return 1000, true }, nil, ""},
		"ties":          {19, spread, func(x float64) (float64, bool) { return max(x*x, 0.1), true }, nil, "7 trials have the best value, 0.1; the first of them is named"},
		"ties, judged":  {19, spread, func(x float64) (float64, bool) { return max(x*x, 0.1), true }, &study.Closed{Why: study.EndTrials, Recommended: &study.Recommended{Trial: 4, Mean: 0.1}}, "7 trials have the best value, 0.1; the model expects most of trial 4"},
		"ties, another": {19, spread, func(x float64) (float64, bool) { return max(x*x, 0.1), true }, &study.Closed{Why: study.EndTrials, Recommended: &study.Recommended{Trial: 2, Mean: 0.1}}, "7 trials have the best value, 0.1; the first of them is named"},
		"two tie":       {19, spread, func(x float64) (float64, bool) { return max(x*x, 0.01), true }, nil, "3 trials have the best value, 0.01; the first of them is named"},
		"an edge":       {19, func(k int) float64 { return max(spread(k)-0.2, -1) }, func(x float64) (float64, bool) { return x, true }, nil, "the best has x = -1, the lower end of its range: better values may lie below"},
		"upper edge":    {19, func(k int) float64 { return spread(k) + 0.1 }, func(x float64) (float64, bool) { return -x, true }, nil, "the best has x = 1, the upper end of its range: better values may lie above"},
		"near an edge":  {19, spread, func(x float64) (float64, bool) { return x, true }, nil, ""},
		"failures":      {19, spread, func(x float64) (float64, bool) { return (x + 0.33) * (x + 0.33), x < 0.25 }, nil, "7 of the 7 trials with x > 0.2 failed, and 0 of the 12 others"},
		"in no digits":  {19, func(k int) float64 { return 0.3 + spread(k)/1e5 }, func(x float64) (float64, bool) { return (x + 0.33) * (x + 0.33), x < 0.3000025 }, nil, "7 of the 7 trials with x > 0.300002 failed, and 0 of the 12 others"},
		"below":         {19, spread, func(x float64) (float64, bool) { return (x - 0.33) * (x - 0.33), x > -0.25 }, nil, "7 of the 7 trials with x < -0.2 failed, and 0 of the 12 others"},
		"few failures":  {19, spread, func(x float64) (float64, bool) { return (x + 0.33) * (x + 0.33), x < 0.55 }, nil, ""},
		"mixed through": {19, spread, func(x float64) (float64, bool) { v, _ := square(x); return v, int(10*x+20)%2 == 0 }, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := remarked(t, c.n, c.at, c.value, c.end); got != c.want {
				t.Errorf("%s: %q; want %q", name, got, c.want)
			}
		})
	}
}

// Of trials with the best value the optimizer's choice is the best at the end, and only of them.
func TestTies(t *testing.T) {
	st := &study.State{}
	apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: config()})
	for k, v := range []float64{3, 1, 2, 1, 1} {
		applyAll(t, st, study.Proposed{Trial: k + 1, Told: k, Pending: []int{}, Values: values(float64(k)/10, 3)},
			study.Finished{Trial: k + 1, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": v}})
	}
	var tied []int
	for _, x := range study.EqualBest(st) {
		tied = append(tied, x.Number)
	}
	if !slices.Equal(tied, []int{2, 4, 5}) || st.Best().Number != 2 {
		t.Errorf("%v tie, and trial %d is the best", tied, st.Best().Number)
	}
	for recommended, want := range map[int]int{4: 4, 3: 2, 99: 2} {
		t.Run(fmt.Sprint(recommended), func(t *testing.T) {
			apply(t, st, study.Closed{Why: study.EndTrials, Recommended: &study.Recommended{Trial: recommended}})
			if got := st.Best().Number; got != want {
				t.Errorf("with trial %d recommended trial %d is the best", recommended, got)
			}
		})
	}
}
