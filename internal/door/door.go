// Package door opens, makes and removes what lies in directories that users' programs write to.
//
// A directory is held open, and what is below it is reached step by step from there, so that
// what its path leads to later does not matter. No symbolic link is followed, unless it was
// said that it may be one; no pipe or device is waited for; no descriptor is inherited.
// Directories that are made have mode 0700 and files 0600, whatever the umask. Errors name the
// path and what is there.
package door

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Refusal says what something is that is not opened.
type Refusal struct {
	text string
	err  error
}

func (r *Refusal) Error() string { return r.text }
func (r *Refusal) Unwrap() error { return r.err }

var errLink = &Refusal{"it is a symbolic link, which is not followed", unix.ELOOP}

// Dir is a directory that is held open. Names of what is in it may have several elements.
type Dir struct {
	file  *os.File
	on    mount
	links []string // patterns of what in it may be a link to a directory
}

// Open opens the directory at path, which may be a link. What in it matches one of the patterns
// may be a link to a directory too, if it and what it leads to belong to the owner of the
// directory that it lies in, to this user or to root; another user's link only to what is that user's.
func Open(path string, links ...string) (*Dir, error) {
	return open(unix.AT_FDCWD, path, path, 0, links)
}

// OpenReal opens the directory at path, unless that is a link.
func OpenReal(path string) (*Dir, error) {
	return open(unix.AT_FDCWD, path, path, unix.O_NOFOLLOW, nil)
}

func open(dir int, name, path string, flags int, links []string) (*Dir, error) {
	fd, err := openDir(dir, name, flags)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return held(fd, path, links)
}

func held(fd int, path string, links []string) (d *Dir, err error) {
	d = &Dir{file: os.NewFile(uintptr(fd), path), links: links}
	if d.on, err = mountOf(fd); err != nil {
		return nil, errors.Join(&fs.PathError{Op: "stat", Path: path, Err: err}, d.Close())
	}
	return d, nil
}

// Close gives up the directory.
func (d *Dir) Close() error { return d.file.Close() }

// Name is the path by which it was opened.
func (d *Dir) Name() string { return d.file.Name() }

// Path is that of something in it, for people.
func (d *Dir) Path(name string) string { return filepath.Join(d.Name(), name) }

// Sync returns when its entries are on disk.
func (d *Dir) Sync() error {
	err := d.file.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil // this file system has no such notion
	}
	return err
}

// Dir opens a directory in it.
func (d *Dir) Dir(name string) (sub *Dir, err error) {
	err = d.at("open", name, func(dir int, last string) error {
		got, err := d.step(dir, last, name)
		if err == nil {
			sub, err = held(got, d.Path(name), nil)
		}
		return err
	})
	return sub, err
}

// Make is Dir for a directory that is made, with those above it, unless it is there.
func (d *Dir) Make(name string) (*Dir, error) {
	parts := strings.Split(filepath.Clean(name), "/")
	for i := range parts {
		err := d.at("make", filepath.Join(parts[:i+1]...), func(dir int, last string) error {
			err := retry(func() error { return unix.Mkdirat(dir, last, 0o700) })
			if err == nil { // a umask may have taken away even the owner's rights
				err = unix.Fchmodat(dir, last, 0o700, 0)
			}
			if err == unix.EEXIST {
				return nil
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return d.Dir(name)
}

// OpenFile opens a regular file; flags are those of open(2).
func (d *Dir) OpenFile(name string, flags int) (file *os.File, err error) {
	err = d.at("open", name, func(dir int, last string) error {
		got, err := OpenAt(dir, last, flags)
		file = os.NewFile(uintptr(got), d.Path(name)) // nil for one that is -1
		return err
	})
	return file, err
}

// Read returns what is in a regular file, of at most so many bytes.
func (d *Dir) Read(name string, most int64) ([]byte, error) {
	f, err := d.OpenFile(name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = &fs.PathError{Op: "read", Path: d.Path(name), Err: unix.EFBIG}
	}
	return text, err
}

// Write replaces a file as a whole, by way of a draft beside it, and returns when it is on disk.
func (d *Dir) Write(name string, text []byte) error {
	if above, last := filepath.Split(name); above != "" {
		sub, err := d.Dir(above)
		if err != nil {
			return err
		}
		defer sub.Close()
		return sub.Write(last, text)
	}
	return d.WriteBy("."+name+"-"+rand.Text()[:10], name, text)
}

// WriteBy is Write with a draft of a given name, for a file in the directory itself.
func (d *Dir) WriteBy(draft, name string, text []byte) error {
	f, err := d.OpenFile(draft, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = d.Rename(draft, name)
	}
	if err != nil {
		return errors.Join(err, d.Remove(draft))
	}
	return d.Sync()
}

// Rename renames what is in the directory itself.
func (d *Dir) Rename(from, to string) error {
	return d.at("rename", from, func(dir int, last string) error {
		return retry(func() error { return unix.Renameat(dir, last, fd(d.file), to) })
	})
}

// Remove removes a file, a link or an empty directory, if it is there.
func (d *Dir) Remove(name string) error {
	return d.at("remove", name, func(dir int, last string) error {
		err := unlink(dir, last, 0)
		if err == unix.EISDIR || err == unix.EPERM {
			if below := unlink(dir, last, unix.AT_REMOVEDIR); below != unix.ENOTDIR {
				err = below
			}
		}
		if err == unix.ENOENT {
			return nil
		}
		return err
	})
}

// List names what is in a directory, sorted; "." is this one.
func (d *Dir) List(name string) (names []string, err error) {
	var sub *Dir
	if name == "." {
		sub, err = open(fd(d.file), ".", d.Name(), unix.O_NOFOLLOW, nil) // which is read from its beginning
	} else {
		sub, err = d.Dir(name)
	}
	if err == nil {
		defer sub.Close()
		names, err = sub.file.Readdirnames(-1)
		slices.Sort(names)
	}
	return names, err
}

// Info says what is somewhere.
type Info struct {
	Mode     fs.FileMode
	Size     int64
	UID      int
	Modified time.Time
	Inode    uint64
}

// Stat says what is called name; of a link, that it is one.
func (d *Dir) Stat(name string) (info Info, err error) {
	err = d.at("look at", name, func(dir int, last string) error {
		var st unix.Stat_t
		err := retry(func() error { return unix.Fstatat(dir, last, &st, unix.AT_SYMLINK_NOFOLLOW) })
		info = infoOf(&st)
		return err
	})
	return info, err
}

// Info says what the directory itself is.
func (d *Dir) Info() (Info, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstat(fd(d.file), &st) })
	return infoOf(&st), err
}

// Touch sets the times of a file.
func (d *Dir) Touch(name string, to time.Time) error {
	return d.at("touch", name, func(dir int, last string) error {
		ts := unix.NsecToTimespec(to.UnixNano())
		return unix.UtimesNanoAt(dir, last, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
	})
}

// Symlink makes a symbolic link.
func (d *Dir) Symlink(to, name string) error {
	return d.at("link", name, func(dir int, last string) error { return unix.Symlinkat(to, dir, last) })
}

// Readlink says where a symbolic link leads.
func (d *Dir) Readlink(name string) (to string, err error) {
	err = d.at("read the link", name, func(dir int, last string) error {
		buf := make([]byte, unix.PathMax)
		n, err := unix.Readlinkat(dir, last, buf)
		to = string(buf[:max(n, 0)])
		return err
	})
	return to, err
}

// at does something to what is called name, in the directory that it lies in.
func (d *Dir) at(op, name string, do func(dir int, last string) error) error {
	parts := strings.Split(filepath.Clean(name), "/")
	if slices.ContainsFunc(parts, func(p string) bool { return p == "" || p == "." || p == ".." }) {
		return &fs.PathError{Op: op, Path: d.Path(name), Err: unix.EINVAL}
	}
	dir := fd(d.file)
	for i, part := range parts[:len(parts)-1] {
		below := filepath.Join(parts[:i+1]...)
		next, err := d.step(dir, part, below)
		if i > 0 {
			unix.Close(dir)
		}
		if err != nil {
			return &fs.PathError{Op: op, Path: d.Path(below), Err: err}
		}
		dir = next
	}
	if len(parts) > 1 {
		defer unix.Close(dir)
	}
	err := do(dir, parts[len(parts)-1])
	var known *fs.PathError
	if err != nil && !errors.As(err, &known) {
		err = &fs.PathError{Op: op, Path: d.Path(name), Err: err}
	}
	return err
}

// step opens the directory last of another one, which is called name from here.
func (d *Dir) step(dir int, last, name string) (int, error) {
	if slices.ContainsFunc(d.links, func(pattern string) bool {
		is, _ := filepath.Match(pattern, filepath.Clean(name))
		return is
	}) {
		return follow(dir, last)
	}
	return OpenDirAt(dir, last)
}

// follow opens a directory in another one that may be a link.
func follow(dir int, name string) (int, error) {
	var own, link, to unix.Stat_t
	got, err := openDir(dir, name, 0)
	if err != nil {
		return -1, err
	}
	err = errors.Join(unix.Fstat(dir, &own), unix.Fstatat(dir, name, &link, unix.AT_SYMLINK_NOFOLLOW), unix.Fstat(got, &to))
	trusted := func(uid uint32) bool { return uid == 0 || int(uid) == os.Geteuid() }
	switch {
	case err != nil:
	case !trusted(to.Uid) && to.Uid != own.Uid:
		err = &Refusal{fmt.Sprintf("user %d owns it, or what it leads to", to.Uid), unix.ELOOP}
	case !trusted(link.Uid) && link.Uid != to.Uid: // else it would show us what we may see, and that user not
		err = &Refusal{fmt.Sprintf("user %d owns it, and not what it leads to", link.Uid), unix.ELOOP}
	}
	if err != nil {
		unix.Close(got)
	}
	return got, err
}
