package tempdir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A directory goes when the last one who keeps something in it has left, and one that never
// goes is an error.
func TestRemove(t *testing.T) {
	dir := t.TempDir()
	busy := filepath.Join(dir, "busy")
	if err := os.Mkdir(busy, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", busy, "tmpfs", 0, ""); err != nil {
		t.Skipf("nothing to keep a directory with: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(busy, unix.MNT_DETACH) })
	if err := remove(dir, 0); !errors.Is(err, unix.EBUSY) {
		t.Fatalf("%v", err)
	}
	done := make(chan error)
	go func() { done <- remove(dir, time.Minute) }()
	if err := unix.Unmount(busy, 0); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
