package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Create makes a new journal at path, in an existing directory, for its owner alone, whose first line
// holds the fields of header: a value that marshals to a JSON object without the top-level keys "seq",
// "format", "version" and "crc". When it returns, file and first line are on disk; a crash on the way
// leaves no file at path. An error wraps fs.ErrExist when there is one already, ErrLocked when another
// process is about to make it, and else is a *WriteError.
func Create(path string, header any, on ...FS) (*Journal, error) {
	var link chain
	first, err := link.encode(nil, []any{header})
	if err != nil {
		return nil, err
	}
	j, err := begin(path, resolveNew, on)
	if err != nil {
		return nil, err
	}
	j.file, err = publish(j.fs, j.path, j.path+".new", func(f File) error {
		if err := tryLock(j.path, f, never); err != nil {
			return err
		}
		return write(f, first)
	})
	if err == nil {
		j.self, err = j.file.Stat()
	}
	if err != nil {
		_ = j.release()
		return nil, err
	}
	j.link, j.size, j.synced = link, int64(len(first)), int64(len(first))
	return j, nil
}

// begin resolves the path of a journal and takes the lock beside it.
func begin(path string, resolve func(FS, string) (string, error), on []FS) (j *Journal, err error) {
	j = &Journal{fs: fileSystem(on)}
	if j.path, err = resolve(j.fs, path); err == nil {
		j.lock, err = acquire(j.fs, j.path)
	}
	return j, err
}

// Open locks and verifies the journal at path, hands each record to visit, the first line included, and
// makes it ready to be appended to. All that visit was given is on disk when it returns. The end of a
// write that a crash cut short is moved to a file next to the journal, as Summary.Torn tells.
//
// The error wraps ErrLocked or ErrVersion, or is a *CorruptError, a *WriteError or
// that of visit, unwrapped; the file is then as it was.
func Open(path string, visit func(Record) error, on ...FS) (*Journal, Summary, error) {
	j, err := begin(path, resolve, on)
	if err != nil {
		return nil, Summary{}, err
	}
	sum, err := j.open(visit)
	if err != nil {
		_ = j.release()
		return nil, sum, err
	}
	return j, sum, nil
}

// Hold takes the locks of the journal at path as Open does, until release is called, and reads nothing.
// Where nothing may be written, it only sees that nobody has them.
func Hold(path string) (release func() error, err error) {
	j, err := begin(path, resolve, nil)
	if err == nil {
		err = j.hold()
	}
	if err != nil {
		_ = j.release()
	}
	if w := (*WriteError)(nil); errors.As(err, &w) {
		var used bool
		if used, err = InUse(j.path); used {
			err = &LockedError{Path: j.path}
		}
	}
	return j.release, err
}

func (j *Journal) hold() (err error) {
	if j.file, err = j.fs.OpenFile(j.path, os.O_RDWR|os.O_APPEND); err != nil {
		return &WriteError{j.path, "open", err}
	}
	// The lock of the file itself meets those who came by another name of it.
	return tryLock(j.path, j.file, never)
}

func (j *Journal) open(visit func(Record) error) (Summary, error) {
	err := j.hold()
	if err != nil {
		return Summary{}, err
	}
	if j.self, err = j.file.Stat(); err != nil {
		return Summary{}, &WriteError{j.path, "open", err}
	}
	sum, err := scan(j.path, j.file, visit, nil)
	if err != nil {
		return sum, err
	}
	j.link = chain{sum.Records, sum.CRC}
	j.size = sum.Size
	if sum.Torn != nil {
		if err := j.mend(sum.Torn); err != nil {
			return sum, &WriteError{j.path, "repair the end of", err}
		}
		sum.Size = j.size
	}
	// A process that died before its fsync has left records that are not on disk yet.
	if err = j.file.Sync(); err != nil {
		j.file.Forget()
	} else {
		err = j.fs.SyncDir(filepath.Dir(j.path))
	}
	if err == nil {
		err = j.undisturbed()
	}
	if err != nil {
		return sum, &WriteError{j.path, "open", err}
	}
	j.synced = j.size
	return sum, nil
}

// mend moves what follows the last record aside, and gives that the line end that it lacks.
func (j *Journal) mend(t *Torn) error {
	if t.Length > 0 {
		if err := j.setAside(t); err != nil {
			return err
		}
		if err := j.file.Truncate(t.Offset); err != nil {
			return err
		}
	}
	if !t.Whole {
		return nil
	}
	j.size++
	return write(j.file, []byte("\n"))
}

// setAside copies the torn bytes to a new file next to the journal.
func (j *Journal) setAside(t *Torn) (err error) {
	var kept File
	for i := 1; kept == nil; i++ {
		t.Kept = fmt.Sprintf("%s.torn-%d", j.path, i)
		kept, err = newFile(j.fs, t.Kept)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			t.Kept = ""
			return err
		}
	}
	_, err = io.Copy(kept, io.NewSectionReader(j.file, t.Offset, t.Length))
	if err == nil {
		err = kept.Sync()
	}
	err = errors.Join(err, kept.Close())
	if err == nil {
		err = j.fs.SyncDir(filepath.Dir(j.path))
	}
	if err != nil {
		_ = j.fs.Remove(t.Kept)
		t.Kept = ""
	}
	return err
}

// resolveNew returns the true path of a file to be made in an existing directory.
func resolveNew(fsys FS, path string) (string, error) {
	dir, err := fsys.Resolve(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("create journal: %w", err)
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// publish makes a new file at path as a whole: fill writes it under the name of a draft.
func publish(fsys FS, path, draft string, fill func(File) error) (File, error) {
	_, err := fsys.Stat(path)
	if err == nil {
		if _, err := fsys.Resolve(path); errors.Is(err, fs.ErrNotExist) {
			return nil, &PlaceError{path, "is a symbolic link to a file that is not there", true}
		}
		return nil, &PlaceError{path, "exists already", true}
	}
	var f File
	if errors.Is(err, fs.ErrNotExist) {
		err = fsys.Remove(draft) // left behind by a crash
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		f, err = newFile(fsys, draft)
	}
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
		_ = fsys.Remove(draft)
	} else {
		err = fsys.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		_ = f.Close()
		return nil, &WriteError{path, "create", err}
	}
	return f, nil
}

func newFile(fsys FS, path string) (File, error) {
	return fsys.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL)
}
