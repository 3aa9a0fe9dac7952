package journal

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/internal/door"
)

// lockPatience is how long a held lock is waited for: a killed process may hold it
// until a child that it was just starting has reached its exec. Where the holder is known to
// be dead it can be no other, and on a machine that is busy that takes a while.
const (
	lockPatience   = 100 * time.Millisecond
	orphanPatience = 3 * time.Second
	lockPause      = 10 * time.Millisecond
)

// LockPath returns the path of the lock file beside the journal at path:
// journal.lock for journal.jsonl. The file is never removed; whether the lock is
// held is known to the operating system alone.
func LockPath(path string) string { return strings.TrimSuffix(path, ".jsonl") + ".lock" }

// acquire takes the lock beside the journal at path and writes down who holds it.
func acquire(fsys FS, path string) (File, error) {
	name := LockPath(path)
	lock, err := fsys.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		err = lock.Chmod(0o600) // whatever the umask left
	case errors.Is(err, os.ErrExist):
		lock, err = fsys.OpenFile(name, os.O_RDWR|os.O_APPEND, 0)
	}
	if err != nil {
		_ = closeFile(lock)
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

// patiently tries to take a lock until it can, or patience is over, which is longer where
// orphaned says that who took the lock is dead.
func patiently(try func() (bool, error), orphaned func() bool) (bool, error) {
	for waited := time.Duration(0); ; waited += lockPause {
		if ok, err := try(); ok || err != nil || waited >= orphanPatience || waited >= lockPatience && !orphaned() {
			return ok, err
		}
		time.Sleep(lockPause)
	}
}

func never() bool { return false }

// InUse reports whether a process has opened the journal at path to write. It takes the
// lock for an instant if it is free, which a starting process waits out.
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
	free, err := patiently(lock.tryShare, func() bool { return orphaned(lock) })
	return err == nil && !free, err
}

// writeHolder leaves a note for those who find the lock held. It is a courtesy: the
// lock holds without it, and so its errors (a full disk) are of no consequence.
func writeHolder(lock File) {
	host, _ := os.Hostname()
	note, err := json.Marshal(Holder{os.Getpid(), host, time.Now().Truncate(time.Second)})
	if err == nil && lock.Truncate(0) == nil {
		_, _ = lock.Write(append(note, '\n'))
	}
}

// holderOf is what the system knows of who holds the lock of file.
func holderOf(file File) Holder {
	if f, ok := file.(interface{ lockedBy() int }); ok {
		if pid := f.lockedBy(); pid != 0 {
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
	h := cmp.Or(holderOf(lock), readHolder(lock))
	host, err := os.Hostname()
	return err == nil && h.PID > 0 && h.Host == host && syscall.Kill(h.PID, 0) == syscall.ESRCH
}

func closeFile(f File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}
