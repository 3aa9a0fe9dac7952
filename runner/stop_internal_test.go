package runner

import (
	"fmt"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Who holds an attempt's lock is of it, also if no look finds him and there is no control group.
func TestRidAsksTheLock(t *testing.T) {
	a, lock := locked(t)
	none := &tree{find: func(func(process)) []process { return nil }}
	if a.empty(none) {
		t.Error("nothing is left, though the lock is held")
	}
	if unix.Close(lock); !a.empty(none) {
		t.Error("something is left, though nobody holds the lock")
	}
}

// A process that forks and exits all the time may hide from a look, and is looked for until
// nobody holds the lock any more; one that no look will find does not hold us up for ever.
func TestKillAsksTheLock(t *testing.T) {
	for _, c := range []struct{ released, looks int }{{3, 3}, {2 * vainLooks, vainLooks}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			a, lock := locked(t)
			looks := 0
			left := a.kill(&tree{find: func(func(process)) []process {
				if looks++; looks == c.released {
					unix.Close(lock)
				}
				return nil
			}})
			if looks != c.looks || len(left) > 0 {
				t.Errorf("%d looks, left %v; want %d looks", looks, left, c.looks)
			}
			if c.looks < c.released {
				unix.Close(lock)
			}
		})
	}
}

// locked is an attempt that has not started, and a lock on it that somebody holds.
func locked(t *testing.T) (a *attempt, lock int) {
	t.Helper()
	dir := t.TempDir()
	a, err := prepare(Job{Dir: filepath.Join(dir, "a1"), ID: dir, Shell: "true"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.close)
	if lock, err = a.openLock(); err != nil {
		t.Fatal(err)
	}
	return a, lock
}
