package session

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/study"
)

// workDir says in which directory the trials go on to run for somebody who works in
// the directory here. That is the one in which the study was begun, wherever it is
// started again from; but if the study was moved, or is a copy, what lies around it
// now may have moved along, with the program in it.
func (s *Study) workDir(here string) (string, error) {
	was := s.state.Config.Dir
	now := was
	if moved := s.state.Place != "" && s.state.Place != resolved(string(s.layout)); moved && s.state.Way != "" {
		now = filepath.Join(resolved(string(s.layout)), s.state.Way)
	}
	switch {
	case s.state.Sessions == 0 && !isDir(was): // stopped before anything ran, and moved since
		return here, nil
	case same(here, was) || same(now, was):
		return was, nil
	case isDir(now) && (same(here, now) || !isDir(was)):
		return now, nil
	case !isDir(was):
		return here, nil
	case !isDir(now) || s.opts.Launcher == nil:
		return was, nil
	}
	return "", &LayoutError{fmt.Errorf("the study was in %s and is now in %s: it is not clear whether its trials still run in %s, or now in %s; start it in that directory",
		s.state.Place, s.layout, was, now)}
}

// resolved is a path free of symbolic links, or as it is where there is nothing.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// same reports whether two paths lead to one directory.
func same(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return a == b || errA == nil && errB == nil && os.SameFile(x, y)
}

// reconfigure compares the config with the journal's, and returns what to record of it,
// for somebody who works in the directory here. A nil config is the journal's own.
func (s *Study) reconfigure(config *study.Config, here string) (*study.ConfigChanged, error) {
	now := s.state.Config
	if config != nil {
		now = *config
	}
	now.Dir = s.state.Config.Dir
	change, err := s.state.Reconfigured(now)
	if err != nil || change == nil && s.state.Ended() {
		return nil, err
	}
	if config != nil && s.state.Stuck() {
		now.Dir = here // the other one may be what was wrong
	} else if now.Dir, err = s.workDir(here); err != nil {
		return nil, err
	}
	return s.state.Reconfigured(now)
}

// CheckOwner refuses with a *LayoutError to write into a study that another user could
// change: whoever writes its journal decides what is run, and whoever makes a link in it
// decides what is written to. Root could anyway. Where the owner lets others write it warns.
// The directories of trials and of the setup may be symbolic links, under the same rule.
func CheckOwner(l layout.Study, log *slog.Logger) error {
	dir := string(l)
	if info, err := l.Stat(l.Requests()); err == nil && !info.Mode.IsDir() {
		return &LayoutError{fmt.Errorf("%s is no directory (%v): lbotune follows no link there; remove it, and it is made anew", l.Requests(), info.Mode)}
	}
	for _, path := range []string{dir, l.Journal(), filepath.Join(dir, "trials"), l.Setup(), l.Requests()} {
		link, err := os.Lstat(path)
		info, errInfo := os.Stat(path)
		if err != nil || errInfo != nil {
			continue // it is not there, or who needs it will say what is wrong
		}
		for _, i := range []fs.FileInfo{link, info} {
			if uid := ownerOf(i); uid != 0 && uid != os.Geteuid() && uid != ownerOfNew(l) {
				return &LayoutError{fmt.Errorf("%s belongs to %s, who could change what is run; go on with a copy of the study that is yours", path, userName(uid))}
			}
		}
		if info.Mode().Perm()&0o022 != 0 {
			log.Warn("others can write to the study, and so change what is run; chmod go-w takes that from them", "path", path, "mode", info.Mode().String())
		}
	}
	return nil
}

func ownerOf(info fs.FileInfo) int {
	return int(info.Sys().(*syscall.Stat_t).Uid)
}

// ownerOfNew is whom a file belongs to that this process makes in the study: itself, but on file
// systems that keep no owners, or take root for nobody. It is -1 if none can be made.
func ownerOfNew(l layout.Study) int {
	d, err := l.Open()
	if err != nil {
		return -1
	}
	defer d.Close()
	name := ".owner-" + rand.Text()
	f, err := d.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return -1
	}
	defer d.Remove(name)
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return -1
	}
	return ownerOf(info)
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return fmt.Sprintf("user %s (%d)", u.Username, uid)
	}
	return fmt.Sprintf("user %d", uid)
}
