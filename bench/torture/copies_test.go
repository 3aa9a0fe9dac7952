//go:build linux

package torture_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
)

// copyStudy copies a study as a person would.
func (l *lab) copyStudy(from, to string) {
	l.Helper()
	if out, err := exec.Command("cp", "-a", l.path(from), l.path(to)).CombinedOutput(); err != nil {
		l.Fatalf("%v\n%s", err, out)
	}
}

// gated is a command that logs its attempt and waits for the file go, or for another one if
// it runs for the study of other.toml.
func (l *lab) gated() string {
	return "cd " + l.dir + "; case {study} in */other.study) go=go2 log=log2;; *) go=go log=log;; esac; " +
		"echo {trial}.{attempt} >> $log; until test -e $go; do sleep 0.02; done; echo loss={x}"
}

// checkLog checks which attempts have run.
func (l *lab) checkLog(name, want string) {
	l.Helper()
	if log := l.read(name); log != want {
		l.Errorf("%s: these attempts ran: %q; want %q", name, log, want)
	}
}

// Two copies of a study that go on side by side end none of each other's processes,
// whatever theirs leave behind.
func TestCopiesOfAStudy(t *testing.T) {
	l := newLab(t)
	const command = "sleep 99 & n={trial}; sleep 0.$((1 + n % 2 * 3)); echo loss={x}"
	l.spec("d1.toml", command, 2, 1)
	l.run(0, "run", "d1.toml")
	l.copyStudy("d1.study", "d2.study")
	l.spec("d1.toml", command, 10, 1)
	l.spec("d2.toml", command, 10, 1)
	one, two := l.start("run", "d1.toml"), l.start("run", "d2.toml")
	one.end().must(l, 0)
	two.end().must(l, 0)
	for _, dir := range []string{"d1.study", "d2.study"} {
		if n := l.loadDir(dir).Count(optimizer.Succeeded); n != 10 {
			t.Errorf("%s: %d of 10 trials succeeded", dir, n)
		}
	}
}

// A copy that is made while a trial runs has no part in that trial: it makes an attempt of
// its own, and its end is not the end of the original's.
func TestCopyOfARunningStudy(t *testing.T) {
	l := newLab(t)
	l.spec("spec.toml", l.gated(), 1, 1)
	original := l.start("run", "spec.toml")
	l.await("the trial", func() bool { return l.wrote("log") })
	l.copyStudy("spec.study", "other.study")
	l.write("other.toml", l.read("spec.toml"))

	twin := l.start("run", "other.toml")
	l.await("an attempt of the copy", func() bool { return l.wrote("log2") })
	l.check(twin.Process.Signal(syscall.SIGTERM))
	twin.end().must(l, 143)

	l.write("go", "")
	original.end().must(l, 0)
	l.checkLog("log", "1.1\n")
	l.write("go2", "")
	l.run(0, "run", "other.toml")
	l.checkLog("log2", "1.2\n1.3\n")
}

// So it is when the lbotune of the original was killed: the original takes its trial up
// again, the copy does not.
func TestCopyOfAKilledStudy(t *testing.T) {
	l := newLab(t)
	l.spec("spec.toml", l.gated(), 1, 1)
	l.killedWhile("log")
	l.copyStudy("spec.study", "other.study")
	l.write("other.toml", l.read("spec.toml"))
	l.write("go2", "")
	l.run(0, "run", "other.toml").mustSay(l, "attempt 1: the attempt was lost: ", "copied before the attempt had ended")
	l.checkLog("log2", "1.2\n")

	l.write("go", "")
	l.run(0, "run", "spec.toml")
	l.checkLog("log", "1.1\n")
}

// A study that is moved while its trials run on takes them up again, also where the
// number of the device has changed with a mount.
func TestMovedStudy(t *testing.T) {
	l := newLab(t)
	l.spec("spec.toml", l.gated(), 2, 1)
	l.killedWhile("log")
	l.check(os.Rename(l.path("spec.study"), l.path("moved.study")))
	l.check(os.Rename(l.path("spec.toml"), l.path("moved.toml")))
	const record = "moved.study/trials/000001/a1/attempt.jsonl"
	text := regexp.MustCompile(`"device":[0-9]+`).ReplaceAllString(l.read(record), `"device":987654`)
	l.write(record, text)

	r := l.start("run", "moved.toml")
	l.await("its beginning", func() bool { return strings.Contains(r.said(), "resuming study") })
	l.write("go", "")
	r.end().must(l, 0)
	l.checkLog("log", "1.1\n2.1\n")
}

// What runs on after its study was moved to another file system, or restored from a copy,
// has nowhere to report to: it is ended, and its trial runs again.
func TestRestoredStudy(t *testing.T) {
	l := newLab(t)
	l.spec("spec.toml", "cd "+l.dir+"; echo {trial}.{attempt} >> log; until test -e go-{attempt}; do sleep 0.02; done; echo {trial}.{attempt} ends >> log; echo loss={x}", 1, 1)
	l.killedWhile("log")
	l.copyStudy("spec.study", "copy")
	l.check(os.RemoveAll(l.path("spec.study")))
	l.check(os.Rename(l.path("copy"), l.path("spec.study")))
	l.write("go-2", "")
	l.run(0, "run", "spec.toml").mustSay(l, "attempt 1: the attempt was lost")
	l.checkLog("log", "1.1\n1.2\n1.2 ends\n")
	if alive := l.alive(); len(alive) > 0 {
		t.Errorf("alive: %v", alive)
	}
}

// An attempt whose control group was removed with its last process is lost, and nobody
// waits for it.
func TestVanishedControlGroup(t *testing.T) {
	l := newLab(t)
	l.spec("spec.toml", "cd "+l.dir+"; echo {trial}.{attempt} >> log; until test -e go; do sleep 0.02; done; echo loss={x}", 1, 1)
	l.killedWhile("log")
	found := regexp.MustCompile(`"cgroup":"([^"]*)"`).FindStringSubmatch(l.read("spec.study/trials/000001/a1/attempt.jsonl"))
	if found == nil {
		l.kill()
		t.Skip("needs control groups of version 2")
	}
	group := found[1]
	r := l.start("run", "spec.toml")
	l.await("its beginning", func() bool { return strings.Contains(r.said(), "resuming study") })
	// Nobody writes down how it ended: the supervisor is killed with the rest. Whoever is first,
	// the test or lbotune, removes the group.
	l.await("the control group to be gone", func() bool {
		text, err := os.ReadFile(group + "/cgroup.procs")
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENODEV) {
			t.Fatal(err)
		}
		for word := range strings.FieldsSeq(string(text)) {
			pid, err := strconv.Atoi(word)
			l.check(err)
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				t.Fatal(err)
			}
		}
		err = os.Remove(group)
		return err == nil || errors.Is(err, fs.ErrNotExist)
	})
	l.write("go", "")
	r.end().must(l, 0)
	l.checkLog("log", "1.1\n1.2\n")
}
