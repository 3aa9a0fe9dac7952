// Package sharing lets processes on one machine take turns at what there is only so much
// of: slots, GPUs.
//
// Whatever can be had is a file in a folder that all of them know, and who holds the lock
// on the file has it. The descriptor is handed on to the processes that use it, so that
// the kernel gives it back when the last of them has ended, however that came about.
// Nobody cleans up, and nobody has to be asked.
//
// Who has to wait stands in line, by a file of his own that is locked while he lives.
package sharing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/pattern"
)

// A Lock is one thing that can be had: by one holder, or by any number of holders that
// all share it.
type Lock struct {
	Name   string // of one line
	Shared bool
}

// A Need is what must be had together: one lock of each group. The scarcest stand first.
type Need [][]Lock

// A Folder is where the locks are.
type Folder struct{ path string }

// Open returns the folder at path, which is made for this user alone unless it is there.
func Open(path string) (*Folder, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: unix.ENOTDIR}
	}
	return &Folder{path}, err
}

// Private reports whether the folder itself, and not what a symbolic link leads to, is
// this user's, and nobody else can write to it.
func (f *Folder) Private() bool {
	info, err := os.Lstat(f.path)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Geteuid()
}

// Held is what was taken. Its files are given to those that use it.
type Held []*os.File

// Release gives back what no other process holds.
func (h Held) Release() {
	for _, f := range h {
		f.Close()
	}
}

// Take waits in line until one of the needs can be met of which open returns the indices,
// and returns its index. open is asked at every look; told hears of each look in vain how
// many stand before us.
func (f *Folder) Take(ctx context.Context, needs []Need, open func() []int, told func(ahead int)) (int, Held, error) {
	turn, err := f.enter()
	if err != nil {
		return 0, nil, fmt.Errorf("stand in line: %w", err)
	}
	defer turn.leave()
	for {
		ahead, reserved, err := f.ahead(turn)
		if err != nil {
			return 0, nil, fmt.Errorf("look who is ahead: %w", err)
		}
		ours := map[string]bool{}
		for _, i := range open() {
			held, missing, err := f.try(needs[i], reserved)
			if err != nil {
				return 0, nil, err
			}
			if held != nil {
				return i, held, nil
			}
			for _, group := range needs[i][:missing+1] {
				for _, l := range group {
					ours[l.Name] = true
				}
			}
		}
		if err := turn.reserve(ours); err != nil {
			return 0, nil, fmt.Errorf("stand in line: %w", err)
		}
		told(ahead)
		select {
		case <-ctx.Done():
			return 0, nil, ctx.Err()
		case <-time.After(min(time.Duration(ahead+1)*lookEvery, lookMax)):
		}
	}
}

// Pace of the looks: the first in line looks often, those behind cannot be next. Who has not looked for so long
// that he must be stopped, by Ctrl-Z perhaps, keeps his place and reserves nothing.
const (
	lookEvery = 10 * time.Millisecond
	lookMax   = 250 * time.Millisecond
	asleep    = 20 * lookMax
)

// try takes what the need names, all or nothing, but nothing that is reserved for others.
// If it cannot, missing is the first group of which nothing was free.
func (f *Folder) try(need Need, reserved map[string]bool) (held Held, missing int, err error) {
	held = Held{}
	for i, group := range need {
		var file *os.File
		for _, l := range group {
			if file == nil && err == nil && !reserved[l.Name] {
				file, err = f.lock(l)
			}
		}
		if file == nil {
			held.Release()
			return nil, i, err
		}
		held = append(held, file)
	}
	return held, 0, nil
}

// lock takes a lock, or returns nil if others hold it.
func (f *Folder) lock(l Lock) (*os.File, error) {
	path := filepath.Join(f.path, url.PathEscape(l.Name)+".lock")
	how := unix.LOCK_EX
	if l.Shared {
		how = unix.LOCK_SH
	}
	for {
		file, err := openOrMake(path)
		if err != nil {
			return nil, err
		}
		err = unix.Flock(int(file.Fd()), how|unix.LOCK_NB)
		if err == nil && !removed(file) { // which somebody who cleans up may have done, and does by age
			_ = unix.Futimes(int(file.Fd()), nil)
			return file, nil
		}
		file.Close()
		switch err {
		case nil:
		case unix.EWOULDBLOCK:
			return nil, nil
		default:
			return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
		}
	}
}

// openOrMake opens a file for locking. Everybody who gets at the folder may lock it.
func openOrMake(path string) (*os.File, error) {
	for {
		file, err := door.OpenFile(path, os.O_RDONLY)
		if !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
		file, err = os.OpenFile(path, os.O_RDONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			err = file.Chmod(0o644) // whatever the umask
		}
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
}

// removed reports whether an open file has no name any more.
func removed(file *os.File) bool {
	var st unix.Stat_t
	return unix.Fstat(int(file.Fd()), &st) == nil && st.Nlink == 0
}

// A turn is a place in the line: a file with the names of what its holder waits for, by
// whose name the line is ordered.
type turn struct {
	file *os.File
	said string
}

// turnRE is the form of their names. Whatever else lies in the folder is left alone.
var turnRE = pattern.Lazy(`^turn-\d{20}-\d+$`)

// enter goes to the end of the line.
func (f *Folder) enter() (*turn, error) {
	for {
		file, err := os.CreateTemp(f.path, fmt.Sprintf("turn-%020d-*", time.Now().UnixNano()))
		if err != nil {
			return nil, err
		}
		err = errors.Join(file.Chmod(0o644), unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB))
		t := &turn{file: file}
		if err == nil && !removed(file) {
			return t, nil
		}
		t.leave() // somebody has taken us for dead
		if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, err
		}
	}
}

func (t *turn) leave() {
	_ = door.Remove(t.file.Name())
	t.file.Close()
}

// reserve says what nobody behind may take.
func (t *turn) reserve(names map[string]bool) error {
	text := strings.Join(slices.Sorted(maps.Keys(names)), "\n")
	if text != t.said {
		t.said = text
		if err := t.file.Truncate(0); err != nil {
			return err
		}
	}
	_, err := t.file.WriteAt([]byte(t.said+"\n"), 0) // whose time is that of the last look
	return err
}

// ahead counts those who stand before t, and returns what they have reserved.
func (f *Folder) ahead(t *turn) (n int, reserved map[string]bool, err error) {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return 0, nil, err
	}
	reserved = map[string]bool{}
	for _, e := range entries { // sorted by name
		if !turnRE().MatchString(e.Name()) || e.Name() >= filepath.Base(t.file.Name()) {
			continue
		}
		names, waits := reservedBy(filepath.Join(f.path, e.Name()))
		if waits {
			n++
		}
		for _, name := range names {
			reserved[name] = true
		}
	}
	return n, reserved, nil
}

// reservedBy reads a turn, and removes that of a process that has died.
func reservedBy(path string) (names []string, waits bool) {
	file, err := door.OpenFile(path, os.O_RDONLY)
	if err != nil {
		return nil, false // it has left
	}
	defer file.Close()
	if unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil {
		_ = door.Remove(path)
		return nil, false
	}
	if info, err := file.Stat(); err != nil || time.Since(info.ModTime()) > asleep {
		return nil, false
	}
	text := make([]byte, 64<<10)
	n, _ := file.ReadAt(text, 0)
	return strings.Split(string(text[:n]), "\n"), true
}
