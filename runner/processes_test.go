package runner_test

import (
	"os"
	"os/exec"
	"path/filepath"
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
	s := state(pid) // asked once: a zombie may go at any moment
	return s != 0 && s != 'Z'
}

// stopped reports whether the first process that the attempt of job has named is stopped.
func stopped(job runner.Job) bool {
	data, _ := os.ReadFile(filepath.Join(job.Dir, runner.StdoutName))
	pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(string(data), "pid ")))
	return err == nil && state(pid) == 'T'
}

// state returns the letter that ps(1) shows for process pid, or 0 if there is none.
func state(pid int) byte {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	if text := strings.TrimSpace(string(out)); err == nil && text != "" {
		return text[0]
	}
	return 0
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
