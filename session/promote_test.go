package session_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// climbing is a study whose trials have 1, 3, 9 or 27 epochs.
func climbing(trials int) study.Config {
	c := config()
	c.Budget.Trials = trials
	c.Prune = &study.Prune{Method: "asha", MinResource: 1, Reduction: 3, Resource: "epochs"}
	c.Params = []spaces.Param{
		{Name: "x", Kind: spaces.KindFloat, Min: -1, Max: 1},
		{Name: "epochs", Kind: spaces.KindInt, Min: 1, Max: 27},
	}
	c.Command.Argv = []string{"climb", "{x}", "{epochs}", "{checkpoint_dir}", "{seed}"}
	return c
}

// climb ends at (x-0.3)² and is the further away from it the fewer epochs it has.
func climb(job runner.Job) ending {
	x, err1 := strconv.ParseFloat(job.Argv[1], 64)
	n, err2 := strconv.ParseFloat(job.Argv[2], 64)
	if err1 != nil || err2 != nil {
		return ending{exit: runner.Exit{Code: 64}}
	}
	return ending{stdout: fmt.Sprintf("loss=%v\n", (x-0.3)*(x-0.3)+1/n)}
}

func epochsOf(t *study.Trial) int64 {
	v, _ := t.Values().Get("epochs")
	return v.Any().(int64)
}

// The best third of each rung is continued, from the same checkpoint and with the
// same seed, by trials of their own; only those with all epochs can be the best.
func TestPromotions(t *testing.T) {
	for _, workers := range []int{1, 3} {
		bubble(t, func(t *testing.T, dir string) {
			c := climbing(60)
			c.Run.Workers = workers
			ran := map[int][]string{} // by trial, its command
			f := &fakeLauncher{}
			f.program = func(job runner.Job) ending {
				n, err := strconv.Atoi(strings.Split(job.ID, "/")[1])
				if err != nil {
					t.Error(err)
				}
				f.mu.Lock()
				ran[n] = job.Argv
				f.mu.Unlock()
				return climb(job)
			}
			st, err := finish(t, dir, &c, f)
			if err != nil {
				t.Fatal(err)
			}
			counts := map[int64]int{}
			for _, trial := range st.Trials {
				counts[epochsOf(trial)]++
				if (trial.Status == optimizer.Succeeded) != (epochsOf(trial) == 27) || trial.Status == optimizer.Failed {
					t.Errorf("trial %d with %d epochs: %s", trial.Number, epochsOf(trial), trial.Status)
				}
				if trial.Status == optimizer.Pruned && trial.Failure.Text != fmt.Sprintf("at epochs=%d of 27", epochsOf(trial)) {
					t.Errorf("trial %d: %s", trial.Number, trial.Failure.Text)
				}
				if o := st.Observation(trial); o.Status != optimizer.Succeeded || o.Value() != -trial.Value {
					t.Errorf("the optimizer is told %+v", o)
				}
				if trial.Continues == 0 {
					continue
				}
				from := st.Trials[trial.Continues-1]
				was, is := ran[from.Number], ran[trial.Number]
				if epochsOf(trial) != 3*epochsOf(from) || was[1] != is[1] || was[3] != is[3] || was[4] != is[4] {
					t.Errorf("trial %d ran %v after %v", trial.Number, is, was)
				}
			}
			if counts[3] < counts[1]/3-workers || counts[9] < counts[3]/3-workers || counts[1] <= counts[3] || counts[3] <= counts[9] || counts[9] <= counts[27] || counts[27] == 0 {
				t.Errorf("trials by epochs: %v", counts)
			}
			if b := st.Best(); b == nil || epochsOf(b) != 27 {
				t.Errorf("the best is %+v", b)
			}
			rep, err := session.Replay(t.Context(), dir, newFakeOptimizer)
			if err != nil || rep.Given != 60-counts[1] || rep.Asked != counts[1] || len(rep.Differences) != 0 {
				t.Errorf("replay: %v, %+v", err, rep)
			}
		})
	}
}

// The default optimizer's proposals can be asked for again, too.
func TestReplayPromotions(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := climbing(20)
		c.Run.Workers = 2
		conclude(t, &c, session.Options{Dir: dir, Launcher: &fakeLauncher{program: climb}})
		rep, err := session.Replay(t.Context(), dir, nil)
		if err != nil || rep.Asked == 0 || rep.Given == 0 || len(rep.Differences) != 0 {
			t.Errorf("replay: %v, %+v", err, rep)
		}
	})
}

// However small the budget, one trial has all epochs.
func TestSmallBudgetsReachTheTop(t *testing.T) {
	for trials, want := range map[int]string{1: "27", 2: "1 27", 4: "1 1 1 27", 5: "1 1 1 3 27", 6: "1 1 1 3 1 27"} {
		t.Run(fmt.Sprint(trials), func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				c := climbing(trials)
				st, err := finish(t, dir, &c, &fakeLauncher{program: climb})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, trial := range st.Trials {
					got = append(got, fmt.Sprint(epochsOf(trial)))
				}
				if s := strings.Join(got, " "); s != want {
					t.Errorf("%d trials have %s epochs, want %s", trials, s, want)
				}
				if last := st.Trials[trials-1]; trials > 1 && last.Continues == 0 {
					t.Error("the last trial continues none")
				}
			})
		})
	}
}

// Today's values say nothing of what was found, be it that they crash: the budget ends with the best of the others at
// the top.
func TestTheLastRunIsNotTodaysValues(t *testing.T) {
	for name, today := range map[string]ending{"they crash": {exit: runner.Exit{Code: 1}}, "they are worse": {stdout: "loss=9\n"}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				c := climbing(12)
				c.Params[0].Default = spaces.Float(0.5)
				st, err := finish(t, dir, &c, &fakeLauncher{program: func(job runner.Job) ending {
					if job.Argv[1] == "0.5" {
						return today
					}
					return climb(job)
				}})
				if b := st.Best(); err != nil || b == nil || b.Number != 12 || epochsOf(b) != 27 || b.Continues == 0 {
					t.Errorf("the best of %d trials is %+v, %v", len(st.Trials), b, err)
				}
				rep, err := session.Replay(t.Context(), dir, newFakeOptimizer)
				if err != nil || len(rep.Differences) != 0 {
					t.Errorf("replay: %v, %+v", err, rep)
				}
			})
		})
	}
}

// An earlier version ended the budget with another new trial when one had failed at the top. A replay has nothing
// to say against that: the epochs are not of the optimizer's choosing.
func TestReplayOfAnEarlierLastRun(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := climbing(6)
		c.Params[0].Default = spaces.Float(0.5)
		if _, err := finish(t, dir, &c, &fakeLauncher{program: func(job runner.Job) ending {
			if job.Argv[1] == "0.5" {
				return ending{exit: runner.Exit{Code: 1}}
			}
			return climb(job)
		}}); err != nil {
			t.Fatal(err)
		}
		rep, err := session.Replay(t.Context(), altered(t, dir, func(e study.Event) study.Event {
			if created, is := e.(study.Created); is {
				created.Config.Budget.Trials = 4 // the fourth trial is asked for
				return created
			}
			return e
		}), newFakeOptimizer)
		if err != nil || rep.Asked < 3 || len(rep.Differences) != 0 {
			t.Errorf("replay: %v, %+v", err, rep)
		}
	})
}

// A continuation that fails makes room for the next best.
func TestFailedContinuation(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := climbing(12)
		f := &fakeLauncher{program: func(job runner.Job) ending {
			if job.Argv[2] == "3" && strings.Contains(job.ID, "/4/") {
				return ending{exit: runner.Exit{Code: 1}}
			}
			return climb(job)
		}}
		st, err := finish(t, dir, &c, f)
		if err != nil {
			t.Fatal(err)
		}
		failed, next := st.Trials[3], st.Trials[4]
		if failed.Status != optimizer.Failed || failed.Continues == 0 || next.Continues != 0 {
			t.Fatalf("trials 4 and 5: %+v, %+v", failed, next)
		}
		for _, trial := range st.Trials[4:] {
			if trial.Continues == failed.Continues || trial.Continues == failed.Number {
				t.Errorf("trial %d continues trial %d", trial.Number, trial.Continues)
			}
		}
	})
}

// Enqueued values begin on the rung that they name, and on another one only if they name none.
func TestEnqueuedRungs(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := climbing(5)
		s := open(t, dir, &c, &fakeLauncher{program: climb})
		at := func(n int64) spaces.Values {
			return spaces.Values{{Name: "x", Value: spaces.Float(0.25)}, {Name: "epochs", Value: spaces.Int(n)}}
		}
		for _, v := range []spaces.Values{at(27), at(3)[:1], at(1)} {
			if err := s.Do(study.Request{Action: study.ActionEnqueue, Values: v}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Do(study.Request{Action: study.ActionEnqueue, Values: at(4)}); err == nil || !strings.Contains(err.Error(), "epochs = 4 is no rung of [prune]; name one of [1 3 9 27], or leave epochs out") {
			t.Errorf("4 epochs: %v", err)
		}
		if err := s.Run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for i, want := range []int64{27, 27, 1} { // the middle of the range is 14
			if trial := s.State().Trials[i]; epochsOf(trial) != want || trial.Origin != optimizer.OriginGiven {
				t.Errorf("trial %d: %s, %s", i+1, trial.Values(), trial.Origin)
			}
		}
		if b := s.State().Best(); b.Number != 1 {
			t.Errorf("the best is trial %d", b.Number)
		}
	})
}

// Of a space with few configurations each one begins once.
func TestFewConfigurationsClimb(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := climbing(100)
		c.Params[0] = spaces.Param{Name: "x", Kind: spaces.KindInt, Min: -3, Max: 3}
		s, err := session.Open(&c, session.Options{Dir: dir, Launcher: &fakeLauncher{program: climb}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), nil); err != nil || s.State().Closed == nil || s.State().Closed.Why != study.EndExhausted {
			t.Errorf("%v, %+v", err, s.State().Closed)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		begun := map[string]bool{}
		for _, trial := range s.State().Trials {
			if x, _ := trial.Values().Get("x"); trial.Continues == 0 {
				if begun[x.Text()] {
					t.Errorf("trial %d begins with x=%s again", trial.Number, x)
				}
				begun[x.Text()] = true
			}
		}
		if len(begun) != 7 {
			t.Errorf("%d configurations", len(begun))
		}
	})
}

// A study by hand climbs as well: what is told counts for the rung handed out.
func TestPromotionsByHand(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := climbing(5)
		s := open(t, dir, &c, &fakeLauncher{})
		var got []string
		for range 5 {
			trial, err := s.Ask(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d+%d", epochsOf(&trial), trial.Continues))
			if err := s.Tell(trial.Number, study.Metrics{"loss": float64(trial.Number)}); err != nil {
				t.Fatal(err)
			}
		}
		if want := "1+0 1+0 1+0 3+1 27+4"; strings.Join(got, " ") != want {
			t.Errorf("handed out %v, want %s", got, want)
		}
		if b := s.State().Best(); b == nil || b.Number != 5 {
			t.Errorf("the best is %+v", b)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Each repeat has a seed and a checkpoint of its own, and so do the runs that
// confirm the best: none goes on from what another has finished.
func TestRepeatsHaveTheirOwnCheckpoints(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := climbing(5)
		c.Run.Repeats, c.Run.Confirm = 2, 2
		seeds := map[string]string{} // by checkpoint
		done := map[string]int{}
		f := &fakeLauncher{program: func(job runner.Job) ending {
			n, err := strconv.Atoi(job.Argv[2])
			checkpoint, seed := job.Argv[3], job.Argv[4]
			if was, ok := seeds[checkpoint]; err != nil || ok && was != seed || n <= done[checkpoint] {
				t.Errorf("%s: %v epochs with seed %s after %d with seed %s in %s", job.ID, n, seed, done[checkpoint], was, checkpoint)
			}
			seeds[checkpoint], done[checkpoint] = seed, n
			return climb(job)
		}}
		if _, err := finish(t, dir, &c, f); err != nil {
			t.Fatal(err)
		}
		// Three configurations, each twice, and two runs that confirm the best.
		if len(seeds) != 8 || len(f.launched) != 12 {
			t.Errorf("%d checkpoints in %d runs", len(seeds), len(f.launched))
		}
	})
}

// finite is a study of six configurations, which are fewer than promotions to the top take.
func finite() study.Config {
	c := climbing(60)
	c.Params[0] = spaces.Param{Name: "x", Kind: spaces.KindInt, Min: 1, Max: 6}
	return c
}

// Once all configurations of a small space have begun, the best one gets all epochs, whatever its
// rank on its rung. If that fails, another one does.
func TestSmallSpacesReachTheTop(t *testing.T) {
	for name, c := range map[string]struct {
		workers int
		fails   string // an x with all epochs
		best    string
	}{
		"one worker":    {1, "", "1"},
		"three workers": {3, "", "1"},
		"a failure":     {1, "1", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := finite()
				cfg.Run.Workers = c.workers
				f := &fakeLauncher{program: func(job runner.Job) ending {
					if job.Argv[1] == c.fails && job.Argv[2] == "27" {
						return ending{exit: runner.Exit{Code: 1}}
					}
					return climb(job)
				}}
				st := conclude(t, &cfg, session.Options{Dir: dir, Launcher: f})
				b := st.Best()
				if b == nil || epochsOf(b) != 27 || b.Values()[0].Value.Text() != c.best || st.Count(optimizer.Succeeded) != 1 || st.Closed.Why != study.EndExhausted {
					t.Errorf("%d trials, ended by %+v, the best is %+v", len(st.Trials), st.Closed, b)
				}
				rep, err := session.Replay(t.Context(), dir, nil)
				if err != nil || rep.Asked != 6 || len(rep.Differences) != 0 {
					t.Errorf("replay: %v, %+v", err, rep)
				}
			})
		})
	}
}

// The same holds where somebody else runs the trials.
func TestSmallSpacesReachTheTopByHand(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := finite()
		s, err := session.Open(&cfg, session.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Try(t.Context(), func(trial study.Trial) (study.Metrics, error) {
			x, _ := trial.Values().Get("x")
			return study.Metrics{"loss": float64(x.Any().(int64)) + 1/float64(epochsOf(&trial))}, nil
		}); err != nil {
			t.Fatal(err)
		}
		if b := s.State().Best(); b == nil || epochsOf(b) != 27 {
			t.Errorf("of %d trials the best is %+v", len(s.State().Trials), b)
		}
	})
}

// hasty has attempts fail by themselves in the moment in which they are asked to end.
type hasty struct{ *fakeLauncher }

func (l hasty) Launch(ctx context.Context, job runner.Job) (runner.Exit, error) {
	exit, err := l.fakeLauncher.Launch(ctx, job)
	if exit.Cancelled {
		exit.Cancelled, exit.Code = false, 1
	}
	return exit, err
}

// A limit that an attempt breaks, which then fails by itself before it can be stopped, says nothing of
// the next attempt, which holds it: that one teaches the optimizer, and may be continued.
func TestLimitOfAFormerAttempt(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c, limit := climbing(4), 5.0
		c.Run.Retries = 1
		c.Metrics = append(c.Metrics, study.Metric{Name: "size", Rule: parser.Rule{Metric: "size"}, Max: &limit, Stop: true})
		f := &fakeLauncher{program: func(job runner.Job) ending {
			if strings.HasSuffix(job.ID, "/1/1") {
				return ending{every: time.Minute, stdout: "size=9\nsize=9\nsize=9\n"}
			}
			e := climb(job)
			e.stdout = "size=1\n" + e.stdout
			return e
		}}
		st := conclude(t, &c, session.Options{Dir: dir, Launcher: hasty{f}, Optimizer: newFakeOptimizer})
		first := st.Trials[0]
		if first.Cut == nil || first.Attempt != 2 || first.Status != optimizer.Pruned {
			t.Fatalf("%+v", first)
		}
		if o := st.Observation(first); o.Status != optimizer.Succeeded || o.Constraints[0] > 0 {
			t.Errorf("the optimizer is told %+v", o)
		}
	})
}
