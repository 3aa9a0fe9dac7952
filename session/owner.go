package session

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// checkOwner refuses to run trials in a study that another user could change: whoever
// writes its journal decides what is run. Root could anyway. Where the owner lets
// others write it warns. Directories below may be symbolic links, under the same rule.
func (s *Study) checkOwner() error {
	dir := string(s.layout)
	for _, path := range []string{dir, s.layout.Journal(), filepath.Join(dir, "trials"), s.layout.Setup(), s.layout.Requests()} {
		link, err := os.Lstat(path)
		info, errInfo := os.Stat(path)
		if err != nil || errInfo != nil {
			continue // it is not there, or who needs it will say what is wrong
		}
		for _, i := range []fs.FileInfo{link, info} {
			if uid := ownerOf(i); uid != 0 && uid != os.Geteuid() && uid != s.ownerOfNew() {
				return &LayoutError{fmt.Sprintf("%s belongs to %s, who could change what is run; go on with a copy of the study that is yours", path, userName(uid))}
			}
		}
		if info.Mode().Perm()&0o022 != 0 {
			s.opts.Log.Warn("others can write to the study, and so change what is run; chmod go-w takes that from them", "path", path, "mode", info.Mode().String())
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
func (s *Study) ownerOfNew() int {
	f, err := os.CreateTemp(string(s.layout), ".owner-")
	if err != nil {
		return -1
	}
	defer os.Remove(f.Name())
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
