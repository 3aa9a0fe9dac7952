package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/ansi"
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

// Tail copies the file that open opens to w as it grows, from at most n bytes before its present end on,
// until ended is closed and all of it has been copied. A part that has become a hole before Tail came to it
// (see Job.MaxLog) is copied as one newline, or told to w's method Gap() if it has one. A file that has been
// cut short is read again.
//
// It returns the first error of w, the cause of ctx when that is done, or an error of
// reading; a file that is not there is an error.
func Tail(ctx context.Context, open func() (*os.File, error), n int64, w io.Writer, ended <-chan struct{}) error {
	t := tail{w: w, limit: math.MaxInt64}
	return t.follow(ctx, open, n, "follow", ended)
}

// Read copies a file to w as Tail does, but not beyond its first limit bytes.
func Read(ctx context.Context, open func() (*os.File, error), w io.Writer, limit int64) error {
	ended := make(chan struct{})
	close(ended)
	t := tail{w: w, limit: limit}
	return t.follow(ctx, open, math.MaxInt64, "read", ended)
}

// follow copies a file from its last n bytes on, and waits for a descriptor while there is none.
func (t *tail) follow(ctx context.Context, open func() (*os.File, error), n int64, what string, ended <-chan struct{}) error {
	var f *os.File
	err := insist(ctx, nil, func() (err error) {
		if f, err = open(); err != nil {
			return spawnError("read the output", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	t.buf = make([]byte, tailChunk)
	t.fd, t.offset = int(f.Fd()), max(0, info.Size()-n)
	for pause := tailMin; ; {
		last := isClosed(ended) // asked before reading: what is there now is all
		n, err := t.copy(ctx)
		if err != nil {
			return fmt.Errorf("%s %s: %w", what, f.Name(), err)
		}
		if last {
			return nil
		}
		if pause = min(2*pause, tailMax); n > 0 {
			pause = tailMin
		}
		select {
		case <-ended:
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
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
	last   string // that was copied before the offset
	buf    []byte
}

// copy copies what is there when it is called, and returns how much that was.
func (t *tail) copy(ctx context.Context) (int64, error) {
	var st unix.Stat_t
	if err := unix.Fstat(t.fd, &st); err != nil {
		return 0, err
	}
	st.Size = min(st.Size, t.limit)
	if st.Size < t.offset || t.rewritten() {
		torn := t.last != "" && !strings.HasSuffix(t.last, "\n")
		if t.offset, t.last = 0, ""; torn {
			t.gap()
			if _, err := t.w.Write([]byte("\n")); err != nil { // what follows begins a line
				return 0, err
			}
		}
	}
	begun := t.offset
	for t.offset < st.Size {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
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
			if t.offset, t.last = data, ""; t.gap() {
				continue
			}
			text = []byte("\n") // ends the line that the hole has torn
		} else {
			t.offset += int64(len(text))
			t.last += string(text[max(0, len(text)-lastKept):])
			t.last = t.last[max(0, len(t.last)-lastKept):]
		}
		if _, err := t.w.Write(text); err != nil {
			return 0, err
		}
	}
	return t.offset - begun, nil
}

// gap tells w that a part is missing, if it takes that.
func (t *tail) gap() bool {
	g, takes := t.w.(interface{ Gap() })
	if takes {
		g.Gap()
	}
	return takes
}

// lastKept is how much of what was copied is compared with what stands there.
const lastKept = 64

// rewritten reports whether something else stands before the offset now, and no hole: a file that was emptied may be
// longer than before at the next look.
func (t *tail) rewritten() bool {
	now := make([]byte, len(t.last))
	n, _ := unix.Pread(t.fd, now, t.offset-int64(len(now)))
	for i := range n {
		if now[i] != 0 && t.last[i] != 0 && now[i] != t.last[i] {
			return true
		}
	}
	return false
}

// ReadTail returns at most the last n bytes of the file that open opens, made safe to print.
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
	text, err := io.ReadAll(io.NewSectionReader(f, from, int64(n)))
	if err != nil {
		return "", err
	}
	return ansi.Sanitize(string(text)), nil
}

// holeUnit is what holes are aligned to: the usual block size.
const holeUnit = 4 << 10

// boundedLog keeps the disk space of one output near max bytes: of a longer one the first quarter of
// max and at least the last half of it stay, and what is between becomes a hole.
type boundedLog struct {
	fd        int
	max       int64
	size      int64 // at the last look
	hole      int64 // end of the hole
	truncated bool
	long      func() // if not nil, is told that a quarter of max is passed
	punch     func(fd int, from, length int64) error
}

func newBoundedLog(job *Job) boundedLog {
	return boundedLog{fd: -1, max: cmp.Or(max(job.MaxLog, 0), DefaultMaxLog), long: job.Long, punch: punchHole}
}

// reopen opens the log of an attempt that another process has launched.
func (b *boundedLog) reopen(dir int, name string) {
	fd, err := door.OpenAt(dir, name, unix.O_WRONLY|unix.O_APPEND)
	if err != nil {
		return
	}
	b.fd = fd
	if size, err := unix.Seek(fd, 0, unix.SEEK_END); err == nil {
		if _, hole := dataAt(fd, 0); hole < size {
			b.hole, _ = dataAt(fd, hole)
			b.truncated = true
		}
	}
}

// trim makes or extends the hole of a log that is too long, and reports whether the log has grown.
func (b *boundedLog) trim() (grew bool, err error) {
	var st unix.Stat_t
	if unix.Fstat(b.fd, &st) != nil {
		return false, nil // the disk's fault, or no log; the next look may do better
	}
	grew = st.Size > b.size
	b.size = st.Size
	if b.size > b.max/4 && b.long != nil {
		b.long()
		b.long = nil
	}
	from := max(b.hole, ceil(b.max/4, holeUnit))
	if b.size < b.hole { // the program has cut its own output
		from, b.hole = ceil(b.max/4, holeUnit), 0
	}
	kept := min(b.hole, b.max/4) + b.size - b.hole
	to := (b.size - b.max/2) / holeUnit * holeUnit
	if kept <= b.max || to <= from {
		return grew, nil
	}
	if err = b.punch(b.fd, from, to-from); err == nil {
		b.hole, b.truncated = to, true
	}
	return grew, err
}

func ceil(n, unit int64) int64 { return (n + unit - 1) / unit * unit }

func (a *attempt) lengths() Lengths {
	out, _ := a.out.written()
	err, _ := a.err.written()
	return Lengths{out, err}
}

// written returns the length of the output, if it is there, and when it was last written to.
func (b *boundedLog) written() (length int64, last time.Time) {
	var st unix.Stat_t
	if unix.Fstat(b.fd, &st) != nil {
		return 0, time.Time{}
	}
	return st.Size, time.Unix(st.Mtim.Unix())
}

// settle fixes how much of the outputs counts, before what the command has left behind is to end.
func (a *attempt) settle(ended time.Time) {
	if a.counted == nil {
		now := a.lengths()
		a.counted = &now
	}
	_ = appendEntry(a.record, entry{Counted: a.counted, Ended: &ended})
	if a.job.Settled != nil {
		a.job.Settled()
	}
}

// countAt says how much of the outputs counts of a command that has ended while nobody was there, nil
// if all does. What came within the patience for leftovers would have counted; of an output that went
// on, only what was there when the command ended is known to.
func (a *attempt) countAt(rec record) *Lengths {
	if rec.Counted != nil || rec.Printed == nil || rec.Stop != "" {
		return rec.Counted
	}
	late := false // it is not all
	counted := func(b *boundedLog, printed int64) int64 {
		all, last := b.written()
		if printed >= 0 && printed != all && last.After(rec.lastSeen.Add(leftoverPatience)) {
			late = true
			return printed
		}
		return all
	}
	count := Lengths{counted(&a.out, rec.Printed.Stdout), counted(&a.err, rec.Printed.Stderr)}
	if !late {
		return nil
	}
	return &count
}

// cutShort reports whether an output has lost some of what the command had written.
func (a *attempt) cutShort(rec record) bool {
	now := a.lengths()
	return rec.Printed != nil && (now.Stdout < rec.Printed.Stdout || now.Stderr < rec.Printed.Stderr)
}

// emptied is Exit.Emptied.
func (a *attempt) emptied(rec record) *Lengths {
	if a.cutShort(rec) {
		return rec.Printed
	}
	return nil
}
