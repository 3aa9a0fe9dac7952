package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// worsening is a program of which each trial is worse than those before it.
func worsening(job runner.Job) ending {
	return ending{stdout: "loss=" + strings.Split(job.ID, "/")[1] + "\n"}
}

// keepBest runs a study of three trials that keeps the best, the first. Its log is returned.
func keepBest(t *testing.T, dir, hook string, program func(runner.Job) ending) string {
	t.Helper()
	cfg := config()
	cfg.Budget.Trials, cfg.Run.Keep, cfg.Dir = 3, 1, t.TempDir()
	cfg.Hooks = &study.Hooks{Trial: hook, Timeout: study.Duration(time.Hour)}
	var log bytes.Buffer
	s, err := session.Open(&cfg, session.Options{Dir: dir, Launcher: &fakeLauncher{program: program}, Optimizer: newFakeOptimizer,
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Run(t.Context(), nil), s.Close()); err != nil {
		t.Fatal(err)
	}
	return log.String()
}

// mustBe checks which of some paths exist.
func mustBe(t *testing.T, want bool, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %v; want %v", path, err == nil, want)
		}
	}
}

// What a trial, or its hook, has moved away stays where it is, though a link is left in its
// place; and that is said.
func TestKeepFollowsNoLink(t *testing.T) {
	second := filepath.Base(study.Layout("").Trial(2))
	for _, by := range []string{"trial", "hook"} {
		t.Run(by, func(t *testing.T) {
			dir, archive := filepath.Join(t.TempDir(), "s"), t.TempDir()
			from, to := study.Layout(dir).Trial(2), filepath.Join(archive, second)
			hook, program := "", worsening
			if by == "hook" {
				hook = fmt.Sprintf("if [ $LBOTUNE_TRIAL = 2 ]; then mv %s %s; ln -s %s %s; fi", from, to, to, from)
			} else {
				program = func(job runner.Job) ending {
					if strings.HasSuffix(job.ID, "/2/1") {
						if err := errors.Join(os.Rename(from, to), os.Symlink(to, from)); err != nil {
							t.Error(err)
						}
					}
					return worsening(job)
				}
			}
			log := keepBest(t, dir, hook, program)
			mustBe(t, true, filepath.Join(to, "a1", runner.StdoutName), study.Layout(dir).Trial(1))
			mustBe(t, false, study.Layout(dir).Trial(3))
			if n := strings.Count(log, "what a trial has left stays"); n != 1 || !strings.Contains(log, from+": it is a symbolic link, which is not followed") {
				t.Errorf("the log says\n%s", log)
			}
		})
	}
}

// A link of the user's from `trials` to a larger disk is followed, if it was there when the
// session began. One that a trial makes is not.
func TestKeepWhereTrialsIsALink(t *testing.T) {
	dir, disk := filepath.Join(t.TempDir(), "s"), t.TempDir()
	trials := filepath.Dir(study.Layout(dir).Trial(1))
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Symlink(disk, trials)); err != nil {
		t.Fatal(err)
	}
	if log := keepBest(t, dir, "", worsening); log != "" {
		t.Errorf("the log says\n%s", log)
	}
	mustBe(t, true, filepath.Join(disk, "000001"))
	mustBe(t, false, filepath.Join(disk, "000002"), filepath.Join(disk, "000003"))

	dir, disk = filepath.Join(t.TempDir(), "s"), filepath.Join(t.TempDir(), "home")
	trials = filepath.Dir(study.Layout(dir).Trial(1))
	log := keepBest(t, dir, "", func(job runner.Job) ending {
		if strings.HasSuffix(job.ID, "/1/1") { // nothing was removed yet
			if err := errors.Join(os.Rename(trials, disk), os.Symlink(disk, trials)); err != nil {
				t.Error(err)
			}
		}
		return worsening(job)
	})
	mustBe(t, true, filepath.Join(disk, "000001"), filepath.Join(disk, "000002"), filepath.Join(disk, "000003"))
	if n := strings.Count(log, "what a trial has left stays"); n != 1 || !strings.Contains(log, trials+": it is a symbolic link, which is not followed") {
		t.Errorf("the log says\n%s", log)
	}
}

// Trials that end while another's end is on its way to the disk are recorded together. The
// hook of each still finds what its trial has left.
func TestHooksComeBeforeRemoval(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Budget.Trials, cfg.Run.Keep, cfg.Run.Workers = 9, 1, 3
		cfg.Hooks = &study.Hooks{Trial: `test -d "$LBOTUNE_TRIAL_DIR" || echo $LBOTUNE_TRIAL`, Timeout: study.Duration(time.Hour)}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		disk := faultfs.New()
		disk.Inject(faultfs.Fault{Err: syscall.EIO, Only: func(o faultfs.Op) bool {
			if o.Name == "sync" {
				time.Sleep(time.Millisecond) // on the virtual clock: until everybody else waits
			}
			return false
		}})
		together := func(job runner.Job) ending { // with all others that run
			e := worsening(job)
			e.takes = time.Until(time.Now().Truncate(time.Second).Add(time.Second))
			return e
		}
		s, err := session.Open(&cfg, session.Options{Dir: dir, Launcher: &fakeLauncher{program: together}, Optimizer: newFakeOptimizer, Journal: []journal.Option{journal.WithFS(disk)}})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Run(t.Context(), nil), s.Close()); err != nil {
			t.Fatal(err)
		}
		if gone, err := os.ReadFile(study.Layout(dir).HookLog()); err != nil || len(gone) > 0 {
			t.Errorf("hooks found no directory of the trials %q: %v", gone, err)
		}
		if left := dirs(t, dir); len(left) != 1 {
			t.Errorf("the directories %v are left; want the first one's", left)
		}
	})
}
