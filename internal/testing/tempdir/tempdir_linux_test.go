package tempdir

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
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
	open, err := os.Open(busy)
	if err != nil {
		t.Fatal(err)
	}
	if err := unmount(busy, 0); !errors.Is(err, unix.EBUSY) {
		t.Errorf("unmounted under somebody's feet: %v", err)
	}
	if err := open.Close(); err != nil {
		t.Error(err)
	}
	if err := remove(dir, 0); !errors.Is(err, unix.EBUSY) {
		t.Fatalf("%v", err)
	}
	done := make(chan error, 1)
	go func() { done <- remove(dir, time.Minute) }()
	for i := range 3 { // that the last file goes, too, takes another try
		file := filepath.Join(busy, strconv.Itoa(i))
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for exists(file) {
			select {
			case err := <-done:
				t.Fatalf("gave up: %v", err)
			case <-time.After(time.Millisecond):
			}
		}
	}
	if err := unix.Unmount(busy, unix.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if exists(dir) {
		t.Error("the directory is still there")
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
