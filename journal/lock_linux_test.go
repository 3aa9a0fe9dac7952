package journal_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/journal"
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
