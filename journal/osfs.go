//go:build linux || darwin

package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/lbotune/lbotune/internal/door"
)

type osFS struct{}

func (osFS) Resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

func (osFS) OpenFile(path string, flag int, perm fs.FileMode) (File, error) {
	f, err := door.OpenFile(path, flag)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Stat(path string) (Info, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return Info{}, err
	}
	return infoOf(st), nil
}

func (osFS) Rename(from, to string) error { return os.Rename(from, to) }
func (osFS) Remove(path string) error     { return os.Remove(path) }

func (osFS) SyncDir(dir string) error { return SyncDir(dir) }

// SyncDir returns when the entries of a directory are on disk.
func SyncDir(dir string) error {
	d, err := door.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

type osFile struct{ *os.File }

func (f osFile) Stat() (Info, error) {
	st, err := f.File.Stat()
	if err != nil {
		return Info{}, err
	}
	return infoOf(st), nil
}

func (f osFile) TryLock() (bool, error) { return f.tryFlock(syscall.LOCK_EX) }

// tryShare takes the lock together with others who only look.
func (f osFile) tryShare() (bool, error) { return f.tryFlock(syscall.LOCK_SH) }

func (f osFile) tryFlock(how int) (bool, error) {
	err := f.flock(how | syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Close unlocks before it closes: a child that was forked and has not reached its
// exec yet shares the lock, and would hold it for a moment longer.
func (f osFile) Close() error {
	_ = f.flock(syscall.LOCK_UN)
	return f.File.Close()
}

func (f osFile) flock(how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}

func infoOf(st fs.FileInfo) Info {
	info := Info{Size: st.Size(), Mode: st.Mode()}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		info.Dev, info.Ino = uint64(sys.Dev), sys.Ino
	}
	return info
}
