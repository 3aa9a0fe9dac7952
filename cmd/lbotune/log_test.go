package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/internal/layout"
)

// A log that is made has the owner's rights, whatever the umask: it is opened again by the next run. One
// that is there keeps its own.
func TestLogUnderAUmask(t *testing.T) {
	dir := t.TempDir()
	path, there := filepath.Join(dir, "new.log"), filepath.Join(dir, "there.log")
	if err := os.WriteFile(there, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	was := syscall.Umask(0o777)
	defer syscall.Umask(was)
	for _, c := range []struct {
		path string
		mode os.FileMode
	}{{path, 0o600}, {path, 0o600}, {there, 0o640 &^ os.FileMode(was)}} {
		f, err := openLog(c.path, layout.Of(filepath.Join(dir, "s.study")))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if info, err := os.Stat(c.path); err != nil || info.Mode().Perm() != c.mode {
			t.Errorf("%s: %v, %v; want mode %v", c.path, info.Mode(), err, c.mode)
		}
	}
}
