package parser

import "bytes"

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

// each calls visit with the lines of the sample until it returns false. Of a
// stream that is longer than the sample, the lines at the gap are left out.
func (s *sample) each(visit func(l line) bool) {
	if s.size <= sampleHead+sampleTail {
		eachLine(append(bytes.Clone(s.head), s.tail...), 1, visit)
		return
	}
	head := s.head[:lastLineEnd(s.head)+1]
	tail := s.tail[len(s.tail)-sampleTail:]
	tail = tail[lineEnd(tail):]
	if eachLine(head, 1, visit) {
		eachLine(tail, s.lines-bytes.Count(tail, []byte{'\n'})+1, visit)
	}
}

func eachLine(text []byte, number int, visit func(l line) bool) bool {
	for len(text) > 0 {
		end := lineEnd(text)
		l := line{text: stripANSI(nil, text[:end]), number: number}
		if len(l.text) > 0 && !visit(l) {
			return false
		}
		if end == len(text) {
			break
		}
		if text[end] == '\n' {
			number++
		}
		text = text[end+1:]
	}
	return true
}
