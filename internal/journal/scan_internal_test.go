package journal

import (
	"bytes"
	"io"
	"testing"
)

// growing is a file whose writer goes on each time that a reader has come to its end.
type growing struct {
	text string
	more []string
}

func (g *growing) ReadAt(p []byte, at int64) (int, error) {
	if at < int64(len(g.text)) {
		return copy(p, g.text[at:]), nil
	}
	if len(g.more) > 0 {
		g.text, g.more = g.text+g.more[0], g.more[1:]
	}
	return 0, io.EOF
}

// A line that was read while it was being written is the last one: what has come since is
// the rest of it, and no line of its own.
func TestLineThatIsBeingWrittenIsTheLast(t *testing.T) {
	long := string(bytes.Repeat([]byte("x"), MaxLine+1))
	for _, half := range []string{"b", long} {
		s := newScanner(&growing{text: "a\n" + half, more: []string{"\nc\n", "d\n"}})
		for i, want := range []string{"a", half} {
			line, err := s.next()
			if err != nil || string(line.bytes) != want || line.ended != (i == 0) {
				t.Fatalf("line %d has %d bytes, ended %v, %v", i+1, len(line.bytes), line.ended, err)
			}
		}
		if line, err := s.next(); err != io.EOF {
			t.Errorf("after it comes %.9q, %v", line.bytes, err)
		}
		s.seek(2)
		if line, err := s.next(); err != nil || !line.ended || line.length != int64(len(half)) {
			t.Errorf("read again it has %d bytes, ended %v, %v", line.length, line.ended, err)
		}
	}
}
