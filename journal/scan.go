package journal

import (
	"bytes"
	"errors"
	"io"
)

// scanBuffer is how much is read at once, unless a line is longer.
const scanBuffer = 64 << 10

// A scanner cuts a file into lines.
type scanner struct {
	r          io.ReaderAt
	buf        []byte
	start, end int   // buf[start:end] is read and not yet handed out
	offset     int64 // in the file, of buf[start]
	over       bool  // the last line had no end: what a writer has added since is no line of its own
}

func newScanner(r io.ReaderAt) *scanner {
	return &scanner{r: r, buf: make([]byte, scanBuffer)}
}

// A span is a line as it lies in the file.
type span struct {
	bytes  []byte // without the line end; no more than MaxLine+1 of them; valid until the next call
	offset int64
	length int64 // of the whole line, without its end
	ended  bool  // by a line end, not by the end of the file
}

// next returns the next line, or io.EOF after the last.
func (s *scanner) next() (span, error) {
	if s.over {
		return span{}, io.EOF
	}
	searched := 0
	for {
		unread := s.buf[s.start:s.end]
		if i := bytes.IndexByte(unread[searched:], '\n'); i >= 0 {
			return s.take(searched+i, true), nil
		}
		searched = len(unread)
		if searched > MaxLine {
			return s.skipLong()
		}
		if err := s.fill(); err == io.EOF && searched > 0 {
			return s.take(searched, false), nil
		} else if err != nil {
			return span{}, err
		}
	}
}

func (s *scanner) take(length int, ended bool) span {
	line := span{s.buf[s.start : s.start+length : s.start+length], s.offset, int64(length), ended}
	s.drop(length)
	if ended {
		s.drop(1)
	}
	s.over = !ended
	return line
}

func (s *scanner) drop(n int) {
	s.start += n
	s.offset += int64(n)
}

// fill reads more behind the unread bytes, with room made by moving them to the
// front or by a larger buffer.
func (s *scanner) fill() error {
	if s.start > 0 {
		s.end = copy(s.buf, s.buf[s.start:s.end])
		s.start = 0
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	n, err := s.r.ReadAt(s.buf[s.end:], s.offset+int64(s.end))
	s.end += n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// skipLong passes over a line that is too long to be one of ours.
func (s *scanner) skipLong() (span, error) {
	line := span{bytes: bytes.Clone(s.buf[s.start : s.start+MaxLine+1]), offset: s.offset}
	for !line.ended {
		unread := s.buf[s.start:s.end]
		skip := len(unread)
		if i := bytes.IndexByte(unread, '\n'); i >= 0 {
			skip, line.ended = i, true
		}
		line.length += int64(skip)
		s.drop(skip)
		if line.ended {
			s.drop(1)
			break
		}
		if err := s.fill(); errors.Is(err, io.EOF) {
			s.over = true
			break
		} else if err != nil {
			return span{}, err
		}
	}
	return line, nil
}

// seek makes the line at offset the next, read from the file again.
func (s *scanner) seek(offset int64) {
	s.start, s.end, s.offset, s.over = 0, 0, offset, false
}
