package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
)

// aliases returns names of one journal: its own, through a symbolic link to the
// file, through one to the directory, and a hard link.
func aliases(t *testing.T) []string {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "journal.jsonl")
	check(t, os.Mkdir(filepath.Dir(path), 0o700))
	j, err := journal.Create(path, header{"s1", 1})
	check(t, err)
	check(t, j.Close())
	soft, hard := filepath.Join(dir, "soft.jsonl"), filepath.Join(dir, "hard.jsonl")
	check(t, os.Symlink(path, soft))
	check(t, os.Symlink("a", filepath.Join(dir, "b")))
	check(t, os.Link(path, hard))
	return []string{path, soft, filepath.Join(dir, "b", "journal.jsonl"), hard}
}

func TestSecondOpener(t *testing.T) {
	for i, how := range []string{"plain", "symlink", "directory symlink", "hard link"} {
		t.Run(how+" first", func(t *testing.T) {
			t.Parallel()
			names := aliases(t)
			j, _, err := journal.Open(names[i], ignore)
			check(t, err)
			for _, second := range names {
				_, _, err := journal.Open(second, ignore)
				if !errors.Is(err, journal.ErrLocked) {
					t.Errorf("%s in the same process: %v", second, err)
				}
				if said, _ := startHelper(t, "open", second); !strings.Contains(said, "in use") {
					t.Errorf("%s in another process: %s", second, said)
				}
			}
			err = j.Append(struct{}{})
			check(t, err)
			check(t, j.Close())
			sum, err := journal.Verify(names[0])
			check(t, err)
			if sum.Records != 2 {
				t.Errorf("%d records", sum.Records)
			}
		})
	}
}

func TestHolderIsNamed(t *testing.T) {
	path := aliases(t)[0]
	j, _, err := journal.Open(path, ignore)
	check(t, err)
	_, _, err = journal.Open(path, ignore)
	locked := is[*journal.LockedError](t, err)
	host, err := os.Hostname()
	check(t, err)
	if h := locked.Holder; h.PID != os.Getpid() || h.Host != host || h.Since.IsZero() {
		t.Errorf("holder is %+v", h)
	}
	if !strings.Contains(locked.Error(), " on "+host+" since ") {
		t.Error(locked)
	}
	check(t, os.WriteFile(journal.LockPath(path), []byte("no note"), 0o600))
	_, _, err = journal.Open(path, ignore)
	system := journal.Holder{} // what it knows: on Linux, the process
	if runtime.GOOS == "linux" {
		system = journal.Holder{PID: os.Getpid(), Host: host}
	}
	if locked := is[*journal.LockedError](t, err); locked.Holder != system {
		t.Errorf("holder read from nonsense is %+v", locked.Holder)
	}
	check(t, j.Close())
	if _, err := os.Stat(journal.LockPath(path)); err != nil {
		t.Errorf("the lock file is gone: %v", err)
	}
	if got := journal.LockPath("x/journal.jsonl"); got != "x/journal.lock" {
		t.Errorf("the lock file is %s", got)
	}
}

func TestCreateWhileLocked(t *testing.T) {
	path := aliases(t)[0]
	j, _, err := journal.Open(path, ignore)
	check(t, err)
	defer j.Close()
	if _, err := journal.Create(path, header{}); !errors.Is(err, journal.ErrLocked) {
		t.Error(err)
	}
}

// Killing the process frees the lock; children that outlive it do not hold it.
func TestLockDiesWithItsHolder(t *testing.T) {
	path := aliases(t)[0]
	said, stop := startHelper(t, "open", path)
	if said != "<nil>" {
		t.Fatal(said)
	}
	_, _, err := journal.Open(path, ignore)
	is[*journal.LockedError](t, err)
	stop()
	j, _, err := journal.Open(path, ignore)
	check(t, err)
	startHelper(t, "idle", path) // lives until the test ends
	check(t, j.Close())
	j, _, err = journal.Open(path, ignore)
	check(t, err)
	check(t, j.Close())
}

// A link planted in place of the lock file is not followed.
func TestLockIsNoLink(t *testing.T) {
	path := aliases(t)[0]
	target := filepath.Join(t.TempDir(), "victim")
	check(t, os.WriteFile(target, []byte("untouched"), 0o600))
	check(t, os.Remove(journal.LockPath(path)))
	check(t, os.Symlink(target, journal.LockPath(path)))
	_, _, err := journal.Open(path, ignore)
	is[*journal.WriteError](t, err)
	if content, err := os.ReadFile(target); err != nil || string(content) != "untouched" {
		t.Errorf("the target of the link is now %q, %v", content, err)
	}
}

// A pipe in place of the lock file is not waited for.
func TestLockIsNoPipe(t *testing.T) {
	path := aliases(t)[0]
	check(t, os.Remove(journal.LockPath(path)))
	check(t, syscall.Mkfifo(journal.LockPath(path), 0o600))
	_, _, err := journal.Open(path, ignore)
	is[*journal.WriteError](t, err)
	if used, err := journal.InUse(path); used || err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("in use %v, %v", used, err)
	}
}

// What is held is nobody else's until it is released, by whatever name.
func TestHold(t *testing.T) {
	for _, name := range aliases(t) {
		release, err := journal.Hold(name)
		check(t, err)
		for other, want := range map[string]error{name: journal.ErrLocked, filepath.Join(filepath.Dir(name), "absent.jsonl"): os.ErrNotExist} {
			if _, err := journal.Hold(other); !errors.Is(err, want) {
				t.Errorf("hold %s beside it: %v; want %v", other, err, want)
			}
		}
		_, _, err = journal.Open(name, ignore)
		is[*journal.LockedError](t, err)
		check(t, release())
		j, _, err := journal.Open(name, ignore)
		check(t, err)
		check(t, j.Close())
	}
}

// A reader needs no lock.
func TestReadWhileOpen(t *testing.T) {
	for i, name := range aliases(t) {
		j, _, err := journal.Open(name, ignore)
		check(t, err)
		check(t, j.AppendLazy(struct{}{}))
		sum, err := journal.Read(name, ignore)
		check(t, err)
		if sum.Records != uint64(2+i) {
			t.Errorf("Read saw %d records of %d", sum.Records, 2+i)
		}
		check(t, j.Close())
	}
}
