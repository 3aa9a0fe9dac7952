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

	"github.com/lbotune/lbotune/study"
)

// CheckOwner refuses with a *LayoutError to write into a study that another user could
// change: whoever writes its journal decides what is run, and whoever makes a link in it
// decides what is written to. Root could anyway. Where the owner lets others write it warns.
// The directories of trials and of the setup may be symbolic links, under the same rule.
func CheckOwner(l study.Layout, log *slog.Logger) error {
	dir := string(l)
	if info, err := l.Stat(l.Requests()); err == nil && !info.Mode.IsDir() {
		return &LayoutError{fmt.Sprintf("%s is no directory (%v): lbotune follows no link there; remove it, and it is made anew", l.Requests(), info.Mode)}
	}
	for _, path := range []string{dir, l.Journal(), filepath.Join(dir, "trials"), l.Setup(), l.Requests()} {
		link, err := os.Lstat(path)
		info, errInfo := os.Stat(path)
		if err != nil || errInfo != nil {
			continue // it is not there, or who needs it will say what is wrong
		}
		for _, i := range []fs.FileInfo{link, info} {
			if uid := ownerOf(i); uid != 0 && uid != os.Geteuid() && uid != ownerOfNew(l) {
				return &LayoutError{fmt.Sprintf("%s belongs to %s, who could change what is run; go on with a copy of the study that is yours", path, userName(uid))}
			}
		}
		if info.Mode().Perm()&0o022 != 0 {
			log.Warn("others can write to the study, and so change what is run; chmod go-w takes that from them", "path", path, "mode", info.Mode().String())
		}
	}
	return nil
}

// ownerOf is the number of the user whom a file belongs to.
func ownerOf(info fs.FileInfo) int {
	return int(info.Sys().(*syscall.Stat_t).Uid)
}

// ownerOfNew is whom a file belongs to that this process makes in the study: itself,
// but on file systems that keep no owners, or take root for nobody. It is -1 if none
// can be made.
func ownerOfNew(l study.Layout) int {
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

// userName is a user's name and number.
func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return fmt.Sprintf("user %s (%d)", u.Username, uid)
	}
	return fmt.Sprintf("user %d", uid)
}
