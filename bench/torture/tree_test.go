//go:build linux

package torture_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
)

// named returns the processes whose command line holds a word, as a defence against
// those that have taken the lab's mark off.
func (l *lab) named(word string) (found []string) {
	l.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	l.check(err)
	for _, path := range lines {
		if line, err := os.ReadFile(path); err == nil && strings.Contains(string(line), word) && !strings.Contains(string(line), os.Getenv(programVar)) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

var naps atomic.Int64

// nap is a command that no other test waits with.
func (l *lab) nap() string {
	return fmt.Sprintf("sleep 1000.%d%03d", os.Getpid(), naps.Add(1))
}

// What a trial leaves behind is ended and reported, and does not hold the study up.
func TestLeftovers(t *testing.T) {
	slow(t)
	for name, command := range map[string]string{
		"in the background":    "NAP & echo loss={x}",
		"in another session":   "setsid NAP & echo loss={x}",
		"a daemon":             "(setsid sh -c 'NAP >/dev/null 2>&1 &' &); sleep 0.1; echo loss={x}",
		"without a name":       "env -i setsid NAP <&- >&- 2>&- 9>&- & sleep 0.1; echo loss={x}",
		"that ignores SIGTERM": "sh -c 'trap \"\" TERM; NAP; NAP' & sleep 0.1; echo loss={x}",
		"holding stdout":       "(NAP) & echo loss={x}",
		"a whole tree":         "sh -c 'NAP & NAP & setsid NAP & wait' & sleep 0.1; echo loss={x}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			nap := l.nap()
			l.spec("spec.toml", strings.ReplaceAll(command, "NAP", nap), 3, 1)
			res := l.run(0, "run", "spec.toml")
			if left := l.named(nap[6:]); len(left) > 0 {
				t.Errorf("these live: %q", left)
			}
			if n := l.load().Count(optimizer.Succeeded); n != 3 {
				t.Errorf("%d trials succeeded", n)
			}
			if n := strings.Count(l.read("spec.study/journal.jsonl"), `"leftovers":"`); n != 3 {
				t.Errorf("%d records tell of leftovers", n)
			}
			res.mustSay(l, "left processes running", nap)
		})
	}
}

// A trial that runs out of time is ended with all that it has started.
func TestTimeoutEndsTheTree(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	nap := l.nap()
	l.spec("spec.toml", fmt.Sprintf("setsid %s & sh -c 'trap \"\" TERM; %s; %s' & (env -i setsid %s 9>&- &); %s; echo loss={x}", nap, nap, nap, nap, nap), 2, 2,
		`timeout = "500ms"`, `grace = "200ms"`)
	l.run(5, "run", "spec.toml").mustSay(l, "timed out after 500ms")
	if left := l.named(nap[6:]); len(left) > 0 {
		t.Errorf("these live: %q", left)
	}
}

// A trial that stops itself still runs out of time.
func TestTimeoutOfAStoppedTrial(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.spec("spec.toml", "kill -STOP $$; echo loss={x}", 2, 2, `timeout = "500ms"`)
	l.run(5, "run", "spec.toml").mustSay(l, "timed out after 500ms")
}

// cgroup makes a control group that can hold so many processes and returns a shell
// command that enters it, or "" if there are none to be had.
func (l *lab) cgroup(most int) string {
	l.Helper()
	for _, root := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} {
		dir := filepath.Join(root, fmt.Sprintf("lbotune-torture-%d", os.Getpid()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		if os.WriteFile(dir+"/pids.max", []byte(strconv.Itoa(most)), 0o644) != nil {
			_ = os.Remove(dir)
			continue
		}
		l.Cleanup(func() { l.await("the control group to be empty", func() bool { return os.Remove(dir) == nil }) })
		return fmt.Sprintf("echo $$ > %s/cgroup.procs || exit 9; ", dir)
	}
	return ""
}

// A fork bomb is ended when its time is over, whether it has a limit of its own or takes
// every process that lbotune might need.
func TestForkBomb(t *testing.T) {
	slow(t)
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash, which goes on when it cannot fork")
	}
	for name, shared := range map[string]bool{"within its own limit": false, "within the limit of lbotune": true} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			enter := l.cgroup(scaled(60, 400))
			if enter == "" {
				t.Skip("needs control groups")
			}
			around := enter
			if shared {
				enter = ""
			} else {
				around = ""
			}
			l.write("bomb", "b() { b | b & }; b; kill -STOP $$; echo loss=$1\n")
			l.spec("spec.toml", enter+bash+" "+l.path("bomb")+" {x}", 1, 1, `timeout = "1s"`, `grace = "100ms"`)
			r := l.program("/bin/sh", "-c", around+`exec "$0" run spec.toml`, os.Getenv(programVar))
			r.launch()
			res := r.end()
			res.must(l, 5)
			res.mustSay(l, "timed out after 1s")
			if left := l.named(l.path("bomb")); len(left) > 0 {
				t.Errorf("%d processes live", len(left))
			}
		})
	}
}

// So are a hundred processes in sessions of their own.
func TestManyProcesses(t *testing.T) {
	slow(t)
	l := newLab(t)
	nap := l.nap()
	l.write("spread", "#!/bin/sh\n[ $1 -gt 0 ] && for i in 1 2; do setsid \"$0\" $(($1 - 1)) & done\nexec "+nap+"\n")
	l.check(os.Chmod(l.path("spread"), 0o755))
	l.spec("spec.toml", l.path("spread")+" 6; echo loss={x}", 1, 1, `timeout = "1s"`, `grace = "100ms"`)
	l.run(5, "run", "spec.toml").mustSay(l, "timed out after 1s")
	if left := l.named(nap[6:]); len(left) > 0 {
		t.Errorf("%d processes live", len(left))
	}
}

// An attempt of which only a part was killed runs again, but not before the rest of it
// has ended.
func TestHalfKilledAttempt(t *testing.T) {
	l := newLab(t)
	nap := l.nap()
	l.spec("spec.toml", fmt.Sprintf("cd %s; if test -e go; then pgrep -f '^%s' > seen; echo loss={x}; exit; fi; %s & touch started; wait", l.dir, nap, nap), 1, 1)
	r := l.start("run", "spec.toml")
	l.await("the trial", func() bool { return l.exists("started") && len(l.named(nap[6:])) > 0 })
	l.check(r.Process.Kill())
	r.end().must(l, 137)
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} { // so that none sees another's end
		for pid, cmd := range l.alive() {
			if !strings.HasPrefix(cmd, nap) {
				l.check(syscall.Kill(pid, sig))
			}
		}
	}
	l.write("go", "")
	l.run(0, "run", "spec.toml").mustSay(l, "attempt 1: the attempt was lost")
	if seen := l.read("seen"); seen != "" {
		t.Errorf("the second attempt ran beside process %s", seen)
	}
	if st := l.load(); st.Trials[0].Attempt != 2 {
		t.Errorf("attempt %d counted", st.Trials[0].Attempt)
	}
}

// What has cut every tie to its trial but the control group is ended although lbotune was
// killed meanwhile, so that it is no orphan of the one that rejoins the trial.
func TestStrayOfAKilledLbotune(t *testing.T) {
	l := newLab(t)
	nap := l.nap()
	l.spec("spec.toml", "cd "+l.dir+"; (env -i setsid "+nap+" <&- >&- 2>&- 9>&- &); cat /proc/self/cgroup > group; touch started; until test -e go; do sleep 0.02; done; echo loss={x}", 1, 1)
	r := l.start("run", "spec.toml")
	l.await("the trial", func() bool { return l.exists("started") && len(l.named(nap[6:])) > 0 })
	l.check(r.Process.Kill())
	r.end().must(l, 137)
	l.write("go", "")
	if !strings.Contains(l.read("group"), "/lbotune-") {
		l.kill()
		t.Skip("needs control groups of version 2")
	}
	l.run(0, "run", "spec.toml").mustSay(l, "left processes running", nap)
	if left := l.named(nap[6:]); len(left) > 0 {
		t.Errorf("these live: %q", left)
	}
}

// unshared prepares lbotune as the first process of a name space of process ids, as in
// a container.
func (l *lab) unshared(args ...string) *run {
	l.Helper()
	r := l.command(args...)
	r.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	// A /proc of its own would need a program in between.
	r.Path, r.Args = "/bin/sh", append([]string{"sh", "-c", `mount -t proc proc /proc && exec "$0" "$@"`, r.Path}, r.Args[1:]...)
	return r
}

// launchOrSkip starts a run that needs rights.
func (r *run) launchOrSkip() {
	r.lab.Helper()
	if os.Geteuid() != 0 {
		r.lab.Skip("needs the right to make name spaces")
	}
	r.launch()
}

// As PID 1 of a container lbotune does what it does elsewhere, orphans included.
func TestAsPID1(t *testing.T) {
	l := newLab(t)
	nap := l.nap()
	l.spec("spec.toml", "(setsid "+nap+" &); test $$ -lt 1000 && echo loss={x}", 6, 2)
	r := l.unshared("run", "spec.toml")
	r.launchOrSkip()
	res := r.end()
	res.must(l, 0)
	res.mustSay(l, "left processes running")
	if n := l.load().Count(optimizer.Succeeded); n != 6 {
		t.Errorf("%d trials succeeded", n)
	}
	l.run(0, "journal", "replay", "spec.study")
}

// A container that is stopped is a study that is interrupted.
func TestTerminatedAsPID1(t *testing.T) {
	l := newLab(t)
	l.spec("spec.toml", l.saver(), 3, 1)
	r := l.unshared("run", "spec.toml")
	r.launchOrSkip()
	l.await("the trial", func() bool { return l.exists("started") })
	l.check(r.Process.Signal(syscall.SIGTERM))
	r.end().must(l, 143)
	if log := l.read("log"); log != "asked 1\nsaved 1\n" {
		t.Errorf("the log is %q", log)
	}
	l.goesOn(3)
}

// Killed with its container, or while its trials live in another one: what died runs
// again, what lives is waited for although its processes cannot be seen.
func TestOtherContainers(t *testing.T) {
	l := newLab(t)
	l.spec("spec.toml", "cd "+l.dir+"; echo {trial}.{attempt} >> log; touch started; until test -e go; do sleep 0.02; done; echo loss={x}", 2, 1)
	inside := l.unshared("run", "spec.toml")
	inside.launchOrSkip()
	l.await("the trial", func() bool { return l.exists("started") })
	l.check(inside.Process.Kill()) // and with it, all that runs inside
	inside.end().must(l, 137)
	l.check(os.Remove(l.path("started")))

	outside := l.start("run", "spec.toml")
	l.await("the second attempt", func() bool { return l.exists("started") })
	l.check(outside.Process.Kill())
	outside.end().must(l, 137)

	third := l.unshared("run", "spec.toml")
	third.launch()
	l.await("its beginning", func() bool { return strings.Contains(third.said(), "resuming study") })
	l.write("go", "")
	third.end().must(l, 0)
	if log := l.read("log"); log != "1.1\n1.2\n2.1\n" {
		t.Errorf("these attempts ran: %q", log)
	}
	for _, trial := range l.load().Trials {
		if trial.Failure != nil || trial.Attempt != 3-trial.Number {
			t.Errorf("trial %d: attempt %d, %+v", trial.Number, trial.Attempt, trial.Failure)
		}
	}
}
