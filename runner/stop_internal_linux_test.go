package runner

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// From SIGTERM to SIGKILL the grace passes, less where the disk fills meanwhile, and none where
// nobody wants to wait; leftovers have a second to end by themselves, and at most one more. The
// control group stands for a process that only SIGKILL ends.
func TestGrace(t *testing.T) {
	for name, c := range map[string]struct {
		reason  stopReason // none: the command has ended
		grace   time.Duration
		elapsed time.Duration
	}{
		"cancelled": {stopCancel, 200 * time.Millisecond, 200 * time.Millisecond},
		"killed":    {stopKill, 200 * time.Millisecond, 0},
		"floods":    {stopFlood, 1500 * time.Millisecond, time.Second},
		"has ended": {"", 200 * time.Millisecond, 1200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				a, err := prepare(Job{Dir: filepath.Join(dir, "a1"), ID: dir, Shell: "true", Grace: c.grace})
				if err != nil {
					t.Fatal(err)
				}
				defer a.close()
				group := t.TempDir()
				if err := os.WriteFile(filepath.Join(group, "cgroup.events"), []byte("populated 1\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				a.cgroup = cgroup(group)
				a.uptime = uptime() // who lived before that is none of it
				begun, l := time.Now(), new(Local)
				if c.reason != "" {
					l.stop(a, c.reason)
				} else {
					l.sweep(a, begun)
				}
				if got := time.Since(begun); got != c.elapsed {
					t.Errorf("%s: SIGKILL after %v; want %v", name, got, c.elapsed)
				}
				if _, err := os.Stat(filepath.Join(group, "cgroup.kill")); err != nil {
					t.Errorf("%s: not killed: %v", name, err)
				}
			})
		})
	}
}

// begin starts a program for a test, and returns it with its input.
func begin(t *testing.T, name string, arg ...string) (process, io.Writer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, arg...)
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	p, _ := readProcess(cmd.Process.Pid)
	return p, in
}

// A supervisor in its exec has no command line yet. What it has forked since, and what still has
// its own, is not the command: a signal would be lost on it.
func TestAwaitsTheCommandOfAYoungSupervisor(t *testing.T) {
	supervisor, line := begin(t, "sh", "-c", "read line; exec sleep 600")
	fork, _ := begin(t, "sleep", "600")
	command, _ := begin(t, "sleep", "601")
	looks := 0
	find := func(func(process)) []process {
		if looks++; looks == 1 {
			io.WriteString(line, "\n")
			for supervisor.command() != "sleep 600" || fork.command() != "sleep 600" || command.command() != "sleep 601" {
				time.Sleep(time.Millisecond)
			}
			return []process{supervisor, fork}
		}
		return []process{supervisor, fork, command}
	}
	a := &attempt{child: child{supervisor.pid}, ended: make(chan struct{}), started: time.Now().Add(time.Hour)}
	a.awaitCommand(&tree{find: find})
	if looks != 2 {
		t.Errorf("the command was there at look 2; waited for %d", looks)
	}
}

// A busy machine may take seconds to start the command, of which a signal before would be lost.
func TestAwaitsTheCommandOnABusyMachine(t *testing.T) {
	supervisor, _ := begin(t, "sleep", "600")
	command, _ := begin(t, "sleep", "601")
	synctest.Test(t, func(t *testing.T) { // at the times of a clock of its own
		const busy = 5 * time.Second
		a := &attempt{child: child{supervisor.pid}, ended: make(chan struct{}), started: time.Now()}
		a.awaitCommand(&tree{find: func(func(process)) []process {
			if time.Since(a.started) < busy {
				return []process{supervisor}
			}
			return []process{supervisor, command}
		}})
		if waited := time.Since(a.started); waited < busy || waited > busy+lookMin {
			t.Errorf("waited for %v; the command was there after %v", waited, busy)
		}
	})
}

// Whoever rejoined an attempt kills its supervisor first, which would write down the end of its command as
// if nobody had killed it.
func TestKillsTheSupervisorFirst(t *testing.T) {
	dir := t.TempDir()
	a, err := prepare(Job{Dir: filepath.Join(dir, "a1"), ID: dir, Shell: "true"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	t.Setenv(markerName, a.marker())
	outlived := filepath.Join(dir, "outlived")
	supervisor, _ := begin(t, "sh", "-c", `sleep 600; echo >"$0"`, outlived)
	a.pid = supervisor.pid
	var command process
	for command.command() != "sleep 600" {
		for p := range processes {
			if p.parent == supervisor.pid {
				command = p
			}
		}
	}
	looks := 0
	find := func(seen func(process)) []process {
		if looks++; looks == 1 || !command.alive() { // the first look kills nobody
			return nil
		}
		seen(command)
		for _, err := os.Stat(outlived); err != nil && supervisor.alive(); _, err = os.Stat(outlived) {
			time.Sleep(time.Millisecond)
		}
		seen(supervisor)
		return []process{command, supervisor}
	}
	if left := a.kill(&tree{find: find}); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
	if _, err := os.Stat(outlived); err == nil {
		t.Error("the supervisor has outlived its command")
	}
}
