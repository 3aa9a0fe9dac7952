package journal

import "io/fs"

// An FS is the part of a file system that journals stand on. The default is the
// operating system's; package faultfs has one that fails on demand. Paths
// given to methods other than Resolve have been through Resolve.
type FS interface {
	// Resolve returns the absolute path of an existing file or directory, free of
	// symbolic links.
	Resolve(path string) (string, error)
	// OpenFile is os.OpenFile for a last element that is no symbolic link. The
	// file is not inherited by child processes.
	OpenFile(path string, flag int, perm fs.FileMode) (File, error)
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
	// Forget drops what is cached of the file, as far as possible, so that what is read from
	// then on is what is on disk.
	Forget()
	Truncate(size int64) error
	Chmod(mode fs.FileMode) error
	Stat() (Info, error)
	// TryLock takes the exclusive lock of the file, whatever the name by which
	// it was opened, and reports whether it did. Close gives the lock back.
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

// An Option changes how a journal is created, opened or read.
type Option func(*options)

type options struct{ fs FS }

// WithFS makes the journal live on fsys instead of the operating system's files.
func WithFS(fsys FS) Option { return func(o *options) { o.fs = fsys } }

func collect(opts []Option) options {
	o := options{fs: osFS{}}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}
