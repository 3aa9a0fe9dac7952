//go:build !linux

package runner

import (
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Without /proc, pidfd and subreapers an attempt is its process group, and whoever holds its lock.

// commandPatience bounds how long a supervisor may take to start its command, which cannot be seen here.
const commandPatience = time.Second

// process stands for a whole process group: signals to a negative number go to all of it.
type process struct{ pid, group int }

// GroupLives reports whether a process of a group is left.
func GroupLives(group int) bool { return unix.Kill(-group, 0) == nil }

func (p process) identity() process { return p }

func (p process) in(group int) bool { return p.group == group }

func (p process) alive() bool { return unix.Kill(p.pid, 0) == nil }

func (p process) signal(sig unix.Signal) { _ = unix.Kill(p.pid, sig) }

func (p process) command() string { return "a process group" }

func (a *attempt) find(_ []process, seen func(process)) []process {
	if p := (process{pid: -a.pid, group: a.pid}); a.pid > 1 && p.alive() {
		seen(p)
		return []process{p}
	}
	return nil
}

func (a *attempt) chase(long time.Duration, _ func(process)) { time.Sleep(long) }

func (l *Local) adopt() {}

func (l *Local) orphans() []process { return nil }

func (l *Local) strays(*attempt) []process { return nil }

// cgroup stands for a control group where there are none.
type cgroup string

func (cgroup) kill() {}

func (cgroup) populated() bool { return false }

func (l *Local) enclose(*attempt, *syscall.SysProcAttr) (leave func()) { return func() {} }

func (a *attempt) regroup(string) {}

func (a *attempt) release() {}

func (a *attempt) bereft(record) bool { return false }

func (a *attempt) supervisor() (p process, lives bool) {
	return process{pid: -a.pid, group: a.pid}, a.pid > 1 && a.locked() && unix.Kill(a.pid, 0) == nil
}

func sysProcAttr() (*syscall.SysProcAttr, *int) {
	return &syscall.SysProcAttr{Setsid: true}, nil
}

// child is a supervisor's process and, since it cannot stay a zombie here, how it ended.
type child struct {
	pid    int
	reaped atomic.Bool
	status unix.WaitStatus
	used   unix.Rusage
	err    error
}

func (c *child) await(*int) {
	for {
		_, err := unix.Wait4(c.pid, &c.status, 0, &c.used)
		if err != unix.EINTR {
			c.err = err
			c.reaped.Store(true)
			return
		}
	}
}

func (c *child) takeStatus() (unix.WaitStatus, usage, error) {
	return c.status, usageOf(&c.used), c.err
}

// maxrssUnit is in what macOS counts resident memory, in bytes.
const maxrssUnit = 1

func (c *child) dead() bool { return c.reaped.Load() }

func punchHole(int, int64, int64) error { return unix.ENOTSUP }

func dataAt(_ int, offset int64) (data, hole int64) { return offset, math.MaxInt64 }

func uptime() time.Duration { return 0 } // the wall clock must do

// bootID is the time of the last boot.
func bootID() string {
	boot, err := unix.SysctlRaw("kern.boottime")
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%x", boot)
}

func pidNamespace() string { return "" }

func openSelf() (fd int, path string, err error) {
	path, err = os.Executable()
	return -1, path, err
}
