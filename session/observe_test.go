package session_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// An observer sees every record in its order, however slow it is, before Run returns.
func TestObserver(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		var seen []uint64
		finished := 0
		conclude(t, &c, session.Options{Dir: dir, Launcher: &fakeLauncher{program: parabola}, Optimizer: newFakeOptimizer,
			Observe: func(u study.Update) {
				if u.Past {
					return
				}
				time.Sleep(time.Minute)
				seen = append(seen, uint64(u.Finished))
				if f, ok := u.Record.Event.(study.Finished); ok {
					finished++
					if u.Trial.Number != f.Trial || !u.Trial.Done() || u.Best.Number == 0 {
						t.Errorf("of %+v an observer sees %+v, best %+v", f, u.Trial, u.Best)
					}
				}
			}})
		if finished != c.Budget.Trials || !slices.IsSorted(seen) {
			t.Errorf("%d ends were seen, in this order: %v", finished, seen)
		}
	})
}

// What the journal holds is observed, and what follows: together they are its records, each
// once and in order.
func TestObservedFromTheStart(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		for _, trials := range []int{3, 5} {
			var heard []study.Record
			c := config()
			c.Budget.Trials = trials
			conclude(t, &c, session.Options{Dir: dir, Launcher: &fakeLauncher{program: parabola}, Optimizer: newFakeOptimizer,
				Observe: func(u study.Update) { heard = append(heard, u.Record) }})
			written := 0
			_, err := study.Load(dir, func(_ *study.State, r study.Record) error {
				want, err := r.MarshalJSON()
				if err != nil || written >= len(heard) {
					return fmt.Errorf("record %d of %d: %w", written+1, len(heard), err)
				}
				if got, err := heard[written].MarshalJSON(); string(got) != string(want) {
					t.Errorf("record %d was heard as\n%s, %v; it is\n%s", written+1, got, err, want)
				}
				written++
				return nil
			})
			if err != nil || written != len(heard) {
				t.Errorf("%d records were heard of, %d are written: %v", len(heard), written, err)
			}
		}
	})
}

// What an attempt leaves behind is named: the first few, and what could not be ended.
func TestLeftoversAreNamed(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials = 1
		var left []runner.Process
		for pid := range 8 {
			left = append(left, runner.Process{PID: 100 + pid, Command: "nap", Alive: pid == 7})
		}
		st, err := finish(t, dir, &c, &fakeLauncher{program: func(job runner.Job) ending {
			e := parabola(job)
			e.exit.Leftovers = left
			return e
		}})
		if err != nil {
			t.Fatal(err)
		}
		journal := strings.Join(lines(t, dir), "")
		want := "100 (nap); 101 (nap); 102 (nap); 103 (nap); 104 (nap); 107 (nap), still alive; 2 more"
		if !strings.Contains(journal, want) || !st.Trials[0].Done() {
			t.Errorf("the journal does not say %q:\n%s", want, journal)
		}
	})
}

// A trial gets its own view of the sources, and the study may not lie in them.
func TestSources(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		for mode, want := range map[string]string{"copy": "cp -RHp -- '/src' ", "link": "ln -s -- '/src' "} {
			c := config()
			c.Budget.Trials, c.Run.Sources = 1, &study.Sources{From: "src", Mode: mode}
			var script string
			if _, err := finish(t, dir+mode, &c, &fakeLauncher{program: func(job runner.Job) ending {
				script = job.Argv[2]
				job.Argv = job.Argv[4:]
				return parabola(job)
			}}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(script, want) || !strings.HasSuffix(script, "|| exit 125\nexec \"$@\"") {
				t.Errorf("%s: the command is %q", mode, script)
			}
		}
		c := config()
		c.Run.Sources = &study.Sources{From: "/", Mode: "copy"}
		_, err := session.Open(&c, session.Options{Dir: dir, Launcher: &fakeLauncher{program: parabola}, Optimizer: newFakeOptimizer})
		var layout *session.LayoutError
		if !errors.As(err, &layout) || !strings.Contains(layout.Error(), "lies inside /") {
			t.Errorf("a study in its own sources: %v", err)
		}
	})
}

// Without a config, what the journal has is adjusted.
func TestAdjust(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		f := &fakeLauncher{program: parabola}
		if _, err := finish(t, dir, &c, f); err != nil {
			t.Fatal(err)
		}
		opts := session.Options{Dir: dir, Launcher: f, Optimizer: newFakeOptimizer, Adjust: func(c *study.Config) error {
			c.Budget.Trials += 2
			return nil
		}}
		if st := conclude(t, nil, opts); len(st.Trials) != c.Budget.Trials+2 {
			t.Errorf("%d trials", len(st.Trials))
		}
		refused := errors.New("no")
		opts.Adjust = func(*study.Config) error { return refused }
		if _, err := session.Open(nil, opts); !errors.Is(err, refused) {
			t.Errorf("a refusal: %v", err)
		}
	})
}

func TestErrorsSayWhatHappened(t *testing.T) {
	disk := &journal.WriteError{Path: "/j", Op: "write", Err: syscall.ENOSPC}
	for _, c := range []struct {
		err  error
		want string
		is   error
	}{
		{&session.SetupError{Failure: study.Failure{Text: "exit code 3"}}, "setup failed: exit code 3", nil},
		{&session.UnsavedError{Err: disk}, fmt.Sprint(disk), syscall.ENOSPC},
		{&session.UnsavedError{Err: disk, Finished: make([]study.Finished, 1)}, fmt.Sprint(disk, "; 1 result is not saved"), syscall.ENOSPC},
		{&session.UnsavedError{Err: disk, Finished: make([]study.Finished, 3)}, fmt.Sprint(disk, "; 3 results are not saved"), syscall.ENOSPC},
	} {
		t.Run(c.want, func(t *testing.T) {
			if c.err.Error() != c.want || c.is != nil && !errors.Is(c.err, c.is) {
				t.Errorf("%v; want %s", c.err, c.want)
			}
		})
	}
}

// Several ends that are written together are each shown as the study was then.
func TestEachEndIsShownInItsTurn(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials, c.Run.Workers = 24, 8
		best := math.Inf(1)
		conclude(t, &c, session.Options{Dir: dir, Optimizer: newFakeOptimizer,
			Launcher: &fakeLauncher{program: func(job runner.Job) ending {
				e := parabola(job)
				e.takes = time.Second
				return e
			}},
			Observe: func(u study.Update) {
				if _, ok := u.Record.Event.(study.Finished); !ok || u.Past {
					return
				}
				if better := u.Trial.Value < best; better != u.Better {
					t.Errorf("trial %d has %v, the best before %v: better is %v", u.Trial.Number, u.Trial.Value, best, u.Better)
				}
				best = min(best, u.Trial.Value)
			}})
	})
}
