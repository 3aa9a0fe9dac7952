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

	"github.com/lbotune/lbotune/internal/inbox"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
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
	second := filepath.Base(layout.Study("").Trial(2))
	for _, by := range []string{"trial", "hook"} {
		t.Run(by, func(t *testing.T) {
			dir, archive := filepath.Join(t.TempDir(), "s"), t.TempDir()
			from, to := layout.Study(dir).Trial(2), filepath.Join(archive, second)
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
			mustBe(t, true, filepath.Join(to, "a1", runner.StdoutName), layout.Study(dir).Trial(1))
			mustBe(t, false, layout.Study(dir).Trial(3))
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
	trials := filepath.Dir(layout.Study(dir).Trial(1))
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Symlink(disk, trials)); err != nil {
		t.Fatal(err)
	}
	if log := keepBest(t, dir, "", worsening); log != "" {
		t.Errorf("the log says\n%s", log)
	}
	mustBe(t, true, filepath.Join(disk, "000001"))
	mustBe(t, false, filepath.Join(disk, "000002"), filepath.Join(disk, "000003"))

	dir, disk = filepath.Join(t.TempDir(), "s"), filepath.Join(t.TempDir(), "home")
	trials = filepath.Dir(layout.Study(dir).Trial(1))
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
		s, err := session.Open(&cfg, session.Options{Dir: dir, Launcher: &fakeLauncher{program: together}, Optimizer: newFakeOptimizer, Journal: []journal.FS{disk}})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Run(t.Context(), nil), s.Close()); err != nil {
			t.Fatal(err)
		}
		if gone, err := os.ReadFile(layout.Study(dir).HookLog()); err != nil || len(gone) > 0 {
			t.Errorf("hooks found no directory of the trials %q: %v", gone, err)
		}
		if left := dirs(t, dir); len(left) != 1 {
			t.Errorf("the directories %v are left; want the first one's", left)
		}
	})
}

// The best at the study's end has its directory, also where another trial ranked before it until then.
func TestKeepTheBestOfTheEnd(t *testing.T) {
	number := func(job runner.Job) (n, attempt int) {
		if _, err := fmt.Sscanf(job.ID[strings.Index(job.ID, "/"):], "/%d/%d", &n, &attempt); err != nil {
			t.Fatal(err)
		}
		return n, attempt
	}
	limit := 5.0
	limited := func(c *study.Config) {
		c.Metrics = append(c.Metrics, study.Metric{Name: "size", Rule: parser.Rule{Metric: "size"}, Max: &limit})
	}
	for name, c := range map[string]struct {
		config  func(*study.Config)
		program func(n, attempt int) string
		says    optimizer.Recommendation
		best    int
	}{
		"equal values": {func(*study.Config) {}, func(int, int) string { return "loss=1" }, optimizer.Recommendation{Trial: 5}, 5},
		"doubtful": {limited, func(n, _ int) string { return fmt.Sprintf("loss=%d size=4", n) },
			optimizer.Recommendation{Trial: 4, Doubtful: []int{1, 2, 3}}, 4},
		"confirmed": {func(c *study.Config) { limited(c); c.Run.Confirm = 2 }, func(n, attempt int) string {
			if n < 5 && attempt > 1 {
				return fmt.Sprintf("loss=%d size=6", n)
			}
			return fmt.Sprintf("loss=%d size=4", n)
		}, optimizer.Recommendation{Trial: 1}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				cfg.Budget.Trials, cfg.Run.Keep = 8, 1
				c.config(&cfg)
				st := conclude(t, &cfg, session.Options{Dir: dir, Launcher: &fakeLauncher{program: func(job runner.Job) ending { return ending{stdout: c.program(number(job)) + "\n"} }},
					Optimizer: func(sp *spaces.Space, seed uint64, set optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
						o, err := newFakeOptimizer(sp, seed, set)
						return advising{o, func() (optimizer.Recommendation, error) { return c.says, nil }}, err
					}})
				if st.Best().Number != c.best {
					t.Fatalf("the best is trial %d; want %d", st.Best().Number, c.best)
				}
				mustBe(t, true, filepath.Join(layout.Study(dir).Trial(c.best), "a1", runner.StdoutName))
				if left := dirs(t, dir); len(left) > 2 {
					t.Errorf("the directories %v are left", left)
				}
			})
		})
	}
}

// A failure whose removal waits for a hook keeps its files when it is run again.
func TestKeepSparesWhatRunsAgain(t *testing.T) {
	dir, meanwhile := filepath.Join(t.TempDir(), "s"), t.TempDir()
	checkpoint, seen := filepath.Join(layout.Study(dir).Trial(2), "checkpoint"), make(chan error, 1)
	cfg := config()
	cfg.Budget.Trials, cfg.Run.Keep, cfg.Dir = 4, 1, t.TempDir()
	cfg.Hooks = &study.Hooks{Timeout: study.Duration(time.Hour), Trial: fmt.Sprintf(
		`if [ $LBOTUNE_TRIAL = 3 ]; then touch %[1]s/listed; until [ -e %[1]s/again ]; do sleep 0.01; done; elif [ $LBOTUNE_TRIAL = 4 ]; then touch %[1]s/removed; fi`, meanwhile)}
	await := func(name string) {
		for _, err := os.Stat(filepath.Join(meanwhile, name)); err != nil; _, err = os.Stat(filepath.Join(meanwhile, name)) {
			time.Sleep(time.Millisecond)
		}
	}
	program := func(job runner.Job) ending {
		switch job.ID[strings.Index(job.ID, "/"):] {
		case "/2/1", "/3/1":
			if err := os.WriteFile(filepath.Join(filepath.Dir(job.Dir), "checkpoint"), nil, 0o600); err != nil {
				t.Error(err)
			}
			return ending{exit: runner.Exit{Code: 3}}
		case "/4/1":
			await("listed")
			if _, err := inbox.Leave(layout.Study(dir), study.Request{Action: study.ActionRerun, Rerun: []int{2}}); err != nil {
				t.Error(err)
			}
		case "/2/2":
			if err := os.WriteFile(filepath.Join(meanwhile, "again"), nil, 0o600); err != nil {
				t.Error(err)
			}
			await("removed")
			_, err := os.Stat(checkpoint)
			seen <- err
		}
		return worsening(job)
	}
	cfg.Run.Workers = 2
	s, err := session.Open(&cfg, session.Options{Dir: dir, Launcher: &fakeLauncher{program: program}, Optimizer: newFakeOptimizer})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Run(t.Context(), nil), s.Close()); err != nil {
		t.Fatal(err)
	}
	if err := <-seen; err != nil {
		t.Error(err)
	}
	mustBe(t, false, layout.Study(dir).Trial(2))
}
