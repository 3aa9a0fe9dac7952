// Package inbox keeps the requests that people leave in a study for whoever works on it.
package inbox

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/study"
)

const version = 1

const (
	requestEnding = ".json"
	draftEnding   = ".new"
	// requestSize is the most that a request may have; note is the only one without a
	// natural bound.
	requestSize = 1 << 20
	// draftAge is how old a draft must be to be one of a process that was killed.
	draftAge = time.Hour
)

// requestID is the form of the ids that Leave gives. Whatever else lies in the directory is
// nobody's request, and is left alone.
var requestID = pattern.Lazy(`^[0-9]+-[0-9]+-[0-9a-f]+$`)

// Leave leaves the request for the process that works on the study, and returns it with
// its id. It is on disk then.
func Leave(l layout.Study, r study.Request) (study.Request, error) {
	var random [4]byte
	rand.Read(random[:])
	r.Version = version
	now := time.Now().UnixNano()
	if waiting, _ := Read(l); len(waiting) > 0 { // left by a clock that may have been ahead
		last, _, _ := strings.Cut(waiting[len(waiting)-1].ID, "-")
		n, _ := strconv.ParseInt(last, 10, 64)
		now = max(now, n+1)
	}
	r.ID = fmt.Sprintf("%019d-%d-%s", now, os.Getpid(), hex.EncodeToString(random[:]))
	text, err := json.Marshal(r)
	if err != nil {
		return r, fmt.Errorf("write the request: %w", plain(err))
	}
	if len(text) > requestSize {
		return r, fmt.Errorf("the request has %d bytes; allowed are %d", len(text), requestSize)
	}
	if err := door.Mkdir(string(l)); err != nil && !errors.Is(err, fs.ErrExist) {
		return r, fmt.Errorf("leave a request: %w", err)
	}
	d, err := layout.At(l, l.Requests(), (*door.Dir).Make)
	if err != nil {
		return r, fmt.Errorf("leave a request: %w", err)
	}
	defer d.Close()
	if err := d.WriteBy(r.ID+requestEnding+draftEnding, r.ID+requestEnding, append(text, '\n')); err != nil {
		return r, fmt.Errorf("leave a request: %w", err)
	}
	return r, nil
}

func path(l layout.Study, r study.Request) string {
	return filepath.Join(l.Requests(), r.ID+requestEnding)
}

// Waits reports whether nobody has taken the request yet.
func Waits(l layout.Study, r study.Request) bool {
	_, err := l.Stat(path(l, r))
	return err == nil
}

// Remove removes the request once the journal knows its id.
func Remove(l layout.Study, r study.Request) error {
	if err := l.In(path(l, r), (*door.Dir).Remove); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a request that is done: %w", err)
	}
	return nil
}

// Read returns the requests that wait, the oldest first. Only regular files with
// names of Leave's are any, if they belong to root, to this user or to the directory's owner,
// and only such drafts are removed. The error is of those that the machine could not read, beside the others.
func Read(l layout.Study) (out []study.Request, unread error) {
	d, err := layout.At(l, l.Requests(), (*door.Dir).Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	var own door.Info
	if err == nil {
		defer d.Close()
		names, err = d.List(".") // sorted, and a name begins with the time
	}
	if err == nil {
		own, err = d.Info()
	}
	if err != nil {
		return nil, fmt.Errorf("look for requests: %w", err)
	}
	for _, file := range names {
		name, draft := strings.CutSuffix(file, draftEnding)
		id, is := strings.CutSuffix(name, requestEnding)
		if !is || !requestID().MatchString(id) {
			continue
		}
		info, err := d.Stat(file)
		switch {
		case err != nil || !info.Mode.IsRegular() || !slices.Contains([]int{0, os.Geteuid(), own.UID}, info.UID):
			continue
		case draft && time.Since(info.Modified) > draftAge:
			_ = d.Remove(file)
		case !draft:
			r, err := readRequest(d, file)
			if no := syscall.Errno(0); errors.As(err, &no) && !slices.Contains([]syscall.Errno{syscall.ENOENT, syscall.EACCES, syscall.EFBIG}, no) {
				unread = fmt.Errorf("look for requests: %w", err) // the machine's doing, not the request's
			} else if !errors.Is(err, fs.ErrNotExist) {
				r.ID, r.Unreadable = id, err
				out = append(out, r)
			}
		}
	}
	return out, unread
}

func readRequest(d *door.Dir, name string) (r study.Request, err error) {
	text, err := d.Read(name, requestSize+1)
	if err != nil {
		return r, err
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&r); err != nil {
		return r, fmt.Errorf("it cannot be read: %w", plain(err))
	}
	if r.Version != version {
		return r, fmt.Errorf("it was written by another version of lbotune: its format is %d, and not %d", r.Version, version)
	}
	return r, nil
}

// plain is an error of package json in words for who has not read Go.
func plain(err error) error {
	var value *json.MarshalerError
	var syntax *json.SyntaxError
	var other *json.UnmarshalTypeError
	switch {
	case errors.As(err, &value):
		return value.Err
	case errors.As(err, &syntax):
		return fmt.Errorf("byte %d is no JSON, which has no NaN or infinity either", syntax.Offset)
	case errors.As(err, &other):
		return fmt.Errorf("%s cannot be a %s", other.Field, other.Value)
	}
	return err
}
