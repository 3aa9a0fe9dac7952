package runner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/runner"
)

// launched starts job, and returns once its command has said that it is ready, and its
// supervisor has written down its number.
func launched(t *testing.T, ctx context.Context, job runner.Job) <-chan result {
	t.Helper()
	done := make(chan result, 1)
	go func() {
		exit, err := new(runner.Local).Launch(ctx, job)
		done <- result{exit, err}
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		text, _ := os.ReadFile(filepath.Join(job.Dir, runner.StdoutName))
		seen, err := runner.Look(job.Dir)
		if strings.Contains(string(text), "ready\n") && err == nil && seen.PID != 0 {
			return done
		}
		if time.Now().After(deadline) {
			t.Fatalf("is not ready: %q, %+v, %v", text, seen, err)
		}
	}
}

// attached rejoins the attempt of job, and fails the test if that does not end.
func attached(t *testing.T, job runner.Job) result {
	t.Helper()
	done := make(chan result, 1)
	go func() {
		exit, err := new(runner.Local).Attach(context.Background(), job)
		done <- result{exit, err}
	}()
	select {
	case o := <-done:
		return o
	case <-time.After(time.Minute):
		t.Fatal("the attempt does not end")
		return result{}
	}
}

// edit replaces the group of a pattern in a record that is in use by a text, with blanks
// before it for what that is shorter.
func edit(t *testing.T, job runner.Job, pattern, by string) {
	t.Helper()
	path := filepath.Join(job.Dir, "attempt.jsonl")
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := regexp.MustCompile(pattern).FindSubmatchIndex(text)
	if at == nil {
		t.Fatalf("no %s in %s", pattern, text)
	}
	if _, err := f.WriteAt(fmt.Appendf(nil, "%*s", at[3]-at[2], by), int64(at[2])); err != nil {
		t.Fatal(err)
	}
}

// Whoever rejoins an attempt leaves it alone while it lives, longer than leftovers may:
// also one whose process ids count elsewhere, which its lock alone tells of.
func TestAttachedIsLeftAlone(t *testing.T) {
	for name, foreign := range map[string]bool{"ours": false, "another name space's": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := newJob(t)
			job.Shell = "echo ready; sleep 2; exit 7"
			done := launched(t, context.Background(), job)
			if foreign {
				edit(t, job, `"pids":"pid(:\[)`, "::")
				edit(t, job, `"pid":(\d+)`, "1")
			}
			for _, o := range []result{attached(t, job), <-done} {
				if o.err != nil || o.exit.Code != 7 || o.exit.Cancelled || len(o.exit.Leftovers) > 0 {
					t.Errorf("%+v", o)
				}
			}
		})
	}
}

// A checkpoint may take as long to save as the grace says, whoever wants the end.
func TestGraceIsGiven(t *testing.T) {
	saving := `trap 'sleep 1.3; echo saved; exit 3' TERM; echo ready; while :; do sleep 0.02; done`
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		job := newJob(t)
		job.Shell = saving
		ctx, cancel := context.WithCancel(t.Context())
		done := launched(t, ctx, job)
		cancel()
		if o := <-done; o.err != nil || o.exit.Code != 3 || o.exit.Killed || !o.exit.Cancelled {
			t.Errorf("%+v", o)
		}
	})
	t.Run("outdated", func(t *testing.T) {
		t.Parallel()
		job := newJob(t)
		job.Shell, job.Key = saving, "old"
		done := launched(t, context.Background(), job)
		job.Key = "new"
		if o := attached(t, job); !errors.Is(o.err, runner.ErrOutdated) {
			t.Errorf("%+v", o)
		}
		if o := <-done; o.err != nil || o.exit.Code != 3 {
			t.Errorf("%+v", o)
		}
	})
}

// A timeout counts from the start on the machine's clock, also for who comes later.
func TestTimeoutCountsFromTheStart(t *testing.T) {
	job := newJob(t)
	job.Shell, job.Timeout = "echo ready; exec sleep 1000", 0
	done := launched(t, context.Background(), job)
	edit(t, job, `"uptime":(\d+)`, "1") // since it has booted
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Fatal(err)
	}
	var uptime float64
	if _, err := fmt.Sscan(string(text), &uptime); err != nil {
		t.Fatal(err)
	}
	job.Timeout = time.Duration(uptime / 2 * float64(time.Second))
	if o := attached(t, job); o.err != nil || !o.exit.TimedOut {
		t.Errorf("%+v", o)
	}
	<-done
}

// How long an attempt ran is by the machine's uptime where its clock was set meanwhile: for who ends it
// later, and for who comes after its end.
func TestSetClock(t *testing.T) {
	for _, year := range []string{"2019", "2099"} { // as it was by the clock when it began
		took := func(o result) {
			t.Helper()
			if took := o.exit.Ended.Sub(o.exit.Started); o.err != nil || took <= 0 || took > time.Hour {
				t.Errorf("begun in %s it took %v: %+v", year, took, o)
			}
		}
		ended := newJob(t)
		ended.Shell = "sleep 0.1"
		if _, err := new(runner.Local).Launch(context.Background(), ended); err != nil {
			t.Fatal(err)
		}
		edit(t, ended, `"started":"(\d{4})`, year)
		took(attached(t, ended))

		job := newJob(t)
		job.Shell, job.Grace = "trap '' TERM; echo ready; while :; do sleep 0.1; done", time.Nanosecond
		done := launched(t, context.Background(), job)
		edit(t, job, `"started":"(\d{4})`, year)
		job.Timeout = time.Nanosecond
		took(attached(t, job))
		<-done
		took(attached(t, job)) // once more
	}
}

// An attempt that has ended by itself was not cancelled, though that was asked for before
// anybody had seen its end.
func TestCancelledAtItsEnd(t *testing.T) {
	for range 20 {
		job := newJob(t)
		job.Shell = "exit 3"
		ctx, cancel := context.WithCancel(t.Context())
		job.Started = func(pid int) {
			defer cancel()
			for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
				stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
				if err != nil || strings.Contains(string(stat), ") Z ") {
					return
				}
			}
		}
		exit, err := new(runner.Local).Launch(ctx, job)
		if cancel(); err != nil || exit.Cancelled || exit.Code != 3 {
			t.Fatalf("%+v, %v", exit, err)
		}
	}
}

// What runs in a directory that was removed, after it had been copied, is ended: nobody
// else will take it up.
func TestCopyOfARemovedDirectory(t *testing.T) {
	job := newJob(t)
	job.Shell = "echo ready; exec sleep 1000"
	done := launched(t, context.Background(), job)
	twin := job
	twin.Dir = filepath.Join(t.TempDir(), "copy")
	if err := errors.Join(os.CopyFS(twin.Dir, os.DirFS(job.Dir)), os.RemoveAll(job.Dir)); err != nil {
		t.Fatal(err)
	}
	if o := attached(t, twin); !errors.Is(o.err, runner.ErrCopied) {
		t.Errorf("%+v", o)
	}
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("the original runs on")
	}
}

// Every process that is left behind is named.
func TestLeftoversAreNamed(t *testing.T) {
	job := newJob(t)
	job.Shell = `sleep 1001 & a=$!; sleep 1002 & b=$!
until [ "$(tr '\0' ' ' </proc/$a/cmdline)" = "sleep 1001 " ] && [ "$(tr '\0' ' ' </proc/$b/cmdline)" = "sleep 1002 " ]; do sleep 0.01; done
exit 3`
	exit, err := new(runner.Local).Launch(context.Background(), job)
	if err != nil || exit.Code != 3 || len(exit.Leftovers) != 2 {
		t.Fatalf("%+v, %v", exit, err)
	}
	names := exit.Leftovers[0].Command + ", " + exit.Leftovers[1].Command
	if !strings.Contains(names, "sleep 1001") || !strings.Contains(names, "sleep 1002") {
		t.Errorf("left behind: %s", names)
	}
}
