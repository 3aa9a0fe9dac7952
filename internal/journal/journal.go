// Package journal keeps a durable, append-only file of records: JSON Lines, one
// object a line, each sealed with a checksum that depends on every line before it.
//
// A line is
//
//	{"seq":17,…the record's own fields…,"crc":"0f3a99c2"}
//
// "seq" is the line's number, counted from 1. "crc" is eight lower-case
// hexadecimal digits: the CRC-32 (IEEE) of the line's bytes before `,"crc"`,
// started from the checksum of the line before (0 for the first line). The first
// line also names the format and its version right after "seq":
//
//	{"seq":1,"format":"lbotune-journal","version":1,…the header's own fields…,"crc":"…"}
//
// What a crash may do: leave bytes after the last whole line. Open cuts them off,
// keeps them in a file next to the journal and reports them. Damage anywhere else
// is a [CorruptError] that names the line, and the file is left as it is.
//
// What a crash may not do: lose or change a record for which Append has returned.
//
// docs/journal.md describes the format for those who read it with other tools.
package journal

import (
	"errors"
	"io"
	"io/fs"
)

// A Journal is a journal open for writing by one goroutine. It holds the file's lock until Close.
type Journal struct {
	fs     FS
	path   string
	file   File
	lock   File
	self   Info   // of file, when it was opened
	link   chain  // to the last record written
	size   int64  // of the file, all of it whole lines
	synced int64  // of which so much is known to be on disk
	buf    []byte // of the lines being written
	err    error  // the first *WriteError, which ends all writing
}

var errClosed = errors.New("journal is closed")

// Append records each of values, which must marshal to JSON objects without the
// top-level keys "seq" and "crc", in one write, and returns when they and all
// records before them are on disk. Without values it only waits for those of AppendLazy.
//
// A value that cannot be encoded leaves the journal as it was. Any other error is a
// *WriteError, and the end of writing: the file is cut back to what was recorded
// before, if it still can be, and every later call returns the same error.
func (j *Journal) Append(values ...any) error {
	if err := j.AppendLazy(values...); err != nil || j.synced == j.size {
		return err
	}
	if err := j.file.Sync(); err != nil {
		// What a failed fsync has written nobody knows; one that then succeeds would prove nothing.
		j.file.Forget()
		j.cutBack(j.synced, j.size)
		return j.fail("sync", err)
	}
	if err := j.undisturbed(); err != nil {
		return j.fail("sync", err)
	}
	j.synced = j.size
	return nil
}

// AppendLazy is Append without the wait, for what can be done without: a power cut may take the records
// until the next Append or Close has returned.
func (j *Journal) AppendLazy(values ...any) (err error) {
	if j.err != nil || len(values) == 0 {
		return j.err
	}
	next := j.link
	if j.buf, err = next.encode(j.buf[:0], values); err != nil {
		return err
	}
	if err := j.undisturbed(); err != nil {
		return j.fail("write", err)
	}
	if err := write(j.file, j.buf); err != nil {
		j.cutBack(j.size, j.size+int64(len(j.buf)))
		return j.fail("write", err)
	}
	j.link = next
	j.size += int64(len(j.buf))
	return nil
}

// Close waits until all is on disk, and gives up the lock. It returns what ended writing, if any.
func (j *Journal) Close() error {
	if errors.Is(j.err, errClosed) {
		return nil
	}
	err := j.Append()
	if cerr := j.release(); err == nil && cerr != nil {
		err = &WriteError{j.path, "close", cerr}
	}
	j.err = &WriteError{j.path, "write", errClosed}
	return err
}

// undisturbed returns an error when another file is at the path, or of another size.
func (j *Journal) undisturbed() error {
	now, err := j.fs.Stat(j.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the file was moved or removed while it was in use")
	case err != nil:
		return err
	case !now.sameFile(j.self):
		return errors.New("the file was replaced by another while it was in use")
	case now.Size != j.size:
		return errors.New("the file was changed by another program while it was in use")
	}
	return nil
}

func (j *Journal) fail(op string, err error) error {
	j.err = &WriteError{j.path, op, err}
	return j.err
}

// cutBack shortens the file to its first keep bytes, unless it has more than most, and so some that
// are not ours. It may fail, as the disk has: the next to open the file will see.
func (j *Journal) cutBack(keep, most int64) {
	now, err := j.file.Stat()
	if err == nil && now.Size > keep && now.Size <= most && j.file.Truncate(keep) == nil {
		_ = j.file.Sync()
	}
}

// release closes what is open and gives up the lock.
func (j *Journal) release() error {
	return errors.Join(closeFile(j.file), closeFile(j.lock))
}

func write(f File, p []byte) error {
	n, err := f.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return err
}
