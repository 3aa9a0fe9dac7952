package runner

import (
	"math"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// child is a supervisor's process.
type child struct{ pid int }

// sysProcAttr makes the supervisor leader of a session of its own, so that no signal of a
// terminal reaches it. pidfd receives a descriptor of the child, or -1 where the kernel
// has none.
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

// dead reports whether the supervisor, our child, has ended.
func (c *child) dead() bool { return peek(c.pid, unix.WNOHANG) }

// dataAt returns the first offset of the file from offset on that is not in a hole, and
// where the next hole begins. A file without holes ends in one.
func dataAt(fd int, offset int64) (data, hole int64) {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Blocks*512 >= st.Size {
		return offset, math.MaxInt64
	}
	data, err := unix.Seek(fd, offset, unix.SEEK_DATA)
	if err != nil {
		return offset, math.MaxInt64
	}
	if hole, err = unix.Seek(fd, data, unix.SEEK_HOLE); err != nil {
		hole = math.MaxInt64
	}
	return data, hole
}

// openSelf opens this program, which may be replaced or deleted meanwhile, and says by which path
// it is started where that is selfFD.
func openSelf() (fd int, path string, err error) {
	fd, err = unix.Open("/proc/self/exe", unix.O_PATH|unix.O_CLOEXEC, 0)
	return fd, "/proc/self/fd/" + strconv.Itoa(selfFD), err
}
