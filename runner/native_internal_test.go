package runner

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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

// TestNativeCannotFork: a supervisor that gets no process for its command says so, and is
// started again. strace refuses it the first one.
func TestNativeCannotFork(t *testing.T) {
	native, err := nativeProgram()
	strace, e := exec.LookPath("strace")
	if err != nil || e != nil {
		t.Skip(err, e)
	}
	for _, errno := range []string{"EAGAIN", "ENOMEM"} {
		t.Run(errno, func(t *testing.T) {
			job := parentJob(t)
			dir := t.TempDir()
			wrapper, failed := filepath.Join(dir, "wrapper"), filepath.Join(dir, "failed")
			script := "#!/bin/sh\nif [ -e " + failed + " ]; then exec " + native + ` "$@"; fi
: > ` + failed + "\nexec " + strace + " -f -qq -o /dev/null -e trace=vfork -e inject=vfork:error=" + errno + " " + native + ` "$@"` + "\n"
			if err := os.WriteFile(wrapper, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			l := new(Local)
			l.prepared.Do(func() { l.program = wrapper })
			exit, err := l.Launch(context.Background(), job)
			if err != nil || exit.Code != 3 {
				t.Errorf("%+v, %v", exit, err)
			}
			record, err := os.ReadFile(filepath.Join(job.Dir, RecordName))
			if n := strings.Count(string(record), `{"fork":`); err != nil || n != 1 {
				t.Errorf("%d failures are on record: %s, %v", n, record, err)
			}
		})
	}
}

// TestShortages: what may pass is told from what will not.
func TestShortages(t *testing.T) {
	for errno, temporary := range map[unix.Errno]bool{
		unix.EAGAIN: true, unix.ENOMEM: true, unix.EMFILE: true, unix.ENFILE: true, unix.ETXTBSY: true,
		unix.ENOENT: false, unix.EACCES: false, unix.ENOSPC: false, unix.EROFS: false, unix.E2BIG: false,
	} {
		start, disk := spawnError("start", errno), diskError("fill", errno)
		if start.Temporary != temporary || disk.Temporary != temporary || start.Disk || disk.Disk == temporary {
			t.Errorf("%v: %+v, %+v", errno, start, disk)
		}
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
