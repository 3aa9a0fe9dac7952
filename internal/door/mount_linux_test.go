package door_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/door"
)

// bind mounts from a second time, at a new directory to.
func bind(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(to, 0o700); err != nil {
		t.Fatal(err)
	}
	err := unix.Mount(from, to, "", unix.MS_BIND, "")
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		t.Skip("only root may mount, and not in every container: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(to, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// What is mounted below a directory stays, also where it has the same device, and is named;
// everything else goes.
func TestMountsAreNotEntered(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, "bucket/data", "trials/1/a1/stdout", "trials/1/a2/b/stdout", "trials/2/a1/stdout")
	bucket := filepath.Join(dir, "bucket")
	bind(t, bucket, filepath.Join(dir, "trials/1/a1/data"))
	bind(t, bucket, filepath.Join(dir, "trials/1/a2/b/other"))
	want := []string{"bucket/data", "trials/1/a1/data/data", "trials/1/a2/b/other/data", "trials/2/a1/stdout"}
	check := func(err error) {
		t.Helper()
		if refusal := new(door.Refusal); !errors.As(err, &refusal) {
			t.Errorf("no refusal: %v", err)
		}
		mustSay(t, err, "trials/1/a1/data: something else is mounted there", "trials/1/a2/b/other: something else is mounted there")
		if got := left(t, dir); !slices.Equal(got, want) {
			t.Errorf("%v are left; want %v", got, want)
		}
	}
	check(first(t, dir, func() {}))
	check(door.RemoveAll(filepath.Join(dir, "trials/1")))
}

// A mount in the place of the whole directory stays as well.
func TestMountedDirectoryIsNotCleared(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, "bucket/data", "trials/2/a1/stdout")
	bind(t, filepath.Join(dir, "bucket"), filepath.Join(dir, "trials/1"))
	mustSay(t, first(t, dir, func() {}), "trials/1: something else is mounted there")
	mustSay(t, door.RemoveAll(filepath.Join(dir, "trials/1")), "trials/1: something else is mounted there")
	if got := left(t, dir); !slices.Equal(got, []string{"bucket/data", "trials/1/data", "trials/2/a1/stdout"}) {
		t.Errorf("%v are left", got)
	}
}
