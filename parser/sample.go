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
	text  []byte // the beginning, and, once something is left out, at least sampleTail bytes of the end
	size  int64
	lines int // LFs
}

func (s *sample) add(p []byte) {
	s.size += int64(len(p))
	s.lines += bytes.Count(p, []byte{'\n'})
	for piece := range slices.Chunk(p, sampleTail) {
		s.text = append(s.text, piece...)
		if more := len(s.text) - sampleTail; more > sampleHead+sampleTail {
			s.text = slices.Delete(s.text, sampleHead, more)
		}
	}
}

// all yields the lines of the sample. Of a stream that is longer than the sample, the
// lines at the gap are left out.
func (s *sample) all() iter.Seq[line] {
	if s.size <= sampleHead+sampleTail {
		return linesOf(s.text, 1)
	}
	head := s.text[:bytes.LastIndexAny(s.text[:sampleHead], "\r\n")+1]
	tail := s.text[len(s.text)-sampleTail:]
	tail = tail[lineEnd(tail):]
	return func(yield func(line) bool) {
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
		for whole := range bytes.SplitSeq(text, []byte{'\n'}) {
			for part := range bytes.SplitSeq(whole, []byte{'\r'}) {
				l := line{text: stripANSI(nil, part), number: number}
				if len(l.text) > 0 && !yield(l) {
					return
				}
			}
			number++
		}
	}
}
