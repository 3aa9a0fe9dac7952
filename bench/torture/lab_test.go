//go:build linux

package torture_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/testing/tempdir"
)

// patience is how long a test waits for what must happen.
const patience = 3 * time.Minute

// labVar marks every process of a lab.
const labVar = "LBOTUNE_TORTURE_LAB"

// A lab is a directory in which lbotune is abused, and all that runs on its behalf.
type lab struct {
	*testing.T
	dir string
	env []string // beside that of the test
}

// newLab makes a lab that must be empty of processes when the test ends.
func newLab(t *testing.T) *lab {
	l := &lab{T: t, dir: tempdir.New(t)}
	// A program with the race detector sleeps for a second before it exits.
	l.env = []string{labVar + "=" + l.dir, "GORACE=atexit_sleep_ms=0", "LBOTUNE_SHARE_DIR=" + l.path("shared"), "TMPDIR=" + t.TempDir()}
	t.Cleanup(func() {
		if left := l.kill(); len(left) > 0 {
			t.Errorf("something of the study still lived at the end: %v", left)
		}
	})
	return l
}

func (l *lab) path(name string) string { return filepath.Join(l.dir, name) }

func (l *lab) check(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

func (l *lab) write(name, text string) {
	l.Helper()
	l.check(os.MkdirAll(filepath.Dir(l.path(name)), 0o755))
	l.check(os.WriteFile(l.path(name), []byte(text), 0o644))
}

func (l *lab) read(name string) string {
	l.Helper()
	text, err := os.ReadFile(l.path(name))
	l.check(err)
	return string(text)
}

// exists reports whether the lab has a file.
func (l *lab) exists(name string) bool {
	_, err := os.Lstat(l.path(name))
	return err == nil
}

// wrote reports whether something stands in the file: a shell makes it a moment before.
func (l *lab) wrote(name string) bool {
	info, err := os.Stat(l.path(name))
	return err == nil && info.Size() > 0
}

// spec writes a spec that minimizes loss over x in [0, 1] by random search. More
// is TOML that goes on in the table [run].
func (l *lab) spec(name, command string, trials, workers int, more ...string) {
	l.Helper()
	l.write(name, "command = "+strconv.Quote(command)+"\n[objective]\nmetric = \"loss\"\n"+searching(trials, workers, more...))
}

// searching is what follows in a spec on the keys of [objective].
func searching(trials, workers int, more ...string) string {
	return fmt.Sprintf(`[params.x]
type = "float"
min = 0
max = 1
[optimizer]
method = "random"
[budget]
trials = %d
[run]
workers = %d
%s
`, trials, workers, strings.Join(more, "\n"))
}

// gate makes a gate, and is what a shell waits at it with, at no cost, until it is opened.
func (l *lab) gate(name string) string {
	l.Helper()
	l.check(syscall.Mkfifo(l.path(name), 0o600))
	return ": <" + l.path(name)
}

// open opens a gate for good.
func (l *lab) open(name string) {
	l.Helper()
	f, err := os.OpenFile(l.path(name), os.O_RDWR, 0)
	l.check(err)
	l.Cleanup(func() { _ = f.Close() })
}

// as is the command line that runs one of the roles in trial.
func as(role, args string) string { return trialProgram() + " " + role + " " + args }

// A run is lbotune at work.
type run struct {
	*exec.Cmd
	lab      *lab
	out, err string // files
}

// A result is what is left of it.
type result struct {
	code     int // 128+n after signal n
	out, err string
}

// command prepares a run of lbotune.
func (l *lab) command(args ...string) *run {
	return l.program(os.Getenv(programVar), args...)
}

// program prepares the run of any program in the lab.
func (l *lab) program(path string, args ...string) *run {
	l.Helper()
	cmd := exec.Command(path, args...)
	cmd.Dir = l.dir
	cmd.Env = append(os.Environ(), l.env...)
	logs := l.TempDir()
	r := &run{Cmd: cmd, lab: l, out: filepath.Join(logs, "stdout"), err: filepath.Join(logs, "stderr")}
	out, err := os.Create(r.out)
	l.check(err)
	cmd.Stdout = out
	complaints, err := os.Create(r.err)
	l.check(err)
	cmd.Stderr = complaints
	return r
}

// start starts lbotune.
func (l *lab) start(args ...string) *run {
	l.Helper()
	r := l.command(args...)
	r.launch()
	return r
}

func (r *run) launch() {
	r.lab.Helper()
	r.lab.check(r.Start())
	for _, w := range []io.Writer{r.Stdout, r.Stderr} {
		if f, ok := w.(*os.File); ok {
			_ = f.Close() // twice, if they are the same
		}
	}
}

// said is what the run has written to its standard error so far.
func (r *run) said() string {
	text, err := os.ReadFile(r.err)
	r.lab.check(err)
	return string(text)
}

// end waits for the run's end.
func (r *run) end() result {
	r.lab.Helper()
	timer := time.AfterFunc(patience, func() {
		_ = r.Process.Signal(syscall.SIGABRT) // shows what it was doing
	})
	defer timer.Stop()
	err := r.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.lab.Fatal(err)
	}
	out, err := os.ReadFile(r.out)
	r.lab.check(err)
	res := result{code: r.ProcessState.ExitCode(), out: string(out), err: r.said()}
	if status, ok := r.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		res.code = 128 + int(status.Signal())
	}
	return res
}

// run runs lbotune to its end, which must have the given exit code.
func (l *lab) run(code int, args ...string) result {
	l.Helper()
	res := l.start(args...).end()
	res.must(l, code)
	return res
}

func (r result) must(l *lab, code int) {
	l.Helper()
	if r.code != code {
		l.Fatalf("exit code %d; want %d\n%s\n%s", r.code, code, r.out, r.err)
	}
}

// mustSay checks what was said on stderr.
func (r result) mustSay(l *lab, words ...string) {
	l.Helper()
	for _, w := range words {
		if !strings.Contains(r.err, w) {
			l.Errorf("stderr does not say %q:\n%s", w, r.err)
		}
	}
}

// await waits until something is true. To look may cost a process, which others need the
// machine for.
func (l *lab) await(what string, true_ func() bool) {
	l.Helper()
	deadline := time.Now().Add(patience)
	for pause := 2 * time.Millisecond; !true_(); pause = min(2*pause, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			l.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(pause)
	}
}

// alive returns the processes of the lab.
func (l *lab) alive() map[int]string {
	l.Helper()
	mark := []byte(labVar + "=" + l.dir)
	found := map[int]string{}
	dirs, err := os.ReadDir("/proc")
	l.check(err)
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", d.Name(), "environ"))
		if err != nil || !bytes.Contains(append([]byte{0}, env...), append([]byte{0}, append(mark, 0)...)) {
			continue // gone, a zombie, or another's
		}
		cmd, _ := os.ReadFile(filepath.Join("/proc", d.Name(), "cmdline"))
		found[pid] = string(bytes.ReplaceAll(cmd, []byte{0}, []byte{' '}))
	}
	return found
}

// kill ends all processes of the lab at once, and returns those that there were. They
// are stopped first, so that none sees another die.
func (l *lab) kill() map[int]string {
	l.Helper()
	all := map[int]string{}
	for grown := true; grown; {
		grown = false
		for pid, cmd := range l.alive() {
			if _, known := all[pid]; !known {
				all[pid], grown = cmd, true
				_ = syscall.Kill(pid, syscall.SIGSTOP)
			}
		}
	}
	for pid := range all {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	l.await("the lab to be empty", func() bool { return len(l.alive()) == 0 })
	return all
}
