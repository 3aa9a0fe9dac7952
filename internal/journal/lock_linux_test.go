package journal_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

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
