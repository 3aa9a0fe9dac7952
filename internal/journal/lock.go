package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/door"
)

// lockPatience is how long a held lock is waited for: a killed process may hold it until a child has
// reached its exec; where the holder is known to be dead it can be no other.
const (
	lockPatience   = 100 * time.Millisecond
	orphanPatience = 3 * time.Second
	lockPause      = 10 * time.Millisecond
)

// LockPath returns the path of the lock file beside the journal at path: journal.lock for
// journal.jsonl. It is never removed, and whether it is locked only the system knows.
func LockPath(path string) string { return strings.TrimSuffix(path, ".jsonl") + ".lock" }

// acquire takes the lock beside the journal at path and writes down who holds it.
func acquire(fsys FS, path string) (File, error) {
	name := LockPath(path)
	lock, err := newFile(fsys, name)
	if errors.Is(err, os.ErrExist) {
		lock, err = fsys.OpenFile(name, os.O_RDWR|os.O_APPEND)
	}
	if err != nil {
		return nil, &WriteError{path, "lock", err}
	}
	if err := tryLock(path, lock, func() bool { return orphaned(lock) }); err != nil {
		var locked *LockedError
		if errors.As(err, &locked) {
			if note := readHolder(lock); note.PID != 0 {
				locked.Holder = note
			}
		}
		_ = lock.Close()
		return nil, err
	}
	writeHolder(lock)
	return lock, nil
}

// tryLock locks file, the journal at path or its lock file.
func tryLock(path string, file File, orphaned func() bool) error {
	switch ok, err := patiently(file.TryLock, orphaned); {
	case err != nil:
		return &WriteError{path, "lock", err}
	case !ok:
		return &LockedError{path, holderOf(file)}
	}
	return nil
}

// patiently tries to take a lock, for longer where orphaned says that its taker is dead.
func patiently(try func() (bool, error), orphaned func() bool) (bool, error) {
	for waited := time.Duration(0); ; waited += lockPause {
		if ok, err := try(); ok || err != nil || waited >= orphanPatience || waited >= lockPatience && !orphaned() {
			return ok, err
		}
		time.Sleep(lockPause)
	}
}

func never() bool { return false }

// InUse reports whether somebody has opened the journal to write. It takes a free lock for an instant.
func InUse(path string) (bool, error) {
	f, err := door.OpenFile(LockPath(path), os.O_RDONLY)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look at who uses the journal: %w", err)
	}
	lock := osFile{f}
	defer lock.Close()
	share := func() (bool, error) { return lock.tryFlock(syscall.LOCK_SH) } // with others who only look
	free, err := patiently(share, func() bool { return orphaned(lock) })
	return err == nil && !free, err
}

// writeHolder leaves a note for those who find the lock held, which holds without it: errors are no matter.
func writeHolder(lock File) {
	host, _ := os.Hostname()
	note, err := json.Marshal(Holder{os.Getpid(), host, time.Now().Truncate(time.Second), startOf(os.Getpid())})
	if err == nil && lock.Truncate(0) == nil {
		_, _ = lock.Write(append(note, '\n'))
	}
}

// holderOf is what the system knows of who holds the lock of file.
func holderOf(file File) Holder {
	if f, ok := file.(osFile); ok {
		if pid := f.lockedByList("/proc/locks"); pid != 0 { // Linux alone has it
			host, _ := os.Hostname()
			return Holder{PID: pid, Host: host}
		}
	}
	return Holder{}
}

func readHolder(lock File) Holder {
	var note [4096]byte
	n, err := lock.ReadAt(note[:], 0)
	var holder Holder
	if err != nil && err != io.EOF || json.Unmarshal(note[:n], &holder) != nil {
		return Holder{}
	}
	return holder
}

// orphaned reports whether who took the lock was a process of this machine that is no more.
func orphaned(lock File) bool {
	note := readHolder(lock)
	h := cmp.Or(holderOf(lock), note)
	host, err := os.Hostname()
	another := h.PID == note.PID && note.Start != "" && note.Start != startOf(h.PID)
	return err == nil && h.PID > 0 && h.Host == host && (another || syscall.Kill(h.PID, 0) == syscall.ESRCH)
}

// startOf is when a process began, as the system counts; empty where it does not say.
func startOf(pid int) string {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // Linux alone has it
	// The name of the program is in brackets and may hold anything. The start is the 22nd field.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

func closeFile(f File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// lockedByList looks in the system's list of locks for who holds that of f: one that opened the journal by
// another name has left its note elsewhere. It is 0 where that is not known.
func (f osFile) lockedByList(path string) int {
	info, err1 := f.Stat()
	locks, err2 := os.Open(path)
	if err1 != nil || err2 != nil {
		return 0
	}
	defer locks.Close()
	for lines := bufio.NewScanner(locks); lines.Scan(); {
		// 3: FLOCK  ADVISORY  WRITE 20420 fe:00:9991123 0 EOF
		var number, kind, strict, mode string
		var pid int
		var major, minor uint32
		var inode uint64
		n, _ := fmt.Sscanf(lines.Text(), "%s %s %s %s %d %x:%x:%d", &number, &kind, &strict, &mode, &pid, &major, &minor, &inode)
		if n == 8 && kind == "FLOCK" && pid > 0 && inode == info.Ino && unix.Mkdev(major, minor) == info.Dev {
			return pid
		}
	}
	return 0
}
