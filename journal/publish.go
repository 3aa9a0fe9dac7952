package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// resolveNew returns the true path of a file that is to be made in an existing
// directory.
func resolveNew(fsys FS, path string) (string, error) {
	dir, err := fsys.Resolve(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("create journal: %w", err)
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// publish makes a new file at path, and nothing there that is not whole: fill
// writes it under another name, and it gets its own once it is on disk.
func publish(fsys FS, path string, fill func(File) error) (File, error) {
	if _, err := fsys.Stat(path); err == nil {
		return nil, occupied(fsys, path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, &WriteError{path, "create", err}
	}
	draft := path + ".new"
	if err := fsys.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &WriteError{path, "create", err} // left behind by a crash
	}
	f, err := newFile(fsys, draft)
	if err != nil {
		return nil, &WriteError{path, "create", err}
	}
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = fsys.Rename(draft, path)
	}
	if err != nil {
		_, _ = f.Close(), fsys.Remove(draft)
		return nil, &WriteError{path, "create", err}
	}
	if err := fsys.SyncDir(filepath.Dir(path)); err != nil {
		_ = f.Close()
		return nil, &WriteError{path, "create", err}
	}
	return f, nil
}

// occupied says what is in the way of a new file at path.
func occupied(fsys FS, path string) error {
	if _, err := fsys.Resolve(path); errors.Is(err, fs.ErrNotExist) {
		return &PlaceError{path, "is a symbolic link to a file that is not there", true}
	}
	return &PlaceError{path, "exists already", true}
}

// newFile makes a file for the owner alone, whatever the umask.
func newFile(fsys FS, path string) (File, error) {
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o600); err != nil {
		return nil, errors.Join(err, f.Close(), fsys.Remove(path))
	}
	return f, nil
}
