package door_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/door"
)

// tree makes files, and the directories that they lie in; a name with an arrow is a link.
func tree(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		name, target, link := strings.Cut(name, " -> ")
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		switch {
		case err != nil:
		case link:
			err = os.Symlink(filepath.Join(dir, target), path)
		default:
			err = os.WriteFile(path, []byte(name), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// left lists the files and links below a directory.
func left(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// first lists what is in trials/1, lets something happen, and removes what was listed.
func first(t *testing.T, dir string, meanwhile func()) error {
	t.Helper()
	trials, err := door.OpenReal(filepath.Join(dir, "trials"))
	if err != nil {
		t.Fatal(err)
	}
	defer trials.Close()
	names, err := trials.List("1")
	if err != nil {
		return err
	}
	meanwhile()
	return trials.Clear("1", names)
}

func mustSay(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("the error is %v; want %q in it", err, w)
		}
	}
}

// Everything goes, links as links.
func TestClear(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, "home/thesis", "trials/1/a1/stdout", "trials/1/a1/deep/deeper/file", "trials/1/a1/home -> home", "trials/1/a2 -> home",
		"trials/1/a1/thesis -> home/thesis", "trials/1/a1/nowhere -> nowhere", "trials/2/a1/stdout")
	err := first(t, dir, func() {})
	if got := left(t, dir); err != nil || !slices.Equal(got, []string{"home/thesis", "trials/2/a1/stdout"}) {
		t.Errorf("%v are left: %v", got, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "trials/1")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory itself: %v", err)
	}
}

// What has come into a directory since it was listed stays.
func TestClearLeavesWhatIsNew(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, "trials/1/a1/stdout")
	err := first(t, dir, func() { tree(t, dir, "trials/1/a2/stdout") })
	if got := left(t, dir); err != nil || !slices.Equal(got, []string{"trials/1/a2/stdout"}) {
		t.Errorf("%v are left: %v", got, err)
	}
	err = first(t, dir, func() {
		if err := os.Rename(filepath.Join(dir, "trials/1"), filepath.Join(dir, "gone")); err != nil {
			t.Fatal(err)
		}
	})
	if got := left(t, dir); err != nil || !slices.Equal(got, []string{"gone/a2/stdout"}) {
		t.Errorf("%v are left of one that was moved away: %v", got, err)
	}
}

// A link in the place of a directory is not followed, whether it was there before or has
// come after the directory was listed.
func TestLinksAreNotFollowed(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, "archive/a1/stdout", "trials/1 -> archive")
	mustSay(t, first(t, dir, func() {}), "trials/1: it is a symbolic link")

	tree(t, dir, "other/trials/1/a1/stdout")
	swap := func(from, to string) {
		from, to = filepath.Join(dir, from), filepath.Join(dir, to)
		if err := errors.Join(os.Rename(from, to), os.Symlink(to, from)); err != nil {
			t.Fatal(err)
		}
	}
	other := filepath.Join(dir, "other")
	mustSay(t, first(t, other, func() { swap("other/trials/1", "archive/1") }), "trials/1: it is a symbolic link")
	want := []string{"archive/1/a1/stdout", "archive/a1/stdout", "other/trials/1", "trials/1"}
	if got := left(t, dir); !slices.Equal(got, want) {
		t.Errorf("%v are left; want %v", got, want)
	}

	swap("trials", "real")
	path := filepath.Join(dir, "trials")
	if _, err := door.OpenReal(path); err == nil || !strings.Contains(err.Error(), "trials: it is a symbolic link") {
		t.Errorf("a link was opened: %v", err)
	}
	d, err := door.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// A path that has become a link since the directory was opened still means the directory.
func TestOpenedDirectoryStaysTheSame(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, "trials/1/a1/stdout", "home/1/a1/thesis")
	trials, err := door.OpenReal(filepath.Join(dir, "trials"))
	if err != nil {
		t.Fatal(err)
	}
	defer trials.Close()
	err = errors.Join(os.Rename(filepath.Join(dir, "trials"), filepath.Join(dir, "moved")),
		os.Symlink(filepath.Join(dir, "home"), filepath.Join(dir, "trials")),
		trials.Clear("1", []string{"a1"}))
	if got := left(t, dir); err != nil || !slices.Equal(got, []string{"home/1/a1/thesis", "trials"}) {
		t.Errorf("%v are left: %v", got, err)
	}
}

func TestOpenNeedsADirectory(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, "file")
	if _, err := door.Open(filepath.Join(dir, "file")); err == nil {
		t.Error("a file was opened")
	}
	if _, err := door.OpenReal(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing was opened: %v", err)
	}
}

func TestAll(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, "home/thesis", "gone/a/b/c", "gone/home -> home", "link -> home", "file")
	for _, name := range []string{"gone", "link", "file", "none", "none/below"} {
		if err := door.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if got := left(t, dir); !slices.Equal(got, []string{"home/thesis"}) {
		t.Errorf("%v are left", got)
	}
	for _, path := range []string{"", ".", "..", "/", "a/../.."} {
		t.Run(path, func(t *testing.T) {
			if err := door.RemoveAll(path); err == nil {
				t.Errorf("%q was removed", path)
			}
		})
	}
	t.Chdir(dir)
	if err := door.RemoveAll("home"); err != nil || len(left(t, dir)) != 0 {
		t.Errorf("a relative path: %v", err)
	}
}

// Where permission is missing, what can go goes, as with os.RemoveAll.
func TestPermissions(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root has every permission")
	}
	for name, remove := range map[string]func(string) error{"door": door.RemoveAll, "os": os.RemoveAll} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			tree(t, dir, "x/full/file", "x/fixed/file", "x/good/file")
			err := errors.Join(os.Mkdir(filepath.Join(dir, "x/empty"), 0), os.Chmod(filepath.Join(dir, "x/full"), 0), os.Chmod(filepath.Join(dir, "x/fixed"), 0o500))
			if err != nil {
				t.Fatal(err)
			}
			err = remove(filepath.Join(dir, "x"))
			if !errors.Is(err, os.ErrPermission) {
				t.Errorf("%s: %v", name, err)
			}
			if name == "door" {
				mustSay(t, err, "x/full: permission denied", "x/fixed/file: permission denied")
			}
			if err := errors.Join(os.Chmod(filepath.Join(dir, "x/full"), 0o700), os.Chmod(filepath.Join(dir, "x/fixed"), 0o700)); err != nil {
				t.Fatal(err)
			}
			_, err = os.Stat(filepath.Join(dir, "x/empty"))
			if got := left(t, dir); !slices.Equal(got, []string{"x/fixed/file", "x/full/file"}) || err == nil {
				t.Errorf("%s: %v are left, the empty one: %v", name, got, err)
			}
		})
	}
}
