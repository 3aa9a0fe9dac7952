package runner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/runner"
)

// launchAfter launches job, undoes the obstacle once the launch has met it, and returns the
// result.
func launchAfter(t *testing.T, job runner.Job, obstacle func() (undo func())) (runner.Exit, error) {
	t.Helper()
	undo := obstacle()
	timer := time.AfterFunc(100*time.Millisecond, undo)
	defer func() {
		if timer.Stop() { // it has ended before: the obstacle is none for other tests
			undo()
		}
	}()
	return new(runner.Local).Launch(context.Background(), job)
}

func TestBusyProgram(t *testing.T) {
	job := newJob(t)
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho ran\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	job.Argv = []string{program}
	exit, err := launchAfter(t, job, func() func() {
		w, err := os.OpenFile(program, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		return func() { w.Close() }
	})
	if err != nil || exit.Code != 3 {
		t.Errorf("%+v, %v", exit, err)
	}
	for name, want := range map[string]string{runner.StdoutName: "ran\n", runner.StderrName: ""} {
		if got, err := os.ReadFile(filepath.Join(job.Dir, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	again, err := new(runner.Local).Attach(context.Background(), job)
	if err != nil || again.Code != 3 {
		t.Errorf("harvested %+v, %v", again, err)
	}
}

// What a program says does not make it one that could not be executed.
func TestProgramThatSaysItIsBusy(t *testing.T) {
	for line, job := range map[string]runner.Job{
		"attempt: x: Text file busy": {Argv: []string{"sh", "-c", `echo "$LINE" >&2; exit 1`}},
		"x: Text file busy":          {Argv: []string{"sh", "-c", `echo "$LINE" >&2; exit 126`}},
		"attempt: y: Text file busy": {Shell: `echo "$LINE" >&2; exit 126`},
	} {
		t.Run(line, func(t *testing.T) {
			at := newJob(t)
			job.Dir, job.ID, job.Env = at.Dir, at.ID, []string{"LINE=" + line}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			starts := 0
			job.Started = func(int) {
				if starts++; starts > 1 {
					cancel()
				}
			}
			exit, err := new(runner.Local).Launch(ctx, job)
			if cancel(); err != nil || starts != 1 || exit.Code != 1 && exit.Code != 126 {
				t.Errorf("%q: started %d times, %+v, %v", line, starts, exit, err)
			}
		})
	}
}

// Without PATH a program is looked up where the C library does, and not where the trial works.
func TestLookedUpWithoutPath(t *testing.T) {
	t.Setenv("PATH", "") // for it to be set again
	if err := os.Unsetenv("PATH"); err != nil {
		t.Fatal(err)
	}
	job := newJob(t)
	job.Argv, job.Cwd = []string{"true"}, t.TempDir()
	if err := os.WriteFile(filepath.Join(job.Cwd, "true"), []byte("#!/bin/sh\nexit 5\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if exit, err := new(runner.Local).Launch(t.Context(), job); err != nil || exit.Code != 0 {
		t.Errorf("%+v, %v", exit, err)
	}
}

// A program is looked up as a shell does it: no directory, and one that may be executed
// rather than one that may not.
func TestLookedUpInPath(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"2": 0o600, "3": 0o700, "4": 0o600} {
		if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o700),
			os.WriteFile(filepath.Join(dir, name, "program"), []byte("#!/bin/sh\nexit 5\n"), mode)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "1", "program"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"1:2:3:4": 5, "3:4": 5, "1:2": 126, "1": 127} {
		t.Run(path, func(t *testing.T) {
			job := newJob(t)
			job.Argv = []string{"program"}
			job.Env = []string{"PATH=" + dir + "/" + strings.ReplaceAll(path, ":", ":"+dir+"/")}
			if exit, err := new(runner.Local).Launch(t.Context(), job); err != nil || exit.Code != want {
				t.Errorf("in %s: %+v, %v; want code %d", path, exit, err, want)
			}
		})
	}
}

func TestTooManyOpenFiles(t *testing.T) {
	job := newJob(t)
	job.Shell = "exit 3"
	exit, err := launchAfter(t, job, func() func() {
		var held []*os.File
		var old syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
			t.Fatal(err)
		}
		probe, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		low := old
		low.Cur = uint64(probe.Fd()) + 3
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
			t.Fatal(err)
		}
		held = append(held, probe)
		return func() {
			_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old)
			for _, f := range held {
				f.Close()
			}
		}
	})
	if err != nil || exit.Code != 3 {
		t.Errorf("%+v, %v", exit, err)
	}
}

// TestCannotFork uses a shell that fails once as one does that cannot fork.
func TestCannotFork(t *testing.T) {
	job := newJob(t)
	job.Argv = []string{"sh", "-c", "echo ran; exit 3"}
	dir := t.TempDir()
	shell := filepath.Join(dir, "sh")
	script := `#!/bin/sh
if [ -e '` + dir + `/failed' ]; then exec /bin/sh "$@"; fi
: >'` + dir + `/failed'
echo '{"pid":'$$'}' >&3
echo 'attempt: Cannot fork' >&4
echo '{"fork":2}' >&3
exit 2
`
	if err := os.WriteFile(shell, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	exit, err := (&runner.Local{Shell: shell}).Launch(context.Background(), job)
	if err != nil || exit.Code != 3 || exit.Emptied != nil {
		t.Errorf("%+v, %v", exit, err)
	}
	if text, _ := os.ReadFile(filepath.Join(job.Dir, runner.StderrName)); len(text) > 0 {
		t.Errorf("stderr holds %q of the first start", text)
	}
}

func TestNoShell(t *testing.T) {
	job := newJob(t)
	job.Shell = "true"
	job.Files = []runner.File{{Name: "conf/a"}, {Name: "b"}}
	_, err := (&runner.Local{Shell: "/nonexistent/sh"}).Launch(context.Background(), job)
	var spawn *runner.SpawnError
	if !errors.As(err, &spawn) || spawn.Temporary || spawn.Disk || !errors.Is(err, syscall.ENOENT) || !strings.Contains(err.Error(), "/nonexistent/sh") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(job.Dir); err == nil {
		t.Error("the claim was not given back")
	}
}

// The working directory is blamed if it is none, and only then.
func TestNoWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cwd, shell string
		want       error
		says       string
	}{
		{file, "", syscall.ENOTDIR, "use working directory " + file},
		{file + "x", "", syscall.ENOENT, "use working directory " + file + "x"},
		{dir, "/nonexistent/sh", syscall.ENOENT, "start /nonexistent/sh"},
	} {
		t.Run(fmt.Sprint(c.want, c.shell), func(t *testing.T) {
			job := newJob(t)
			job.Shell, job.Cwd = "true", c.cwd
			if _, err := (&runner.Local{Shell: c.shell}).Launch(t.Context(), job); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v; want %v, %s", err, c.want, c.says)
			}
		})
	}
}

func TestNoPlace(t *testing.T) {
	job := newJob(t)
	job.Shell = "true"
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	job.Dir = filepath.Join(file, "1", "a1")
	_, err := new(runner.Local).Launch(context.Background(), job)
	var spawn *runner.SpawnError
	if !errors.As(err, &spawn) || spawn.Temporary || !spawn.Disk || !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("%v", err)
	}
}

// Files that cannot be written are an error, and nothing is left of the attempt.
func TestFilesInTheWay(t *testing.T) {
	for _, names := range [][]string{{"a", "a/b"}, {"a/b", "a/b"}, {"b", "b"}, {"a/b", "a"}} {
		t.Run(fmt.Sprint(names), func(t *testing.T) {
			job := newJob(t)
			job.Shell = "true"
			for _, name := range names {
				job.Files = append(job.Files, runner.File{Name: name, Content: []byte("x")})
			}
			exit, err := new(runner.Local).Launch(t.Context(), job)
			var spawn *runner.SpawnError
			if !errors.As(err, &spawn) || !spawn.Disk {
				t.Errorf("%q: %+v, %v", names, exit, err)
			}
			if _, err := os.Stat(job.Dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%q: the claim was not given back", names)
			}
		})
	}
}

func TestCancelledWhileShort(t *testing.T) {
	job := newJob(t)
	job.Argv = []string{filepath.Join(t.TempDir(), "program")}
	w, err := os.OpenFile(job.Argv[0], os.O_WRONLY|os.O_CREATE, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() // busy until the end of the test
	if _, err := w.WriteString("#!/bin/sh\n"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	why := errors.New("enough")
	job.Started = func(int) { cancel(why) }
	exit, err := new(runner.Local).Launch(ctx, job)
	if err == nil && !exit.Cancelled || err != nil && !errors.Is(err, why) {
		t.Errorf("%+v, %v", exit, err)
	}
	if _, e := os.Stat(job.Dir); err != nil && e == nil {
		t.Error("the claim was not given back")
	}
}

// An attempt that is stopped while others are being started ends alone: between its fork
// and its exec a supervisor has copies of all our descriptors, the locks of others too.
func TestStoppingSparesThoseBeingStarted(t *testing.T) {
	l := &runner.Local{Adopt: true}
	for range effort.Of(5, 15, 40) {
		ends := make(chan runner.Exit)
		const others = 12
		for i := range others + 1 {
			job := newJob(t)
			job.Shell, job.Grace = "true", 10*time.Millisecond
			ctx, cancel := context.WithCancel(t.Context())
			if i == 0 {
				job.Shell = "sleep 60"
				job.Started = func(int) { cancel() }
			}
			go func() {
				defer cancel()
				exit, err := l.Launch(ctx, job)
				if err != nil && i > 0 {
					t.Error(err)
				}
				if i == 0 {
					exit = runner.Exit{}
				}
				ends <- exit
			}()
		}
		for range others + 1 {
			if exit := <-ends; exit.Code != 0 {
				t.Fatalf("an attempt that nobody stopped ended with %+v", exit)
			}
		}
	}
}

// An attempt that is asked to end as soon as it starts is asked politely: its supervisor
// survives a signal, and what that starts afterwards would know nothing of it.
func TestCancelledAtItsStart(t *testing.T) {
	for range effort.Of(10, 40, 40) {
		job := newJob(t)
		job.Shell = "exec sleep 1000"
		ctx, cancel := context.WithCancel(t.Context())
		job.Started = func(int) { cancel() }
		exit, err := new(runner.Local).Launch(ctx, job)
		if cancel(); err != nil || !exit.Cancelled || exit.Killed {
			t.Fatalf("%+v, %v", exit, err)
		}
	}
}
