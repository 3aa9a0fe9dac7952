package runner_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/runner"
)

// stray starts a process that nothing ties to its attempt, and waits for its parents to end.
const stray = `(setsid env -i /bin/sh -c 'exec 9>&- 8>&-; echo $$ >"$1"; exec sleep 1000 >/dev/null 2>&1' sh "$PID" &)
until [ -s "$PID" ]; do sleep 0.01; done
until [ "$(tr '\0' ' ' </proc/$(cat "$PID")/cmdline)" = "sleep 1000 " ]; do sleep 0.01; done
`

// adopter returns one with Adopt for a test, after which this process adopts no more: other tests
// wait for the end of processes that nobody here would reap.
func adopter(t *testing.T) *runner.Local {
	t.Cleanup(func() {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0); err != nil {
			t.Error(err)
		}
	})
	return &runner.Local{Adopt: true}
}

// TestStray: an orphan that nothing ties to an attempt ends as soon as no attempt that may
// have started it lives.
func TestStray(t *testing.T) {
	local := adopter(t)
	local.WithoutCgroups()
	dir := t.TempDir()
	pidFile, gate := filepath.Join(dir, "pid"), filepath.Join(dir, "go")

	older := newJob(t)
	older.Shell = `echo ready; until [ -e "$GO" ]; do sleep 0.01; done`
	older.Env = []string{"GO=" + gate}
	started, done := make(chan struct{}), make(chan runner.Exit)
	older.Started = func(int) { close(started) }
	go func() {
		exit, err := local.Launch(context.Background(), older)
		if err != nil {
			t.Error(err)
		}
		done <- exit
	}()
	<-started
	time.Sleep(20 * time.Millisecond) // ages are counted in hundredths of a second

	job := newJob(t)
	job.Shell = stray
	job.Env = []string{"PID=" + pidFile}
	exit, err := local.Launch(context.Background(), job)
	if err != nil || exit.Code != 0 || exit.Leftovers != nil {
		t.Errorf("%+v, %v", exit, err)
	}
	if !running(t, pidFile) {
		t.Error("the stray was ended although the older attempt may need it")
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	exit = <-done
	if len(exit.Leftovers) != 1 || exit.Leftovers[0].Command != "sleep 1000" {
		t.Errorf("%+v", exit)
	}
	if running(t, pidFile) {
		t.Error("the stray lives on")
	}
}

// TestHookIsNoStray: what a hook has left running, which no attempt has started, stays.
func TestHookIsNoStray(t *testing.T) {
	local := adopter(t)
	local.WithoutCgroups()
	pidFile := filepath.Join(t.TempDir(), "pid")
	job := newJob(t)
	job.Shell = `until [ -e "$PID.go" ]; do sleep 0.01; done`
	job.Env = []string{"PID=" + pidFile}
	job.Started = func(int) {
		time.Sleep(20 * time.Millisecond) // ages are counted in hundredths of a second
		hook := exec.Command("/bin/sh", "-c", `setsid sh -c 'echo $$ >"$PID"; exec sleep 1000 >/dev/null 2>&1' & until [ -s "$PID" ]; do sleep 0.01; done; touch "$PID.go"`)
		hook.Env = append(os.Environ(), "LBOTUNE_EVENT=trial", "PID="+pidFile)
		if err := hook.Run(); err != nil {
			t.Error(err)
		}
	}
	exit, err := local.Launch(context.Background(), job)
	if err != nil || exit.Code != 0 || exit.Leftovers != nil {
		t.Errorf("%+v, %v", exit, err)
	}
	if !running(t, pidFile) {
		t.Fatal("what a hook has started was ended")
	}
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil {
		err = unix.Kill(pid, unix.SIGKILL)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Wait4(pid, nil, 0, nil); err != nil {
		t.Error(err)
	}
}

// running reports whether the process whose id is in the file exists.
func running(t *testing.T, pidFile string) bool {
	t.Helper()
	pid, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat("/proc/" + strings.TrimSpace(string(pid)))
	return err == nil
}

// TestReaping: orphans that end while their attempt runs do not stay zombies.
func TestReaping(t *testing.T) {
	local := adopter(t)
	job := newJob(t)
	// Each (setsid sh &) becomes ours and ends at once. The last loop waits for us to reap.
	job.Shell = `for i in 1 2 3 4 5; do (setsid sh -c 'echo $$ >>"$PIDS"' &); done
until [ "$(wc -l <"$PIDS")" = 5 ]; do sleep 0.01; done
for pid in $(cat "$PIDS"); do while [ -e /proc/$pid ]; do sleep 0.01; done; done`
	job.Env = []string{fmt.Sprintf("PIDS=%s/pids", t.TempDir())}
	exit, err := local.Launch(context.Background(), job)
	if err != nil || exit.Code != 0 || exit.Leftovers != nil {
		t.Errorf("%+v, %v", exit, err)
	}
}

// TestTiedByItsLock: without control groups and orphans of our own, a process that has left
// its session and its environment is found by the lock that it holds.
func TestTiedByItsLock(t *testing.T) {
	local := new(runner.Local)
	local.WithoutCgroups()
	job := newJob(t)
	job.Shell = strings.Replace(stray, "exec 9>&- 8>&-; ", "", 1)
	pidFile := filepath.Join(t.TempDir(), "pid")
	job.Env = []string{"PID=" + pidFile}
	exit, err := local.Launch(context.Background(), job)
	if err != nil || exit.Code != 0 || len(exit.Leftovers) != 1 || exit.Leftovers[0].Command != "sleep 1000" {
		t.Errorf("%+v, %v", exit, err)
	}
	pid, _ := os.ReadFile(pidFile)
	if cmdline, _ := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/cmdline"); len(cmdline) > 0 { // else it waits to be reaped
		t.Errorf("%s lives on: %q", pid, cmdline)
	}
}
