package parser

import (
	"bytes"
	"errors"

	"github.com/lbotune/lbotune/internal/ansi"
)

// maxLine is how many bytes of a line are looked at; what follows, up to the
// line's end, is skipped.
const maxLine = 1 << 20

// byteOrderMark begins the UTF-8 files of some programs; it is not shown.
var byteOrderMark = []byte("\ufeff")

var errClosed = errors.New("parser: write to a closed scanner")

// Scanner finds readings in one stream of bytes that arrive in any chunks. It
// is an io.WriteCloser: Close reads a last line that has no end, CloseTorn does
// not. A Scanner is for one goroutine; several scanners of one [Collector] may run side by side.
//
// Of a line whose end has not arrived it keeps the beginning, and of one whose beginning is
// lost nothing:
//
//	loss=0.3↵  acc=0.9…     ~~~~~      9↵  loss=0.2↵
//	looked at  pending      gap     torn   looked at
//	           cut at maxLine
type Scanner struct {
	stream

	pending []byte // the beginning of a line whose end has not arrived
	cut     bool   // pending is at its limit and bytes were dropped
	plain   []byte // scratch: a line without ANSI sequences
	torn    bool   // the beginning of this line is missing
	closed  bool
	ended   bool // what is held was torn off: see CloseTorn
}

// Write takes the next bytes of the stream. It fails only after Close.
func (s *Scanner) Write(p []byte) (int, error) {
	if s.closed {
		return 0, errClosed
	}
	if s.sample != nil {
		s.sample.add(p)
	}
	size := len(p)
	for len(p) > 0 {
		end := lineEnd(p)
		s.hold(p[:end])
		if end == len(p) {
			break
		}
		s.flush()
		s.endLine(p[end])
		p = p[end+1:]
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
	s.gaps++
	for _, shared := range s.shared {
		if texts, ok := shared.(*jsonMatcher); ok {
			texts.gap(s.number + 1)
		}
	}
}

// Close reads the last line if it has no end. It may be called again.
func (s *Scanner) Close() error {
	if !s.closed {
		s.closed = true
		s.flush() // what was held stays: Unended asks for it
	}
	return nil
}

// CloseTorn is Close for a stream that was torn off where nobody chose: whoever wrote it was
// ended. What stands on a last line without an end may be the beginning of something
// longer, and is not read; only a text that says itself where it ends is, as JSON does.
func (s *Scanner) CloseTorn() error {
	s.ended = true
	return s.Close()
}

// Unended reports, of a closed scanner, whether the stream ends in the middle of what a
// metric is read from: of a line, or of a text that says itself where it ends.
func (s *Scanner) Unended(metric int) bool {
	ends := ""
	switch why := s.metrics[metric].why.(type) {
	case *jsonSearch:
		if len(why.texts.text) > 0 || why.texts.lost {
			return true
		}
		ends = why.texts.ends
	case *metricValueMatcher:
		ends = "}"
	}
	ink := trimBlanks(s.pending)
	return len(s.pending) > 0 && !bytes.ContainsAny(ink[max(len(ink)-1, 0):], ends)
}

// hold keeps the beginning of a line until its end arrives.
func (s *Scanner) hold(p []byte) {
	s.open = s.open || len(p) > 0
	if s.torn {
		return
	}
	if room := maxLine - len(s.pending); len(p) > room {
		p, s.cut = p[:room], true
	}
	s.pending = append(s.pending, p...)
}

// flush hands the line that was held to the matchers.
func (s *Scanner) flush() {
	text := s.pending
	if bytes.IndexByte(text, ansi.Escape) >= 0 {
		s.plain = stripANSI(s.plain[:0], text)
		text = s.plain
	}
	if s.number == 0 {
		text = bytes.TrimPrefix(text, byteOrderMark)
	}
	if len(text) == 0 {
		return
	}
	s.look(line{text: text, number: s.number + 1, open: s.closed, cut: s.cut, torn: s.ended})
	long := s.cut && len(s.pending) == maxLine
	if at := skipBlanks(text, 0); long && at < len(text) && text[at] == '{' {
		s.long = s.number + 1
	}
}

func (s *Scanner) endLine(end byte) {
	s.pending, s.cut, s.torn = s.pending[:0], false, false
	s.open = end != '\n'
	if !s.open {
		s.number++
	}
}

// lineEnd gives the index of the first LF or CR, or the length of p.
func lineEnd(p []byte) int {
	if i := bytes.IndexAny(p, "\r\n"); i >= 0 {
		return i
	}
	return len(p)
}

// stripANSI appends text without its ANSI escape sequences to dst. Colours,
// titles and links vanish without a trace; a sequence that moves the cursor or
// erases becomes a blank, since what stands after it was not printed beside
// what stands before it.
func stripANSI(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, ansi.Escape)
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		size, moves := ansi.Sequence(text[i:])
		if moves {
			dst = append(dst, ' ')
		}
		text = text[i+size:]
	}
}
