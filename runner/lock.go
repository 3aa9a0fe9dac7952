package runner

import (
	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/door"
)

// openLock returns a new descriptor of the record, locked. The supervisor and everything
// that it starts inherit it, and the lock lasts until the last of them has closed it or
// died: pids cannot be mistaken for others, and no /proc is needed to ask.
func (a *attempt) openLock() (int, error) {
	fd, err := door.OpenAt(a.dir, RecordName, unix.O_RDONLY)
	if err != nil {
		return -1, err
	}
	// Where locks are not supported the marker in the environment must do.
	_ = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	return fd, nil
}

// locked reports whether a process of the attempt holds the lock.
func (a *attempt) locked() bool {
	fd, err := door.OpenAt(a.dir, RecordName, unix.O_RDONLY)
	if err != nil {
		return false
	}
	defer unix.Close(fd) // and with it, the lock
	return unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB) == unix.EWOULDBLOCK
}
