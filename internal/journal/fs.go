package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/lbotune/lbotune/internal/door"
)

// An FS is the part of a file system that journals stand on: the operating system's, unless another is
// given. Paths given to methods other than Resolve have been through Resolve.
type FS interface {
	// Resolve returns the absolute path of an existing file or directory, without links.
	Resolve(path string) (string, error)
	// OpenFile is os.OpenFile for a last element that is no link, and for no child process. What it
	// makes is for the owner alone, whatever the umask.
	OpenFile(path string, flag int) (File, error)
	// Stat describes what is at path, and does not follow a symbolic link.
	Stat(path string) (Info, error)
	Rename(from, to string) error
	Remove(path string) error
	// SyncDir returns when the entries of directory dir are on disk.
	SyncDir(dir string) error
}

// A File is an open file of an FS.
type File interface {
	ReadAt(p []byte, off int64) (int, error)
	Write(p []byte) (int, error)
	Sync() error
	// Forget drops what is cached of the file, so that what is on disk is read from then on.
	Forget()
	Truncate(size int64) error
	Stat() (Info, error)
	// TryLock takes the exclusive lock of the file, by whatever name, until Close, if it can.
	TryLock() (bool, error)
	Close() error
}

// Info describes a file. Two Infos with equal Dev and Ino are of the same file.
type Info struct {
	Size     int64
	Dev, Ino uint64
	Mode     fs.FileMode
}

func (i Info) sameFile(other Info) bool { return i.Dev == other.Dev && i.Ino == other.Ino }

// fileSystem is the one that was given, or else the operating system's.
func fileSystem(on []FS) FS {
	if len(on) == 0 {
		return osFS{}
	}
	return on[0]
}

type osFS struct{}

func (osFS) Resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

func (osFS) OpenFile(path string, flag int) (File, error) {
	f, err := door.OpenFile(path, flag)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Stat(path string) (Info, error) { return infoOf(os.Lstat(path)) }

func (osFS) Rename(from, to string) error { return os.Rename(from, to) }
func (osFS) Remove(path string) error     { return os.Remove(path) }

func (osFS) SyncDir(dir string) error {
	d, err := door.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

type osFile struct{ *os.File }

func (f osFile) Stat() (Info, error) { return infoOf(f.File.Stat()) }

func (f osFile) TryLock() (bool, error) { return f.tryFlock(syscall.LOCK_EX) }

func (f osFile) tryFlock(how int) (bool, error) {
	err := f.flock(how | syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Close unlocks before it closes: a child on the way to its exec would hold the lock a moment longer.
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

func infoOf(st fs.FileInfo, err error) (Info, error) {
	if err != nil {
		return Info{}, err
	}
	info := Info{Size: st.Size(), Mode: st.Mode()}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		info.Dev, info.Ino = uint64(sys.Dev), sys.Ino
	}
	return info, nil
}

// MakeDir makes a directory that is the owner's alone, and missing ones above it, and returns when its name is
// on disk, also that of one which a process has made that died before that. Another file system is only asked
// to sync it.
func MakeDir(path string, on ...FS) error {
	fsys := fileSystem(on)
	parents := []string{filepath.Dir(path)}
	for dir := parents[0]; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		parents = append(parents, filepath.Dir(dir))
	}
	if err := door.Mkdir(path); errors.Is(err, fs.ErrExist) {
		if info, _ := os.Stat(path); info == nil || !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
		}
	} else if err != nil {
		return err
	}
	for _, dir := range parents {
		// Who may not read a directory cannot sync it.
		if err := fsys.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}
