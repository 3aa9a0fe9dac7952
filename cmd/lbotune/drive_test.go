package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spec"
)

// A line that is too long costs itself alone, and the last one needs no end.
func TestReadLine(t *testing.T) {
	in := bufio.NewReaderSize(strings.NewReader("a\n"+strings.Repeat("x", 100)+"\n\nb"), 16)
	var got []string
	for {
		line, tooLong, err := readLine(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if tooLong {
			line = []byte("too long")
		}
		got = append(got, strings.TrimSpace(string(line)))
	}
	if text := strings.Join(got, "|"); text != "a|too long||b" {
		t.Errorf("read %q", text)
	}
}

// What prevents a look at the requests of others for a while does not end the program's own.
func TestDriveBesideRequestsThatCannotBeRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	synctest.Test(t, func(t *testing.T) {
		cfg, err := spec.Parse("s.toml", []byte("command = 'echo {x}'\nobjective.metric = 'loss'\nparams.x = { type = 'int', min = 1, max = 9 }\nbudget.trials = 3\n"), filepath.Dir(dir))
		if err != nil {
			t.Fatal(err)
		}
		s, err := session.Open(&cfg, session.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(layout.Study(dir).Requests(), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		in, ask := io.Pipe()
		go func() {
			time.Sleep(time.Second) // some looks
			_, _ = ask.Write([]byte(`{"do": "ask"}`))
			ask.Close()
		}()
		var out bytes.Buffer
		err = errors.Join((&driver{Study: s}).serve(t.Context(), in, &out), in.Close(), s.Close())
		if err != nil || !strings.HasPrefix(out.String(), `{"ok":true,"trial":1,`) {
			t.Errorf("%v: %s", err, out.String())
		}
	})
}
