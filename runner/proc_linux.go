package runner

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

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

// readProcess returns process pid, and whether there is one.
func readProcess(pid int) (process, bool) {
	var buf [512]byte
	data, err := readSmall(procPath(pid, "stat"), buf[:])
	// pid (comm) state ppid pgrp session tty tpgid flags 4×faults 4×times priority nice
	// threads itrealvalue starttime; comm may hold anything, also ")".
	end := bytes.LastIndexByte(data, ')')
	if err != nil || end < 0 {
		return process{}, false
	}
	f := bytes.Fields(data[end+1:])
	if len(f) < 20 {
		return process{}, false
	}
	num := func(i int) int64 {
		n, _ := strconv.ParseInt(string(f[i]), 10, 64)
		return n
	}
	dead := f[0][0] == 'Z' || f[0][0] == 'X'
	return process{
		pid: pid, parent: int(num(1)), group: int(num(2)), session: int(num(3)),
		start: num(19), zombie: dead && num(17) <= 1,
	}, true
}

// processes yields every process of the machine that this one can see.
func processes(yield func(process) bool) {
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := readProcess(pid); ok && !yield(p) {
			return
		}
	}
}

// alive reports whether p is still the process that it was.
func (p process) alive() bool {
	now, ok := readProcess(p.pid)
	return ok && now.start == p.start && !now.zombie
}

// in reports whether p is in a process group.
func (p process) in(group int) bool {
	now, ok := readProcess(p.pid)
	return ok && now.group == group
}

// signal sends sig to p, and never to another process that has got its number since.
func (p process) signal(sig unix.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err == nil {
		defer unix.Close(fd)
	}
	switch {
	case !p.alive():
	case err == nil:
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	case err != unix.ESRCH: // a kernel before 5.3
		_ = unix.Kill(p.pid, sig)
	}
}

// command returns the command line of p for people.
func (p process) command() string {
	data, err := os.ReadFile(procPath(p.pid, "cmdline"))
	if err != nil || len(data) == 0 {
		data, _ = os.ReadFile(procPath(p.pid, "comm"))
	}
	const most = 200
	line := bytes.TrimSpace(bytes.ReplaceAll(data[:min(len(data), most)], []byte{0}, []byte{' '}))
	return strings.ReplaceAll(Sanitize(string(line)), "\n", " ")
}

// marked reports whether p was started with the marker of an attempt in its environment,
// at whatever depth.
func (p process) marked(marker string) bool {
	return slices.Contains(strings.Fields(p.markers()), marker)
}

// markers returns the value of LBOTUNE_ATTEMPT in the environment of p, if that can be read.
func (p process) markers() string {
	env, err := os.ReadFile(procPath(p.pid, "environ"))
	if err != nil {
		return ""
	}
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(kv, []byte(markerName+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// holds reports whether p has a record open that is the one, under whatever path p knows it, and
// by the descriptor that is locked: who merely reads it has another.
func (p process) holds(is func(*unix.Stat_t) bool) bool {
	dir := procPath(p.pid, "fd")
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		link := dir + "/" + name
		if to, err := os.Readlink(link); err != nil || !strings.Contains(to, RecordName) {
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

// readSmall reads what fits into buf of a file of /proc, in one read.
func readSmall(path string, buf []byte) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, buf)
	return buf[:max(n, 0)], err
}

// uptime is the time since the machine booted, sleep included.
func uptime() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return 0
	}
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
