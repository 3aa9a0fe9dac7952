package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/inbox"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
)

// A shortLauncher has room for few attempts at a time, and insists for a second.
type shortLauncher struct {
	*fakeLauncher
	room    int
	uneven  time.Duration // by which the first ones insist longer
	taken   int
	refused int
}

func (l *shortLauncher) Launch(ctx context.Context, job runner.Job) (runner.Exit, error) {
	if insists, ok := l.enter(); !ok {
		time.Sleep(insists)
		return runner.Exit{}, &runner.SpawnError{Op: "start", Err: syscall.EMFILE, Temporary: true}
	}
	defer l.leave()
	return l.fakeLauncher.Launch(ctx, job)
}

func (l *shortLauncher) enter() (insists time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken < l.room {
		l.taken++
		return 0, true
	}
	l.refused++
	return time.Second + time.Duration(max(3-l.refused, 0))*l.uneven, false
}

func (l *shortLauncher) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken--
}

// A shortage ends the study only when no attempt runs, or has run meanwhile, that
// gives back what is short. Attempts that meet the same shortage don't count.
func TestShortage(t *testing.T) {
	for _, test := range []struct {
		name        string
		room        int
		uneven      time.Duration
		takes       time.Duration
		trials, run int
	}{
		{"all end at the same moments", 2, 0, time.Second, 12, 12},
		{"the last is refused when the others have ended", 2, 0, time.Second / 2, 3, 3},
		{"one runs long", 1, 0, time.Minute, 3, 3},
		{"no room, all refused at once", 0, 0, 0, 12, 0},
		{"no room, refused one by one", 0, time.Second / 10, 0, 12, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				c := config()
				c.Run.Workers, c.Budget.Trials = 3, test.trials
				f := &shortLauncher{room: test.room, uneven: test.uneven, fakeLauncher: &fakeLauncher{
					program: func(runner.Job) ending { return ending{stdout: "loss=1\n", takes: test.takes} }}}
				s, err := session.Open(&c, session.Options{Dir: dir, Launcher: f, Optimizer: newFakeOptimizer})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				err = s.Run(ctx, nil)
				if ctx.Err() != nil {
					t.Errorf("still at it after an hour: %d starts refused", f.refused)
				}
				if run := len(s.State().Order); run != test.run || errors.Is(err, syscall.EMFILE) != (test.room == 0) || f.refused == 0 {
					t.Errorf("%v, %d trials finished, %d starts refused", err, run, f.refused)
				}
				for _, trial := range s.State().Trials {
					if trial.Failure != nil || trial.Attempt > 1 {
						t.Errorf("trial %d: attempt %d, %+v", trial.Number, trial.Attempt, trial.Failure)
					}
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// slowLauncher takes its time to start the second and the third trial.
type slowLauncher struct{}

func (slowLauncher) Launch(_ context.Context, job runner.Job) (runner.Exit, error) {
	time.Sleep(map[string]time.Duration{"2": 500 * time.Millisecond, "3": 250 * time.Millisecond}[strings.Split(job.ID, "/")[1]])
	if err := claim(job); err != nil {
		return runner.Exit{}, err
	}
	if err := os.WriteFile(filepath.Join(job.Dir, "attempt.jsonl"), nil, 0o600); err != nil {
		return runner.Exit{}, err
	}
	job.Started(1)
	time.Sleep(time.Hour)
	return runner.Exit{}, errors.New("lives longer than lbotune")
}

// An attempt that was being started when the journal met a full disk is told of it like
// those that ran: what it lacks is no failure of its own.
func TestFullDiskWhileStarting(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Run.Workers = 3
		disk := faultfs.New()
		s, err := session.Open(&c, session.Options{Dir: dir, Launcher: slowLauncher{}, Optimizer: newFakeOptimizer, Journal: []journal.FS{disk}})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(100*time.Millisecond, func() { disk.Inject(faultfs.Fault{N: 1, Forever: true, Err: syscall.ENOSPC}) })
		if err := s.Run(t.Context(), nil); !errors.Is(err, syscall.ENOSPC) {
			t.Error(err)
		}
		for _, trial := range []int{1, 2, 3} {
			record := filepath.Join(layout.Study(dir).Attempt(layout.AttemptID{Trial: trial, Attempt: 1}), "attempt.jsonl")
			if text, err := os.ReadFile(record); err != nil || !strings.Contains(string(text), `"full":true`) {
				t.Errorf("trial %d: %q, %v", trial, text, err)
			}
		}
		_ = s.Close()
		time.Sleep(2 * time.Hour) // until nothing lives
	})
}

// What a program does on a full disk is no fault of the trial's.
func TestFullDiskIsNoFailure(t *testing.T) {
	for _, first := range []ending{
		{exit: runner.Exit{Code: 1, DiskFull: true}},
		{stdout: "hello\n", exit: runner.Exit{DiskFull: true}},
		{stdout: "loss=0.5\nloss=0.", exit: runner.Exit{DiskFull: true}},
		{stdout: "loss=0.5", exit: runner.Exit{DiskFull: true}},
		{stdout: strings.Repeat("loss=2.5\n", 4096), exit: runner.Exit{DiskFull: true}}, // whole blocks
	} {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				c := config()
				c.Budget.Trials = 1
				f := &fakeLauncher{program: func(job runner.Job) ending {
					if strings.HasSuffix(job.ID, "/1/1") {
						return first
					}
					return ending{stdout: "loss=1\n", exit: runner.Exit{DiskFull: true}}
				}}
				st, err := finish(t, dir, &c, f)
				if trial := st.Trials[0]; err != nil || trial.Value != 1 || trial.Attempt != 2 || trial.Retries != 0 {
					t.Errorf("%v: %+v", err, trial)
				}
			})
		})
	}
}

// A disk that stays full, and is not the study's own, ends the session; the next one goes on.
func TestFullDiskEndsTheSession(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials = 1
		full := &fakeLauncher{program: func(runner.Job) ending { return ending{exit: runner.Exit{Code: 1, DiskFull: true}} }}
		if _, err := finish(t, dir, &c, full); !errors.Is(err, syscall.ENOSPC) || len(full.launched) != 8 {
			t.Errorf("%d attempts: %v", len(full.launched), err)
		}
		if st, err := finish(t, dir, &c, &fakeLauncher{program: parabola}); err != nil || st.Count(optimizer.Succeeded) != 1 {
			t.Errorf("with room again: %v", err)
		}
	})
}

// What runs is told of a full disk also if the record that found no room is another one: of what a
// person has requested.
func TestFullDiskAtARequest(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		disk := faultfs.New()
		s, err := session.Open(&c, session.Options{Dir: dir, Launcher: slowLauncher{}, Optimizer: newFakeOptimizer, Journal: []journal.FS{disk}})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(100*time.Millisecond, func() {
			disk.Inject(faultfs.Fault{N: 1, Forever: true, Err: syscall.ENOSPC})
			if _, err := inbox.Leave(layout.Of(dir), wish(0.5)); err != nil {
				t.Error(err)
			}
		})
		if err := s.Run(t.Context(), nil); !errors.Is(err, syscall.ENOSPC) {
			t.Error(err)
		}
		record := filepath.Join(layout.Study(dir).Attempt(layout.AttemptID{Trial: 1, Attempt: 1}), "attempt.jsonl")
		if text, err := os.ReadFile(record); err != nil || !strings.Contains(string(text), `"full":true`) {
			t.Errorf("%q, %v", text, err)
		}
		_ = s.Close()
		time.Sleep(2 * time.Hour) // until nothing lives
	})
}

// Such a disk ends also the session that confirms the best.
func TestFullDiskWhileConfirming(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials, c.Run.Confirm = 1, 2
		f := &fakeLauncher{}
		f.program = func(job runner.Job) ending {
			if strings.HasSuffix(job.ID, "/1/1") {
				return parabola(job)
			}
			if len(f.launched) > 20 {
				return ending{takes: time.Hour}
			}
			return ending{takes: time.Second, exit: runner.Exit{Code: 1, DiskFull: true}}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s := open(t, dir, &c, f)
		if err := errors.Join(s.Run(ctx, nil), s.Close()); !errors.Is(err, syscall.ENOSPC) || len(f.launched) != 9 {
			t.Errorf("%d attempts: %v", len(f.launched), err)
		}
		if st, err := finish(t, dir, &c, &fakeLauncher{program: parabola}); err != nil || len(st.Confirmations()) != 1 {
			t.Errorf("with room again: %v", err)
		}
	})
}
