package parser

import "math"

// fold keeps what a pick needs of any number of occurrences, in constant
// memory.
type fold struct {
	qualifier qualifier
	pick      string
	finite    int
	nonFinite int
	mean      float64
	last      record
	missing   record // empty unless it came after the last
	chosen    record // the first occurrence or, of the readings that are not nan, the least or the greatest
	odd       record // the first reading that is not finite
	broken    record // the first unreadable or failed occurrence
}

// record is a copy of an occurrence with its text; kind notNumeric is none.
type record struct {
	occurrence
	text   []byte
	source Source
}

func (r *record) set(o occurrence, text []byte) {
	r.occurrence = o
	token := o.token(text)
	r.text = append(r.text[:0], token[:min(len(token), longestQuote+1)]...)
}

func (r *record) empty() bool { return r.kind == notNumeric }

// reading is the record as the outside sees it.
func (r *record) reading() Reading {
	o := r.occurrence
	o.printed = string(r.text)
	return o.reading(nil, r.source)
}

func (f *fold) readings() int { return f.finite + f.nonFinite }

func (f *fold) hasReading() bool { return f.readings() > 0 }

func (f *fold) add(o occurrence, text []byte) {
	if o.kind == missing {
		f.missing.set(o, text)
		return
	}
	f.missing.kind = notNumeric
	f.last.set(o, text)
	if f.prefers(o) {
		f.chosen.set(o, text)
	}
	switch o.kind {
	case finite:
		f.finite++
		f.mean += (o.value - f.mean) / float64(f.finite)
	case nonFinite:
		f.nonFinite++
		if f.odd.empty() {
			f.odd.set(o, text)
		}
	case absent:
	default:
		if f.broken.empty() {
			f.broken.set(o, text)
		}
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
func (f *fold) merge(next *fold, source Source) {
	if !next.last.empty() || f.last.empty() {
		f.missing = next.missing
		f.missing.source = source
	}
	f.finite += next.finite
	f.nonFinite += next.nonFinite
	if next.finite > 0 {
		f.mean += (next.mean - f.mean) * (float64(next.finite) / float64(f.finite))
	}
	keep := func(mine *record, theirs record, better bool) {
		if !theirs.empty() && better {
			*mine = theirs
			mine.source = source
		}
	}
	keep(&f.last, next.last, true)
	keep(&f.chosen, next.chosen, f.prefers(next.chosen.occurrence))
	keep(&f.odd, next.odd, f.odd.empty())
	keep(&f.broken, next.broken, f.broken.empty())
}

// picked gives the occurrence that decides the trial's value; it may be one that
// is not finite or not readable. What it gives is empty if there is none.
func (f *fold) picked() record {
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
