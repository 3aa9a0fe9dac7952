package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// What an earlier session has left running keeps its slot, also when there are fewer of
// them now; nothing new is started in it, and no more than there are workers run at a time.
func TestRejoinedKeepTheirSlots(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Run.Workers = 4
		cfg.Command.Argv = append(cfg.Command.Argv, "{slot}")
		cfg.Budget.Trials = 8
		first := &rejoiner{fakeLauncher: &fakeLauncher{program: func(runner.Job) ending { return ending{takes: time.Hour} }}}
		leave := make(chan session.Stop, 1)
		time.AfterFunc(time.Second, func() { leave <- session.StopHere })
		s, err := session.Open(&cfg, session.Options{Dir: dir, Launcher: first, Optimizer: newFakeOptimizer})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), leave); !errors.Is(err, session.ErrStopped) {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		before := slotsOf(s.State(), 4)

		cfg.Run.Workers = 2
		var mu sync.Mutex // two workers run the program at a time
		var started []string
		second := &rejoiner{fakeLauncher: &fakeLauncher{program: func(job runner.Job) ending {
			mu.Lock()
			defer mu.Unlock()
			started = append(started, job.Argv[len(job.Argv)-1])
			return parabola(job)
		}}}
		st := conclude(t, &cfg, session.Options{Dir: dir, Launcher: second, Optimizer: newFakeOptimizer})
		if now := slotsOf(st, 4); !slices.Equal(now, before) {
			t.Errorf("the slots were %v, and are %v", before, now)
		}
		if second.attached.Load() != 4 || second.most > 2 || len(started) == 0 || strings.Trim(strings.Join(started, ""), "01") != "" {
			t.Errorf("%d rejoined; %d new ones at a time, in slots %v", second.attached.Load(), second.most, started)
		}
		time.Sleep(2 * time.Hour)
	})
}

// A spec that was checked with one worker may have a file of that name.
func TestFileNamedSlot(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Budget.Trials, cfg.Run.Workers = 1, 2
		cfg.Files = []command.File{{To: layout.SlotName, Text: "mine"}}
		st := conclude(t, &cfg, session.Options{Dir: dir, Launcher: &fakeLauncher{program: parabola}, Optimizer: newFakeOptimizer})
		text, err := os.ReadFile(filepath.Join(layout.Study(dir).Attempt(layout.AttemptID{Trial: 1, Attempt: 1}), layout.SlotName))
		if err != nil || string(text) != "mine" || !st.Trials[0].Succeeded() {
			t.Errorf("the file has %q, %v", text, err)
		}
	})
}

// muted does not tell of the starts of the trials after the first, as if lbotune were killed before
// they are written down.
type muted struct{ *rejoiner }

func (l muted) Launch(ctx context.Context, job runner.Job) (runner.Exit, error) {
	if !strings.HasSuffix(job.ID, "/1/1") {
		job.Started = nil
	}
	return l.rejoiner.Launch(ctx, job)
}

// leftUnrecorded is a study whose first trial has ended so, and whose others go on for an hour
// without a record of their starts.
func leftUnrecorded(t *testing.T, cfg *study.Config, dir string, trial1 ending) *session.Study {
	t.Helper()
	first := muted{&rejoiner{fakeLauncher: &fakeLauncher{program: func(job runner.Job) ending {
		if strings.HasSuffix(job.ID, "/1/1") {
			return trial1
		}
		return ending{takes: time.Hour}
	}}}}
	leave := make(chan session.Stop, 1)
	time.AfterFunc(3*time.Second, func() { leave <- session.StopHere })
	s, err := session.Open(cfg, session.Options{Dir: dir, Launcher: first, Optimizer: newFakeOptimizer})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), leave); !errors.Is(err, session.ErrStopped) {
		t.Fatal(err)
	}
	return s
}

// An attempt keeps its slot also if the session that has started it was killed before it could
// write that down.
func TestSlotsOfUnrecordedStarts(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Run.Workers, cfg.Budget.Trials = 2, 3
		if err := leftUnrecorded(t, &cfg, dir, ending{takes: time.Second, stdout: "loss=1\n"}).Close(); err != nil {
			t.Fatal(err)
		}
		second := &rejoiner{fakeLauncher: &fakeLauncher{program: parabola}}
		st := conclude(t, &cfg, session.Options{Dir: dir, Launcher: second, Optimizer: newFakeOptimizer})
		if got := slotsOf(st, 3); !slices.Equal(got, []int{0, 1, 0}) || second.attached.Load() != 2 {
			t.Errorf("trials ran in the slots %v, want 0, 1 and 0 again; %d rejoined", got, second.attached.Load())
		}
		time.Sleep(2 * time.Hour)
	})
}

// queueing has every attempt but the first wait in a queue, without a directory.
type queueing struct {
	*rejoiner
	mu   sync.Mutex
	kept map[string][]runner.File // by directory
}

func (l *queueing) Launch(ctx context.Context, job runner.Job) (runner.Exit, error) {
	if strings.HasSuffix(job.ID, "/1/1") {
		return l.rejoiner.Launch(ctx, job)
	}
	l.mu.Lock()
	l.kept[job.Dir] = job.Files
	l.mu.Unlock()
	time.Sleep(time.Hour)
	return runner.Exit{}, runner.ErrLost
}

func (l *queueing) Kept(dir, name string) (content []byte, kept bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.kept[dir] {
		if f.Name == name {
			content = f.Content
		}
	}
	return content, l.kept[dir] != nil
}

// An attempt keeps its slot also while it waits elsewhere, and has neither a directory nor a record
// of its start.
func TestSlotsOfWhatWaits(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Run.Workers, cfg.Budget.Trials = 2, 3
		l := &queueing{rejoiner: &rejoiner{fakeLauncher: &fakeLauncher{program: func(runner.Job) ending {
			return ending{takes: time.Second, stdout: "loss=1\n"}
		}}}, kept: map[string][]runner.File{}}
		leave := make(chan session.Stop, 1)
		time.AfterFunc(3*time.Second, func() { leave <- session.StopHere })
		s, err := session.Open(&cfg, session.Options{Dir: dir, Launcher: l, Optimizer: newFakeOptimizer})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), leave); !errors.Is(err, session.ErrStopped) {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		st := conclude(t, &cfg, session.Options{Dir: dir, Launcher: l, Optimizer: newFakeOptimizer})
		if got := slotsOf(st, 3); !slices.Equal(got, []int{0, 1, 0}) || l.attached.Load() != 2 {
			t.Errorf("trials ran in the slots %v, want 0, 1 and 0 again; %d rejoined", got, l.attached.Load())
		}
		time.Sleep(2 * time.Hour)
	})
}

// unfinished has an attempt that lives on for a minute, and knows of no other.
type unfinished struct {
	*fakeLauncher
	over atomic.Bool
}

func (l *unfinished) Attach(_ context.Context, job runner.Job) (runner.Exit, error) {
	if !strings.HasSuffix(job.ID, "/2/1") {
		return runner.Exit{}, runner.ErrNeverStarted
	}
	time.Sleep(time.Minute)
	l.over.Store(true)
	return runner.Exit{Started: time.Now().Add(-time.Minute), Ended: time.Now(), Code: 1}, nil
}

// A failure that is taken back does not run beside what goes on in the only slot, even if the start
// of that was never recorded.
func TestTakenBackBesideAnUnrecordedStart(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Budget.Trials = 3
		s := leftUnrecorded(t, &cfg, dir, ending{takes: time.Second, exit: runner.Exit{Code: 1}})
		if err := errors.Join(s.Do(study.Request{Action: study.ActionRerun, Rerun: []int{1}}), s.Close()); err != nil {
			t.Fatal(err)
		}
		second := &unfinished{fakeLauncher: &fakeLauncher{}}
		second.program = func(job runner.Job) ending {
			if !second.over.Load() {
				t.Errorf("%s is started beside trial 2", job.ID)
			}
			return parabola(job)
		}
		st := conclude(t, &cfg, session.Options{Dir: dir, Launcher: second, Optimizer: newFakeOptimizer})
		if n := st.Count(optimizer.Succeeded); n != 2 || st.Trials[1].Status != optimizer.Failed {
			t.Errorf("%d trials have succeeded", n)
		}
		time.Sleep(2 * time.Hour)
	})
}

// slotsOf are the slots of the first n trials, as the last record of each has them.
func slotsOf(st *study.State, n int) []int {
	var out []int
	for _, t := range st.Trials[:n] {
		if t.Done() {
			out = append(out, t.Slot)
			continue
		}
		out = append(out, t.Attempts[len(t.Attempts)-1].Slot)
	}
	return out
}
