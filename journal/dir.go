package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeDir is os.MkdirAll, and returns when the directory's name is on disk: a journal in
// it that is synced could otherwise vanish with it. One that is there already may have
// been made by a process that died before that.
func MakeDir(path string, perm fs.FileMode) error {
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
		if err := (osFS{}).SyncDir(dir); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}
