package parser

import (
	"bytes"
	"errors"

	"github.com/lbotune/lbotune/internal/ansi"
)

// maxLine is how many bytes of a line are looked at; what follows, up to the
// line's end, is skipped.
const maxLine = 1 << 20

var errClosed = errors.New("parser: write to a closed scanner")

// Scanner finds readings in one stream of bytes that arrive in any chunks. It
// is an io.WriteCloser: Close reads a last line that has no end, CloseTorn does
// not. A Scanner is for one goroutine; several scanners of one [Collector] may run side by side.
type Scanner struct {
	matchers *matchers
	search   *search // nil when every line must be looked at
	sink     func(line, occurrence)
	tap      func([]byte) // sees all bytes first; nil for none
	gap      func()       // is told of every gap; nil for none

	pending []byte // the beginning of a line whose end has not arrived
	cut     bool   // pending is at its limit and bytes were dropped
	plain   []byte // scratch: a line without ANSI sequences
	found   []occurrence
	number  int  // LFs before the next byte
	open    bool // bytes have arrived since the last LF
	torn    bool // the beginning of this line is missing
	closed  bool
	final   byte // of a last line without an end, what is printed there last; 0 for none
	ended   bool // what is held was torn off: see CloseTorn
}

func newScanner(m *matchers, sink func(line, occurrence)) *Scanner {
	return &Scanner{matchers: m, search: newSearch(m.needles()), sink: sink}
}

// Write takes the next bytes of the stream. It fails only after Close.
func (s *Scanner) Write(p []byte) (int, error) {
	if s.closed {
		return 0, errClosed
	}
	if s.tap != nil {
		s.tap(p)
	}
	size := len(p)
	for len(p) > 0 {
		if s.torn {
			end := lineEnd(p)
			s.open = true
			if end == len(p) {
				break
			}
			s.torn = false
			s.endLine(p[end])
			p = p[end+1:]
			continue
		}
		if len(s.pending) > 0 {
			end := lineEnd(p)
			s.hold(p[:end])
			if end == len(p) {
				break
			}
			s.flush()
			s.endLine(p[end])
			p = p[end+1:]
			continue
		}
		end := lastLineEnd(p) + 1
		s.lines(p[:end])
		s.hold(p[end:])
		break
	}
	return size, nil
}

// Gap says that a part of the stream is missing here, of unknown length. What is
// left of the line before it counts as the beginning of a line that is too long,
// and what follows, up to a line's end, is skipped. Which readings are missing
// is not known: where one of them may be the value, the reason of the
// [NoValueError] is "incomplete".
func (s *Scanner) Gap() {
	s.cut = len(s.pending) > 0
	s.flush()
	s.endLine('\n')
	s.torn = true
	if s.gap != nil {
		s.gap()
	}
}

// Close reads the last line if it has no end. It may be called again.
func (s *Scanner) Close() error { return s.close(false) }

// CloseTorn is Close for a stream that was torn off where nobody chose: whoever wrote it was
// ended. What stands on a last line without an end may be the beginning of something
// longer, and is not read; only a text that says itself where it ends is, as JSON does.
func (s *Scanner) CloseTorn() error { return s.close(true) }

func (s *Scanner) close(torn bool) error {
	if s.closed {
		return nil
	}
	s.closed, s.ended = true, torn
	if len(s.pending) > 0 {
		s.final = lastInk(s.pending)
	}
	s.flush()
	return nil
}

// Unended reports, of a closed scanner, whether the stream ends in the middle of what a
// metric is read from: of a line, or of a text that says itself where it ends.
func (s *Scanner) Unended(metric int) bool {
	switch why := s.matchers.why[metric].(type) {
	case *jsonSearch:
		if len(why.texts.text) > 0 {
			return true
		}
		return s.final != 0 && s.final != '}' && s.final != ']'
	case *tuneMetric, *metricValueMatcher:
		return s.final != 0 && s.final != '}'
	}
	return s.final != 0
}

// lastInk gives the last byte of a line that is not blank, or a blank.
func lastInk(text []byte) byte {
	if text = trimBlanks(text); len(text) > 0 {
		return text[len(text)-1]
	}
	return ' '
}

// lineCount counts the lines so far, by LF; a last line without one counts.
func (s *Scanner) lineCount() int {
	if s.open {
		return s.number + 1
	}
	return s.number
}

// hold keeps the beginning of a line until its end arrives.
func (s *Scanner) hold(p []byte) {
	if len(p) == 0 {
		return
	}
	s.open = true
	if room := maxLine - len(s.pending); len(p) > room {
		p, s.cut = p[:room], true
	}
	s.pending = append(s.pending, p...)
}

// flush looks at the line that was held.
func (s *Scanner) flush() {
	if len(s.pending) > 0 {
		s.look(s.pending, s.cut)
	}
	s.pending, s.cut = s.pending[:0], false
}

func (s *Scanner) endLine(end byte) {
	s.open = end != '\n'
	if !s.open {
		s.number++
	}
}

// lines goes through whole lines, and looks at those that may hold a reading.
func (s *Scanner) lines(block []byte) {
	s.search.reset(block)
	for pos := 0; pos < len(block); {
		hit := pos
		if !s.matchers.inTable() {
			hit = s.search.next(pos)
		}
		if hit < 0 {
			s.skip(block[pos:])
			return
		}
		start := pos + lastLineEnd(block[pos:hit]) + 1
		s.skip(block[pos:start])
		end := start + lineEnd(block[start:])
		if text := block[start:end]; len(text) > maxLine {
			s.look(text[:maxLine], true)
		} else {
			s.look(text, false)
		}
		s.endLine(block[end])
		pos = end + 1
	}
}

// skip counts the lines that hold no reading.
func (s *Scanner) skip(block []byte) {
	if len(block) == 0 {
		return
	}
	s.number += bytes.Count(block, []byte{'\n'})
	s.open = block[len(block)-1] != '\n'
}

// look hands one line to the matchers.
func (s *Scanner) look(text []byte, cut bool) {
	if len(text) == 0 {
		return
	}
	if bytes.IndexByte(text, ansi.Escape) >= 0 {
		s.plain = stripANSI(s.plain[:0], text)
		text = s.plain
	}
	l := line{text: text, number: s.number + 1, cut: cut, torn: s.ended}
	s.found = s.matchers.match(l, s.found[:0])
	for _, o := range s.found {
		s.sink(l, o)
	}
}

// lineEnd gives the index of the first LF or CR, or the length of p.
func lineEnd(p []byte) int {
	if lf := bytes.IndexByte(p, '\n'); lf >= 0 {
		p = p[:lf]
	}
	if cr := bytes.IndexByte(p, '\r'); cr >= 0 {
		return cr
	}
	return len(p)
}

// lastLineEnd gives the index of the last LF or CR, or -1.
func lastLineEnd(p []byte) int {
	lf := bytes.LastIndexByte(p, '\n')
	if cr := bytes.LastIndexByte(p[lf+1:], '\r'); cr >= 0 {
		return lf + 1 + cr
	}
	return lf
}
