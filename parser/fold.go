package parser

import (
	"cmp"
	"math"
)

// fold keeps what a pick needs of any number of occurrences, in constant
// memory.
type fold struct {
	qualifier qualifier
	pick      string
	finite    int
	nonFinite int
	mean      float64
	last      occurrence
	missing   occurrence // empty unless it came after the last
	chosen    occurrence // the first or, of the readings that are not nan, the least or the greatest
	odd       occurrence // the first reading that is not finite
	broken    occurrence // the first that is unreadable or failed
}

// A Fold picks the value of a metric from readings that come one by one.
type Fold struct {
	Pick string // as in a Rule
	fold fold
}

// Add takes the next reading, finite or not.
func (f *Fold) Add(value float64) {
	o := occurrence{kind: finite, value: value}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		o.kind = nonFinite
	}
	f.fold.pick = cmp.Or(f.Pick, pickLast)
	f.fold.add(o)
}

// Value is what is picked of the readings so far, if there are any. It may be infinite or NaN.
func (f *Fold) Value() (value float64, ok bool) {
	o := f.fold.picked()
	return o.value, !o.empty()
}

func (f *fold) readings() int { return f.finite + f.nonFinite }

func (f *fold) hasReading() bool { return f.readings() > 0 }

// worth compares what folds have: readings, or something else where they should be, or at most
// a word that says that there is none.
func (f *fold) worth() int {
	switch {
	case f.hasReading():
		return 2
	case !f.last.empty():
		return 1
	}
	return 0
}

// add adds an occurrence with its text.
func (f *fold) add(o occurrence) {
	if o.kind == missing {
		f.missing = o
		return
	}
	f.missing.kind = notNumeric
	f.last = o
	if f.prefers(o) {
		f.chosen = o
	}
	switch o.kind {
	case finite:
		f.finite++
		f.mean += 2 * ((o.value/2 - f.mean/2) / float64(f.finite)) // the difference might overflow
	case nonFinite:
		f.nonFinite++
		f.odd = cmp.Or(f.odd, o)
	case absent:
	default:
		f.broken = cmp.Or(f.broken, o)
	}
}

// prefers reports whether an occurrence is chosen over the one so far.
func (f *fold) prefers(o occurrence) bool {
	reading := (o.kind == finite || o.kind == nonFinite) && !math.IsNaN(o.value)
	switch f.pick {
	case pickFirst:
		return f.chosen.empty()
	case pickMin:
		return reading && (f.chosen.empty() || o.value < f.chosen.value)
	case pickMax:
		return reading && (f.chosen.empty() || o.value > f.chosen.value)
	}
	return false
}

// merge adds the occurrences of a stream that comes after f's.
func (f *fold) merge(next *fold) {
	if !next.last.empty() || f.last.empty() {
		f.missing = next.missing
	}
	f.finite += next.finite
	f.nonFinite += next.nonFinite
	if next.finite > 0 {
		half := (next.mean/2 - f.mean/2) * (float64(next.finite) / float64(f.finite)) // the whole might overflow
		f.mean += half
		f.mean += half
	}
	if !next.last.empty() {
		f.last = next.last
	}
	if !next.chosen.empty() && f.prefers(next.chosen) {
		f.chosen = next.chosen
	}
	f.odd = cmp.Or(f.odd, next.odd)
	f.broken = cmp.Or(f.broken, next.broken)
}

// picked gives the occurrence that decides the trial's value; it may be one that
// is not finite or not readable. What it gives is empty if there is none.
func (f *fold) picked() occurrence {
	switch {
	case f.pick == pickFirst:
		return f.chosen
	case f.pick == pickLast && !f.missing.empty():
		return f.missing
	case f.pick == pickLast:
		return f.last
	case !f.broken.empty():
		return f.broken // what is missing might be the minimum
	case f.pick != pickMean && !f.chosen.empty():
		return f.chosen
	case f.pick != pickMean || f.nonFinite > 0:
		return f.odd
	}
	mean := f.last
	mean.value = f.mean
	return mean
}
