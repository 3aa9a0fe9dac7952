package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/door"
)

// Pace of Tail's looks at a file that does not grow.
const (
	tailMin = 5 * time.Millisecond
	tailMax = 250 * time.Millisecond
)

const tailChunk = 32 << 10

// At says how the file at a path is opened for reading, whose last element is no symbolic link.
func At(path string) func() (*os.File, error) {
	return func() (*os.File, error) { return door.OpenFile(path, os.O_RDONLY) }
}

// Tail copies the file that open opens to w as it grows, until ended is closed and all of it has
// been copied. A part that has become a hole before Tail came
// to it (see Job.MaxLog) is copied as one newline, or told to w's method Gap() if it has
// one. A file that has been cut short is read again from its beginning.
//
// It returns the first error of w, the cause of ctx when that is done, or an error of
// reading; a file that is not there is an error.
func Tail(ctx context.Context, open func() (*os.File, error), w io.Writer, ended <-chan struct{}) error {
	return TailEnd(ctx, open, math.MaxInt64, w, ended)
}

// TailEnd copies a file as Tail does, but only what stands at most n bytes before its present end.
func TailEnd(ctx context.Context, open func() (*os.File, error), n int64, w io.Writer, ended <-chan struct{}) error {
	f, err := openOutput(ctx, open)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	t := tail{fd: int(f.Fd()), w: w, limit: math.MaxInt64, offset: max(0, info.Size()-n)}
	return t.follow(ctx, f.Name(), ended)
}

func (t *tail) follow(ctx context.Context, path string, ended <-chan struct{}) error {
	timer := time.NewTimer(tailMin)
	defer timer.Stop()
	for pause := tailMin; ; {
		last := isClosed(ended) // asked before reading: what is there now is all
		n, err := t.copy(ctx)
		if err != nil {
			return fmt.Errorf("follow %s: %w", path, err)
		}
		if last {
			return nil
		}
		if pause = min(2*pause, tailMax); n > 0 {
			pause = tailMin
		}
		timer.Reset(pause)
		select {
		case <-ended:
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Read copies a file to w as Tail does, but not beyond its first limit bytes.
func Read(ctx context.Context, open func() (*os.File, error), w io.Writer, limit int64) error {
	f, err := openOutput(ctx, open)
	if err != nil {
		return err
	}
	defer f.Close()
	t := tail{fd: int(f.Fd()), w: w, limit: limit}
	if _, err := t.copy(ctx); err != nil {
		return fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return nil
}

// openOutput opens a file for reading, and waits for a descriptor while there is none.
func openOutput(ctx context.Context, open func() (*os.File, error)) (f *os.File, err error) {
	err = insist(ctx, nil, func() error {
		if f, err = open(); err != nil {
			return spawnError("read the output", err)
		}
		return nil
	})
	return f, err
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

type tail struct {
	fd     int
	w      io.Writer
	limit  int64 // nothing from here on is copied
	offset int64
	buf    []byte
}

// copy copies what is there now and returns how much that was. Of a file that grows faster
// than w takes it, now is the size at the beginning.
func (t *tail) copy(ctx context.Context) (int64, error) {
	var st unix.Stat_t
	if err := unix.Fstat(t.fd, &st); err != nil {
		return 0, err
	}
	st.Size = min(st.Size, t.limit)
	if st.Size < t.offset {
		t.offset = 0
	}
	begun := t.offset
	for t.offset < st.Size {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if t.buf == nil {
			t.buf = make([]byte, min(tailChunk, max(512, st.Size)))
		} else if st.Size-t.offset > int64(len(t.buf)) && len(t.buf) < tailChunk {
			t.buf = make([]byte, tailChunk)
		}
		n, err := unix.Pread(t.fd, t.buf, t.offset)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, err
		case n == 0: // cut short meanwhile
			return t.offset - begun, nil
		}
		// Asked after reading: the hole may have been made meanwhile.
		data, hole := dataAt(t.fd, t.offset)
		text := t.buf[:min(int64(n), max(0, hole-t.offset), t.limit-t.offset)]
		if data > t.offset {
			t.offset, text = data, []byte("\n") // ends the line that the hole has torn
			if g, ok := t.w.(interface{ Gap() }); ok {
				g.Gap()
				continue
			}
		} else {
			t.offset += int64(len(text))
		}
		if _, err := t.w.Write(text); err != nil {
			return 0, err
		}
	}
	return t.offset - begun, nil
}

// ReadTail returns the end of the file that open opens, at most n bytes of it, made safe to print
// by Sanitize.
func ReadTail(open func() (*os.File, error), n int) (string, error) {
	f, err := open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	from, _ := dataAt(int(f.Fd()), max(0, info.Size()-int64(n)))
	buf := make([]byte, max(0, min(info.Size()-from, int64(n))))
	got, err := f.ReadAt(buf, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return Sanitize(string(buf[:max(got, 0)])), nil
}
