package main

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// A log that is made has the owner's rights, whatever the umask: it is opened again by the next run. One
// that is there keeps its own.
func TestLogUnderAUmask(t *testing.T) {
	dir := t.TempDir()
	path, there := filepath.Join(dir, "new.log"), filepath.Join(dir, "there.log")
	if err := os.WriteFile(there, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	was := syscall.Umask(0o777)
	defer syscall.Umask(was)
	for _, c := range []struct {
		path string
		mode os.FileMode
	}{{path, 0o600}, {path, 0o600}, {there, 0o640 &^ os.FileMode(was)}} {
		f, err := openLog(c.path, layout.Of(filepath.Join(dir, "s.study")))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if info, err := os.Stat(c.path); err != nil || info.Mode().Perm() != c.mode {
			t.Errorf("%s: %v, %v; want mode %v", c.path, info.Mode(), err, c.mode)
		}
	}
}

// Where the middle of an output was not kept, its log says so.
func TestLogOfALongOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stdout")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("early\nto")
	_, late := f.WriteAt([]byte("rn\nlate\n"), 1<<20)
	if err := errors.Join(err, late, f.Close()); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	close(ended)
	const gap = "[what was printed here was not kept: see max_log in the spec]\n"
	shown := func(w io.Writer, b *bytes.Buffer, want string) {
		err := runner.Tail(t.Context(), runner.At(path), math.MaxInt64, w, ended)
		if text := strings.ReplaceAll(b.String(), "\x00", ""); err != nil || text != want { // of the blocks beside the hole
			t.Errorf("%v, got %q, want %q", err, text, want)
		}
	}
	var safe, raw, said bytes.Buffer
	shown(&sanitizer{w: &safe}, &safe, "early\nto\n"+gap+"rn\nlate\n")
	shown(rawLog{&raw, &said}, &raw, "early\nto\nrn\nlate\n")
	if said.String() != gap {
		t.Errorf("said %q", said.String())
	}
}

// A trial of a Go function has never had an output that could be gone.
func TestLogOfAFunction(t *testing.T) {
	l := byHand(t, t.TempDir())
	s, err := session.Open(nil, session.Options{Dir: string(l)})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Try(t.Context(), func(study.Trial) (study.Metrics, error) { return study.Metrics{"loss": 1}, nil })
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	code := execute([]string{"log", string(l), "2"}, streams{strings.NewReader(""), io.Discard, &said})
	if code != 2 || !strings.Contains(said.String(), "there is no output") {
		t.Errorf("exit code %d, %s", code, &said)
	}
}
