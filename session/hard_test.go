package session_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// The hard limit of time ends what runs, so that nothing runs when it is over. With more of it
// what was ended runs again.
func TestTimeHardEndsWhatRuns(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Run.Workers, c.Run.Grace = 2, study.Duration(5*time.Second)
		c.Budget = study.Budget{TimeHard: study.Duration(60 * time.Second)}
		hangs := true
		f := &fakeLauncher{program: func(job runner.Job) ending {
			e := parabola(job)
			if hangs && strings.HasSuffix(job.ID, "/3/1") {
				e.takes = time.Hour
			}
			return e
		}}
		st, err := finish(t, dir, &c, f)
		if err != nil {
			t.Fatal(err)
		}
		if st.Closed == nil || st.Closed.Why != study.Ending("time") || st.Elapsed < 55*time.Second || st.Elapsed > 60*time.Second {
			t.Errorf("closed %+v after %v", st.Closed, st.Elapsed)
		}
		if third := st.Trials[2]; third.Done() {
			t.Errorf("trial 3, which was ended, counts: %+v", third)
		}
		launched := len(f.launched)
		if again, err := finish(t, dir, &c, f); err != nil || len(f.launched) != launched || !again.Ended() {
			t.Errorf("the same again: %v, and %d more launched", err, len(f.launched)-launched)
		}
		hangs, c.Budget.TimeHard = false, study.Duration(90*time.Second)
		more, err := finish(t, dir, &c, f)
		if err != nil || !more.Trials[2].Done() || more.Elapsed > 90*time.Second {
			t.Errorf("with more time: %v after %v; trial 3 is %+v", err, more.Elapsed, more.Trials[2])
		}
	})
}

// What confirms the best fits into it: the trials leave room.
func TestTimeHardHoldsTheConfirmation(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			if workers == 2 {
				effort.Thorough(t, "lies between the others")
			}
			bubble(t, func(t *testing.T, dir string) {
				c := config()
				c.Run.Workers, c.Run.Confirm = workers, 3
				c.Budget = study.Budget{TimeHard: study.Duration(300 * time.Second)}
				steady := func(job runner.Job) ending { // so that the longest trial takes no longer than the others
					e := parabola(job)
					e.takes = 7 * time.Second
					return e
				}
				st, err := finish(t, dir, &c, &fakeLauncher{program: steady})
				if err != nil {
					t.Fatal(err)
				}
				if st.Closed == nil || st.Closed.Why != study.Ending("time") || st.Elapsed > 299*time.Second || len(st.Unconfirmed()) > 0 || len(st.Confirmations()) < 3 {
					t.Errorf("%d workers: closed %+v after %v, %d are confirmed and %d are not", workers, st.Closed, st.Elapsed, len(st.Confirmations()), len(st.Unconfirmed()))
				}
				if st.Elapsed < 150*time.Second {
					t.Errorf("%d workers: ended after %v of 300s", workers, st.Elapsed)
				}
			})
		})
	}
}

// It fits also where another study has most of the slots.
func TestTimeHardHoldsTheConfirmationInSharedSlots(t *testing.T) {
	effort.Thorough(t, "waits for slots thousands of times")
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Run.Workers, c.Run.Confirm = 8, 3
		c.Budget = study.Budget{TimeHard: study.Duration(300 * time.Second)}
		f := &fakeLauncher{program: func(job runner.Job) ending {
			e := parabola(job)
			e.takes = 7 * time.Second
			return e
		}}
		st := conclude(t, &c, session.Options{Dir: dir, Launcher: f, Optimizer: newFakeOptimizer, Share: sharers(t, filepath.Join(t.TempDir(), "shared"), 1)})
		if st.Closed == nil || st.Closed.Why != study.Ending("time") || st.Elapsed > 299*time.Second || len(st.Unconfirmed()) > 0 || len(st.Confirmations()) < 3 || st.Elapsed < 150*time.Second {
			t.Errorf("closed %+v after %v, %d are confirmed and %d are not", st.Closed, st.Elapsed, len(st.Confirmations()), len(st.Unconfirmed()))
		}
	})
}

// A confirmation that the hard limit ends leaves the study to be confirmed with more time.
func TestTimeHardDuringConfirmation(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Run.Confirm = 2
		c.Budget = study.Budget{Trials: 4, TimeHard: study.Duration(100 * time.Second)}
		slow := true
		f := &fakeLauncher{program: func(job runner.Job) ending {
			e := parabola(job)
			if slow && !strings.HasSuffix(job.ID, "/1") {
				e.takes = time.Hour
			}
			return e
		}}
		st, err := finish(t, dir, &c, f)
		if err != nil || st.Closed == nil || st.Closed.Why != study.Ending("time") || st.Elapsed > 100*time.Second {
			t.Fatalf("%v; closed %+v after %v", err, st.Closed, st.Elapsed)
		}
		slow, c.Budget.TimeHard = false, study.Duration(200*time.Second)
		more, err := finish(t, dir, &c, f)
		if err != nil || len(more.Confirmations()) != 3 || more.Closed.Why != study.EndTrials {
			t.Errorf("%v; %d are confirmed, and closed %+v", err, len(more.Confirmations()), more.Closed)
		}
	})
}

// The time of a session that is killed, or leaves its trials alone, counts: a kill costs a hundredth of the limit
// at most. Else each session could run for nearly as long as the whole study may.
func TestTimeOfSessionsThatLeave(t *testing.T) {
	for name, confirm := range map[string]int{"in a trial": 0, "while the best is confirmed": 2} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) { leaveTwice(t, dir, confirm) })
		})
	}
}

func leaveTwice(t *testing.T, dir string, confirm int) {
	c := config()
	c.Run.Workers, c.Run.Confirm = 1, confirm
	c.Budget = study.Budget{Trials: 2, TimeHard: study.Duration(1000 * time.Second)}
	f := &fakeLauncher{program: func(job runner.Job) ending {
		if confirm > 0 && strings.HasSuffix(job.ID, "/1") {
			return parabola(job)
		}
		return ending{takes: time.Hour}
	}}
	for n := range 2 {
		s := open(t, dir, &c, f)
		leave := make(chan session.Stop, 1)
		time.AfterFunc(400*time.Second, func() {
			killed, err := study.Load(dir)
			if least := time.Duration(n)*400*time.Second + 390*time.Second; err != nil || killed.Elapsed < least {
				t.Errorf("killed now, the study would have run for %v, want %v at least: %v", killed.Elapsed, least, err)
			}
			leave <- session.StopHere
		})
		if err := errors.Join(s.Run(t.Context(), leave), s.Close()); err != nil && !errors.Is(err, session.ErrStopped) {
			t.Fatal(err)
		}
		if st := s.State(); st.Elapsed < time.Duration(n+1)*400*time.Second {
			t.Errorf("after session %d the study has run for %v", n+1, st.Elapsed)
		}
	}
	time.Sleep(2 * time.Hour) // until all that was left alone has ended
	if marks := len(lines(t, dir)); marks > 140 {
		t.Errorf("the journal has %d records", marks)
	}
	st, _ := finish(t, dir, &c, f)
	if st.Closed == nil || st.Closed.Why != study.Ending("time") || st.Elapsed > 1000*time.Second {
		t.Errorf("closed %+v after %v", st.Closed, st.Elapsed)
	}
}

func TestTimeHardIsChecked(t *testing.T) {
	for _, b := range []study.Budget{
		{TimeHard: study.Duration(time.Second)},
		{TimeHard: study.Duration(time.Minute), Time: study.Duration(time.Hour)},
	} {
		c := config()
		c.Budget = b
		var invalid study.InvalidError
		if err := c.Validate(); !errors.As(err, &invalid) || !strings.Contains(err.Error(), "want more than run.grace, 1s") {
			t.Errorf("%+v: %v", b, err)
		}
	}
}

// The runs of all trials together are under worker_time, failed ones, retries and repeats with them. With more
// of it the study goes on.
func TestWorkerTime(t *testing.T) {
	for _, workers := range []int{1, 4} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				c := config()
				c.Run.Workers, c.Run.Retries, c.Run.Repeats = workers, 1, 2
				c.Budget = study.Budget{WorkerTime: study.Duration(100 * time.Second)}
				f := &fakeLauncher{program: func(job runner.Job) ending {
					e := parabola(job)
					if e.takes = 4 * time.Second; strings.HasSuffix(job.ID, "/2/1") {
						e.exit = runner.Exit{Code: 3}
					}
					return e
				}}
				st, err := finish(t, dir, &c, f)
				if err != nil {
					t.Fatal(err)
				}
				// A trial has two runs. After 25 runs no trial begins, and those that have begun get theirs.
				if n := len(f.launched); st.Closed == nil || st.Closed.Why != study.Ending("time") || n < 25 || n > 25+2*workers {
					t.Errorf("closed %+v after %d runs of 4 s", st.Closed, n)
				}
				launched := len(f.launched)
				if _, err := finish(t, dir, &c, f); err != nil || len(f.launched) != launched {
					t.Errorf("the same again: %v, and %d more launched", err, len(f.launched)-launched)
				}
				c.Budget.WorkerTime *= 2
				if _, err := finish(t, dir, &c, f); err != nil || len(f.launched) < 50 || len(f.launched) > 50+2*workers {
					t.Errorf("with twice the time: %v after %d runs", err, len(f.launched))
				}
			})
		})
	}
}

// What ended while lbotune was not there has taken its time as well.
func TestWorkerTimeOfWhatEndedMeanwhile(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget = study.Budget{WorkerTime: study.Duration(5 * time.Second)}
		f := &fakeLauncher{program: func(runner.Job) ending {
			return ending{stdout: "loss=1\n", takes: 10 * time.Second}
		}}
		s := open(t, dir, &c, f)
		stop := make(chan session.Stop)
		time.AfterFunc(time.Second, func() { stop <- session.StopHere })
		if err := errors.Join(s.Run(t.Context(), stop), s.Close()); !errors.Is(err, session.ErrStopped) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		st, err := finish(t, dir, &c, f)
		if err != nil || len(f.launched) != 1 || st.Trials[0].Took != 10*time.Second {
			t.Errorf("%v, launched %v; the first took %v", err, f.launched, st.Trials[0].Took)
		}
	})
}

// What w workers add to each counter is what docs/parallel.md says: w - 1 trials at most, and none
// to trials.
func TestWorkersOverrun(t *testing.T) {
	failing := func(job runner.Job) ending {
		return ending{exit: runner.Exit{Code: 3}, takes: parabola(job).takes}
	}
	goal := 1.5
	for name, c := range map[string]struct {
		budget  study.Budget
		program func(runner.Job) ending
		counted func(st *study.State) int // when the counter was reached
	}{
		"trials":   {study.Budget{Trials: 20}, parabola, func(*study.State) int { return 20 }},
		"goal":     {study.Budget{Goal: &goal}, parabola, func(st *study.State) int { return firstAt(st, goal) }},
		"patience": {study.Budget{Patience: 10}, parabola, lastImproved},
		"guard":    {study.Budget{Trials: 100}, failing, func(*study.State) int { return 5 }},
	} {
		t.Run(name, func(t *testing.T) {
			for _, workers := range []int{1, 8, 32} {
				bubble(t, func(t *testing.T, dir string) {
					cfg := config()
					cfg.Run.Workers, cfg.Budget = workers, c.budget
					st, _ := finish(t, dir, &cfg, &fakeLauncher{program: c.program})
					if st.Closed == nil {
						t.Fatal("the study has not ended")
					}
					over, most := len(st.Trials)-c.counted(st), workers-1
					if name == "trials" {
						most = 0
					}
					if over < 0 || over > most {
						t.Errorf("%s, %d workers: %d trials, %d over; want at most %d", name, workers, len(st.Trials), over, most)
					}
					t.Logf("%s, %d workers: %d trials, %d over", name, workers, len(st.Trials), over)
				})
			}
		})
	}
}

// firstAt is how many trials had finished when one was at most v.
func firstAt(st *study.State, v float64) int {
	for i, n := range st.Order {
		if st.Trials[n-1].Value <= v {
			return i + 1
		}
	}
	return 0
}

// lastImproved is how many trials had finished when patience had run out: ten after the best.
func lastImproved(st *study.State) int {
	best := 0
	for i, n := range st.Order {
		if st.Trials[n-1].Value < st.Trials[st.Order[best]-1].Value {
			best = i
		}
	}
	return best + 1 + 10
}
