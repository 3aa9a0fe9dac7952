package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lbotune/lbotune/internal/sharing"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// folderSharer grants any slot of a study while there is one in a folder.
type folderSharer struct {
	folder *sharing.Folder
	needs  []sharing.Need
}

func (f *folderSharer) Take(ctx context.Context, vacant func() []int) (int, []*os.File, error) {
	return f.folder.Take(ctx, f.needs, vacant, func(int) {})
}

// sharers makes what grants the slots of studies of which n may run a trial at a time.
func sharers(t *testing.T, dir string, n int) func(*study.Config) (session.Sharer, error) {
	t.Helper()
	folder, err := sharing.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var group []sharing.Lock
	for i := range n {
		group = append(group, sharing.Lock{Name: strconv.Itoa(i)})
	}
	return func(c *study.Config) (session.Sharer, error) {
		return &folderSharer{folder, slices.Repeat([]sharing.Need{{group}}, c.Run.SlotCount())}, nil
	}
}

// holding checks of every job that it is given what holds its slot.
func holding(t *testing.T, program func(runner.Job) ending) func(runner.Job) ending {
	return func(job runner.Job) ending {
		if len(job.Hold) != 1 {
			t.Errorf("%s holds %d files", job.ID, len(job.Hold))
		} else if _, err := job.Hold[0].Stat(); err != nil {
			t.Errorf("%s holds a file that is closed: %v", job.ID, err)
		}
		return program(job)
	}
}

// Studies that share two slots run two trials at a time, whatever they need slots for,
// and a study alone proposes what it would have proposed with slots of its own.
func TestStudiesShareSlots(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		share := sharers(t, filepath.Join(t.TempDir(), "shared"), 2)
		change := []func(*study.Config){
			func(c *study.Config) { c.Run.Repeats, c.Run.Workers = 2, 3 },
			func(c *study.Config) { c.Run.Confirm, c.Run.Workers = 2, 4 },
			func(c *study.Config) {
				c.Prune = &study.Prune{Method: "asha", MinResource: 1, Reduction: 2, Resource: "n"}
			},
			func(c *study.Config) { c.Setup = "true" },
		}
		f := &fakeLauncher{program: holding(t, func(job runner.Job) ending {
			if job.Shell != "" {
				return ending{}
			}
			return parabola(job)
		})}
		var done sync.WaitGroup
		for i, change := range change {
			c := config()
			change(&c)
			done.Go(func() {
				s, err := session.Open(&c, session.Options{Dir: dir + strconv.Itoa(i), Launcher: f, Optimizer: newFakeOptimizer, Share: share})
				if err != nil {
					t.Error(err)
					return
				}
				if err := errors.Join(s.Run(t.Context(), nil), s.Close()); err != nil {
					t.Errorf("study %d: %v", i, err)
				}
				if n := len(s.State().Order); n != 12 {
					t.Errorf("study %d: %d trials finished", i, n)
				}
			})
		}
		done.Wait()
		if f.most != 2 {
			t.Errorf("%d attempts ran at a time; want 2", f.most)
		}

		c := config()
		want, err := finish(t, dir+"alone", &c, &fakeLauncher{program: parabola})
		if err != nil {
			t.Fatal(err)
		}
		got := conclude(t, &c, session.Options{Dir: dir + "shared", Launcher: f, Optimizer: newFakeOptimizer, Share: share})
		if story(got) != story(want) {
			t.Errorf("with shared slots:\n%swith its own:\n%s", story(got), story(want))
		}
	})
}

// What a study does after its last proposal waits for a slot, too: repeats of trials that have begun,
// and the runs that confirm the best.
func TestSharedSlotsAtTheEnd(t *testing.T) {
	goal := 1.3
	for name, change := range map[string]func(*study.Config){
		"confirm": func(c *study.Config) { c.Run.Confirm = 2 },
		"confirm and repeats": func(c *study.Config) {
			c.Run.Repeats, c.Run.Confirm, c.Run.Workers, c.Budget.Goal = 2, 2, 3, &goal
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				c := config()
				change(&c)
				st := conclude(t, &c, session.Options{Dir: dir, Launcher: &fakeLauncher{program: parabola}, Optimizer: newFakeOptimizer,
					Share: sharers(t, filepath.Join(t.TempDir(), "shared"), 1)})
				if st.Closed == nil || len(st.Pending()) > 0 || len(st.Unconfirmed()) > 0 {
					t.Errorf("ended as %+v with %d trials that have begun and %v to be confirmed", st.Closed, len(st.Pending()), st.Unconfirmed())
				}
				if c.Run.Confirm > 0 && len(st.Confirmations()) == 0 {
					t.Error("nothing is confirmed")
				}
			})
		})
	}
}

// A study that waits for a slot can be stopped, and gives back what it had no use for.
func TestStoppedWhileWaiting(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		shared := filepath.Join(t.TempDir(), "shared")
		share := sharers(t, shared, 1)
		folder, err := sharing.Open(shared)
		if err != nil {
			t.Fatal(err)
		}
		only := []sharing.Need{{{{Name: "0"}}}}
		_, held, err := folder.Take(t.Context(), only, func() []int { return []int{0} }, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		c := config()
		opts := session.Options{Dir: dir, Launcher: &fakeLauncher{program: parabola}, Optimizer: newFakeOptimizer, Share: share}
		for _, step := range []session.Stop{session.StopAsking, session.StopNow, session.StopHere} {
			s, err := session.Open(&c, opts)
			if err != nil {
				t.Fatal(err)
			}
			stop := make(chan session.Stop, 1)
			stop <- step
			if err := s.Run(t.Context(), stop); !errors.Is(err, session.ErrStopped) {
				t.Errorf("stop %d: %v", step, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if turns, err := filepath.Glob(filepath.Join(shared, "turn-*")); len(turns) > 0 || err != nil {
				t.Errorf("stop %d: still in line: %v", step, turns)
			}
		}
		held.Release()
		conclude(t, &c, opts)
		if _, _, err := folder.Take(t.Context(), only, func() []int { return []int{0} }, func(int) {}); err != nil {
			t.Error(err)
		}
	})
}

// brokenSharer grants one slot and then fails.
type brokenSharer struct {
	*folderSharer
	granted bool
}

func (b *brokenSharer) Take(ctx context.Context, vacant func() []int) (int, []*os.File, error) {
	if b.granted {
		return 0, nil, errors.New("no such folder")
	}
	b.granted = true
	return b.folderSharer.Take(ctx, vacant)
}

// What cannot be shared any more ends the session, and no trial.
func TestSharerFails(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		share := sharers(t, filepath.Join(t.TempDir(), "shared"), 4)
		c := config()
		c.Run.Workers = 2
		s, err := session.Open(&c, session.Options{Dir: dir, Launcher: &fakeLauncher{program: parabola}, Optimizer: newFakeOptimizer,
			Share: func(c *study.Config) (session.Sharer, error) {
				s, err := share(c)
				return &brokenSharer{folderSharer: s.(*folderSharer)}, err
			}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "wait for a slot: no such folder") {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if st := s.State(); len(st.Order) != 1 || len(st.Pending()) != 0 {
			t.Errorf("%d finished, %d pending", len(st.Order), len(st.Pending()))
		}
		c = config()
		refused := errors.New("refused")
		_, err = session.Open(&c, session.Options{Dir: dir, Launcher: &fakeLauncher{}, Optimizer: newFakeOptimizer,
			Share: func(*study.Config) (session.Sharer, error) { return nil, refused }})
		if !errors.Is(err, refused) {
			t.Error(err)
		}
	})
}

// A study that was given more workers between two Runs asks for slots that its sharer knows, again if it got none.
func TestMoreSharedSlotsBetweenRuns(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Budget.Trials = 2
		f := &fakeLauncher{program: parabola}
		share, asked, refused := sharers(t, filepath.Join(t.TempDir(), "shared"), 3), 0, errors.New("refused")
		s, err := session.Open(&cfg, session.Options{Dir: dir, Launcher: f, Optimizer: newFakeOptimizer,
			Share: func(c *study.Config) (session.Sharer, error) {
				if asked++; asked == 2 {
					return nil, refused
				}
				return share(c)
			}})
		if err != nil {
			t.Fatal(err)
		}
		first := s.Run(t.Context(), nil)
		adjusted := s.Do(study.Request{Action: study.ActionAdjust, Workers: 3, Trials: 9})
		if err := s.Run(t.Context(), nil); !errors.Is(err, refused) {
			t.Error(err)
		}
		if err := errors.Join(first, adjusted, s.Run(t.Context(), nil), s.Close()); err != nil || f.most != 3 || asked != 3 {
			t.Errorf("%d trials at a time, asked %d times: %v", f.most, asked, err)
		}
	})
}
