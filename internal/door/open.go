package door

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// OpenAt opens a regular file in the directory of a descriptor, or at a path from
// unix.AT_FDCWD on of which only the last element is looked at. What it makes has mode 0600.
func OpenAt(dir int, name string, flags int) (got int, err error) {
	if flags&unix.O_CREAT != 0 && flags&unix.O_EXCL == 0 { // only what is made here gets a mode
		if got, err = OpenAt(dir, name, flags|unix.O_EXCL); !errors.Is(err, unix.EEXIST) {
			return got, err
		}
		flags &^= unix.O_CREAT
	}
	err = retry(func() error {
		got, err = unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
		return err
	})
	var st unix.Stat_t
	if err != nil {
		if flags&unix.O_EXCL == 0 && unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			return -1, refusal(&st, unix.S_IFREG, err)
		}
		return -1, err
	}
	if err = unix.Fstat(got, &st); err == nil {
		err = refusal(&st, unix.S_IFREG, nil)
	}
	if err == nil && flags&unix.O_EXCL != 0 {
		err = unix.Fchmod(got, 0o600)
	}
	if err != nil {
		unix.Close(got)
		return -1, err
	}
	return got, nil
}

// OpenFile opens a regular file at a path of a user's, in which links are followed but for its end.
func OpenFile(path string, flags int) (*os.File, error) {
	got, err := OpenAt(unix.AT_FDCWD, path, flags)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(got), path), nil
}

// ReadFile returns what is in a regular file of the user's, or behind a link, of at most so many bytes.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file (%v)", path, info.Mode())
	case info.Size() > most:
		return nil, fmt.Errorf("%s has %d MB; the most is %d", path, info.Size()>>20, most>>20)
	}
	return io.ReadAll(io.LimitReader(f, most))
}

// Mkdir makes the directory at path, and missing ones above it. It is an error if it is there.
func Mkdir(path string) error {
	err := unix.Mkdir(path, 0o700)
	if parent := filepath.Dir(path); errors.Is(err, unix.ENOENT) && parent != path {
		if err = Mkdir(parent); err == nil || errors.Is(err, unix.EEXIST) {
			err = unix.Mkdir(path, 0o700)
		}
	}
	if err != nil {
		return &fs.PathError{Op: "make", Path: path, Err: err}
	}
	return unix.Chmod(path, 0o700) // a umask may have taken away even the owner's rights
}

// Rmdir removes the empty directory at path. It takes no descriptor, of which there may be none.
func Rmdir(path string) error { return unix.Rmdir(path) }

// OpenDirAt opens a directory, as OpenAt a file.
func OpenDirAt(dir int, name string) (int, error) { return openDir(dir, name, unix.O_NOFOLLOW) }

func openDir(dir int, name string, flags int) (got int, err error) {
	err = retry(func() error {
		got, err = unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|flags, 0)
		return err
	})
	var st unix.Stat_t
	if err != nil && flags != 0 && unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		err = refusal(&st, unix.S_IFDIR, err)
	}
	return got, err
}

// refusal says what something is that is not of the kind wanted; else it is err.
func refusal(st *unix.Stat_t, wanted uint32, err error) error {
	found := uint32(st.Mode) & unix.S_IFMT
	switch {
	case found == wanted:
		return err
	case found == unix.S_IFLNK:
		return errLink
	case wanted == unix.S_IFDIR && err != nil:
		return &Refusal{fmt.Sprintf("it is %s, and no directory", kindOf(st).name), err}
	}
	return &Refusal{fmt.Sprintf("it is %s, which is not a regular file", kindOf(st).name), err}
}

// kind is what something is, for people and as a mode.
type kind struct {
	name string
	mode fs.FileMode
}

func kindOf(st *unix.Stat_t) kind {
	return map[uint32]kind{
		unix.S_IFREG:  {"a file", 0},
		unix.S_IFDIR:  {"a directory", fs.ModeDir},
		unix.S_IFLNK:  {"a symbolic link", fs.ModeSymlink},
		unix.S_IFIFO:  {"a pipe", fs.ModeNamedPipe},
		unix.S_IFSOCK: {"a socket", fs.ModeSocket},
		unix.S_IFCHR:  {"a device", fs.ModeDevice},
		unix.S_IFBLK:  {"a device", fs.ModeDevice},
	}[uint32(st.Mode)&unix.S_IFMT]
}

func infoOf(st *unix.Stat_t) Info {
	return Info{Mode: fs.FileMode(st.Mode&0o777) | kindOf(st).mode, Size: st.Size, UID: int(st.Uid),
		Modified: time.Unix(st.Mtim.Unix()), Inode: st.Ino}
}

// retry makes a call again that a signal has interrupted, as file systems in user space are.
func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func fd(f *os.File) int { return int(f.Fd()) }
