package door_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/door"
)

func open(t *testing.T, path string, links ...string) *door.Dir {
	t.Helper()
	d, err := door.Open(path, links...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// What is made has the owner's rights alone, whatever the umask.
func TestModes(t *testing.T) {
	for _, umask := range []int{0, 0o777} {
		d := open(t, t.TempDir())
		was := syscall.Umask(umask)
		made, err := d.Make("a/b/c")
		var again *door.Dir
		if err == nil {
			again, err = d.Make("a/b/c")
		}
		err = errors.Join(err, d.Write("a/b/file", []byte("text")), door.Mkdir(d.Path("x/y")))
		syscall.Umask(was)
		if err != nil {
			t.Fatal(err)
		}
		made.Close()
		again.Close()
		for name, want := range map[string]fs.FileMode{"a": 0o700, "a/b/c": 0o700, "a/b/file": 0o600, "x": 0o700, "x/y": 0o700} {
			t.Run(name, func(t *testing.T) {
				if info, err := d.Stat(name); err != nil || info.Mode.Perm() != want {
					t.Errorf("umask %o: %s has mode %v, %v", umask, name, info.Mode, err)
				}
			})
		}
		if text, err := d.Read("a/b/file", 4); err != nil || string(text) != "text" {
			t.Errorf("read %q, %v", text, err)
		}
		if _, err := d.Read("a/b/file", 3); !errors.Is(err, syscall.EFBIG) {
			t.Errorf("read more than it may: %v", err)
		}
		if names, err := d.List("a/b"); err != nil || !slices.Equal(names, []string{"c", "file"}) { // and no draft
			t.Errorf("there are %v, %v", names, err)
		}
	}
}

// What is no file is not opened, and named; nobody waits for a pipe.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, "file", "outside/file", "link -> file", "away -> outside", "nothing -> none", "directory/file")
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := open(t, dir)
	for _, flags := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR | os.O_APPEND, os.O_WRONLY | os.O_CREATE} {
		t.Run(fmt.Sprint(flags), func(t *testing.T) {
			for name, want := range map[string]string{
				"link":       "open link: it is a symbolic link, which is not followed",
				"nothing":    "open nothing: it is a symbolic link, which is not followed",
				"pipe":       "open pipe: it is a pipe, which is not a regular file",
				"directory":  "open directory: it is a directory, which is not a regular file",
				"away/file":  "open away: it is a symbolic link, which is not followed",
				"file/below": "open file: it is a file, and no directory",
			} {
				f, err := d.OpenFile(name, flags)
				if f != nil || err == nil || strings.ReplaceAll(err.Error(), dir+"/", "") != want {
					t.Errorf("%s: %v; want %q", name, err, want)
				}
			}
		})
	}
	for name, err := range map[string]error{
		"write": d.Write("away/file", nil), "remove": d.Remove("away/file"), "touch": d.Touch("away/file", time.Time{}), "link": d.Symlink("x", "away/new"),
	} {
		t.Run(name, func(t *testing.T) {
			mustSay(t, err, "away: it is a symbolic link")
		})
	}
	for _, name := range []string{"", ".", "..", "../x", "a/../../x", "/"} {
		t.Run(name, func(t *testing.T) {
			if _, err := d.OpenFile(name, os.O_RDONLY); err == nil {
				t.Errorf("%q was opened", name)
			}
		})
	}
	if got := left(t, filepath.Join(dir, "outside")); !slices.Equal(got, []string{"file"}) {
		t.Errorf("outside are %v", got)
	}
}

// Directories that may be links are followed where they belong to whom they must.
func TestLinksThatMayBe(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, "disk/file", "study/trials -> disk", "study/other -> disk")
	d := open(t, filepath.Join(dir, "study"), "trials")
	if err := d.Write("trials/1", nil); err != nil {
		t.Error(err)
	}
	mustSay(t, d.Write("other/1", nil), "other: it is a symbolic link")
	sub, err := d.Dir("trials")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if names, err := sub.List("."); err != nil || !slices.Equal(names, []string{"1", "file"}) {
		t.Errorf("there are %v, %v", names, err)
	}
	if os.Geteuid() != 0 {
		return
	}
	const a, b = 12345, 23456
	if err := errors.Join(os.Lchown(filepath.Join(dir, "disk"), a, a), os.Lchown(filepath.Join(dir, "study"), b, b)); err != nil {
		t.Fatal(err)
	}
	mustSay(t, d.Write("trials/2", nil), "user 12345 owns it")
	if err := os.Lchown(filepath.Join(dir, "study"), a, a); err != nil {
		t.Fatal(err)
	}
	if err := d.Write("trials/2", nil); err != nil {
		t.Error(err)
	}
	link := filepath.Join(dir, "study", "trials") // of another user, it leads to nothing of ours
	if err := errors.Join(os.Lchown(link, a, a), d.Write("trials/2", nil), os.Lchown(filepath.Join(dir, "disk"), 0, 0)); err != nil {
		t.Error(err)
	}
	mustSay(t, d.Write("trials/2", nil), "user 12345 owns it, and not what it leads to")
}
