package runner

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/door"
)

// holeUnit is what holes are aligned to: the usual block size.
const holeUnit = 4 << 10

// boundedLog keeps the disk space of one output near max bytes while the command goes on
// appending to it: of a longer output the first quarter of max and at least the last half
// of max stay, and what is between becomes a hole.
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
	return boundedLog{fd: -1, max: job.maxLog(), long: job.Long, punch: punchHole}
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

// trim makes or extends the hole if the log has grown too long, and reports whether the
// log has grown at all.
func (b *boundedLog) trim() (grew bool, err error) {
	if b.fd < 0 {
		return false, nil
	}
	var st unix.Stat_t
	if unix.Fstat(b.fd, &st) != nil {
		return false, nil // the disk's fault; the next look may do better
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
	if kept <= b.max {
		return grew, nil
	}
	to := (b.size - b.max/2) / holeUnit * holeUnit
	if to <= from {
		return grew, nil
	}
	if err := b.punch(b.fd, from, to-from); err != nil {
		return grew, fmt.Errorf("release the middle of an output: %w", err)
	}
	b.hole, b.truncated = to, true
	return grew, nil
}

func ceil(n, unit int64) int64 { return (n + unit - 1) / unit * unit }
