package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
)

// A spool keeps a text for all who ask for it. Of one that is long, such as all that is known of a large
// study, only the end stays in memory, and all of it where there is no room for a file.
type spool struct {
	file *os.File // without a name; the collector closes it after the last reader
	size int64    // of what is in the file
	text []byte   // what follows
	full bool     // there is no room for more in a file
}

const mostInMemory = 4 << 20

// Write adds to the text, and never fails.
func (s *spool) Write(p []byte) (int, error) {
	s.text = append(s.text, p...)
	if n := len(s.text); !s.full && (n > mostInMemory || s.file != nil && n > atOnce) {
		s.spill()
	}
	return len(p), nil
}

func (s *spool) spill() {
	if s.file == nil {
		f, err := os.CreateTemp("", "lbotune-")
		if err != nil {
			s.full = true
			return
		}
		_ = os.Remove(f.Name()) // what it holds is what its readers may see
		s.file = f
	}
	if _, err := s.file.WriteAt(s.text, s.size); err != nil {
		s.full = true
		return
	}
	s.size, s.text = s.size+int64(len(s.text)), nil
}

// deliver writes the text, unless its reader does not read. An error is one of the file.
func (s *spool) deliver(w http.ResponseWriter) error {
	piece := make([]byte, min(atOnce, s.size))
	for at := int64(0); at < s.size; at += int64(len(piece)) {
		piece = piece[:min(atOnce, s.size-at)]
		if _, err := s.file.ReadAt(piece, at); err != nil {
			return err
		}
		if deliver(w, piece) != nil {
			return nil
		}
	}
	_ = deliver(w, s.text)
	return nil
}

// writeJSON writes the study as json.Marshal does, trial by trial.
func (s *Study) writeJSON(w io.Writer) error {
	rest := *s
	rest.Trials = nil
	text, err := json.Marshal(&rest)
	if err != nil {
		return err
	}
	before, after, _ := bytes.Cut(text, []byte(`"trials":null`))
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `%s"trials":[`, before) // Flush says what went wrong
	comma := ""
	for _, t := range s.Trials {
		text, err := json.Marshal(t)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s%s", comma, text)
		comma = ","
	}
	fmt.Fprintf(out, "]%s\n", after)
	return out.Flush()
}
