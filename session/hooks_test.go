package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
	"github.com/lbotune/lbotune/study"
)

// dirs lists the trials that have a directory.
func dirs(t *testing.T, dir string) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(layout.Of(dir).Trial(1)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, e := range entries {
		out[e.Name()] = true
	}
	return out
}

// No directory is removed in which an attempt runs, also not one that repeats a trial
// whose directory had to go; the best stay, and the study is what it would be.
func TestKeep(t *testing.T) {
	for keep, workers := range map[int]int{1: 1, 2: 3, 3: 1} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			var want string
			for _, k := range []int{0, keep} {
				bubble(t, func(t *testing.T, dir string) {
					cfg := config()
					cfg.Run.Keep, cfg.Run.Confirm, cfg.Run.Workers = k, 2, workers
					st, err := finish(t, dir, &cfg, &fakeLauncher{program: parabola})
					if err != nil {
						t.Fatal(err)
					}
					left := dirs(t, dir)
					if k == 0 {
						want = story(st)
						if len(left) != 12 {
							t.Errorf("%d directories; want all", len(left))
						}
						return
					}
					if workers == 1 && story(st) != want {
						t.Errorf("keep = %d changes the study: %s\n%s", k, story(st), want)
					}
					if len(left) < k || len(left) > k+1 {
						t.Errorf("keep = %d: the directories %v are left", k, left)
					}
					for _, b := range append(st.Ranked()[:k], st.Best()) {
						if !left[filepath.Base(layout.Of(dir).Trial(b.Number))] {
							t.Errorf("keep = %d: trial %d has no directory; there are %v", k, b.Number, left)
						}
					}
				})
			}
		})
	}
}

// While nothing has succeeded, everything that may say why stays; and what an earlier
// session was killed before it could remove is removed by a later one.
func TestKeepFailures(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Budget.Trials, cfg.Run.Keep = 3, 1
		f := &fakeLauncher{program: parabola}
		broken := cfg
		broken.Command.Argv = []string{"parabola", "x{x}", "{n}"}
		if _, err := finish(t, dir, &broken, f); !errors.Is(err, session.ErrNoSuccess) {
			t.Fatal(err)
		}
		if left := dirs(t, dir); len(left) != 3 {
			t.Errorf("the directories %v are left; want all three", left)
		}
		cfg.Budget.Trials = 4
		st, err := finish(t, dir, &cfg, f)
		if left := dirs(t, dir); err != nil || len(left) != 1 || !left[fmt.Sprintf("%06d", st.Best().Number)] || st.Count(optimizer.Failed) > 0 {
			t.Errorf("the directories %v are left, the best is trial %d: %v", left, st.Best().Number, err)
		}
	})
}

// Of the failures the last one stays beside the best, so that what has ended the study can be read.
func TestKeepLastFailure(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Budget.Trials, cfg.Run.Keep, cfg.Run.FailureGuard = 40, 1, 1
		s := open(t, dir, &cfg, &fakeLauncher{program: func(job runner.Job) ending {
			if trial := strings.Split(job.ID, "/")[1]; trial > "3" || len(trial) > 1 {
				return ending{exit: runner.Exit{Code: 3}}
			}
			return worsening(job)
		}})
		err := s.Run(t.Context(), nil)
		var guard *session.GuardError
		if !errors.As(err, &guard) || guard.Trial < 9 || !errors.Is(err, session.ErrNoSuccess) || !strings.Contains(err.Error(), "failed") {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left := slices.Sorted(maps.Keys(dirs(t, dir))); !slices.Equal(left, []string{"000001", fmt.Sprintf("%06d", guard.Trial)}) {
			t.Errorf("the directories %v are left; trial %d was the last to fail", left, guard.Trial)
		}
	})
}

// Of several objectives every trial of the front keeps its directory.
func TestKeepFront(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Budget.Trials, cfg.Run.Keep = 4, 1
		cfg.Metrics = append(cfg.Metrics, study.Metric{Name: "gain", Rule: parser.Rule{Metric: "gain"}, Direction: study.Maximize})
		_, err := finish(t, dir, &cfg, &fakeLauncher{program: func(job runner.Job) ending {
			trial := strings.Split(job.ID, "/")[1]
			return ending{stdout: map[string]string{"1": "loss=1 gain=1", "2": "loss=3 gain=0", "3": "loss=2 gain=2", "4": "loss=4 gain=2"}[trial] + "\n"}
		}})
		if left := slices.Sorted(maps.Keys(dirs(t, dir))); err != nil || !slices.Equal(left, []string{"000001", "000003"}) {
			t.Errorf("the directories %v are left: %v", left, err)
		}
	})
}

// hooked runs a study of three trials, of which the second fails, with hooks, in real time.
func hooked(t *testing.T, hooks study.Hooks, stop <-chan session.Stop) (dir, log string, err error) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "s")
	cfg := config()
	cfg.Budget.Trials, cfg.Hooks, cfg.Dir = 3, &hooks, filepath.Dir(dir)
	if hooks.Timeout == 0 {
		hooks.Timeout = study.Duration(time.Hour)
	}
	var text bytes.Buffer
	s, err := session.Open(&cfg, session.Options{Dir: dir, Optimizer: newFakeOptimizer, Log: slog.New(slog.NewTextHandler(&text, nil)),
		Launcher: &fakeLauncher{program: func(job runner.Job) ending {
			trial := strings.Split(job.ID, "/")[1]
			return ending{stdout: map[string]string{"1": "loss=3\n", "3": "loss=0.5\n"}[trial]}
		}}})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Run(t.Context(), stop)
	return dir, text.String(), errors.Join(err, s.Close())
}

// Hooks are told of each end, of a new best and of the study's end; what they print is kept,
// and one that fails harms nothing.
func TestHooks(t *testing.T) {
	for _, name := range []string{"TRIAL", "STATUS", "VALUE", "REASON", "WHY"} { // lbotune itself is run by a hook of another study
		t.Setenv("LBOTUNE_"+name, "another")
	}
	tell := `echo $LBOTUNE_EVENT $LBOTUNE_TRIAL $LBOTUNE_STATUS "$LBOTUNE_VALUE" ${LBOTUNE_REASON:-well} best $LBOTUNE_BEST_TRIAL of $LBOTUNE_FINISHED $LBOTUNE_WHY`
	dir, log, err := hooked(t, study.Hooks{Trial: tell, Best: tell + `; exit 3`, End: tell + `; pwd`}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(layout.Study(dir).HookLog())
	want := `trial 1 succeeded 3 well best 1 of 1
best 1 succeeded 3 well best 1 of 1
trial 2 failed  no metric "loss": stdout is empty best 1 of 2
trial 3 succeeded 0.5 well best 3 of 3
best 3 succeeded 0.5 well best 3 of 3
end 3 succeeded 0.5 well best 3 of 3 all 3 trials are finished
` + filepath.Dir(dir) + "\n"
	if err != nil || string(got) != want {
		t.Errorf("the hooks were told\n%s, %v; want\n%s", got, err, want)
	}
	if n := strings.Count(log, `msg="a hook failed" hook=best trial=`); n != 2 || !strings.Contains(log, `error="exit status 3"`) {
		t.Errorf("the log says of two hooks that failed:\n%s", log)
	}
}

// At the end the best trial is that of the confirming runs, with its means.
func TestHookOfAConfirmedEnd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	cfg := config()
	cfg.Budget.Trials, cfg.Run.Confirm, cfg.Dir = 3, 2, filepath.Dir(dir)
	cfg.Hooks = &study.Hooks{End: `echo $LBOTUNE_TRIAL $LBOTUNE_VALUE $LBOTUNE_METRIC_LOSS $LBOTUNE_BEST_TRIAL $LBOTUNE_BEST_VALUE`, Timeout: study.Duration(time.Hour)}
	if _, err := finish(t, dir, &cfg, &fakeLauncher{program: func(job runner.Job) ending {
		return ending{stdout: "loss=" + map[string]string{"1/1": "1", "1/2": "9", "1/3": "9", "2/1": "2", "2/2": "3", "2/3": "4", "3/1": "5", "3/2": "5", "3/3": "5"}[strings.SplitN(job.ID, "/", 2)[1]] + "\n"}
	}}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(layout.Study(dir).HookLog()); err != nil || string(got) != "2 3.5 3.5 2 3.5\n" {
		t.Errorf("the hook was told %q: %v", got, err)
	}
}

// A hook that hangs is killed after its time, or together with the trials, with all that it
// has started.
func TestHooksAreKilled(t *testing.T) {
	hang := "sleep 1000 & sleep 1000"
	_, log, err := hooked(t, study.Hooks{End: hang, Timeout: study.Duration(50 * time.Millisecond)}, nil)
	if err != nil || !strings.Contains(log, `hook=end trial=3 error="killed after 50ms"`) {
		t.Errorf("%v: %s", err, log)
	}
	for event, hooks := range map[string]func(string) study.Hooks{
		"hook=trial trial=1": func(hang string) study.Hooks { return study.Hooks{Trial: hang} },
		"hook=end trial=3":   func(hang string) study.Hooks { return study.Hooks{End: hang} }, // no trial runs any more
	} {
		t.Run(event, func(t *testing.T) {
			begun, stop := filepath.Join(t.TempDir(), "begun"), make(chan session.Stop)
			go func() {
				for _, err := os.Stat(begun); err != nil; _, err = os.Stat(begun) {
					time.Sleep(time.Millisecond)
				}
				stop <- session.StopNow
			}()
			_, log, err := hooked(t, hooks("touch "+begun+"; "+hang), stop)
			if !strings.Contains(log, event+` error="killed when the study was stopped"`) {
				t.Errorf("%v: %s", err, log)
			}
		})
	}
}

// What a hook leaves in the background ends with it, and that is said.
func TestHooksLeaveNothing(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	kept, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	read, err := os.Open(pipe) // of which the end is seen once nobody can write any more
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	_, log, err := hooked(t, study.Hooks{End: "sleep 1000 > " + pipe + " & exit 0"}, nil)
	if want := `hook=end trial=3 error="it left processes in the background, which were ended: let it wait for them"`; err != nil || !strings.Contains(log, want) {
		t.Fatalf("%v: %s", err, log)
	}
	kept.Close()
	if _, err := io.ReadAll(read); err != nil {
		t.Error(err)
	}
}

// What a trial or a hook puts in the place of hooks.log is not written to, and nobody waits
// for it: what hooks print is lost then, as is said once, and they run.
func TestHooksPrintToAFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	for name, c := range map[string]struct{ make, says string }{
		"link":              {`ln -s "$PWD/mine" hooks`, " is a symbolic link, which is not followed"},
		"pipe":              {"mkfifo hooks", " is not a regular file"},
		"directory":         {"mkdir hooks", "is a directory"},
		"pipe that is read": {"ln " + read.Name() + " hooks", " is not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			hook := `if [ $LBOTUNE_TRIAL = 1 ]; then rm "$LBOTUNE_STUDY/hooks.log"; ` +
				strings.ReplaceAll(c.make, "hooks", `"$LBOTUNE_STUDY/hooks.log"`) + `
echo > mine;  else echo ran >> ran; echo printed; fi`
			dir, log, err := hooked(t, study.Hooks{Trial: hook}, nil)
			if err != nil {
				t.Fatal(err)
			}
			wrote := ""
			for _, f := range []string{"mine", "ran"} {
				text, err := os.ReadFile(filepath.Join(filepath.Dir(dir), f))
				if err != nil {
					t.Fatal(err)
				}
				wrote += string(text)
			}
			if wrote != "\nran\nran\n" {
				t.Errorf("the hooks wrote %q", wrote)
			}
			if n := strings.Count(log, "what hooks print is lost"); n != 1 || !strings.Contains(log, layout.Study(dir).HookLog()) || !strings.Contains(log, c.says) {
				t.Errorf("the log says\n%s", log)
			}
		})
	}
}

// The end of a Run ends the hooks that it has left, and none that follow.
func TestHooksAfterAStoppedRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	cfg := config()
	cfg.Dir, cfg.Budget.Trials, cfg.Hooks = filepath.Dir(dir), 2, &study.Hooks{Trial: "echo told", Timeout: study.Duration(time.Hour)}
	hangs := func(runner.Job) ending { return ending{takes: time.Hour} } // should Run begin one before it looks at its context
	s := open(t, dir, &cfg, &fakeLauncher{program: hangs})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ctx, nil); !errors.Is(err, session.ErrStopped) {
		t.Fatal(err)
	}
	err := s.Try(t.Context(), func(study.Trial) (study.Metrics, error) { return study.Metrics{"loss": 1}, nil })
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(layout.Study(dir).HookLog()); err != nil || !strings.HasPrefix(string(got), "told\n") {
		t.Errorf("the hook was told %q: %v", got, err)
	}
}

// What a hook, or somebody else, requests while the last hooks run is part of what Run returns: a study that has more
// to do goes on, unless it was stopped, and one whose only success is taken out has none.
func TestRequestsDuringTheLastHooks(t *testing.T) {
	more, exclude := study.Request{Action: study.ActionAdjust, Trials: 3}, study.Request{Action: study.ActionExclude, Trial: 1}
	goal, full := 2.0, syscall.ENOSPC
	for name, c := range map[string]struct {
		request study.Request
		budget  study.Budget
		but     string
		want    error
		trials  int
	}{
		"more trials":           {request: more, trials: 3},
		"more, but stopped":     {request: more, but: "stop", want: session.ErrStopped, trials: 1},
		"more, but cancelled":   {request: more, but: "cancel", want: session.ErrStopped, trials: 1},
		"more, but not on disk": {request: more, but: "lose", want: full, trials: 1},
		"its success excluded":  {request: exclude, want: session.ErrNoSuccess, trials: 1},
		"its goal excluded":     {request: exclude, budget: study.Budget{Trials: 3, Goal: &goal}, trials: 2},
		"its goal, but stopped": {request: exclude, budget: study.Budget{Trials: 3, Goal: &goal}, but: "stop", want: session.ErrStopped, trials: 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir, stop := filepath.Join(t.TempDir(), "s"), make(chan session.Stop, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			cfg, disk, closed := config(), faultfs.New(), false
			cfg.Dir, cfg.Budget = filepath.Dir(dir), c.budget
			if c.budget == (study.Budget{}) {
				cfg.Budget.Trials = 1
			}
			flag := func(name string) {
				if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
					t.Error(err)
				}
			}
			wait := "cd $LBOTUNE_STUDY; mkdir once && { until test -e left; do sleep 0.01; done; until test -e lost || ! ls requests/*.json; do sleep 0.01; done; }"
			if c.but == "cancel" {
				wait += "; sleep 1000"
			}
			cfg.Hooks = &study.Hooks{End: wait, Timeout: study.Duration(time.Hour)}
			s, err := session.Open(&cfg, session.Options{Dir: dir, Optimizer: newFakeOptimizer, Journal: []journal.FS{disk},
				Launcher: &fakeLauncher{program: func(runner.Job) ending { return ending{stdout: "loss=1\n"} }},
				Observe: func(u study.Update) {
					if c.but == "cancel" && closed {
						cancel()
					}
					if _, ended := u.Record.Event.(study.Closed); !ended || closed {
						return
					}
					closed = true
					switch c.but {
					case "stop":
						stop <- session.StopAsking
					case "lose":
						disk.Inject(faultfs.Fault{N: 1, Forever: true, Err: full, Only: func(o faultfs.Op) bool {
							if o.Name == "write" {
								flag("lost")
							}
							return o.Name == "write"
						}})
					}
					if _, err := inbox.Leave(layout.Study(dir), c.request); err != nil {
						t.Error(err)
					}
					flag("left")
				}})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(s.Do(wish(0.1)), s.Do(wish(0.2))); err != nil { // the optimizer need not be asked
				t.Fatal(err)
			}
			err = s.Run(ctx, stop)
			if n := len(s.State().Trials); !errors.Is(err, c.want) || n != c.trials || (s.Close() != nil) != (c.but == "lose") {
				t.Errorf("%v after %d trials", err, n)
			}
		})
	}
}
