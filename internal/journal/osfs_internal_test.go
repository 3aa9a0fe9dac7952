//go:build linux

package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is on disk is there when all that was cached is forgotten.
func TestForget(t *testing.T) {
	f, err := osFS{}.OpenFile(t.TempDir()+"/f", os.O_RDWR|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := make([]byte, 4)
	_, err1 := f.Write([]byte("kept"))
	f.Forget()
	if _, err2 := f.ReadAt(got, 0); err1 != nil || err2 != nil || string(got) != "kept" {
		t.Errorf("read %q; %v, %v", got, err1, err2)
	}
}

// Who has the number of a process that has taken the lock and is no more is not its holder.
func TestNumbersOfTheDeadAreUsedAgain(t *testing.T) {
	lock, err := osFS{}.OpenFile(filepath.Join(t.TempDir(), "lock"), os.O_RDWR|os.O_CREATE|os.O_APPEND)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	writeHolder(lock)
	if orphaned(lock) {
		t.Error("this process lives")
	}
	var note [4096]byte
	n, _ := lock.ReadAt(note[:], 0)
	own := fmt.Sprintf(`"start":%q`, startOf(os.Getpid()))
	for other, dead := range map[string]bool{`"start":"1"`: true, `"start":""`: false} {
		text := strings.Replace(string(note[:n]), own, other, 1)
		if text == string(note[:n]) {
			t.Fatalf("%s does not say %s", text, own)
		}
		if err := lock.Truncate(0); err != nil {
			t.Fatal(err)
		}
		if _, err := lock.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if orphaned(lock) != dead {
			t.Errorf("orphaned by %s: %v", text, !dead)
		}
	}
	if got := startOf(1 << 30); got != "" {
		t.Errorf("no process has begun at %q", got)
	}
}

// The operating system's errors come through.
func TestSystemErrors(t *testing.T) {
	fsys := osFS{}
	dir, err := os.MkdirTemp("", "gone")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if path, err := fsys.Resolve("journal.jsonl"); err == nil {
		t.Errorf("a relative path in a directory that is gone is %s", path)
	}
	if err := fsys.SyncDir(dir); err == nil {
		t.Error("a directory that is gone was synced")
	}
	if _, err := fsys.OpenFile(os.DevNull, os.O_RDONLY); err == nil {
		t.Error("a device was opened")
	}
	f, err := fsys.OpenFile(filepath.Join(t.TempDir(), "file"), os.O_RDWR|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Stat(); err == nil {
		t.Error("a closed file was looked at")
	}
}
