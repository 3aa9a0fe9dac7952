package session_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
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
		c.Metrics[0].Rule.Step = "epoch"
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
		again, err := study.Load(dir)
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
		"reachable": {
			study.Prune{Method: "reachable", Slope: 1, MaxStep: 3},
			[]string{"5 4 3", "6 1 1", "5 9 2", "3 2 1"},
			"3 cut@1:6 cut@2:9 1",
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
			if got := ends(reports(t, c.prune, c.curves...)); got != c.want {
				t.Errorf("reported\n     %s\nwant %s", got, c.want)
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
	if o := st.Observation(st.Trials[1]); o.Status != optimizer.Pruned || o.Value() != -2 {
		t.Errorf("the optimizer is told %+v", o)
	}
}

// forestalled ends attempts by a signal of others just as it is asked to end them.
type forestalled struct{ *fakeLauncher }

func (l forestalled) Launch(ctx context.Context, job runner.Job) (runner.Exit, error) {
	exit, err := l.fakeLauncher.Launch(ctx, job)
	if exit.Cancelled {
		exit.Cancelled, exit.Signal = false, "SIGTERM"
	}
	return exit, err
}

// A trial that is stopped early has not failed, whoever ends it at that moment.
func TestStoppedEarlyInAShutdown(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials, c.Prune = 2, &study.Prune{Method: "median", MinTrials: 1}
		f := forestalled{&fakeLauncher{program: func(job runner.Job) ending {
			v := strings.Split(job.ID, "/")[1]
			return ending{stdout: strings.Repeat("loss="+v+"\n", 3), every: time.Minute}
		}}}
		st := conclude(t, &c, session.Options{Dir: dir, Launcher: f, Optimizer: newFakeOptimizer})
		if got := ends(st); got != "1 cut@1:2" {
			t.Errorf("the trials ended with %s, %v", got, st.Trials[1].Failure)
		}
	})
}

// A trial that runs out of patience has the memory that was measured until then, and holds its
// limit. If a limited metric is printed only at the end, it is stopped early like others.
func TestPatienceWithLimits(t *testing.T) {
	most := 10.0
	for want, limited := range map[string]study.Metric{
		"4 3":       {Name: "mem", Measure: study.PeakMemory, Max: &most},
		"cut@3:5 3": {Name: "size", Rule: parser.Rule{Metric: "size"}, Max: &most},
	} {
		t.Run(want, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				c := config()
				c.Metrics[0].Rule.Pick = "min"
				c.Metrics = append(c.Metrics, limited)
				c.Budget.Trials, c.Prune = 2, &study.Prune{Method: "patience", Patience: 2}
				f := &fakeLauncher{program: func(job runner.Job) ending {
					out := "loss=4\nloss=4\nloss=5\nloss=1\nsize=1\n"
					if strings.Split(job.ID, "/")[1] == "2" {
						out = "loss=3\nsize=1\n"
					}
					return ending{stdout: out, every: time.Minute, exit: runner.Exit{PeakMemory: 7}}
				}}
				st := conclude(t, &c, session.Options{Dir: dir, Launcher: f, Optimizer: newFakeOptimizer})
				got, first := ends(st), st.Trials[0]
				if got != want || st.Feasible(first) != (limited.Measure != "") {
					t.Errorf("%s: the trials ended with %s, the first with %v, %v", limited.Name, got, first.Metrics, first.Failure)
				}
				if first.Failure != nil && !strings.HasSuffix(first.Failure.Text, ", when size was not known yet") {
					t.Errorf("it was stopped: %v", first.Failure)
				}
			})
		})
	}
}

// once is a launcher of which a machine takes the first attempt that lbotune stops.
type once struct {
	runner.Launcher
	err  error // what is said of it; nil: it was ended by a SIGTERM
	gone *bool
}

func (l once) Launch(ctx context.Context, job runner.Job) (runner.Exit, error) {
	exit, err := l.Launcher.Launch(ctx, job)
	if !exit.Cancelled || *l.gone {
		return exit, err
	}
	*l.gone = true
	exit.Cancelled, exit.Signal = false, "SIGTERM"
	return exit, l.err
}

// Which reading counts of a trial that ran out of patience is not known where its attempt was lost, but that
// it is the last one: else it is run again.
func TestPatienceOfALostAttempt(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		pick string
		want string
	}{
		"lost":          {runner.ErrLost, "min", "2 on attempt 2"},
		"shut down":     {nil, "min", "2 on attempt 2"},
		"the last read": {runner.ErrLost, "last", "3 on attempt 1"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				cfg.Metrics[0].Rule.Pick = c.pick
				cfg.Budget.Trials, cfg.Prune = 1, &study.Prune{Method: "patience", Patience: 2}
				f := once{&fakeLauncher{program: func(runner.Job) ending {
					return ending{stdout: "loss=2\nloss=4\nloss=3\nloss=1\n", every: time.Minute}
				}}, c.err, new(bool)}
				st := conclude(t, &cfg, session.Options{Dir: dir, Launcher: f, Optimizer: newFakeOptimizer})
				trial := st.Trials[0]
				if got := fmt.Sprintf("%v on attempt %d", trial.Value, trial.Attempt); got != c.want || trial.Status != optimizer.Succeeded {
					t.Errorf("%s, %s; want %s", got, trial.Status, c.want)
				}
			})
		})
	}
}

// Trials with several objectives are compared at a rung by all of them: the second is the
// worst in loss and goes on for its size, the third is behind in both. What one of them has
// printed at a step without the other is no reading.
func TestSeveralObjectivesArePruned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		c := config()
		c.Metrics[0].Rule.Step = "epoch"
		size := study.Metric{Name: "size", Rule: parser.Rule{Metric: "size", Step: "epoch"}, Direction: study.Maximize}
		c.Metrics = append(c.Metrics, size)
		c.Budget.Trials, c.Prune = 3, &study.Prune{Method: "asha", MinResource: 2, Reduction: 2, MinTrials: 1}
		f := &fakeLauncher{program: func(job runner.Job) ending {
			v := map[string]string{"1": "loss=1 size=1", "2": "loss=9 size=9", "3": "loss=9.5 size=0"}[strings.Split(job.ID, "/")[1]]
			loss, _, _ := strings.Cut(v, " ")
			return ending{stdout: fmt.Sprintf("epoch=1 %s\nepoch=2 %s\nepoch=3 %s\nepoch=4 %s\n", loss, v, v, v), every: time.Minute}
		}}
		st, err := finish(t, dir, &c, f)
		if got := ends(st); err != nil || got != "1 9 cut@2:9.5" {
			t.Fatalf("%s, %v", got, err)
		}
		if m := st.Trials[2].Metrics; asJSON(t, m) != asJSON(t, study.Metrics{"loss": 9.5, "size": 0}) || len(st.Front()) != 2 {
			t.Errorf("the stopped one has %v; %d on the front, want 2", m, len(st.Front()))
		}
		again, err := study.Load(dir)
		if err != nil || story(again) != story(st) || !slices.Equal(again.Watched[0].Reading.Others, []float64{1}) {
			t.Errorf("the journal tells another story: %v %+v", err, again.Watched)
		}
	})
}

// A trial ends at the first reading that breaks a limit which stops: before it had an
// objective, and after. One that breaks it as it ends has succeeded, and of several limits
// the optimizer learns of the broken one alone.
func TestLimitsStopTrials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		c := config()
		limit, other := 8.0, 1.0
		c.Metrics = append(c.Metrics, study.Metric{Name: "mem", Rule: parser.Rule{Metric: "mem", Step: "epoch"}, Max: &limit, Stop: true},
			study.Metric{Name: "size", Rule: parser.Rule{Metric: "size"}, Max: &other})
		c.Budget.Trials = 4
		f := &fakeLauncher{program: func(job runner.Job) ending {
			e := ending{every: time.Minute, stdout: map[string]string{
				"1": "epoch=1 mem=2\nepoch=2 mem=8\nloss=1\nsize=0\n",
				"2": "epoch=1 mem=3\nepoch=2 mem=12\nepoch=3 mem=12\nloss=1\nsize=0\n",
				"3": "loss=2\nsize=0\nepoch=1 mem=nan\nepoch=2 mem=9\nloss=0\n",
				"4": "size=0\nloss=3\nepoch=1 mem=10\n",
			}[strings.Split(job.ID, "/")[1]]}
			if strings.Contains(e.stdout, "loss=3") {
				e.every = 0
			}
			return e
		}}
		st, err := finish(t, dir, &c, f)
		if got := ends(st); err != nil || got != "1 cut@2:NaN cut@2:2 3" {
			t.Fatalf("%s, %v", got, err)
		}
		for n, want := range map[int]float64{1: 0.5, 2: 0.125} {
			trial := st.Trials[n]
			if trial.Failure.Text != fmt.Sprintf("stopped early at step 2: mem = %v, above 8", trial.Cut.Reading.Value) || trial.Cut.Metric != "mem" {
				t.Errorf("trial %d: %+v, %+v", n+1, trial.Failure, trial.Cut)
			}
			o := st.Observation(trial)
			if o.Status != optimizer.Failed || len(o.Constraints) != 2 || o.Constraints[0] != want || !math.IsNaN(o.Constraints[1]) {
				t.Errorf("the optimizer is told %+v of trial %d", o, n+1)
			}
		}
		if best := st.Best(); best == nil || best.Number != 1 || infeasible(st) != 1 {
			t.Errorf("best %+v, %d infeasible", best, infeasible(st))
		}
		again, err := study.Load(dir)
		if err != nil || story(again) != story(st) {
			t.Errorf("the journal tells another story: %v", err)
		}
	})
}

// What a program prints all at once as it ends stops nothing, but others are compared
// with it.
func TestReadingsAtTheEndStopNothing(t *testing.T) {
	for late, want := range map[bool]string{true: "1 2 0.5 cut@1:3", false: "1 cut@1:2 0.5 cut@1:3"} {
		t.Run(fmt.Sprint("all at the end ", late), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := config()
				c.Budget.Trials, c.Prune = 4, &study.Prune{Method: "median", MinTrials: 1}
				c.Metrics[0].Rule.Step = "epoch"
				f := &fakeLauncher{program: func(job runner.Job) ending {
					k, err := strconv.Atoi(strings.Split(job.ID, "/")[1])
					if err != nil {
						t.Error(err)
					}
					v := []string{"1", "2", "0.5", "3"}[k-1]
					e := ending{stdout: fmt.Sprintf("epoch=1 loss=%s\nepoch=2 loss=%s\nepoch=3 loss=%s\n", v, v, v)}
					if !late || k == 4 {
						e.every = time.Minute
					}
					return e
				}}
				st, err := finish(t, t.TempDir(), &c, f)
				if err != nil {
					t.Fatal(err)
				}
				if got := ends(st); got != want {
					t.Errorf("all at the end %v: %s, want %s", late, got, want)
				}
				if late && st.Trials[1].Cut != nil {
					t.Errorf("a trial that had ended was cut: %+v", st.Trials[1].Cut)
				}
			})
		})
	}
}

// At its last step a trial is complete.
func TestNothingIsStoppedAtItsLastStep(t *testing.T) {
	for last, want := range map[float64]string{0: "1 cut@3:2", 3: "1 2"} {
		t.Run(fmt.Sprint("max_step ", last), func(t *testing.T) {
			st := curves(t, study.Prune{Method: "median", MinTrials: 1, Warmup: 3, MaxStep: last}, "1 1 1 1", "2 2 2 2")
			if got := ends(st); got != want {
				t.Errorf("max_step %v: %s, want %s", last, got, want)
			}
		})
	}
}

// infeasible is how many trials have succeeded and break a limit.
func infeasible(st *study.State) (n int) {
	for _, t := range st.Trials {
		if t.Succeeded() && !st.Feasible(t) {
			n++
		}
	}
	return n
}
