package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/journal"
)

// Close frees the lock even if a copy of the descriptor lives: a child has one
// between its fork and its exec.
func TestCloseFreesTheLockOfCopies(t *testing.T) {
	path := aliases(t)[0]
	j, _, err := journal.Open(path, ignore)
	check(t, err)
	fds, err := os.ReadDir("/proc/self/fd")
	check(t, err)
	var open []int // before any copy, which may get the number that ReadDir had
	for _, fd := range fds {
		link := filepath.Join("/proc/self/fd", fd.Name())
		if target, err := os.Readlink(link); err != nil || !strings.HasPrefix(target, filepath.Dir(path)) {
			continue
		}
		number, err := strconv.Atoi(fd.Name())
		check(t, err)
		open = append(open, number)
	}
	if len(open) != 2 {
		t.Fatalf("%d files are open, want journal and lock", len(open))
	}
	for _, number := range open {
		dup, err := syscall.Dup(number)
		check(t, err)
		defer syscall.Close(dup)
	}
	check(t, j.Close())
	j, _, err = journal.Open(path, ignore)
	check(t, err)
	check(t, j.Close())
}

// What a killed process was just starting holds its lock for a while, on a machine that is
// busy for long. That is waited for, and is no other process at work.
func TestLockOfTheDead(t *testing.T) {
	path := aliases(t)[0]
	said, stop := startHelper(t, "bequeath", path)
	if said != "<nil>" {
		t.Fatal(said)
	}
	stop()
	inUse, err := journal.InUse(path)
	check(t, err)
	if inUse {
		t.Error("it is said to be in use")
	}
	said, stop = startHelper(t, "bequeath", path)
	if said != "<nil>" {
		t.Fatal(said)
	}
	stop()
	j, _, err := journal.Open(path, ignore)
	check(t, err)
	check(t, j.Close())
}

// What nobody may write is held as far as can be: it is seen whether somebody has it.
func TestHoldReadOnly(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "lbotune-journal") // which others can reach
	check(t, err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "journal.jsonl")
	j, err := journal.Create(path, header{"s1", 1})
	check(t, err)
	hold := func() (err error) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			if os.Geteuid() == 0 {
				runtime.LockOSThread() // which ends with the goroutine
				_ = unix.Setfsuid(65534)
			}
			var release func() error
			if release, err = journal.Hold(path); err == nil {
				err = errors.Join(release(), release())
			}
		}()
		<-done
		return err
	}
	defer os.Chmod(dir, 0o700)
	check(t, errors.Join(os.Chmod(path, 0o444), os.Chmod(journal.LockPath(path), 0o444), os.Chmod(dir, 0o555)))
	if err := hold(); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("while it is open: %v", err)
	}
	check(t, j.Close())
	check(t, hold())
	check(t, errors.Join(os.Chmod(dir, 0o755), os.Remove(journal.LockPath(path)), os.Chmod(dir, 0o555)))
	check(t, hold())
}
