package parser

import (
	"bytes"
	"iter"
	"slices"
)

// The beginning and the end of a stream are kept until the first reading, to
// find out what the rule missed.
const (
	sampleHead = 256 << 10
	sampleTail = 64 << 10
)

// sample keeps the beginning and the end of a stream.
type sample struct {
	head  []byte
	tail  []byte // at least the last sampleTail bytes after head
	size  int64
	lines int // LFs
}

func (s *sample) add(p []byte) {
	s.size += int64(len(p))
	s.lines += bytes.Count(p, []byte{'\n'})
	room := min(sampleHead-len(s.head), len(p))
	s.head = append(s.head, p[:room]...)
	p = p[room:]
	if len(s.tail)+len(p) > 2*sampleTail {
		keep := max(sampleTail-len(p), 0)
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-min(keep, len(s.tail)):]...)
		p = p[max(len(p)-sampleTail, 0):]
	}
	s.tail = append(s.tail, p...)
}

// all yields the lines of the sample. Of a stream that is longer than the sample, the
// lines at the gap are left out.
func (s *sample) all() iter.Seq[line] {
	return func(yield func(line) bool) {
		if s.size <= sampleHead+sampleTail {
			linesOf(slices.Concat(s.head, s.tail), 1)(yield)
			return
		}
		head := s.head[:lastLineEnd(s.head)+1]
		tail := s.tail[len(s.tail)-sampleTail:]
		tail = tail[lineEnd(tail):]
		for l := range linesOf(head, 1) {
			if !yield(l) {
				return
			}
		}
		linesOf(tail, s.lines-bytes.Count(tail, []byte{'\n'})+1)(yield)
	}
}

// linesOf yields the lines of a text that are not empty; number is that of the first.
func linesOf(text []byte, number int) iter.Seq[line] {
	return func(yield func(line) bool) {
		for len(text) > 0 {
			end := lineEnd(text)
			l := line{text: stripANSI(nil, text[:end]), number: number}
			if len(l.text) > 0 && !yield(l) || end == len(text) {
				return
			}
			if text[end] == '\n' {
				number++
			}
			text = text[end+1:]
		}
	}
}
