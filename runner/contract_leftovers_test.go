package runner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lbotune/lbotune/runner"
)

func (tr traits) testLeftovers(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	for name, line := range map[string]string{
		"Background":    `sleep 1000 & echo pid $!; exit 3`,
		"HoldsOutput":   `sh -c 'trap "" HUP; echo pid $$; sleep 1000 & wait' & while ! grep -q pid "$OUT"; do sleep 0.01; done; exit 3`,
		"Session":       `setsid sh -c 'echo pid $$; exec sleep 1000' & while ! grep -q pid "$OUT"; do sleep 0.01; done; exit 3`,
		"NoDescriptors": `setsid sh -c 'echo pid $$; exec sleep 1000 >&- 2>&- <&- 9>&-' & while ! grep -q pid "$OUT"; do sleep 0.01; done; exit 3`,
		"NoEnvironment": `setsid sh -c 'echo pid $$; exec env -i "$(command -v sleep)" 1000' & while ! grep -q pid "$OUT"; do sleep 0.01; done; exit 3`,
		"DoubleFork":    `(setsid sh -c 'sleep 1000 & echo pid $!' & ) ; while ! grep -q pid "$OUT"; do sleep 0.01; done; exit 3`,
	} {
		tr.part(t, name, func(t *testing.T) {
			job := awareJob(t, line)
			exit := launch(t, l, job)
			if exit.Code != 3 || exit.Cancelled || exit.TimedOut {
				t.Errorf("%+v", exit)
			}
			// A shell between fork and exec may be among them too, or env(1) before its exec.
			if !slices.ContainsFunc(exit.Leftovers, func(p runner.Process) bool {
				return strings.Contains(p.Command, "sleep") || p.Command == "env"
			}) {
				t.Errorf("leftovers %+v", exit.Leftovers)
			}
			for _, p := range exit.Leftovers {
				if p.Alive || alive(p.PID) {
					t.Errorf("%+v lives on", p)
				}
			}
			wantDead(t, job, 1)
		})
	}
	tr.part(t, "IgnoresSIGTERM", func(t *testing.T) {
		job := awareJob(t, `sh -c 'trap "" TERM; echo pid $$; while :; do sleep 1; done' & while ! grep -q pid "$OUT"; do sleep 0.01; done; exit 3`)
		job.Grace = 20 * time.Millisecond
		if exit := launch(t, l, job); exit.Code != 3 || len(exit.Leftovers) == 0 {
			t.Errorf("%+v", exit)
		}
		wantDead(t, job, 1)
	})
}

// testLateOutput: what leftovers print counts until they are asked to end.
func (tr traits) testLateOutput(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	a, _ := l.(runner.Attacher)
	counted := func(job runner.Job, exit runner.Exit, want string) {
		t.Helper()
		got := stdout(t, job)
		if exit.Counted != nil {
			got = got[:exit.Counted.Stdout]
		}
		if got != want {
			t.Errorf("%q counts of %q; want %q", got, stdout(t, job), want)
		}
	}
	t.Run("EndsByItself", func(t *testing.T) {
		for begun := time.Now(); ; {
			job := shellJob(t, "(sleep 0.1; echo late) & echo early")
			var settled atomic.Bool
			job.Settled = func() { settled.Store(true) }
			exit := launch(t, l, job)
			// On a machine that stands still for a second the leftover may be ended.
			if ended := len(exit.Leftovers) > 0 || settled.Load(); ended && time.Since(begun) < patience {
				continue
			} else if ended {
				t.Fatalf("settled, leftovers %+v", exit.Leftovers)
			}
			counted(job, exit, "early\nlate\n")
			return
		}
	})
	t.Run("IsEnded", func(t *testing.T) {
		job := awareJob(t, `sh -c 'trap "echo late; exit" TERM; echo ready; while :; do sleep 0.01; done' & while ! grep -q ready "$OUT"; do sleep 0.01; done`)
		settled := 0
		job.Settled = func() { settled++ }
		exit := launch(t, l, job)
		if len(exit.Leftovers) == 0 || settled != 1 {
			t.Errorf("settled %d times, leftovers %+v", settled, exit.Leftovers)
		}
		counted(job, exit, "ready\n")
		if a != nil {
			again := await(t, attach(context.Background(), a, job))
			counted(job, again, "ready\n")
			if !again.Ended.Equal(exit.Ended) {
				t.Errorf("it ended at %v; at %v to who comes later", exit.Ended, again.Ended)
			}
		}
	})
	t.Run("NobodyThere", func(t *testing.T) {
		if a == nil {
			t.Skip("no Attacher")
		}
		job := shellJob(t, "echo early")
		exit := launch(t, l, job)
		path := filepath.Join(job.Dir, runner.StdoutName)
		soon := "early\nlate\n" // a leftover may have written it within its patience
		if tr.witnessed {
			soon = "early\n"
		}
		for after, want := range map[time.Duration]string{0: soon, time.Minute: "early\n"} {
			if err := errors.Join(os.WriteFile(path, []byte("early\nlate\n"), 0o600),
				os.Chtimes(path, time.Time{}, exit.Ended.Add(after))); err != nil {
				t.Fatal(err)
			}
			counted(job, await(t, attach(context.Background(), a, job)), want)
		}
	})
}

// testHopper: a process that lives on in ever new processes and sessions is caught.
func testHopper(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "hopper")
	stop := filepath.Join(dir, "stop")
	hops := filepath.Join(dir, "hops")
	text := "echo hop >>" + hops + "\n[ -e " + stop + " ] || setsid sh \"$0\" &\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	job := shellJob(t, "sh "+script+"; while [ $(wc -l <"+hops+") -lt 10 ]; do sleep 0.01; done; exit 3")
	job.Grace = 10 * time.Millisecond
	if exit := launch(t, l, job); exit.Code != 3 || len(exit.Leftovers) == 0 {
		t.Errorf("%+v", exit)
	}
	// It hops hundreds of times a second: no hop in half a second means that it is gone.
	before, err := os.ReadFile(hops)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	after, _ := os.ReadFile(hops)
	if len(after) != len(before) {
		t.Errorf("%d hops after the end", strings.Count(string(after[len(before):]), "hop"))
		_ = os.WriteFile(stop, nil, 0o600)
	}
}

// TestHopper: also where no control groups can be made.
func TestHopper(t *testing.T) {
	testHopper(t, func(*testing.T) runner.Launcher {
		l := new(runner.Local)
		l.WithoutCgroups()
		return l
	})
}

// testNeighbours: the end of one attempt is not the end of what others have started.
func testNeighbours(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	job, open := gatedJob(t, `(setsid sh -c 'echo pid $$; echo ready; exec sleep 1000' &); : <"$GO"`)
	done := start(t, context.Background(), l, job)
	waitForLine(t, job, "ready")
	launch(t, l, shellJob(t, "true"))
	if exit := launch(t, l, shellJob(t, "sleep 1000 & exit 3")); len(exit.Leftovers) != 1 {
		t.Errorf("leftovers %+v", exit.Leftovers)
	}
	for _, pid := range pids(t, job) {
		if !alive(pid) {
			t.Error("a neighbour's background process was ended")
		}
	}
	open()
	if exit := await(t, done); exit.Code != 0 || len(exit.Leftovers) != 1 {
		t.Errorf("%+v", exit)
	}
	wantDead(t, job, 1)
}
