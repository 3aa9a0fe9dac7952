package report

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// A long text leaves the memory for a file without a name, and stays there where no file can be made or
// written; all who ask get the same.
func TestSpool(t *testing.T) {
	for name, c := range map[string]struct {
		pieces int
		spoil  func(t *testing.T, dir string, s *spool)
		inFile bool
	}{
		"short":    {pieces: 3, spoil: func(*testing.T, string, *spool) {}},
		"long":     {pieces: 1000, spoil: func(*testing.T, string, *spool) {}, inFile: true},
		"no place": {pieces: 1000, spoil: func(t *testing.T, dir string, _ *spool) { t.Setenv("TMPDIR", filepath.Join(dir, "none")) }},
		"no room after a while": {pieces: 1000, spoil: func(t *testing.T, _ string, s *spool) {
			s.spill()
			s.file = unwritable(t, s)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, s, want := t.TempDir(), &spool{}, []byte{}
			t.Setenv("TMPDIR", dir)
			for i := range c.pieces {
				piece := bytes.Repeat([]byte{'a' + byte(i%26)}, 10_000+i)
				want = append(want, piece...)
				if _, err := s.Write(piece); err != nil {
					t.Fatal(err)
				}
				if i == 1 {
					c.spoil(t, dir, s)
				}
			}
			for range 2 {
				w := httptest.NewRecorder()
				if err := s.deliver(w); err != nil || !bytes.Equal(w.Body.Bytes(), want) {
					t.Errorf("%d bytes of %d, %v", w.Body.Len(), len(want), err)
				}
			}
			if kept := len(s.text) > atOnce+20_000; kept == c.inFile && c.pieces > 3 {
				t.Errorf("%d bytes are in memory", len(s.text))
			}
			if left, err := filepath.Glob(filepath.Join(dir, "lbotune-*")); err != nil || len(left) > 0 {
				t.Errorf("%v is left, %v", left, err)
			}
		})
	}
}

// A text that cannot be read to its end does not seem whole to its reader.
func TestSpoolThatIsCutOff(t *testing.T) {
	v := showing(studyOf(t, "finished"))
	server := httptest.NewServer(v.answer("text/plain", func(w io.Writer, _ *Study, _ *shown) error {
		s := w.(*spool)
		_, _ = s.Write(make([]byte, mostInMemory+1))
		s.size *= 2 // as if somebody had cut the file
		return nil
	}))
	defer server.Close()
	answer, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err == nil {
		t.Errorf("%d bytes seem to be all", len(text))
	}
}

// unwritable is what a spool has written in a file that takes no more.
func unwritable(t *testing.T, s *spool) *os.File {
	text := make([]byte, s.size)
	if _, err := s.file.ReadAt(text, 0); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "full")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// A study is written trial by trial as it would be at once, also one without trials.
func TestStudyAsJSON(t *testing.T) {
	empty := of(Source{State: &begin(t, float("x")).st})
	for _, s := range []*Study{empty, studyOf(t, "finished"), studyOf(t, "running")} {
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := s.writeJSON(&got); err != nil || got.String() != string(want)+"\n" {
			t.Errorf("%d trials: %d bytes, want %d; %v", len(s.Trials), got.Len(), len(want)+1, err)
		}
	}
}
