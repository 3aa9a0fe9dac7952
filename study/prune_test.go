package study_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// curves is a study whose trial k prints the k-th curve, one reading a minute.
func curves(t *testing.T, p study.Prune, curves ...string) *study.State {
	t.Helper()
	dir := t.TempDir()
	var st *study.State
	synctest.Test(t, func(t *testing.T) {
		c := config()
		c.Budget.Trials, c.Prune = len(curves), &p
		c.Objective.Rule.Step = "epoch"
		f := &fakeLauncher{program: func(job runner.Job) ending {
			k, err := strconv.Atoi(strings.Split(job.ID, "/")[1])
			if err != nil {
				t.Error(err)
			}
			var out strings.Builder
			for i, v := range strings.Fields(curves[k-1]) {
				fmt.Fprintf(&out, "epoch=%d loss=%s\n", i+1, v)
			}
			return ending{stdout: out.String(), every: time.Minute}
		}}
		var err error
		if st, err = finish(t, dir, &c, f); err != nil {
			t.Fatal(err)
		}
		again, _, err := study.Load(dir)
		if err != nil || story(again) != story(st) {
			t.Errorf("the journal tells another story: %v", err)
		}
	})
	return st
}

// ends describes how the trials of a study ended: a value, or where and with
// what a trial was cut.
func ends(st *study.State) string {
	var out []string
	for _, t := range st.Trials {
		s := fmt.Sprint(t.Value)
		if t.Status == optimizer.Pruned {
			s = fmt.Sprintf("cut@%v:%v", t.Cut.Reading.Step, t.Value)
		}
		if t.Status == optimizer.Failed {
			s = "failed"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestPruners(t *testing.T) {
	bound := 5.0
	for name, c := range map[string]struct {
		prune  study.Prune
		curves []string
		want   string
	}{
		"threshold": {
			study.Prune{Method: "threshold", Threshold: &bound},
			[]string{"4 3 2", "6 3 2", "5 5 1", "nan 1 1", "4 inf 1"},
			"2 cut@1:6 1 failed failed",
		},
		"threshold after a warm-up": {
			study.Prune{Method: "threshold", Threshold: &bound, Warmup: 3},
			[]string{"9 8 7 6 5", "9 8 4 3 2"},
			"cut@3:7 2",
		},
		"patience": {
			study.Prune{Method: "patience", Patience: 2},
			[]string{"5 4 3 2", "5 4 4 4 1", "5 6 4 5 3 3 2"},
			"2 4 2",
		},
		"median": {
			study.Prune{Method: "median", MinTrials: 2},
			[]string{"5 4 3", "7 6 5", "9 8 7", "6 5 4", "8 2 1", "7 4.5 4"},
			"3 5 cut@1:9 4 cut@1:8 4",
		},
		"median of a steady trial": {
			study.Prune{Method: "median", MinTrials: 1, Warmup: 2},
			[]string{"5 4 3", "9 4 2", "9 6 1", "1 9 9"},
			"3 2 cut@2:6 9",
		},
		"percentile": {
			study.Prune{Method: "percentile", Percentile: 75, MinTrials: 4},
			[]string{"1 1", "2 2", "3 3", "4 4", "3.2 3", "3.3 3"},
			"1 2 3 4 3 cut@1:3.3",
		},
		"asha": {
			study.Prune{Method: "asha", MinResource: 1, Reduction: 2},
			[]string{"5 5 5 5", "6 1 1 1", "4 4 4 4", "4.5 9 9 9", "3 3 3 1"},
			"5 cut@1:6 4 cut@2:9 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ends(curves(t, c.prune, c.curves...)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A pruned trial says why, and the optimizer is told its last reading.
func TestPrunedTrial(t *testing.T) {
	st := curves(t, study.Prune{Method: "median", MinTrials: 1}, "1 1 1", "2 2 2", "0.5 0.5 0.5")
	if got := ends(st); got != "1 cut@1:2 0.5" {
		t.Errorf("got %s", got)
	}
	why := st.Trials[1].Failure
	if why == nil || why.Kind != study.FailPruned || !strings.Contains(why.Text, "best so far 2") {
		t.Errorf("reason %+v", why)
	}
	if o := st.Observation(st.Trials[1]); o.Status != optimizer.Pruned || o.Value != -2 {
		t.Errorf("the optimizer is told %+v", o)
	}
}

// learner is a program with a learning curve: its loss after e epochs depends
// on x, and some configurations learn fast and end badly. It continues from its
// checkpoint, so that an attempt costs the epochs that it adds.
func learner(x, y float64, epochs int) float64 {
	end := (x-0.3)*(x-0.3) + 0.5*(y-0.6)*(y-0.6)
	rate := 0.15 + 0.3*math.Abs(math.Sin(7*x+3*y))
	return end + 2*math.Exp(-rate*float64(epochs))
}

// runLearner runs a study of learner and returns after how many epochs in all
// its best loss first was at most goal, and its best loss.
func runLearner(t *testing.T, seed uint64, trials int, prune *study.Prune, goal float64) (epochs int, best float64) {
	t.Helper()
	dir := t.TempDir()
	best = math.Inf(1)
	synctest.Test(t, func(t *testing.T) {
		c := config()
		c.Seed, c.Budget.Trials, c.Prune = seed, trials, prune
		c.Params = []spaces.Param{
			{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1},
			{Name: "y", Kind: spaces.KindFloat, Min: 0, Max: 1},
			{Name: "epochs", Kind: spaces.KindInt, Min: 1, Max: 27},
		}
		c.Command.Argv = []string{"learner", "{x}", "{y}", "{epochs}", "{checkpoint_dir}"}
		if prune == nil {
			c.Params = c.Params[:2]
			c.Command.Argv[3] = "27"
		}
		c.Optimizer.Method = optimizer.MethodRandom
		spent, done := 0, map[string]int{}
		f := &fakeLauncher{program: func(job runner.Job) ending {
			x, err1 := strconv.ParseFloat(job.Argv[1], 64)
			y, err2 := strconv.ParseFloat(job.Argv[2], 64)
			e, err3 := strconv.Atoi(job.Argv[3])
			if err1 != nil || err2 != nil || err3 != nil {
				t.Errorf("command %q", job.Argv)
			}
			spent += e - done[job.Argv[4]]
			done[job.Argv[4]] = e
			loss := learner(x, y, e)
			if best > goal && loss <= goal {
				epochs = spent
			}
			best = min(best, loss)
			return ending{stdout: fmt.Sprintf("loss=%v\n", loss)}
		}}
		s, err := study.Open(&c, study.Options{Dir: dir, Launcher: f})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if st := s.State(); st.Best().Value != best {
			t.Errorf("the best trial has %v, the best loss was %v", st.Best().Value, best)
		}
	})
	return epochs, best
}

// Successive halving finds what full training finds in less than half of the
// epochs, in the median over ten seeds.
func TestASHASavesEpochs(t *testing.T) {
	var shares []float64
	for seed := range uint64(10) {
		const trials = 40
		_, goal := runLearner(t, seed, trials, nil, math.Inf(-1))
		asha := &study.Prune{Method: "asha", MinResource: 1, Reduction: 3, Resource: "epochs"}
		epochs, best := runLearner(t, seed, 3*trials, asha, goal)
		share := float64(epochs) / (27 * trials)
		if best > goal {
			share = math.Inf(1)
		}
		t.Logf("seed %d: full training reaches %.4f with %d epochs, successive halving with %d (%.0f %%)", seed, goal, 27*trials, epochs, 100*share)
		shares = append(shares, share)
	}
	slices.Sort(shares)
	if median := (shares[4] + shares[5]) / 2; median > 0.5 {
		t.Errorf("the median share of epochs is %.2f", median)
	}
}
