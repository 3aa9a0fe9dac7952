//go:build linux

package torture_test

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/optimizer"
)

// saver is a trial that saves a checkpoint, which takes its time, when it is asked to
// end, and else waits for the file go.
func (l *lab) saver() string {
	return fmt.Sprintf(`cd %s; t={trial}; trap 'echo asked $t >> log; sleep 0.3; echo saved $t >> log; exit 1' TERM; `+
		`touch started; until test -e go; do sleep 0.05; done; echo ended $t >> log; echo loss={x}`, l.dir)
}

// A terminal is one that a test holds the other end of.
type terminal struct {
	*run
	keys *os.File
	read chan struct{} // closed when all that was written has been read
}

// terminal starts lbotune in a terminal of its own.
func (l *lab) terminal(args ...string) *terminal {
	l.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		l.Skipf("needs a pseudo-terminal: %v", err)
	}
	l.check(unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	l.check(err)
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	l.check(err)
	r := l.command(args...)
	r.Env = append(r.Env, "TERM=xterm", "LC_ALL=C.UTF-8")
	screen := r.Stderr.(*os.File)
	r.Stdin, r.Stdout, r.Stderr = tty, tty, tty
	r.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	r.launch()
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(screen, keys) // until the terminal is closed on one side
		_ = screen.Close()
	}()
	l.Cleanup(func() { _ = keys.Close() })
	return &terminal{r, keys, read}
}

// end waits for the run's end, and for all that it has written.
func (t *terminal) end() result {
	t.lab.Helper()
	res := t.run.end()
	select {
	case <-t.read:
	case <-time.After(patience):
		t.lab.Fatal("somebody keeps the terminal")
	}
	res.err = t.said()
	return res
}

const ctrlC = "\x03"

// press presses a key and waits for the answer to it.
func (t *terminal) press(key, answer string) {
	t.lab.Helper()
	time.Sleep(200 * time.Millisecond) // two quick presses are taken for one
	_, err := t.keys.WriteString(key)
	t.lab.check(err)
	t.lab.await(answer, func() bool { return strings.Contains(t.said(), answer) })
}

// Ctrl-C once lets the running trials end. Nobody but lbotune gets the signal.
func TestCtrlCOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.spec("spec.toml", l.saver(), 9, 2)
	term := l.terminal("run", "spec.toml")
	l.await("the trials", func() bool { return l.exists("started") })
	term.press(ctrlC, "no new trials are started")
	l.write("go", "")
	term.end().must(l, 130)
	if st := l.load(); st.Count(optimizer.Succeeded) != len(st.Trials) || len(st.Trials) > 2 {
		t.Errorf("%d of %d trials succeeded", st.Count(optimizer.Succeeded), len(st.Trials))
	}
	if log := l.read("log"); strings.Contains(log, "asked") {
		t.Errorf("the trials were disturbed: %q", log)
	}
	l.run(0, "run", "spec.toml")
}

// What a run draws below its trials is as wide as the terminal, also when that changes, and
// nothing of it is left in the end.
func TestTerminalResized(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.spec("spec.toml", l.saver(), 4, 1)
	term := l.terminal("run", "spec.toml")
	for _, columns := range []int{80, 200, 60} {
		l.check(unix.IoctlSetWinsize(int(term.keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: uint16(columns)}))
		bar := "progress   " + strings.Repeat("░", min(columns/2, 80)) + " 0 % of 4 trials\r\n"
		l.await("a bar for "+strconv.Itoa(columns)+" columns", func() bool { return strings.Contains(term.said(), bar) })
	}
	l.await("what runs", func() bool { return strings.Contains(term.said(), "running    trial 1 for ") })
	l.write("go", "")
	term.end().must(l, 0)
	said := term.said()
	if at := strings.LastIndex(said, "progress "); strings.Count(said[at:], "\x1b[J") == 0 {
		t.Errorf("the last drawing was not taken away: %q", said[at:])
	}
	if !strings.Contains(said, "4/4 ") || !strings.Contains(said, "best loss = ") {
		t.Errorf("it said %q", said)
	}
}

// Ctrl-C twice asks the running trials to end, and waits for their checkpoints.
func TestCtrlCTwice(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.spec("spec.toml", l.saver(), 3, 1)
	term := l.terminal("run", "spec.toml")
	l.await("the trial", func() bool { return l.exists("started") })
	term.press(ctrlC, "no new trials are started")
	term.press(ctrlC, "asked to end")
	term.end().must(l, 130)
	if log := l.read("log"); log != "asked 1\nsaved 1\n" {
		t.Errorf("the log is %q", log)
	}
	l.goesOn(3)
}

// Ctrl-C three times kills what does not listen, and all that it has started.
func TestCtrlCThrice(t *testing.T) {
	t.Parallel()
	slow(t)
	l := newLab(t)
	l.spec("spec.toml", fmt.Sprintf(`cd %s; trap '' TERM; sleep 1000 & touch started; until test -e go; do sleep 0.05; done; kill $!; echo loss={x}`, l.dir), 3, 2)
	term := l.terminal("run", "spec.toml")
	l.await("the trials", func() bool { return l.exists("started") })
	term.press(ctrlC, "no new trials are started")
	term.press(ctrlC, "asked to end")
	term.press(ctrlC, "killed")
	term.end().must(l, 130)
	l.goesOn(3)
}

// lbotune as a trial of lbotune, in a terminal: who ends the outer one ends the inner one
// too, checkpoints are saved, and both go on.
func TestNested(t *testing.T) {
	t.Parallel()
	slow(t)
	l := newLab(t)
	l.spec("inner.toml", l.saver(), 3, 1)
	l.spec("spec.toml", fmt.Sprintf("cd %s; %s run inner.toml && echo loss={x}", l.dir, os.Getenv(programVar)), 2, 1)
	term := l.terminal("run", "spec.toml")
	l.await("the inner trial", func() bool { return l.exists("started") })
	term.press(ctrlC, "no new trials are started")
	term.press(ctrlC, "asked to end")
	term.end().must(l, 130)
	if log := l.read("log"); !strings.HasSuffix(log, "saved 1\n") {
		t.Errorf("the log is %q", log)
	}
	l.run(0, "journal", "verify", "inner.study")
	l.goesOn(2)
	if st := l.loadDir("inner.study"); st.Count(optimizer.Succeeded) != 3 || len(st.Trials) != 3 {
		t.Errorf("%d of %d inner trials succeeded", st.Count(optimizer.Succeeded), len(st.Trials))
	}
}

// goesOn checks that nothing of a study is left but its files, and that the same command
// ends it.
func (l *lab) goesOn(trials int) {
	l.Helper()
	if alive := l.alive(); len(alive) > 0 {
		l.Errorf("alive after the end: %v", alive)
	}
	l.run(0, "journal", "verify", "spec.study")
	l.write("go", "")
	l.run(0, "run", "spec.toml")
	if st := l.load(); st.Count(optimizer.Succeeded) != trials || len(st.Trials) != trials {
		l.Errorf("%d of %d trials succeeded", st.Count(optimizer.Succeeded), len(st.Trials))
	}
}

// A terminal that is closed asks the running trials to end.
func TestTerminalClosed(t *testing.T) {
	t.Parallel()
	slow(t)
	l := newLab(t)
	l.spec("spec.toml", l.saver(), 3, 1)
	term := l.terminal("run", "spec.toml")
	l.await("the trial", func() bool { return l.exists("started") })
	l.check(term.keys.Close())
	term.end().must(l, 143)
	if log := l.read("log"); log != "asked 1\nsaved 1\n" {
		t.Errorf("the log is %q", log)
	}
	l.goesOn(3)
}

// SIGTERM and SIGHUP ask the running trials to end, however often they come: timeout(1)
// sends its signal twice, and so does a shell that loses its terminal.
func TestTerminated(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.spec("spec.toml", l.saver(), 3, 1)
			r := l.start("run", "spec.toml")
			l.await("the trial", func() bool { return l.exists("started") })
			for range 5 {
				l.check(r.Process.Signal(sig))
				time.Sleep(20 * time.Millisecond)
			}
			r.end().must(l, 143)
			if log := l.read("log"); log != "asked 1\nsaved 1\n" {
				t.Errorf("the log is %q", log)
			}
			l.goesOn(3)
		})
	}
}

// Under timeout(1), by whatever signal, checkpoints are saved.
func TestUnderTimeout(t *testing.T) {
	slow(t)
	for _, sig := range []string{"TERM", "INT", "HUP"} {
		t.Run(sig, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.spec("spec.toml", l.saver(), 3, 1)
			// SIGALRM is what its own clock sends to timeout.
			r := l.program("timeout", "-s", sig, "600", os.Getenv(programVar), "run", "spec.toml")
			r.launch()
			l.await("the trial", func() bool { return l.exists("started") })
			l.check(r.Process.Signal(syscall.SIGALRM))
			if sig == "INT" { // lets the running trial end
				l.write("go", "")
			}
			r.end().must(l, 124)
			// A second SIGINT asks, and timeout sends its signal to lbotune and to its group.
			log := l.read("log")
			if log != "asked 1\nsaved 1\n" && !(sig == "INT" && strings.HasPrefix(log, "ended 1\n")) {
				t.Errorf("the log is %q", log)
			}
			l.goesOn(3)
		})
	}
}

// Under nohup a lost terminal disturbs nothing.
func TestNohup(t *testing.T) {
	l := newLab(t)
	l.spec("spec.toml", l.saver(), 3, 1)
	r := l.program("/bin/sh", "-c", `trap '' HUP; exec "$0" "$@"`, os.Getenv(programVar), "run", "spec.toml")
	r.launch()
	l.await("the trial", func() bool { return l.exists("started") })
	l.check(r.Process.Signal(syscall.SIGHUP))
	l.write("go", "")
	r.end().must(l, 0)
	if st := l.load(); st.Count(optimizer.Succeeded) != 3 {
		t.Errorf("%d trials succeeded", st.Count(optimizer.Succeeded))
	}
}

// Who reads lbotune's output may go away at any time.
func TestReaderGoesAway(t *testing.T) {
	for _, pipe := range []string{"2>&1 | head -n 1", "| true", "2>&1 | true", "2>&- >&-"} {
		t.Run(pipe, func(t *testing.T) {
			l := newLab(t)
			l.spec("spec.toml", "echo loss={x}", 20, 2)
			r := l.program("/bin/sh", "-c", fmt.Sprintf(`{ "$0" run spec.toml; echo $? > code; } %s`, pipe), os.Getenv(programVar))
			r.launch()
			r.end()
			l.await("its end", func() bool { return l.exists("code") && l.read("code") != "" })
			if code := l.read("code"); code != "0\n" {
				t.Errorf("exit code %s", code)
			}
			if n := l.load().Count(optimizer.Succeeded); n != 20 {
				t.Errorf("%d trials succeeded", n)
			}
		})
	}
}

// lbotune may be stopped and continued, and so may a trial.
func TestStoppedAndContinued(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.spec("spec.toml", as("work", l.dir+" {x} 100"), 12, 3)
	r := l.start("run", "spec.toml")
	for range scaled(3, 30) {
		time.Sleep(50 * time.Millisecond)
		l.check(r.Process.Signal(syscall.SIGSTOP))
		for pid := range l.alive() { // some of the trials too
			if pid%2 == 0 && pid != r.Process.Pid {
				_ = syscall.Kill(pid, syscall.SIGSTOP)
				defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
				time.AfterFunc(200*time.Millisecond, func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
			}
		}
		time.Sleep(100 * time.Millisecond)
		l.check(r.Process.Signal(syscall.SIGCONT))
	}
	r.end().must(l, 0)
	notes, overlaps := diary(l.read("diary"))
	if n := l.load().Count(optimizer.Succeeded); n != 12 || attempts(notes) != 12 || len(overlaps) > 0 {
		t.Errorf("%d succeeded after %d attempts, overlaps %q", n, attempts(notes), overlaps)
	}
}

// Ctrl-\ ends a command that runs no trials, and shows nothing of its inside.
func TestQuit(t *testing.T) {
	l := newLab(t)
	r := l.command("parse", "--metric", "loss", "-")
	in, err := r.StdinPipe()
	l.check(err)
	r.launch()
	_, err = in.Write([]byte("loss=1\n"))
	l.check(err)
	l.await("a match", func() bool {
		text, err := os.ReadFile(r.out)
		return err == nil && len(text) > 0
	})
	l.check(r.Process.Signal(syscall.SIGQUIT))
	res := r.end()
	res.must(l, 131)
	if res.err != "" {
		t.Errorf("it said %q", res.err)
	}
}
