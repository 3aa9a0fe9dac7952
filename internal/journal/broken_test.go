package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
)

// A brokenFS fails at operations that change nothing, which faultfs does not know: the
// n-th of a name, once.
type brokenFS struct {
	journal.FS
	name  string
	n     int
	count int
}

func (b *brokenFS) fails(name string) error {
	if name == b.name {
		if b.count++; b.count == b.n {
			return syscall.EIO
		}
	}
	return nil
}

func (b *brokenFS) fired() bool { return b.count >= b.n }

func (b *brokenFS) Resolve(path string) (string, error) {
	if err := b.fails("resolve"); err != nil {
		return "", err
	}
	return b.FS.Resolve(path)
}

func (b *brokenFS) Stat(path string) (journal.Info, error) {
	if err := b.fails("stat"); err != nil {
		return journal.Info{}, err
	}
	return b.FS.Stat(path)
}

func (b *brokenFS) OpenFile(path string, flag int) (journal.File, error) {
	if err := b.fails("open"); err != nil {
		return nil, err
	}
	f, err := b.FS.OpenFile(path, flag)
	if err != nil {
		return nil, err
	}
	return &brokenFile{f, b}, nil
}

type brokenFile struct {
	journal.File
	fs *brokenFS
}

func (f *brokenFile) ReadAt(p []byte, off int64) (int, error) {
	if f.fs.fails("nothing read") != nil {
		return 0, nil
	}
	if err := f.fs.fails("read"); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *brokenFile) Write(p []byte) (int, error) {
	if f.fs.fails("half written") != nil {
		return f.File.Write(p[:len(p)/2])
	}
	return f.File.Write(p)
}

func (f *brokenFile) Stat() (journal.Info, error) {
	if err := f.fs.fails("file stat"); err != nil {
		return journal.Info{}, err
	}
	return f.File.Stat()
}

func (f *brokenFile) TryLock() (bool, error) {
	if err := f.fs.fails("lock"); err != nil {
		return false, err
	}
	return f.File.TryLock()
}

func (f *brokenFile) Close() error {
	return errors.Join(f.fs.fails("close"), f.File.Close())
}

// use does everything that can be done with a journal, and returns how many of its records
// were told to be on disk.
func use(fsys journal.FS) (acked int, err error) {
	j, err := journal.Create("/journal.jsonl", map[string]int{"n": 1}, fsys)
	if err != nil {
		return 0, err
	}
	for acked = 1; acked < 4; acked++ {
		if err := j.Append(map[string]int{"n": acked + 1}); err != nil {
			return acked, errors.Join(err, j.Close())
		}
	}
	if err := j.Close(); err != nil {
		return acked, err
	}
	if _, err := journal.Verify("/journal.jsonl", fsys); err != nil {
		return acked, err
	}
	if _, err := journal.Repair("/journal.jsonl", "/repaired.jsonl", fsys); err != nil {
		return acked, err
	}
	j, _, err = journal.Open("/journal.jsonl", ignore, fsys)
	if err != nil {
		return acked, err
	}
	return acked, j.Close()
}

// Whatever fails that only looks, and whenever: it is told, and no record is lost.
func TestLooksThatFail(t *testing.T) {
	for _, name := range []string{"resolve", "stat", "open", "read", "nothing read", "half written", "file stat", "lock", "close"} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				base := faultfs.New()
				broken := &brokenFS{FS: base, name: name, n: n}
				acked, err := use(broken)
				if !broken.fired() {
					check(t, err)
					if n == 1 {
						t.Errorf("%s never happens", name)
					}
					break
				}
				harmless := slices.Contains([]string{"half written", "close", "file stat", "nothing read"}, name)
				if err == nil && !harmless { // to the holder's note, to a file that was only read, or read again
					t.Errorf("%s %d: nothing was said", name, n)
				}
				left, _ := journal.Read("/journal.jsonl", ignore, base.Kill())
				if int(left.Records) < acked {
					t.Errorf("%s %d: %d records, %d were acknowledged (%v)", name, n, left.Records, acked, err)
				}
			}
		})
	}
}

// Repair says so when it cannot read what it surveyed a moment ago.
func TestRepairCannotReadAgain(t *testing.T) {
	good := build(t, "s1", 12)
	lines := splitLines(good)
	lines[5] = strings.Replace(lines[5], "{", "x", 1) // two bits
	bad := []byte(strings.Join(lines, "\n") + "\n")
	for _, content := range [][]byte{good, bad, bytes.Repeat([]byte("x\n"), 3)} {
		for n := 1; ; n++ {
			base := faultfs.New()
			base.Put("/journal.jsonl", content)
			broken := &brokenFS{FS: base, name: "read", n: n}
			_, err := journal.Repair("/journal.jsonl", "/new.jsonl", broken)
			if !broken.fired() {
				break
			}
			if err == nil {
				t.Errorf("read %d failed in silence", n)
			}
			if base.Content("/new.jsonl") != nil {
				t.Errorf("read %d failed, and there is a new journal", n)
			}
		}
	}
}

func TestRepairIntoAMissingDirectory(t *testing.T) {
	dir := t.TempDir()
	j, err := journal.Create(dir+"/journal.jsonl", header{"s", 1})
	check(t, err)
	check(t, j.Close())
	if _, err := journal.Repair(dir+"/journal.jsonl", dir+"/missing/new.jsonl"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A flipped bit in a line that is too long to be searched is not looked for.
func TestRepairOfALongLine(t *testing.T) {
	fsys := faultfs.New()
	j, err := journal.Create("/journal.jsonl", header{"s", 1}, fsys)
	check(t, err)
	err = j.Append(map[string]string{"text": strings.Repeat("x", 17<<10)})
	check(t, err)
	check(t, j.Close())
	content := fsys.Content("/journal.jsonl")
	content[len(content)-1000] ^= 1
	if _, result, err := repair(t, content); err != nil || result.Kept != 1 || len(result.Dropped) != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

// A line longer than any record is passed over in pieces, also if the disk gives out.
func TestLineWithoutEnd(t *testing.T) {
	long := append(build(t, "s1", 3), bytes.Repeat([]byte("x"), 5*journal.MaxLine/2)...)
	for _, content := range [][]byte{long, append(bytes.Clone(long), "\n"...)} {
		fsys := faultfs.New()
		fsys.Put("/journal.jsonl", content)
		ended := content[len(content)-1] == '\n'
		sum, err := journal.Read("/journal.jsonl", ignore, fsys)
		if sum.Records != 3 || ended != (err != nil) || !ended && sum.Torn == nil {
			t.Errorf("%+v, %v", sum, err)
		}
		for n := 1; ; n += 1 + effort.Of(4*n, n/4, n/4) { // of some thousand reads
			broken := &brokenFS{FS: fsys, name: "read", n: n}
			_, err := journal.Read("/journal.jsonl", ignore, broken)
			if !broken.fired() {
				break
			}
			if !errors.Is(err, syscall.EIO) {
				t.Errorf("read %d: %v", n, err)
			}
		}
	}
}

func TestWriteErrorsNameTheFileOnce(t *testing.T) {
	err := &journal.WriteError{Path: "/a/journal.jsonl", Op: "write", Err: &fs.PathError{Op: "write", Path: "/a/journal.jsonl.new", Err: syscall.ENOSPC}}
	if want := "cannot write journal /a/journal.jsonl: no space left on device"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	other := &journal.WriteError{Path: "/a/journal.jsonl", Op: "sync", Err: io.ErrShortWrite}
	if want := "cannot sync journal /a/journal.jsonl: short write"; other.Error() != want {
		t.Errorf("%q, want %q", other, want)
	}
}

func TestMakeDir(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(dir+"/file", nil, 0o600))
	if err := journal.MakeDir(dir + "/file/a"); err == nil {
		t.Error("a directory was made below a file")
	}
	fsys := faultfs.New()
	fsys.Inject(faultfs.Fault{N: 4, Err: syscall.EIO})
	if err := journal.MakeDir(dir+"/a/b/c", fsys); err != nil || fsys.Fired() {
		t.Error(err)
	}
	for n := 1; n <= 3; n++ { // a, b and c are names in three directories
		fsys.Inject(faultfs.Fault{N: n, Err: syscall.EIO})
		path := fmt.Sprintf("%s/%d/b/c", dir, n)
		if err := journal.MakeDir(path, fsys); !errors.Is(err, syscall.EIO) {
			t.Errorf("sync %d: %v", n, err)
		}
	}
	// A file system that does not know of syncing directories is taken as it is.
	check(t, journal.MakeDir("/proc/self"))
	was := syscall.Umask(0o777)
	err := journal.MakeDir(dir + "/masked/study")
	syscall.Umask(was)
	check(t, err)
	if info, err := os.Stat(dir + "/masked/study"); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("under a umask that takes all rights it has mode %v, %v", info.Mode(), err)
	}
	if err := journal.MakeDir(dir + "/file"); err == nil {
		t.Error("a file is a directory")
	}
}

func TestUnknownHolder(t *testing.T) {
	if err := (&journal.LockedError{Path: "/j"}); err.Error() != "journal /j is in use by another process" || !errors.Is(err, journal.ErrLocked) {
		t.Error(err)
	}
}
