package runner

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Who holds an attempt's lock is of it, also if no look finds him and there is no control group.
func TestRidAsksTheLock(t *testing.T) {
	dir := t.TempDir()
	a, err := prepare(Job{Dir: filepath.Join(dir, "a1"), ID: dir, Shell: "true"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	lock, err := a.openLock()
	if err != nil {
		t.Fatal(err)
	}
	none := &tree{find: func(func(process)) []process { return nil }}
	if a.rid(none) {
		t.Error("nothing is left, though the lock is held")
	}
	if unix.Close(lock); !a.rid(none) {
		t.Error("something is left, though nobody holds the lock")
	}
}
