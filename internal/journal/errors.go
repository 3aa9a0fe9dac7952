package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// ErrLocked is wrapped by the error of Open and Create when somebody has the file open for writing.
var ErrLocked = errors.New("journal is in use")

// ErrVersion is wrapped by the error of a file that is whole but of an unknown format version.
var ErrVersion = errors.New("unknown journal version")

// A Holder is a process that writes a journal, as it said or, without Since, as the system names it.
type Holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
	Start string    `json:"start,omitempty"` // of the process, which tells it from a later one of its number
}

// A LockedError says who holds the journal. It wraps ErrLocked.
type LockedError struct {
	Path   string
	Holder Holder // zero when the holder is not known
}

func (e *LockedError) Error() string {
	if e.Holder.PID == 0 {
		return fmt.Sprintf("journal %s is in use by another process", e.Path)
	}
	since := ""
	if !e.Holder.Since.IsZero() {
		since = " since " + e.Holder.Since.Format(time.RFC3339)
	}
	return fmt.Sprintf("journal %s is in use by process %d on %s%s", e.Path, e.Holder.PID, e.Holder.Host, since)
}

func (e *LockedError) Unwrap() error { return ErrLocked }

// versionError names the version that was found. It wraps ErrVersion.
type versionError string

func (e versionError) Error() string { return string(e) }
func (e versionError) Unwrap() error { return ErrVersion }

// A CorruptError says where a journal stops being what was written; all before Line is intact.
type CorruptError struct {
	Path   string
	Line   int   // counted from 1
	Offset int64 // of the line's first byte
	Reason string
	// Sealed: the line is as it was written, so that Repair keeps it. Its reader says so.
	Sealed bool
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("journal %s is damaged at line %d (byte %d): %s", e.Path, e.Line, e.Offset, e.Reason)
}

// A PlaceError says why what stands at Path is no journal, or takes the place of a new one.
type PlaceError struct {
	Path, Reason string
	taken        bool
}

func (e *PlaceError) Error() string { return e.Path + " " + e.Reason }

// Is makes the error of a file that was to be made an fs.ErrExist.
func (e *PlaceError) Is(target error) bool { return e.taken && target == fs.ErrExist }

// A WriteError says that the journal cannot be written. Nothing of the failed call counts as recorded,
// and every later call returns the same error: only opening the file anew tells what is on the disk.
type WriteError struct {
	Path string
	Op   string // what was being done: "open", "lock", "write", "sync", …
	Err  error
}

func (e *WriteError) Error() string {
	reason := e.Err
	var path *fs.PathError
	if errors.As(reason, &path) && strings.HasPrefix(path.Path, e.Path) {
		reason = path.Err // the file is named already, and not as it was called when it was opened
	}
	return fmt.Sprintf("cannot %s journal %s: %v", e.Op, e.Path, reason)
}

func (e *WriteError) Unwrap() error { return e.Err }
