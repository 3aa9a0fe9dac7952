package runner

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/ansi"
)

// commandPatience bounds how long a supervisor may take to start its command.
const commandPatience = 10 * time.Second

// process is one process as /proc/PID/stat showed it.
type process struct {
	pid, parent, group, session int
	start                       int64 // clock ticks since boot; with pid, never used twice
	zombie                      bool  // it has ended, and so have all of its threads
}

// identity returns what stays the same of a process.
func (p process) identity() process { return process{pid: p.pid, start: p.start} }

// tick is the unit of process.start. The kernel promises 100 a second to programs.
const tick = 10 * time.Millisecond

func readProcess(pid int) (process, bool) {
	var data [512]byte
	fd, err := unix.Open(procPath(pid, "stat"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return process{}, false
	}
	n, _ := unix.Read(fd, data[:]) // once: many processes are looked at
	unix.Close(fd)
	// pid (comm) state ppid pgrp session tty tpgid flags 4×faults 4×times priority nice threads
	// itrealvalue starttime; comm may hold anything, also ")".
	line := data[:max(n, 0)]
	f := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(f) < 20 {
		return process{}, false
	}
	num := func(i int) int64 {
		n, _ := strconv.ParseInt(string(f[i]), 10, 64)
		return n
	}
	dead := f[0][0] == 'Z' || f[0][0] == 'X'
	return process{pid, int(num(1)), int(num(2)), int(num(3)), num(19), dead && num(17) <= 1}, true
}

// processes yields every process of the machine that this one can see, the latest first: what forks and
// exits all the time is gone by the time that all others have been read.
func processes(yield func(process) bool) {
	var pids []int
	for _, name := range namesIn("/proc") {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	last := latest()
	age := func(pid int) uint32 { return uint32(last - pid) } // greater numbers are from before they began anew
	slices.SortFunc(pids, func(a, b int) int { return cmp.Compare(age(a), age(b)) })
	for _, pid := range pids {
		if p, ok := readProcess(pid); ok && !yield(p) {
			return
		}
	}
}

// GroupLives reports whether a process of a group has not ended. Those that nobody has reaped have; one that is too
// quick to be seen has not.
func GroupLives(group int) bool {
	if unix.Kill(-group, 0) != nil {
		return false
	}
	ended := false
	for p := range processes {
		if p.group == group && !p.zombie {
			return true
		}
		ended = ended || p.group == group
	}
	return !ended
}

// latest returns the process id that was given away last, in our name space.
func latest() int {
	load, _ := os.ReadFile("/proc/loadavg")
	pid, _ := strconv.Atoi(string(bytes.TrimSpace(load[bytes.LastIndexByte(load, ' ')+1:])))
	return pid
}

// namesIn lists what is in a directory of /proc, in no order.
func namesIn(path string) []string {
	dir, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	return names
}

// alive reports whether p is still the process that it was.
func (p process) alive() bool {
	now, ok := readProcess(p.pid)
	return ok && now.start == p.start && !now.zombie
}

func (p process) in(group int) bool {
	now, ok := readProcess(p.pid)
	return ok && now.group == group
}

// signal sends sig to p, and never to another process that has got its number since.
func (p process) signal(sig unix.Signal) {
	target, _ := os.FindProcess(p.pid) // by a pidfd, where the kernel has them; it never fails
	defer target.Release()
	if p.alive() {
		_ = target.Signal(sig)
	}
}

func (p process) command() string {
	data, err := os.ReadFile(procPath(p.pid, "cmdline"))
	if err != nil || len(data) == 0 {
		data, _ = os.ReadFile(procPath(p.pid, "comm"))
	}
	const most = 200
	line := bytes.TrimSpace(bytes.ReplaceAll(data[:min(len(data), most)], []byte{0}, []byte{' '}))
	return strings.ReplaceAll(ansi.Sanitize(string(line)), "\n", " ")
}

// marked reports whether p has the marker of an attempt in its environment, at whatever depth.
func (p process) marked(marker string) bool {
	value, _ := p.getenv(markerName)
	return slices.Contains(strings.Fields(value), marker)
}

// hooked reports whether p was started by a hook of a study, which sets this and no marker.
func (p process) hooked() bool {
	_, hooked := p.getenv("LBOTUNE_EVENT")
	value, _ := p.getenv(markerName)
	return hooked && value == os.Getenv(markerName)
}

func (p process) getenv(name string) (value string, ok bool) {
	env, _ := os.ReadFile(procPath(p.pid, "environ"))
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(kv, []byte(name+"=")); ok {
			return string(value), true
		}
	}
	return "", false
}

// holds reports whether p has that record open, by the descriptor that is locked: a reader has another.
func (p process) holds(is func(*unix.Stat_t) bool) bool {
	dir := procPath(p.pid, "fd")
	for _, name := range namesIn(dir) {
		link := dir + "/" + name
		if to, err := os.Readlink(link); err != nil || !strings.Contains(to, recordName) {
			continue
		}
		var st unix.Stat_t
		if unix.Stat(link, &st) != nil || !is(&st) {
			continue
		}
		if info, err := os.ReadFile(procPath(p.pid, "fdinfo/"+name)); err != nil || bytes.Contains(info, []byte("\nlock:")) {
			return true
		}
	}
	return false
}

// pidsIn reads the process ids that the kernel lists; 0 is one in another name space.
func pidsIn(text []byte) (pids []int) {
	for word := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

func procPath(pid int, name string) string {
	return "/proc/" + strconv.Itoa(pid) + "/" + name
}

// uptime is the time since the machine booted, sleep included.
func uptime() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts)
	return time.Duration(ts.Nano())
}

// bootID names this boot of this kernel; no two are alike.
func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(id))
}

// pidNamespace names the space in which our process ids count.
func pidNamespace() string {
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return fmt.Sprintf("unknown: %v", err)
	}
	return ns
}

type child struct{ pid int }

// sysProcAttr makes the supervisor leader of a session of its own, which no terminal's signal reaches.
// pidfd receives a descriptor of the child, or -1 where the kernel has none.
func sysProcAttr() (attr *syscall.SysProcAttr, pidfd *int) {
	pidfd = new(int)
	*pidfd = -1
	return &syscall.SysProcAttr{Setsid: true, PidFD: pidfd}, pidfd
}

// await returns when the supervisor has ended, and leaves it a zombie: until takeStatus
// frees it, its number, and so its group's and session's, cannot become another's.
func (c *child) await(pidfd *int) {
	if *pidfd >= 0 && unix.SetNonblock(*pidfd, true) == nil {
		// The runtime's poller waits, and no thread is held up.
		f := os.NewFile(uintptr(*pidfd), "pidfd")
		defer f.Close()
		if conn, err := f.SyscallConn(); err == nil {
			_ = conn.Read(func(uintptr) bool { return peek(c.pid, unix.WNOHANG) })
		}
	}
	for !peek(c.pid, 0) {
	}
}

// peek reports whether child pid has ended, or is no child.
func peek(pid, flags int) bool {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|flags, nil)
		if err != unix.EINTR {
			return err != nil || info.Signo != 0
		}
	}
}

func (c *child) dead() bool { return peek(c.pid, unix.WNOHANG) }

// takeStatus reaps the supervisor, and takes the account of it and of those below it.
func (c *child) takeStatus() (unix.WaitStatus, usage, error) {
	for {
		var status unix.WaitStatus
		var used unix.Rusage
		_, err := unix.Wait4(c.pid, &status, 0, &used)
		if err != unix.EINTR {
			return status, usageOf(&used), err
		}
	}
}

// maxrssUnit is in what the kernel counts resident memory, in bytes.
const maxrssUnit = 1024

// punchHole gives the blocks of a part of a file back to the file system.
func punchHole(fd int, from, length int64) error {
	return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, length)
}

// dataAt returns where from offset on a file's next data begin, and the next hole, at its end if none.
func dataAt(fd int, offset int64) (data, hole int64) {
	data, err := unix.Seek(fd, offset, unix.SEEK_DATA)
	if err != nil {
		return offset, math.MaxInt64
	}
	if hole, err = unix.Seek(fd, data, unix.SEEK_HOLE); err != nil {
		hole = math.MaxInt64
	}
	return data, hole
}

// openSelf opens this program, which may be replaced meanwhile, and says by which path selfFD is run.
func openSelf() (fd int, path string, err error) {
	fd, err = unix.Open("/proc/self/exe", unix.O_PATH|unix.O_CLOEXEC, 0)
	return fd, "/proc/self/fd/" + strconv.Itoa(selfFD), err
}
