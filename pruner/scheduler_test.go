package pruner_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/pruner"
)

func schedule(t *testing.T, l pruner.Ladder) *pruner.Scheduler {
	t.Helper()
	s, err := pruner.NewScheduler(l)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRungs(t *testing.T) {
	for _, c := range []struct {
		ladder pruner.Ladder
		want   []int
	}{
		{pruner.Ladder{Min: 1, Max: 81, MinResource: 1, Reduction: 3}, []int{1, 3, 9, 27, 81}},
		{pruner.Ladder{Min: 1, Max: 100, MinResource: 1, Reduction: 3}, []int{1, 4, 11, 33, 100}},
		{pruner.Ladder{Min: 2, Max: 81, MinResource: 1, Reduction: 3}, []int{3, 9, 27, 81}},
		{pruner.Ladder{Min: 1, Max: 81, MinResource: 20, Reduction: 3}, []int{27, 81}},
		{pruner.Ladder{Min: 1, Max: 1000, MinResource: 1, Reduction: 10}, []int{1, 10, 100, 1000}},
		{pruner.Ladder{Min: 1, Max: 16, MinResource: 1, Reduction: 2}, []int{1, 2, 4, 8, 16}},
		{pruner.Ladder{Min: 1, Max: 4, MinResource: 1, Reduction: 1.1}, []int{1, 2, 3, 4}},
	} {
		got, err := c.ladder.Rungs()
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, %v, want %v", c.ladder, got, err, c.want)
		}
	}
	for want, l := range map[string]pruner.Ladder{
		"min_resource: found 28; want at most 27": {Min: 1, Max: 81, MinResource: 28, Reduction: 3},
		"min_resource: found 0":                   {Min: 1, Max: 81, Reduction: 3},
		"reduction: found 1;":                     {Min: 1, Max: 81, MinResource: 1, Reduction: 1},
		"resource: found the range 0 to 5":        {Min: 0, Max: 5, MinResource: 1, Reduction: 3},
		"resource: found the range 5 to 5":        {Min: 5, Max: 5, MinResource: 1, Reduction: 3},
	} {
		if _, err := pruner.NewScheduler(l); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", l, err, want)
		}
	}
}

// One worker, nine trials of values 1 .. 9 in the given order, η = 3: what
// algorithm 2 of Li et al. 2020 does, by hand.
func TestAlgorithm2ByHand(t *testing.T) {
	s := schedule(t, pruner.Ladder{Min: 1, Max: 9, MinResource: 1, Reduction: 3})
	values := []float64{3, 1, 2, 9, 4, 5, 6, 7, 8}
	var got []pruner.Job
	trials := 0
	for {
		j, ok := s.Next(trials < len(values))
		if !ok {
			break
		}
		got = append(got, j)
		if j.Trial == 0 {
			trials++
			j.Trial = trials
		}
		s.Begin(j.Trial, j.Rung)
		s.End(j.Trial, values[j.Trial-1])
	}
	want := []pruner.Job{
		{0, 0, 1}, {0, 0, 1}, {0, 0, 1}, {1, 1, 3}, // of 3 1 2 the 3
		{0, 0, 1}, {4, 1, 3}, // of 9 3 1 2 the 9
		{0, 0, 1}, {0, 0, 1}, {6, 1, 3}, // of 9 5 4 3 2 1 the 9 and the 5
		{4, 2, 9},            // of 9 5 3 on rung 1 the 9
		{0, 0, 1}, {7, 1, 3}, // the 6 displaces the 5
		{0, 0, 1}, {8, 1, 3}, // the 7 does so again
		{0, 0, 1}, {9, 1, 3}, // of nine the 9, 8 and 7
		{9, 2, 9}, // of 9 8 7 6 5 3 on rung 1 the 9 and the 8
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

// Too few trials to fill any rung: at the end the best one is taken up to the
// top, one rung after the other, once nothing else runs.
func TestTheBestGetsAllThereIs(t *testing.T) {
	s := schedule(t, pruner.Ladder{Min: 1, Max: 27, MinResource: 1, Reduction: 3})
	for trial := 1; trial <= 2; trial++ {
		s.Begin(trial, 0)
	}
	s.End(1, 5)
	if j, ok := s.Next(false); ok {
		t.Errorf("%+v while trial 2 still runs", j)
	}
	s.End(2, 6)
	for rung := 1; rung <= 3; rung++ {
		j, ok := s.Next(false)
		if want := (pruner.Job{2, rung, []int{1, 3, 9, 27}[rung]}); !ok || j != want {
			t.Fatalf("%+v, want %+v", j, want)
		}
		s.Begin(2, rung)
		if _, ok := s.Next(false); ok {
			t.Fatal("a job while the last one runs")
		}
		s.End(2, 6)
	}
	if j, ok := s.Next(false); ok {
		t.Errorf("%+v after the top", j)
	}
	if j, ok := s.Next(true); !ok || j != (pruner.Job{0, 0, 1}) {
		t.Errorf("%+v when the budget is raised", j)
	}
}

func TestNothingToDoWithoutTrials(t *testing.T) {
	s := schedule(t, pruner.Ladder{Min: 1, Max: 9, MinResource: 1, Reduction: 3})
	if j, ok := s.Next(false); ok {
		t.Errorf("%+v out of nothing", j)
	}
	s.Begin(1, 0)
	s.Forget(1)
	s.End(1, 5)
	if j, ok := s.Next(false); ok {
		t.Errorf("%+v of a failed trial", j)
	}
}

// A promoted trial that fails makes room for the next best.
func TestAFailedPromotionMakesRoom(t *testing.T) {
	s := schedule(t, pruner.Ladder{Min: 1, Max: 9, MinResource: 1, Reduction: 3})
	for trial := range 6 {
		s.Begin(trial+1, 0)
		s.End(trial+1, float64(trial))
	}
	j, _ := s.Next(false)
	if j.Trial != 6 {
		t.Fatalf("%+v", j)
	}
	s.Begin(6, 1)
	s.Forget(6)
	if j, _ := s.Next(false); j != (pruner.Job{5, 1, 3}) {
		t.Errorf("%+v, want trial 5 promoted", j)
	}
}

// Several workers: when results make promotions possible on two rungs, the
// higher comes first, and of equal results the earlier.
func TestTheHighestRungAndTheEarliestComeFirst(t *testing.T) {
	s := schedule(t, pruner.Ladder{Min: 1, Max: 4, MinResource: 1, Reduction: 2})
	for trial := 1; trial <= 4; trial++ {
		s.Begin(trial, 0)
	}
	for trial := 1; trial <= 4; trial++ {
		s.End(trial, 7)
	}
	for trial := 1; trial <= 2; trial++ {
		if j, _ := s.Next(true); j != (pruner.Job{Trial: trial, Rung: 1, Resource: 2}) {
			t.Fatalf("%+v, want trial %d", j, trial)
		}
		s.Begin(trial, 1)
	}
	for trial := 5; trial <= 6; trial++ {
		s.Begin(trial, 0)
		s.End(trial, 9)
	}
	s.End(1, 3)
	s.End(2, 4)
	if j, _ := s.Next(true); j != (pruner.Job{Trial: 2, Rung: 2, Resource: 4}) {
		t.Errorf("%+v, want trial 2 on the top rung", j)
	}
	s.Begin(2, 2)
	if j, _ := s.Next(true); j != (pruner.Job{Trial: 5, Rung: 1, Resource: 2}) {
		t.Errorf("%+v, want trial 5 on rung 1", j)
	}
}

// world plays a scheduler with several workers, failures and any order of ends.
type world struct {
	rng     *rand.Rand
	s       *pruner.Scheduler
	running []pruner.Job
	trials  int
	failed  int
	top     int
	log     []func(*pruner.Scheduler)
	jobs    []pruner.Job
}

func (w *world) do(f func(*pruner.Scheduler)) {
	w.log = append(w.log, f)
	f(w.s)
}

// turn starts a job if a worker is free and there is one, or else ends one.
// It returns false when all is done.
func (w *world) turn(budget, workers int) bool {
	if len(w.running) < workers && w.rng.IntN(3) > 0 {
		if j, ok := w.s.Next(w.trials < budget); ok {
			w.jobs = append(w.jobs, j)
			if j.Trial == 0 {
				w.trials++
				j.Trial = w.trials
			}
			w.running = append(w.running, j)
			w.do(func(s *pruner.Scheduler) { s.Begin(j.Trial, j.Rung) })
			return true
		}
	}
	if len(w.running) == 0 {
		_, more := w.s.Next(w.trials < budget)
		return more
	}
	i := w.rng.IntN(len(w.running))
	j := w.running[i]
	w.running = slices.Delete(w.running, i, i+1)
	if v := w.rng.NormFloat64(); v < -1.5 {
		w.failed++
		w.do(func(s *pruner.Scheduler) { s.Forget(j.Trial) })
	} else {
		w.do(func(s *pruner.Scheduler) { s.End(j.Trial, v+float64(j.Rung)) })
		if j.Rung == w.top {
			w.jobs = append(w.jobs, pruner.Job{Trial: j.Trial, Rung: -1})
		}
	}
	return true
}

// Every study ends; each trial goes up one rung at a time; no trial runs twice
// on a rung; the best get to the top; the scheduler is a fold.
func TestSchedulerInAnyOrder(t *testing.T) {
	for seed := range uint64(200) {
		l := pruner.Ladder{Min: 1, Max: 27, MinResource: 1, Reduction: 3}
		w := &world{rng: rand.New(rand.NewPCG(seed, 4)), s: schedule(t, l), top: 3}
		budget, workers := 1+w.rng.IntN(60), 1+w.rng.IntN(5)
		turns := 0
		for w.turn(budget, workers) {
			if turns++; turns > 5000 {
				t.Fatalf("seed %d does not end", seed)
			}
			if turns%17 == 0 {
				again := schedule(t, l)
				for _, f := range w.log {
					f(again)
				}
				a, okA := w.s.Next(w.trials < budget)
				b, okB := again.Next(w.trials < budget)
				if a != b || okA != okB || !slices.Equal(w.s.Running(), again.Running()) {
					t.Fatalf("seed %d: %+v, rebuilt %+v", seed, a, b)
				}
				w.s = again
			}
		}
		checkJobs(t, seed, w, budget)
	}
}

func checkJobs(t *testing.T, seed uint64, w *world, budget int) {
	t.Helper()
	if w.trials != budget || len(w.running) > 0 {
		t.Errorf("seed %d: ended with %d of %d trials, %d running", seed, w.trials, budget, len(w.running))
	}
	rung, tops, trial := map[int]int{}, 0, 0
	for _, j := range w.jobs {
		switch {
		case j.Rung == -1:
			tops++
		case j.Trial == 0:
			trial++
			rung[trial] = 0
		case rung[j.Trial] != j.Rung-1:
			t.Errorf("seed %d: trial %d goes from rung %d to %d", seed, j.Trial, rung[j.Trial], j.Rung)
		default:
			rung[j.Trial] = j.Rung
		}
	}
	if tops == 0 && w.failed < w.trials {
		t.Errorf("seed %d: %d trials, and none has had the whole resource", seed, budget)
	}
}
