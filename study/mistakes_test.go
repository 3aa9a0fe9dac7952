package study_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// mistaken is what is said to be wrong in a study of n trials: trial k has x and n of at(k), the value
// and duration of what(k), and a course of values if there is one.
func mistaken(t *testing.T, edit func(*study.Config), n int, at func(k int) (float64, int64), what func(x float64, n int64, k int) (value, seconds float64), course func(k, step int) float64) string {
	t.Helper()
	c := config()
	c.Budget.Trials, c.Run.FailureGuard = 1000, -1
	edit(&c)
	st, name := &study.State{}, c.Metrics[0].Name
	apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: c})
	for k := 1; k <= n; k++ {
		x, i := at(k)
		v, seconds := what(x, i, k)
		apply(t, st, study.Proposed{Trial: k, Told: k - 1, Pending: []int{}, Values: values(x, i)})
		if course != nil {
			m := study.Measured{Trial: k, Attempt: 1}
			for step := range 12 {
				m.Measurements = append(m.Measurements, study.Measurement{Step: float64(step), Metrics: study.Metrics{name: course(k, step)}})
			}
			apply(t, st, m)
		}
		end := study.Finished{Trial: k, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{name: v, "size": 0}, Seconds: seconds}
		for ; end.Attempt < c.Run.Repeats; end.Attempt++ {
			v, _ := what(x, i, k+end.Attempt)
			end.Last = study.Metrics{name: v}
			apply(t, st, study.Ended{Trial: k, Attempt: end.Attempt, Metrics: end.Last})
		}
		apply(t, st, end)
	}
	var all []string
	for about, text := range st.Mistakes {
		all = append(all, about+": "+text)
	}
	return strings.Join(all, "; ")
}

// What seems wrong in a spec is said, and nothing where there is little to go by.
func TestMistakes(t *testing.T) {
	spread := func(k int) (float64, int64) { return float64(k*7%19)/10 - 0.9, int64(k%9 + 1) }
	grid := func(k int) (float64, int64) { return []float64{-0.8, 0.1, 0.7}[k%3], int64(k/3%6 + 1) }
	bowl := func(x float64, n int64, k int) (float64, float64) { return x*x + float64(n) + 1, 1 }
	timed := func(x float64, n int64, k int) (float64, float64) { return x*x + float64(n), x*x + float64(n) + 0.3 }
	noisy := func(x float64, n int64, k int) (float64, float64) { return 1 + math.Mod(float64(k)*0.7, 1), 1 }
	named := func(name string, edits ...func(*study.Config)) func(c *study.Config) {
		return func(c *study.Config) {
			c.Metrics[0].Name = name
			for _, edit := range edits {
				edit(c)
			}
		}
	}
	workers := func(c *study.Config) { c.Run.Workers = 4 }
	repeats := func(c *study.Config) { c.Run.Repeats = 3 }
	slurm := func(c *study.Config) { c.Launcher = &study.Launcher{Kind: "slurm"} }
	measured := func(c *study.Config) { c.Metrics[0].Measure = study.Seconds }
	ordered := func(c *study.Config) {
		c.Params[1] = spaces.Param{Name: "n", Kind: spaces.KindOrdered}
		for n := range int64(6) {
			c.Params[1].Choices = append(c.Params[1].Choices, spaces.Int(n+1))
		}
	}
	onlyX := func(x float64, _ int64, _ int) (float64, float64) { return x, 1 }
	const (
		sideBySide = "duration: %s looks like the duration of a trial, and 4 of them run side by side, which may slow each other down: run one at a time, or set repeats in [run]"
		within     = "duration: run_time is a duration, and the same values repeat it within ± %d %% only: %s in [run]"
		unused     = "unused: %s seems to change nothing: %d pairs of trials that differ in it alone have equal values of loss"
		course     = `direction: perf rises with the steps in 6 of 6 trials, and has direction = "minimize": should it be "maximize"?`
	)
	for name, c := range map[string]struct {
		edit   func(*study.Config)
		n      int
		at     func(int) (float64, int64)
		what   func(x float64, n int64, k int) (float64, float64)
		course func(k, step int) float64
		want   string
	}{
		"nothing":                {named("loss", workers), 30, spread, bowl, nil, ""},
		"a name":                 {named("accuracy"), 0, spread, bowl, nil, `direction: accuracy has direction = "minimize", and its name says that more is better: should it be "maximize"?`},
		"a duration, of two":     {named("seconds", workers, measured), 0, spread, timed, nil, fmt.Sprintf(sideBySide, "seconds")},
		"a duration, alone":      {named("seconds", measured), 30, spread, timed, nil, ""},
		"few durations":          {named("run_time", workers), 7, spread, timed, nil, ""},
		"durations":              {named("run_time", workers), 8, spread, timed, nil, fmt.Sprintf(sideBySide, "run_time")},
		"on a cluster":           {named("run_time", workers, slurm), 8, spread, timed, nil, ""},
		"with repeats":           {named("run_time", workers, repeats), 8, spread, timed, nil, ""},
		"of something else":      {named("run_time", workers), 30, spread, bowl, nil, ""},
		"of another name":        {named("depth", workers), 30, spread, timed, nil, ""},
		"repeated to the digit":  {named("run_time", workers), 30, func(k int) (float64, int64) { return spread(k % 5) }, timed, nil, ""},
		"repeated within a half": {named("run_time"), 12, func(k int) (float64, int64) { return spread(k % 5) }, noisy, nil, fmt.Sprintf(within, 22, "set repeats")},
		"of four within a half":  {named("run_time", workers), 12, func(k int) (float64, int64) { return spread(k % 5) }, noisy, nil, fmt.Sprintf(within, 22, "run one trial at a time, and set repeats")},
		"with too few repeats":   {named("run_time", repeats), 12, spread, noisy, nil, fmt.Sprintf(within, 11, "set more repeats")},
		"x":                      {named("loss"), 9, grid, func(_ float64, n int64, _ int) (float64, float64) { return float64(n), 1 }, nil, fmt.Sprintf(unused, "x", 5)},
		"x, beside a limit": {named("loss", func(c *study.Config) { c.Metrics = append(c.Metrics, study.Metric{Name: "size", Max: number(1)}) }), 9, grid,
			func(_ float64, n int64, _ int) (float64, float64) { return float64(n), 1 }, nil, ""},
		"x, in few pairs":  {named("loss"), 4, grid, func(_ float64, n int64, _ int) (float64, float64) { return float64(n), 1 }, nil, ""},
		"x, but once":      {named("loss"), 18, grid, func(x float64, n int64, k int) (float64, float64) { return float64(n) + float64(k/18), 1 }, nil, ""},
		"x, nearby":        {named("loss"), 18, func(k int) (float64, int64) { x, n := grid(k); return x / 9, n }, func(_ float64, n int64, _ int) (float64, float64) { return float64(n), 1 }, nil, ""},
		"x, of few values": {named("loss"), 18, grid, func(_ float64, n int64, _ int) (float64, float64) { return float64(n / 6), 1 }, nil, ""},
		"n, ordered":       {named("loss", ordered), 18, grid, onlyX, nil, fmt.Sprintf(unused, "n", 15)},
		"n, of the first":  {named("loss", ordered), 9, grid, onlyX, nil, ""},
		"rises":            {named("perf"), 6, spread, bowl, func(k, step int) float64 { return float64(k) - math.Exp(-float64(step)) }, course},
		"rises, in few":    {named("perf"), 4, spread, bowl, func(k, step int) float64 { return float64(k) - math.Exp(-float64(step)) }, ""},
		"falls":            {named("perf"), 30, spread, bowl, func(k, step int) float64 { return float64(k) + math.Exp(-float64(step)) }, ""},
		"adds up":          {named("perf"), 30, spread, bowl, func(k, step int) float64 { return float64(k * step * step) }, ""},
		"a median of no repeats": {named("loss", func(c *study.Config) { c.Run.Combine, c.Run.Confirm = "median", 5 }), 0, spread, bowl, nil,
			`combine: combine = "median" says how repeats become one value, and there are none; the runs of confirm count by their mean`},
		"a median of repeats": {named("loss", repeats, func(c *study.Config) { c.Run.Combine = "median" }), 0, spread, bowl, nil, ""},
		"a threshold, alone":  {named("loss", func(c *study.Config) { c.Metrics[0].Threshold = number(3) }), 0, spread, bowl, nil, "threshold: threshold changes nothing for loss, which is the only objective"},
		"rises, as loss may":  {named("loss"), 30, spread, bowl, func(k, step int) float64 { return float64(k) - math.Exp(-float64(step)) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := mistaken(t, c.edit, c.n, c.at, c.what, c.course); got != c.want {
				t.Errorf("%s: %q; want %q", name, got, c.want)
			}
		})
	}
}

// A direction that a name speaks of is known, and where it may be meant otherwise none is.
func TestMeant(t *testing.T) {
	for name, want := range map[string]study.Direction{
		"acc": study.Maximize, "valAcc": study.Maximize, "val/acc_5": study.Maximize, "F1": study.Maximize, "test_score": study.Maximize, "eval/reward": study.Maximize,
		"loss": study.Minimize, "trainLoss": study.Minimize, "test.RMSE": study.Minimize, "brier_score": "", "docking_score": "",
		"neg_log_loss": "", "-loss": "", "1-acc": "", "accuracy_loss": "", "error_reduction": "", "closs": "", "x": "", "": "",
	} {
		t.Run(name, func(t *testing.T) {
			if got := study.Meant(name); got != want {
				t.Errorf("%q speaks of %q; want %q", name, got, want)
			}
		})
	}
}
