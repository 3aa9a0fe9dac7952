// Package tempdir gives tests directories in which others may still write when a test ends:
// the node of a cluster notes how a job ended after everybody knows it.
package tempdir

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// memory is where Linux has a file system in memory, and roomy is how much it must hold.
const memory, roomy = "/dev/shm", 1 << 30

// InMemory runs tests whose temporary directories lie in memory, where there is room: thousands of
// small studies would wait for a disk that keeps none of them.
func InMemory(run func() int) int {
	var fs unix.Statfs_t
	if err := unix.Statfs(memory, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < roomy {
		return run()
	}
	dir, err := os.MkdirTemp(memory, "lbotune-test-")
	if err != nil {
		return run()
	}
	defer os.RemoveAll(dir)
	os.Setenv("TMPDIR", dir)
	return run()
}

// patience is how long the others have. Nothing depends on its length.
const patience = 30 * time.Second

// New is t.TempDir for a directory that is removed as soon as nobody fills it any more.
func New(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		t.Helper()
		if err := remove(dir, patience); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// remove removes dir, and tries again for as long as somebody makes files in it.
func remove(dir string, patience time.Duration) error {
	return insist(patience, func() error { return os.RemoveAll(dir) })
}

// insist tries to do something until it works or patience is over.
func insist(patience time.Duration, do func() error) error {
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if err := do(); err == nil || time.Since(begun) > patience {
			return err
		}
	}
}
