package runner_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/runner"
)

func (tr traits) testExit(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	for _, code := range []int{0, 1, 2, 77, 126, 128, 255} {
		tr.part(t, fmt.Sprint("Code", code), func(t *testing.T) {
			for name, job := range map[string]runner.Job{
				"shell": shellJob(t, fmt.Sprintf("exit %d", code)),
				"argv":  argvJob(t, "sh", "-c", fmt.Sprintf("exit %d", code)),
			} {
				begun := 0
				job.Started = func(int) { begun++ }
				exit := launch(t, l, job)
				if begun != 1 {
					t.Errorf("%s, exit %d: Started was called %d times", name, code, begun)
				}
				if exit.Code != code || exit.TimedOut || exit.Cancelled || exit.Killed || exit.Truncated || exit.Leftovers != nil {
					t.Errorf("%s, exit %d: %+v", name, code, exit)
				}
			}
		})
	}
	for line, want := range map[string]int{
		"set -e; false; echo not reached": 1,
		"trap 'exit 5' EXIT; exit 3":      5,
		"exec sh -c 'exit 9'":             9,
		"(exit 4)":                        4,
		"false || true":                   0,
		"if":                              2,
		"sleep 0.01 & wait $!":            0,
		"exec >&- 2>&-; exit 6":           6,
		"set -u; echo $nothing_of_this":   -1, // 1, 2 or 127: shells differ
	} {
		tr.part(t, "Line", func(t *testing.T) {
			exit := launch(t, l, shellJob(t, line))
			if want >= 0 && exit.Code != want || want < 0 && exit.Code == 0 {
				t.Errorf("%s: code %d, want %d", line, exit.Code, want)
			}
		})
	}
}

func (tr traits) testSignal(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	for _, sig := range []unix.Signal{unix.SIGKILL, unix.SIGTERM, unix.SIGSEGV, unix.SIGHUP, unix.SIGUSR1, unix.SIGABRT} {
		if signal.Ignored(sig) {
			continue // under nohup, and by the attempts as well
		}
		tr.part(t, unix.SignalName(sig), func(t *testing.T) {
			exit := launch(t, l, shellJob(t, fmt.Sprintf("kill -%d $$", int(sig))))
			if exit.Code != 128+int(sig) || exit.Signal != unix.SignalName(sig) || exit.Killed || exit.Cancelled {
				t.Errorf("after %v: %+v", sig, exit)
			}
		})
	}
}

func (tr traits) testCannotExecute(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	script := filepath.Join(dir, "script")
	nameless := filepath.Join(dir, "nameless")
	err := errors.Join(os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600),
		os.WriteFile(script, []byte("#!/nonexistent/interpreter\n"), 0o700),
		os.WriteFile(nameless, []byte("echo \"$#\" \"$2\"\n"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		argv []string
		code int
		text string
		env  []string
	}{
		{[]string{"no-such-program-anywhere"}, 127, "no-such-program-anywhere", nil},
		{[]string{"exit", "0"}, 127, "exit", nil}, // a builtin of the shell is no program
		{[]string{filepath.Join(dir, "absent")}, 127, "absent", nil},
		{[]string{plain}, 126, "plain", nil},
		{[]string{script}, 127, "", nil}, // 126 with some shells
		{[]string{"echo", strings.Repeat("x", 4<<20)}, 126, "longer than the system allows", nil},
		{[]string{plain}, 126, plain, []string{"odd.name=1"}},
		{[]string{script}, 127, script, []string{"odd.name=1"}},
	} {
		tr.part(t, fmt.Sprint("Code", c.code), func(t *testing.T) {
			job := argvJob(t, c.argv...)
			job.Env = c.env
			exit := launch(t, l, job)
			if exit.Code != c.code && (c.text != "" || exit.Code != 126) {
				t.Errorf("%.50q: code %d, want %d", c.argv, exit.Code, c.code)
			}
			if text := stderr(t, job); !strings.Contains(text, c.text) || text == "" {
				t.Errorf("%.50q: stderr %q does not mention %q", c.argv, text, c.text)
			}
		})
	}
	job := argvJob(t, nameless, "1", "two words") // it does not name its interpreter
	if exit := launch(t, l, job); exit.Code != 0 || stdout(t, job) != "2 two words\n" {
		t.Errorf("%+v, stdout %q, stderr %q", exit, stdout(t, job), stderr(t, job))
	}
	job = shellJob(t, "no-such-program-anywhere")
	if exit := launch(t, l, job); exit.Code != 127 || !strings.Contains(stderr(t, job), "no-such-program-anywhere") {
		t.Errorf("%+v, stderr %q", exit, stderr(t, job))
	}
}

func testStreams(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	job := shellJob(t, `printf 'out\0\377no newline'; printf 'err\r\033[1m' >&2`)
	launch(t, l, job)
	if got, want := stdout(t, job), "out\x00\xffno newline"; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	if got, want := stderr(t, job), "err\r\x1b[1m"; got != want {
		t.Errorf("stderr %q, want %q", got, want)
	}
	job = shellJob(t, "cat; echo end of input")
	launch(t, l, job)
	if got := stdout(t, job); got != "end of input\n" {
		t.Errorf("stdin held %q", got)
	}
	// Writers of one output take turns; nobody overwrites.
	job = shellJob(t, "echo 1; sh -c 'echo 2'; echo 3; exec sh -c 'echo 4'")
	launch(t, l, job)
	if got := stdout(t, job); got != "1\n2\n3\n4\n" {
		t.Errorf("stdout %q", got)
	}
}

func testFiles(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	job := newJob(t)
	job.Shell = `cd "$D" && cat params.json conf/deep/model.yaml`
	job.Env = []string{"D=" + job.Dir}
	job.Files = []runner.File{
		{Name: "params.json", Content: []byte(`{"lr":0.1}`)},
		{Name: "conf/deep/model.yaml", Content: []byte("a: \x00\xff\n")},
		{Name: "conf/empty"},
	}
	if exit := launch(t, l, job); exit.Code != 0 {
		t.Errorf("%+v: %s", exit, stderr(t, job))
	}
	if got, want := stdout(t, job), "{\"lr\":0.1}a: \x00\xff\n"; got != want {
		t.Errorf("files held %q, want %q", got, want)
	}
}

func testModes(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	for _, mask := range []int{0, 0o022, 0o777} {
		l := newLauncher(t) // which may take what it finds for all of its attempts
		job := newJob(t)
		job.Shell = "umask"
		job.Files = []runner.File{{Name: "params.json"}}
		exit := func() runner.Exit {
			defer unix.Umask(unix.Umask(mask))
			return launch(t, l, job)
		}()
		if exit.Code != 0 {
			t.Fatalf("%+v", exit)
		}
		if got := strings.TrimLeft(strings.TrimSpace(stdout(t, job)), "0"); got != strings.TrimLeft(fmt.Sprintf("%o", mask), "0") {
			t.Errorf("the command saw the umask %s, want %o", got, mask)
		}
		err := filepath.WalkDir(filepath.Dir(filepath.Dir(job.Dir)), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			want := fs.FileMode(0o600)
			if d.IsDir() {
				want = fs.ModeDir | 0o700
			}
			if err == nil && info.Mode() != want {
				t.Errorf("umask %o: %s has mode %v, want %v", mask, path, info.Mode(), want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func testClaim(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	job := shellJob(t, "echo ran")
	const claimants = 8
	results := make(chan error, claimants)
	var all sync.WaitGroup
	for range claimants {
		all.Go(func() {
			_, err := l.Launch(context.Background(), job)
			results <- err
		})
	}
	all.Wait()
	close(results)
	ran := 0
	for err := range results {
		if err == nil {
			ran++
		} else if !errors.Is(err, runner.ErrClaimed) {
			t.Errorf("a late claimant got %v", err)
		}
	}
	if got := stdout(t, job); ran != 1 || got != "ran\n" {
		t.Errorf("%d launches succeeded, stdout %q", ran, got)
	}
}

func testInvalid(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	for name, spoil := range map[string]func(*runner.Job){
		"no command":     func(j *runner.Job) { j.Shell = "" },
		"two commands":   func(j *runner.Job) { j.Argv = []string{"true"} },
		"no directory":   func(j *runner.Job) { j.Dir = "" },
		"an option":      func(j *runner.Job) { j.Shell, j.Argv = "", []string{"-x"} },
		"no id":          func(j *runner.Job) { j.ID = "" },
		"two words":      func(j *runner.Job) { j.ID = "a b" },
		"NUL in command": func(j *runner.Job) { j.Shell = "echo \x00" },
		"NUL in value":   func(j *runner.Job) { j.Env = []string{"A=\x00"} },
		"no value":       func(j *runner.Job) { j.Env = []string{"A"} },
		"file outside":   func(j *runner.Job) { j.Files = []runner.File{{Name: "../x"}} },
		"absolute file":  func(j *runner.Job) { j.Files = []runner.File{{Name: "/tmp/x"}} },
		"file of ours":   func(j *runner.Job) { j.Files = []runner.File{{Name: runner.StdoutName}} },
	} {
		job := shellJob(t, "true")
		spoil(&job)
		if _, err := l.Launch(context.Background(), job); err == nil {
			t.Errorf("%s: launched", name)
		}
		if _, err := os.Stat(job.Dir); err == nil {
			t.Errorf("%s: the directory was claimed", name)
		}
	}
	job := shellJob(t, "true")
	job.Cwd = filepath.Join(t.TempDir(), "absent")
	_, err := l.Launch(context.Background(), job)
	var spawn *runner.SpawnError
	if !errors.As(err, &spawn) || spawn.Temporary || !strings.Contains(err.Error(), job.Cwd) {
		t.Errorf("absent working directory: %v", err)
	}
	// Another one of many that may run it, as a pilot, may just be finding out for itself.
	eventually(t, "the claim of what could not start to be given back", func() bool {
		_, err := os.Stat(job.Dir)
		return errors.Is(err, os.ErrNotExist)
	})
}
