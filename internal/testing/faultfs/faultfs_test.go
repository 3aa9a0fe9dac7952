package faultfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
)

var errDisk = errors.New("disk is on fire")

func create(t *testing.T, fsys *faultfs.FS, path string) journal.File {
	t.Helper()
	f, err := fsys.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, f journal.File, text string) {
	t.Helper()
	_, err := f.Write([]byte(text))
	must(t, err)
}

// states returns what a power cut may leave of path, "-" for no file.
func states(fsys *faultfs.FS, path string) []string {
	found := map[string]bool{}
	for state := range fsys.PowerCuts(func(string) bool { return true }) {
		if content := state.Content(path); content != nil {
			found[string(content)] = true
		} else {
			found["-"] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func TestPowerCuts(t *testing.T) {
	fsys := faultfs.New()
	expect := func(want ...string) {
		t.Helper()
		slices.Sort(want)
		if got := states(fsys, "/d/f"); !slices.Equal(got, want) {
			t.Errorf("states are %q, want %q", got, want)
		}
	}
	f := create(t, fsys, "/d/f")
	expect("-", "")
	write(t, f, "ab")
	expect("-", "", "\x00\x00", "a", "a\x00", "ab")
	must(t, f.Sync())
	expect("-", "ab")
	must(t, fsys.SyncDir("/d"))
	expect("ab")
	write(t, f, "c")
	must(t, f.Truncate(1))
	write(t, f, "x")
	expect("ab", "ab\x00", "abc", "a", "a\x00", "ax")
	must(t, f.Sync())
	expect("ax")
	must(t, fsys.Rename("/d/f", "/d/g"))
	expect("ax", "-")
	must(t, fsys.SyncDir("/d"))
	expect("-")
}

func TestFaults(t *testing.T) {
	fsys := faultfs.New()
	f := create(t, fsys, "/f")
	fsys.Inject(faultfs.Fault{N: 2, Err: errDisk, Partial: func(n int) int { return n - 1 },
		Only: func(op faultfs.Op) bool { return op == faultfs.Op{Name: "write", Path: "/f"} }})
	write(t, f, "one")
	must(t, f.Sync())
	if fsys.Fired() {
		t.Error("fired too early")
	}
	if n, err := f.Write([]byte("two")); n != 2 || !errors.Is(err, errDisk) || !fsys.Fired() {
		t.Errorf("second write: %d, %v", n, err)
	}
	write(t, f, "three")
	if got := string(fsys.Content("/f")); got != "onetwthree" {
		t.Errorf("content is %q", got)
	}
	fsys.Inject(faultfs.Fault{N: 1, Forever: true, Err: errDisk})
	_, err := fsys.OpenFile("/new", os.O_CREATE)
	for i, err := range []error{err, f.Sync(), f.Truncate(0), fsys.Rename("/f", "/g"), fsys.Remove("/f"), fsys.SyncDir("/")} {
		t.Run(fmt.Sprint(err), func(t *testing.T) {
			if !errors.Is(err, errDisk) {
				t.Errorf("operation %d: %v", i, err)
			}
		})
	}
}

// What a failed sync has lost stays lost, though all who look at the file see it.
func TestFailedSyncIsNotMadeGood(t *testing.T) {
	fsys := faultfs.New()
	f := create(t, fsys, "/f")
	must(t, fsys.SyncDir("/"))
	write(t, f, "lost")
	fsys.Inject(faultfs.Fault{N: 1, Err: errDisk})
	if err := f.Sync(); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	write(t, f, "kept")
	must(t, f.Sync())
	if got := states(fsys, "/f"); !slices.Equal(got, []string{"\x00\x00\x00\x00kept"}) {
		t.Errorf("states are %q", got)
	}
	if got := string(fsys.Content("/f")); got != "lostkept" {
		t.Errorf("content is %q", got)
	}
	f.Forget()
	if got := string(fsys.Content("/f")); got != "\x00\x00\x00\x00kept" {
		t.Errorf("without what was cached, content is %q", got)
	}
}

func TestKillFreesLocks(t *testing.T) {
	fsys := faultfs.New()
	f := create(t, fsys, "/f")
	write(t, f, "x")
	lock := func(fsys *faultfs.FS) bool {
		t.Helper()
		f, err := fsys.OpenFile("/f", os.O_RDWR)
		must(t, err)
		ok, err := f.TryLock()
		must(t, err)
		return ok
	}
	if !lock(fsys) || lock(fsys) {
		t.Error("a lock is not held by one")
	}
	after := fsys.Kill()
	if !lock(after) || string(after.Content("/f")) != "x" || !slices.Equal(states(after, "/f"), states(fsys, "/f")) {
		t.Error("Kill changed more than the locks")
	}
	if _, err := after.Stat("/g"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
