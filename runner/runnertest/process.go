package runnertest

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/runner"
)

// pids returns the process ids that the attempt of job has written to stdout, one in each
// line that begins with "pid ".
func pids(t *testing.T, job runner.Job) []int {
	t.Helper()
	var found []int
	for line := range strings.Lines(stdout(t, job)) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "pid "); ok {
			pid, err := strconv.Atoi(text)
			if err != nil {
				t.Fatalf("%q is no process id", text)
			}
			found = append(found, pid)
		}
	}
	return found
}

// alive reports whether process pid lives; a zombie does not.
func alive(pid int) bool {
	if unix.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return !os.IsNotExist(err) || !haveProc()
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func haveProc() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}

// wantDead fails the test unless the attempt of job has named exactly n processes and all
// of them have ended.
func wantDead(t *testing.T, job runner.Job, n int) {
	t.Helper()
	found := pids(t, job)
	if len(found) != n {
		t.Fatalf("the attempt named the processes %v, want %d of them", found, n)
	}
	for _, pid := range found {
		if alive(pid) {
			t.Errorf("process %d lives on", pid)
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}
