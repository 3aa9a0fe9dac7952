package parser

import "math"

// fold keeps what the picks need of any number of occurrences, in constant
// memory.
type fold struct {
	qualifier  qualifier
	finite     int
	nonFinite  int
	broken     int // unreadable or failed
	mean       float64
	first      record
	last       record
	missing    record // empty unless it came after the last
	least      record // the smallest value that is not nan
	greatest   record
	firstOdd   record // the first reading that is not finite
	firstBreak record // the first unreadable or failed occurrence
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
	o.at, o.end, o.printed = 0, len(r.text), ""
	reading := o.reading(r.text, r.source)
	reading.Column = r.at + 1
	return reading
}

func (f *fold) readings() int { return f.finite + f.nonFinite }

func (f *fold) add(o occurrence, text []byte) {
	if o.kind == missing {
		f.missing.set(o, text)
		return
	}
	f.missing.kind = notNumeric
	if f.first.empty() {
		f.first.set(o, text)
	}
	f.last.set(o, text)
	switch o.kind {
	case finite:
		f.finite++
		f.mean += (o.value - f.mean) / float64(f.finite)
	case nonFinite:
		f.nonFinite++
		if f.firstOdd.empty() {
			f.firstOdd.set(o, text)
		}
	case absent:
		return
	default:
		f.broken++
		if f.firstBreak.empty() {
			f.firstBreak.set(o, text)
		}
		return
	}
	if math.IsNaN(o.value) {
		return
	}
	if f.least.empty() || o.value < f.least.value {
		f.least.set(o, text)
	}
	if f.greatest.empty() || o.value > f.greatest.value {
		f.greatest.set(o, text)
	}
}

// merge adds the occurrences of a stream that comes after f's.
func (f *fold) merge(next *fold, source Source) {
	if !next.last.empty() || f.last.empty() {
		f.missing = next.missing
		f.missing.source = source
	}
	f.finite += next.finite
	f.nonFinite += next.nonFinite
	f.broken += next.broken
	if next.finite > 0 {
		f.mean += (next.mean - f.mean) * (float64(next.finite) / float64(f.finite))
	}
	keep := func(mine *record, theirs record, better bool) {
		if !theirs.empty() && (mine.empty() || better) {
			*mine = theirs
			mine.source = source
		}
	}
	keep(&f.first, next.first, false)
	keep(&f.last, next.last, true)
	keep(&f.least, next.least, next.least.value < f.least.value)
	keep(&f.greatest, next.greatest, next.greatest.value > f.greatest.value)
	keep(&f.firstOdd, next.firstOdd, false)
	keep(&f.firstBreak, next.firstBreak, false)
}

// pick gives the occurrence that decides the trial's value; it may be one that
// is not finite or not readable. What it gives is empty if there is none.
func (f *fold) pick(pick string) record {
	switch pick {
	case pickFirst:
		return f.first
	case pickLast:
		if !f.missing.empty() {
			return f.missing
		}
		return f.last
	}
	if f.broken > 0 {
		return f.firstBreak // what is missing might be the minimum
	}
	chosen := f.last
	switch {
	case pick == pickMin:
		chosen = f.least
	case pick == pickMax:
		chosen = f.greatest
	case f.nonFinite > 0:
		return f.firstOdd
	default:
		chosen.value = f.mean
	}
	if chosen.empty() {
		return f.firstOdd
	}
	return chosen
}
