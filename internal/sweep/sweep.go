// Package sweep removes directories that users' programs have written to. What a symbolic
// link or a mount leads to stays, whenever it was put there: everything is opened and
// removed by a descriptor of the directory that it lies in.
package sweep

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// mostNamed is how many of those things are named that stay.
const mostNamed = 5

var (
	errLink    = errors.New("it is a symbolic link, which is not followed")
	errMounted = errors.New("something else is mounted there")
)

// Dir is a directory below which things are removed. It stays the same one whatever its
// path leads to later.
type Dir struct {
	file *os.File
	on   mount
}

// Open opens the directory at path; if that is a symbolic link, only if it may be.
func Open(path string, mayBeLink bool) (*Dir, error) {
	flags := unix.O_NOFOLLOW
	if mayBeLink {
		flags = 0
	}
	f, err := openDir(unix.AT_FDCWD, path, path, flags)
	if err != nil {
		return nil, err
	}
	on, err := mountOf(fd(f))
	if err != nil {
		return nil, errors.Join(&os.PathError{Op: "stat", Path: path, Err: err}, f.Close())
	}
	return &Dir{file: f, on: on}, nil
}

// Close gives up the directory.
func (d *Dir) Close() error { return d.file.Close() }

// List names what lies in the directory that is called name here.
func (d *Dir) List(name string) ([]string, error) {
	f, err := d.enter(d.file, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// Clear removes what is called names in the directory that is called name here, and that
// directory too, unless something else is in it. Its error says what stays.
func (d *Dir) Clear(name string, names []string) error {
	f, err := d.enter(d.file, name)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	stays := d.removeAll(f, names)
	_ = unlink(d.file, name, unix.AT_REMOVEDIR)
	return errors.Join(stays...)
}

// All removes what is at path, and everything below it, as os.RemoveAll does.
func All(path string) error {
	parent, name := filepath.Split(filepath.Clean(path))
	if name == "" || name == "." || name == ".." {
		return &os.PathError{Op: "remove", Path: path, Err: unix.EINVAL}
	}
	d, err := Open(filepath.Clean(parent), true)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	return errors.Join(d.remove(d.file, name)...)
}

// removeAll removes what is called names in a directory. Of a lot that stays it names some.
func (d *Dir) removeAll(dir *os.File, names []string) (stays []error) {
	for _, name := range names {
		stays = append(stays, d.remove(dir, name)...)
		stays = stays[:min(len(stays), mostNamed)]
	}
	return stays
}

// remove removes what is called name in a directory.
func (d *Dir) remove(dir *os.File, name string) (stays []error) {
	err := unlink(dir, name, 0)
	if err == nil || err == unix.ENOENT {
		return nil
	}
	path := filepath.Join(dir.Name(), name)
	if err != unix.EISDIR && err != unix.EPERM && err != unix.EACCES {
		return []error{&os.PathError{Op: "remove", Path: path, Err: err}}
	}
	f, below := d.enter(dir, name)
	switch {
	case below == nil:
		names, err := f.Readdirnames(-1)
		if stays = d.removeAll(f, names); err != nil {
			stays = append(stays, err)
		}
		f.Close()
	case errors.Is(below, unix.ENOTDIR), errors.Is(below, errLink): // a file that may not be removed
		return []error{&os.PathError{Op: "remove", Path: path, Err: err}}
	default:
		stays = []error{below}
	}
	// It is worth a try although something is said to stay: a directory that may not be
	// read may be empty.
	err = unlink(dir, name, unix.AT_REMOVEDIR)
	switch {
	case err == nil || err == unix.ENOENT:
		return nil
	case len(stays) == 0:
		return []error{&os.PathError{Op: "remove", Path: path, Err: err}}
	}
	return stays
}

// enter opens the directory that is called name in another one, if it is a directory of
// the same mount.
func (d *Dir) enter(dir *os.File, name string) (*os.File, error) {
	path := filepath.Join(dir.Name(), name)
	f, err := openDir(fd(dir), name, path, unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	on, err := mountOf(fd(f))
	if err == nil && on != d.on {
		err = errMounted
	}
	if err != nil {
		return nil, errors.Join(&os.PathError{Op: "remove", Path: path, Err: err}, f.Close())
	}
	return f, nil
}

// openDir opens the directory that is called name in another one. In errors it is path.
func openDir(dir int, name, path string, flags int) (*os.File, error) {
	var got int
	err := retry(func() (err error) {
		got, err = unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|flags, 0)
		return err
	})
	if err == nil {
		return os.NewFile(uintptr(got), path), nil
	}
	var st unix.Stat_t
	if flags != 0 && unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
		err = errLink
	}
	return nil, &os.PathError{Op: "open", Path: path, Err: err}
}

func unlink(dir *os.File, name string, flags int) error {
	return retry(func() error { return unix.Unlinkat(fd(dir), name, flags) })
}

// retry makes a call again that a signal has interrupted, as file systems in user space
// let it.
func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func fd(f *os.File) int { return int(f.Fd()) }
