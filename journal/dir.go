package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeDir is os.MkdirAll, and returns when the directory's name is on disk: a journal in
// it that is synced could otherwise vanish with it. One that is there already may have
// been made by a process that died before that. It is made on the operating system's disk;
// another file system is only asked to sync it.
func MakeDir(path string, perm fs.FileMode, opts ...Option) error {
	fsys := collect(opts).fs
	parents := []string{filepath.Dir(path)}
	for dir := parents[0]; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		parents = append(parents, filepath.Dir(dir))
	}
	if err := os.MkdirAll(path, perm); err != nil {
		return err
	}
	for _, dir := range parents {
		// Who may not read a directory cannot sync it.
		if err := fsys.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}
