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
// directory that it lies in, to this user or to root.
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
	d := &Dir{file: os.NewFile(uintptr(fd), path), links: links}
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
		if d.mayLink(name) {
			got, err := follow(dir, last)
			if err != nil {
				return err
			}
			sub = &Dir{file: os.NewFile(uintptr(got), d.Path(name))}
			sub.on, err = mountOf(got)
			return err
		}
		sub, err = open(dir, last, d.Path(name), unix.O_NOFOLLOW, nil)
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
		if err == nil {
			file = os.NewFile(uintptr(got), d.Path(name))
		}
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
	err := retry(func() error { return unix.Renameat(fd(d.file), from, fd(d.file), to) })
	if err != nil {
		return &fs.PathError{Op: "rename", Path: d.Path(from), Err: err}
	}
	return nil
}

// Remove removes a file, a link or an empty directory, if it is there.
func (d *Dir) Remove(name string) error {
	return d.at("remove", name, func(dir int, last string) error {
		err := retry(func() error { return unix.Unlinkat(dir, last, 0) })
		if err == unix.EISDIR || err == unix.EPERM {
			if below := retry(func() error { return unix.Unlinkat(dir, last, unix.AT_REMOVEDIR) }); below != unix.ENOTDIR {
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
func (d *Dir) List(name string) ([]string, error) {
	sub, err := d.enter(name)
	if err != nil {
		return nil, err
	}
	defer sub.Close()
	names, err := sub.file.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

func (d *Dir) enter(name string) (*Dir, error) {
	if name == "." {
		return open(fd(d.file), ".", d.Name(), unix.O_NOFOLLOW, nil) // which is read from its beginning
	}
	return d.Dir(name)
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
		ts, err := unix.TimeToTimespec(to)
		if err != nil {
			return err
		}
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
	dir, err := fd(d.file), error(nil)
	for i, part := range parts[:len(parts)-1] {
		next := 0
		if d.mayLink(filepath.Join(parts[:i+1]...)) {
			next, err = follow(dir, part)
		} else {
			next, err = openDir(dir, part, unix.O_NOFOLLOW)
		}
		if i > 0 {
			unix.Close(dir)
		}
		if err != nil {
			return &fs.PathError{Op: op, Path: d.Path(filepath.Join(parts[:i+1]...)), Err: err}
		}
		dir = next
	}
	if len(parts) > 1 {
		defer unix.Close(dir)
	}
	err = do(dir, parts[len(parts)-1])
	var known *fs.PathError
	if err != nil && !errors.As(err, &known) {
		err = &fs.PathError{Op: op, Path: d.Path(name), Err: err}
	}
	return err
}

// mayLink reports whether what is called name may be a link.
func (d *Dir) mayLink(name string) bool {
	return slices.ContainsFunc(d.links, func(pattern string) bool {
		is, _ := filepath.Match(pattern, filepath.Clean(name))
		return is
	})
}

// follow opens a directory in another one that may be a link.
func follow(dir int, name string) (int, error) {
	var own, link, to unix.Stat_t
	got, err := openDir(dir, name, 0)
	if err != nil {
		return -1, err
	}
	err = errors.Join(unix.Fstat(dir, &own), unix.Fstatat(dir, name, &link, unix.AT_SYMLINK_NOFOLLOW), unix.Fstat(got, &to))
	for _, st := range []unix.Stat_t{link, to} {
		if err == nil && st.Uid != own.Uid && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
			err = fmt.Errorf("user %d owns it, or what it leads to", st.Uid)
		}
	}
	if err != nil {
		unix.Close(got)
		return -1, err
	}
	return got, nil
}

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

// OpenFile opens a regular file at a path whose directory is its user's; links in it are
// followed, but for the last element.
func OpenFile(path string, flags int) (*os.File, error) {
	got, err := OpenAt(unix.AT_FDCWD, path, flags)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(got), path), nil
}

// ReadFile returns what is in a regular file, or one that a link leads to, of at most so many
// bytes: of a file of the user's.
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

// openDir opens the directory that is called name in another one.
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
	kind := uint32(st.Mode) & unix.S_IFMT
	switch {
	case kind == wanted:
		return err
	case kind == unix.S_IFLNK:
		return errLink
	case wanted == unix.S_IFDIR && err != nil:
		return &Refusal{fmt.Sprintf("it is %s, and no directory", kindName(kind)), err}
	}
	return &Refusal{fmt.Sprintf("it is %s, which is not a regular file", kindName(kind)), err}
}

func kindName(kind uint32) string {
	switch kind {
	case unix.S_IFREG:
		return "a file"
	case unix.S_IFDIR:
		return "a directory"
	case unix.S_IFIFO:
		return "a pipe"
	case unix.S_IFSOCK:
		return "a socket"
	}
	return "a device"
}

func infoOf(st *unix.Stat_t) Info {
	mode := fs.FileMode(st.Mode & 0o777)
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	default:
		mode |= fs.ModeDevice
	}
	return Info{Mode: mode, Size: st.Size, UID: int(st.Uid), Modified: time.Unix(st.Mtim.Unix()), Inode: st.Ino}
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
