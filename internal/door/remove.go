package door

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// What is removed lies in directories on the mount of the one that is held open: what a
// symbolic link or a mount leads to stays, whenever it was put there.

// mostNamed is how many of those things are named that stay.
const mostNamed = 5

var errMounted = &Refusal{"something else is mounted there", unix.EBUSY}

// Clear removes what is called names in the directory that is called name here, and that
// directory too, unless something else is in it. Its error says what stays.
func (d *Dir) Clear(name string, names []string) error {
	f, err := d.below(d.file, name)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	stays := d.removeAll(f, names)
	_ = unlink(fd(d.file), name, unix.AT_REMOVEDIR)
	return errors.Join(stays...)
}

// RemoveAll removes what is at path, and everything below it, as os.RemoveAll does.
func RemoveAll(path string) error { return inParent(path, (*Dir).RemoveAll) }

// Remove removes the file, the link or the empty directory at path, if it is there.
func Remove(path string) error { return inParent(path, (*Dir).Remove) }

func inParent(path string, do func(*Dir, string) error) error {
	parent, name := filepath.Split(filepath.Clean(path))
	if name == "" || name == "." || name == ".." {
		return &fs.PathError{Op: "remove", Path: path, Err: unix.EINVAL}
	}
	d, err := Open(filepath.Clean(parent))
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	return do(d, name)
}

// RemoveAll removes what is called name here, and everything below it.
func (d *Dir) RemoveAll(name string) error { return errors.Join(d.remove(d.file, name)...) }

// removeAll removes what is called names in a directory. Of a lot that stays it names some.
func (d *Dir) removeAll(dir *os.File, names []string) (stays []error) {
	for _, name := range names {
		stays = append(stays, d.remove(dir, name)...)
		stays = stays[:min(len(stays), mostNamed)]
	}
	return stays
}

func (d *Dir) remove(dir *os.File, name string) (stays []error) {
	err := unlink(fd(dir), name, 0)
	if err == nil || err == unix.ENOENT {
		return nil
	}
	path := filepath.Join(dir.Name(), name)
	if err != unix.EISDIR && err != unix.EPERM && err != unix.EACCES {
		return []error{&fs.PathError{Op: "remove", Path: path, Err: err}}
	}
	f, refused := d.below(dir, name)
	switch {
	case refused == nil:
		names, err := f.Readdirnames(-1)
		if stays = d.removeAll(f, names); err != nil {
			stays = append(stays, err)
		}
		f.Close()
	case errors.Is(refused, unix.ENOTDIR), errors.Is(refused, errLink): // a file that may not be removed
		return []error{&fs.PathError{Op: "remove", Path: path, Err: err}}
	default:
		stays = []error{refused}
	}
	// It is worth a try: a directory that may not be read may be empty.
	err = unlink(fd(dir), name, unix.AT_REMOVEDIR)
	switch {
	case err == nil || err == unix.ENOENT:
		return nil
	case len(stays) == 0:
		return []error{&fs.PathError{Op: "remove", Path: path, Err: err}}
	}
	return stays
}

// below opens a directory in another one, if it is one of the same mount.
func (d *Dir) below(dir *os.File, name string) (*os.File, error) {
	path := filepath.Join(dir.Name(), name)
	sub, err := open(fd(dir), name, path, unix.O_NOFOLLOW, nil)
	if err != nil {
		return nil, err
	}
	if sub.on != d.on {
		return nil, errors.Join(&fs.PathError{Op: "remove", Path: path, Err: errMounted}, sub.Close())
	}
	return sub.file, nil
}

func unlink(dir int, name string, flags int) error {
	return retry(func() error { return unix.Unlinkat(dir, name, flags) })
}
