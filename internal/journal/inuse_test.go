package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
)

func TestInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	want := func(used bool) {
		t.Helper()
		if got, err := journal.InUse(path); err != nil || got != used {
			t.Errorf("in use: %v, %v; want %v", got, err, used)
		}
	}
	want(false) // there is none
	j, err := journal.Create(path, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	want(true)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	want(false)
	want(false) // who looks leaves nothing locked
	if err := os.Remove(journal.LockPath(path)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, journal.LockPath(path)); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.InUse(path); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a lock that is a symbolic link: %v", err)
	}
}
