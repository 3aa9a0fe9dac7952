package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// parentJob prints the name of its supervisor.
func parentJob(t *testing.T) Job {
	t.Helper()
	dir := t.TempDir()
	return Job{Dir: filepath.Join(dir, "a1"), ID: "runner" + dir, Timeout: time.Minute,
		Shell: "cat /proc/$PPID/comm; exit 3"}
}

// supervisorOf runs a job and returns the name of its supervisor.
func supervisorOf(t *testing.T, l *Local) string {
	t.Helper()
	job := parentJob(t)
	exit, err := l.Launch(context.Background(), job)
	if err != nil || exit.Code != 3 {
		t.Fatalf("%+v, %v", exit, err)
	}
	name, err := os.ReadFile(filepath.Join(job.Dir, StdoutName))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(name))
}

func TestNativeSupervisor(t *testing.T) {
	if path, err := nativeProgram(); err != nil {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%q, %v", path, err)
		}
		t.Skip(err)
	}
	if name := supervisorOf(t, new(Local)); name != supervisorName {
		t.Errorf("the supervisor is %q", name)
	}
}

// TestNativeForbidden: where the native supervisor may not be executed, a shell does.
func TestNativeForbidden(t *testing.T) {
	for name, path := range map[string]string{"absent": "/nonexistent", "not executable": os.DevNull} {
		l := new(Local)
		l.prepared.Do(func() { l.program = path })
		if got := supervisorOf(t, l); got != "sh" {
			t.Errorf("%s: the supervisor is %q", name, got)
		}
	}
}
