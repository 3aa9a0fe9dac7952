package runner

import (
	"time"

	"golang.org/x/sys/unix"
)

// lengths are those of the outputs now.
func (a *attempt) lengths() Lengths {
	out, _ := a.out.written()
	err, _ := a.err.written()
	return Lengths{out, err}
}

// written returns the length of the output and when it was last written to; of one that is
// not there, zeros.
func (b *boundedLog) written() (length int64, last time.Time) {
	var st unix.Stat_t
	if b.fd < 0 || unix.Fstat(b.fd, &st) != nil {
		return 0, time.Time{}
	}
	return st.Size, time.Unix(st.Mtim.Unix())
}

// settle fixes how much of the outputs counts of a command that ended at the given time,
// before what it has left behind is asked to end.
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

// countAt says how much of the outputs counts of a command that has ended while nobody was
// there to end its leftovers, nil if all does. What was written last within the patience
// that leftovers have would have counted; of an output that went on, only what was there
// when the command ended is known to.
func (a *attempt) countAt(rec record) *Lengths {
	if rec.Counted != nil || rec.Printed == nil || rec.Stop != "" {
		return rec.Counted
	}
	all := a.lengths()
	counted := all
	late := func(b *boundedLog) bool {
		_, last := b.written()
		return last.After(rec.ended.Add(leftoverPatience))
	}
	if rec.Printed.Stdout >= 0 && late(&a.out) {
		counted.Stdout = rec.Printed.Stdout
	}
	if rec.Printed.Stderr >= 0 && late(&a.err) {
		counted.Stderr = rec.Printed.Stderr
	}
	if counted == all {
		return nil
	}
	return &counted
}

// cutShort reports whether an output has lost some of what the command had written.
func (a *attempt) cutShort(rec record) bool {
	now := a.lengths()
	return rec.Printed != nil && (now.Stdout < rec.Printed.Stdout || now.Stderr < rec.Printed.Stderr)
}
