package runner

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// claim creates the attempt's directory and returns a descriptor of it. Of several
// claimants exactly one succeeds; the others get ErrClaimed.
func claim(dir string) (int, error) {
	err := mkdir(dir)
	if errors.Is(err, unix.EEXIST) {
		return -1, fmt.Errorf("%s: %w", dir, ErrClaimed)
	}
	if err != nil {
		return -1, err
	}
	fd, err := openDir(dir)
	if err != nil {
		_ = unix.Rmdir(dir)
	}
	return fd, err
}

// mkdir creates a directory of mode 0700, and missing parents. The chmod is for a umask that
// takes away even the owner's rights.
func mkdir(dir string) error {
	err := unix.Mkdir(dir, 0o700)
	if parent := filepath.Dir(dir); errors.Is(err, unix.ENOENT) && parent != dir {
		if err = mkdir(parent); err == nil || errors.Is(err, unix.EEXIST) {
			err = unix.Mkdir(dir, 0o700)
		}
	}
	if err != nil {
		return err
	}
	return unix.Chmod(dir, 0o700)
}

func openDir(dir string) (int, error) {
	return unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// createAt creates the file name, of mode 0600, in the directory of descriptor dir.
func createAt(dir int, name string) (int, error) {
	const flags = unix.O_RDWR | unix.O_APPEND | unix.O_CREAT | unix.O_EXCL
	fd, err := unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return -1, err
	}
	if err := unix.Fchmod(fd, 0o600); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// openAt opens a file that a launcher has created in dir, and no symbolic link or device
// that a user's program has put in its place. O_NONBLOCK is for a FIFO without a reader.
func openAt(dir int, name string, flags int) (int, error) {
	fd, err := unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		unix.Close(fd)
		return -1, fmt.Errorf("%s is not a regular file", name)
	}
	return fd, nil
}

// writeFiles writes files into the fresh directory of descriptor dir. os.Root keeps those
// with a path inside it; it costs as much as the usual file itself.
func writeFiles(dir int, name string, files []File) error {
	for _, f := range files {
		var err error
		if strings.Contains(f.Name, "/") {
			err = writeBelow(name, f)
		} else {
			err = writeAt(dir, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func writeAt(dir int, f File) error {
	fd, err := createAt(dir, f.Name)
	if err != nil {
		return &os.PathError{Op: "create", Path: f.Name, Err: err}
	}
	w := os.NewFile(uintptr(fd), f.Name)
	_, err = w.Write(f.Content)
	return errors.Join(err, w.Close())
}

func writeBelow(dir string, f File) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(path.Dir(f.Name), 0o700); err != nil {
		return err
	}
	w, err := root.OpenFile(f.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = w.Write(f.Content)
	return errors.Join(err, w.Chmod(0o600), w.Close())
}
