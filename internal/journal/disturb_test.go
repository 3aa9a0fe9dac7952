package journal_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
)

// What others do to the file of an open journal ends its writing, and is left as it is.
func TestDisturbed(t *testing.T) {
	for name, c := range map[string]struct {
		disturb func(path string) error
		want    string
	}{
		"moved":   {func(path string) error { return os.Rename(path, path+".old") }, "moved or removed"},
		"removed": {os.Remove, "moved or removed"},
		"directory moved": {func(path string) error {
			return os.Rename(filepath.Dir(path), filepath.Dir(path)+"-old")
		}, "moved or removed"},
		"replaced by a copy": {func(path string) error {
			content, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path+".copy", content, 0o600)
			}
			if err == nil {
				err = os.Rename(path+".copy", path)
			}
			return err
		}, "replaced"},
		"replaced by a link to itself": {func(path string) error {
			if err := os.Rename(path, path+".old"); err != nil {
				return err
			}
			return os.Symlink(path+".old", path)
		}, "replaced"},
		"truncated": {func(path string) error { return os.Truncate(path, 10) }, "changed"},
		"emptied":   {func(path string) error { return os.Truncate(path, 0) }, "changed"},
		"appended to": {func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("x")
			return err
		}, "changed"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "study", "journal.jsonl")
			check(t, os.Mkdir(filepath.Dir(path), 0o700))
			j, err := journal.Create(path, header{"s1", 1})
			check(t, err)
			err = j.Append(sample("s1", 1))
			check(t, err)
			check(t, c.disturb(path))
			before, beforeErr := os.ReadFile(path)
			err = j.Append(sample("s1", 2))
			if werr := is[*journal.WriteError](t, err); !strings.Contains(werr.Err.Error(), c.want) {
				t.Errorf("error is %q", werr)
			}
			after, afterErr := os.ReadFile(path)
			if string(after) != string(before) || (afterErr == nil) != (beforeErr == nil) {
				t.Errorf("the file is now %q, %v", after, afterErr)
			}
			again := j.AppendLazy(sample("s1", 3))
			if again != err || j.Close() != err {
				t.Errorf("the next error is %v", again)
			}
		})
	}
}

// A hookFS calls hook before each Sync and before each Write of the file at path.
type hookFS struct {
	*faultfs.FS
	path string
	hook func(op string) error
}

type hookFile struct {
	journal.File
	hook func(op string) error
}

func (f *hookFS) OpenFile(path string, flag int) (journal.File, error) {
	file, err := f.FS.OpenFile(path, flag)
	if err != nil || path != f.path {
		return file, err
	}
	return &hookFile{file, func(op string) error { return f.hook(op) }}, nil
}

func (f *hookFile) Sync() error {
	if err := f.hook("sync"); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *hookFile) Write(p []byte) (int, error) {
	if err := f.hook("write"); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func openHooked(t *testing.T) (*journal.Journal, *hookFS) {
	t.Helper()
	fsys := &hookFS{FS: faultfs.New(), path: "/journal.jsonl", hook: func(string) error { return nil }}
	fsys.Put("/journal.jsonl", build(t, "s1", 3))
	j, _, err := journal.Open("/journal.jsonl", ignore, fsys)
	check(t, err)
	return j, fsys
}

// A record in a file that was taken away before it was on disk is not acknowledged.
func TestDisturbedWhileSyncing(t *testing.T) {
	j, fsys := openHooked(t)
	remove := func(op string) error {
		if op == "sync" {
			return fsys.Remove(fsys.path)
		}
		return nil
	}
	fsys.hook = remove
	err := j.Append(struct{}{})
	if werr := is[*journal.WriteError](t, err); !strings.Contains(werr.Err.Error(), "moved or removed") {
		t.Error(err)
	}

	_, fsys = openHooked(t)
	fsys.FS = fsys.Kill()
	fsys.hook = remove
	_, _, err = journal.Open(fsys.path, ignore, fsys)
	if werr := is[*journal.WriteError](t, err); !strings.Contains(werr.Err.Error(), "moved or removed") {
		t.Error(err)
	}
}

// Cutting back after a failed write spares what another program has written.
func TestForeignBytesAreNotCut(t *testing.T) {
	j, fsys := openHooked(t)
	foreign := strings.Repeat("foreign ", 100)
	fsys.hook = func(op string) error {
		if op == "write" {
			f, err := fsys.FS.OpenFile(fsys.path, os.O_RDWR)
			check(t, err)
			_, err = f.Write([]byte(foreign))
			check(t, err)
			return syscall.EIO
		}
		return nil
	}
	err := j.Append(struct{}{})
	is[*journal.WriteError](t, err)
	if !strings.HasSuffix(string(fsys.Content(fsys.path)), foreign) {
		t.Error("the foreign bytes are gone")
	}
}
