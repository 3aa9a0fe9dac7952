package study_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/internal/pareto"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// two is a study of loss, to be small, and gain, to be large, with size ≤ 10.
func two(t *testing.T, change func(*study.Config)) *study.State {
	t.Helper()
	return limited(t, func(c *study.Config) {
		c.Metrics = []study.Metric{
			{Name: "loss", Direction: study.Minimize, Threshold: number(10)},
			{Name: "gain", Direction: study.Maximize, Threshold: number(0)},
			{Name: "size", Max: number(10)},
		}
		change(c)
	})
}

func tryTwo(t *testing.T, st *study.State, loss, gain, size float64) {
	t.Helper()
	n := len(st.Trials) + 1
	apply(t, st, study.Proposed{Trial: n, Told: len(st.Order), Pending: []int{}, Origin: optimizer.OriginGiven, Values: values(float64(n)/100, 3)})
	apply(t, st, study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded,
		Metrics: study.Metrics{"loss": loss, "gain": gain, "size": size}})
}

func frontOf(st *study.State) []int {
	var out []int
	for _, t := range st.Front() {
		out = append(out, t.Number)
	}
	return out
}

// The front, its volume, patience and the goals, trial by trial.
func TestFrontTrialByTrial(t *testing.T) {
	st := two(t, func(c *study.Config) {
		c.Budget.Trials, c.Budget.Patience = 0, 3
		c.Metrics[0].Goal, c.Metrics[1].Goal = number(2), number(5)
	})
	for i, c := range []struct {
		loss, gain, size float64
		front            []int
		volume           float64
		best             int
		end              study.Ending
	}{
		{1, 9, 11, []int{1}, 0, 1, ""}, // reaches the goals, but not within the limit
		{5, 4, 1, []int{2}, 5 * 4, 2, ""},
		{4, 3, 1, []int{3, 2}, 5*4 + 3, 3, ""},
		{5, 4, 1, []int{3, 2}, 23, 3, ""}, // equal to one of the front
		{6, 3, 1, []int{3, 2}, 23, 3, ""},
		{4, 3.5, 1, []int{6, 2}, 5*4 + 3.5, 6, ""}, // in place of trial 3
		{7, 1, 1, []int{6, 2}, 23.5, 6, ""},
		{11, 5, 1, []int{6, 2, 8}, 23.5, 6, ""},               // beyond the threshold
		{9, 1, 1, []int{6, 2, 8}, 23.5, 6, study.EndPatience}, // trial 8 is on the front, and adds no volume
		{9, 2, 1, []int{6, 2, 8}, 23.5, 6, study.EndPatience},
		{9, 3, 1, []int{6, 2, 8}, 23.5, 6, study.EndPatience},
		{2, 5, 10, []int{12}, 8 * 5, 12, study.Ending("goal")},
	} {
		tryTwo(t, st, c.loss, c.gain, c.size)
		if got := frontOf(st); !slices.Equal(got, c.front) || st.Hypervolume() != c.volume || st.Best().Number != c.best {
			t.Errorf("after trial %d: front %v with %v, best %d; want %v with %v, best %d", i+1, got, st.Hypervolume(), st.Best().Number, c.front, c.volume, c.best)
		}
		var end study.Ending
		if e := st.Ending(0); e != nil {
			end = e.Why
		}
		if end != c.end {
			t.Errorf("after trial %d the study ends for %q, want %q", i+1, end, c.end)
		}
	}
	if got, want := st.Hypervolumes(), []float64{0, 20, 23, 23, 23, 23.5, 23.5, 23.5, 23.5, 23.5, 23.5, 40}; !slices.Equal(got, want) {
		t.Errorf("volumes %v, want %v", got, want)
	}
	// Without trial 12, whose exclusion takes the goal back.
	apply(t, st, study.Excluded{Trial: 12})
	if got := frontOf(st); !slices.Equal(got, []int{6, 2, 8}) || st.Best().Number != 6 || st.Ending(0) == nil || st.Ending(0).Why != study.EndPatience {
		t.Errorf("without trial 12: front %v, best %d, %v", got, st.Best().Number, st.Ending(0))
	}
}

// The front that grows trial by trial is that of all trials of the least violation.
func TestFrontOfAllTrials(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		st := two(t, func(c *study.Config) { c.Budget.Trials = 0 })
		for n := 1; n <= 60; n++ {
			tryTwo(t, st, float64(rng.IntN(8)), float64(rng.IntN(8)), float64(8+rng.IntN(4)+max(0, 20-n)/4))
			if rng.IntN(4) == 0 {
				apply(t, st, study.Excluded{Trial: 1 + rng.IntN(n)})
			}
			least := math.Inf(1)
			var rivals []*study.Trial
			var values [][]float64
			for _, x := range st.Trials {
				over := st.Config.Violation(x.Metrics)
				if x.Excluded || over > least {
					continue
				}
				if over < least {
					rivals, values, least = nil, nil, over
				}
				loss, _ := x.Metrics.Get("loss")
				gain, _ := x.Metrics.Get("gain")
				rivals, values = append(rivals, x), append(values, []float64{-loss, gain})
			}
			var want []int
			for _, i := range pareto.Front(values) {
				want = append(want, rivals[i].Number)
			}
			got := frontOf(st)
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Fatalf("seed %d, after trial %d: front %v, want %v", seed, n, got, want)
			}
		}
	}
}

// Where nearly every trial joins the front, patience counts those that add too little to it.
func TestPatienceCountsVolume(t *testing.T) {
	const patience = 5
	st := two(t, func(c *study.Config) { c.Budget.Trials, c.Budget.Patience = 0, patience })
	ended := 0
	for n := 1; n <= 64; n++ {
		loss := 10 * (float64(n)*math.Phi - math.Floor(float64(n)*math.Phi)) // fills the front evenly
		tryTwo(t, st, loss, loss, 1)
		volumes := st.Hypervolumes()
		want := n > patience && volumes[n-1] < 1.01*volumes[n-1-patience]
		end := st.Ending(0)
		if got := end != nil && end.Why == study.EndPatience; got != want {
			t.Errorf("trial %d: ended %v (%v), want %v", n, got, end, want)
		}
		if want && ended == 0 {
			ended = n
		}
	}
	if len(st.Front()) != 64 || ended < 10 {
		t.Errorf("%d trials on the front, and the study ends after %d", len(st.Front()), ended)
	}
	if got, want := st.Ending(0).Detail, "the last 5 trials have added less than 1 % to the hypervolume"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	apply(t, st, study.Excluded{Trial: 1}) // which the reference point does not depend on
	if v := st.Hypervolumes(); st.Ending(0) == nil != (v[63] >= 1.01*v[58]) {
		t.Errorf("without trial 1: %v", st.Ending(0))
	}
}

// Without a threshold the worst value of all is the reference point of every volume, those
// before it was found included.
func TestHypervolumesAboveTheWorst(t *testing.T) {
	st := two(t, func(c *study.Config) { c.Metrics[0].Threshold, c.Metrics[1].Threshold = nil, nil })
	if got := st.Hypervolume(); got != 0 {
		t.Errorf("volume %v of no trial", got)
	}
	tryTwo(t, st, 3, 4, 1)
	if got := st.Hypervolumes(); !slices.Equal(got, []float64{0}) {
		t.Errorf("volumes %v of one trial, which is the worst", got)
	}
	tryTwo(t, st, 5, 1, 1)
	tryTwo(t, st, 4, 5, 1)
	if got, want := st.Hypervolumes(), []float64{6, 6, 7}; !slices.Equal(got, want) {
		t.Errorf("volumes %v, want %v", got, want)
	}
}

// A trial that dominates all others by its first run, and whose means break the limit, leaves the
// front to those that it dominated, which are run again in turn.
func TestFrontAfterConfirmation(t *testing.T) {
	st := two(t, func(c *study.Config) { c.Run.Confirm = 2 })
	tryTwo(t, st, 1, 1, 1)
	tryTwo(t, st, 2, 2, 1)
	tryTwo(t, st, 0, 9, 1)
	confirm := func(size float64, trials ...int) {
		t.Helper()
		for _, n := range trials {
			if !slices.Contains(st.Unconfirmed(), st.Trials[n-1]) {
				t.Errorf("trial %d need not be run again", n)
			}
			apply(t, st, study.Confirmed{Trial: n, Attempt: st.Trials[n-1].NextAttempt(), Metrics: study.Metrics{"loss": 3, "gain": 3, "size": size}})
		}
	}
	if front := frontOf(st); !slices.Equal(front, []int{3}) {
		t.Errorf("the front is %v before", front)
	}
	confirm(11, 3, 3)
	if front := frontOf(st); !slices.Equal(front, []int{1, 2}) || st.Best().Number != 1 || !st.Feasible(st.Best()) {
		t.Errorf("the front is %v after, and the best trial %d", front, st.Best().Number)
	}
	confirm(11, 1, 1)
	confirm(1, 2, 2)
	if front := frontOf(st); !slices.Equal(front, []int{2}) || st.Best().Number != 2 || len(st.Unconfirmed()) > 0 {
		t.Errorf("the front is %v, and the best trial %d, with %v to be run again", front, st.Best().Number, st.Unconfirmed())
	}
}

// Of three objectives: a tie in the first leaves the trial that stands for the front, a failure between
// two trials changes nothing, and the first objective needs no goal.
func TestThreeObjectives(t *testing.T) {
	st := two(t, func(c *study.Config) {
		c.Metrics[2] = study.Metric{Name: "size", Direction: study.Minimize}
		c.Metrics[1].Goal = number(150)
	})
	tryTwo(t, st, 5, 40, 3)
	apply(t, st, study.Proposed{Trial: 2, Told: 1, Pending: []int{}, Origin: optimizer.OriginGiven, Values: values(0.5, 3)})
	apply(t, st, study.Finished{Trial: 2, Attempt: 1, Status: optimizer.Failed, Failure: &study.Failure{Kind: study.FailExit}})
	tryTwo(t, st, 5, 60, 9)
	if st.Best().Number != 1 || !slices.Equal(frontOf(st), []int{1, 3}) {
		t.Errorf("the best is trial %d, the front %v", st.Best().Number, frontOf(st))
	}
	if e := st.Ending(0); e != nil {
		t.Errorf("ended by %+v", e)
	}
	if tryTwo(t, st, 9, 150, 9); st.Ending(0) == nil || st.Ending(0).Why != study.Ending("goal") {
		t.Errorf("with the goal reached: %+v", st.Ending(0))
	}
}

// A lone table of objectives has a goal, too, which a limit holds back and an exclusion takes back.
func TestGoalOfOneObjective(t *testing.T) {
	st := two(t, func(c *study.Config) {
		c.Metrics[1].Direction, c.Metrics[1].Threshold = "", nil
		c.Metrics[0].Goal = number(2)
	})
	tryTwo(t, st, 1, 0, 11) // over the limit
	tryTwo(t, st, 3, 0, 1)
	if e := st.Ending(0); e != nil {
		t.Errorf("ended by %+v", e)
	}
	tryTwo(t, st, 2, 0, 1)
	if e := st.Ending(0); e == nil || e.Why != study.Ending("goal") || e.Detail != "trial 3 reached the goal 2" {
		t.Errorf("with the goal reached: %+v", e)
	}
	apply(t, st, study.Excluded{Trial: 3})
	if e := st.Ending(0); e != nil {
		t.Errorf("without trial 3: %+v", e)
	}
}

// The optimizer is told all objectives, maximized, and asked above the thresholds.
func TestSeveralAreTold(t *testing.T) {
	st := two(t, func(c *study.Config) { c.Metrics[1].Threshold, c.Run.Confirm = nil, 2 })
	tryTwo(t, st, 3, 4, 5)
	tryTwo(t, st, 2, 3, 5)
	tryTwo(t, st, 4, 3, 5)
	if o := st.Observation(st.Trials[0]); !slices.Equal(o.Values, []float64{-3, 4}) || !slices.Equal(o.Constraints, []float64{-0.5}) {
		t.Errorf("told %v and %v", o.Values, o.Constraints)
	}
	if q := st.Query(4); q.Trial != 4 || len(q.Thresholds) != 2 || q.Thresholds[0] != -10 || q.Thresholds[1] > -1e300 {
		t.Errorf("asked %+v", q)
	}
	if u := st.Unconfirmed(); len(u) != 2 || u[0].Number != 2 || u[1].Number != 1 {
		t.Errorf("to be confirmed: %v", u)
	}
}
