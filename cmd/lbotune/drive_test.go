package main

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
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

// Numbers that JSON lacks are written in quotes, and text is left alone.
func TestFiniteJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"value": NaN}`: `{"value": "NaN"}`,
		`{"metrics": {"a": -Infinity, "b": 1e-3}}`: `{"metrics": {"a": "-Infinity", "b": 1e-3}}`,
		`{"failed": "NaN \\", "value": Infinity}`:  `{"failed": "NaN \\", "value": "Infinity"}`,
		`{"failed": "a \" NaN"}`:                   `{"failed": "a \" NaN"}`,
		`{"value": "NaN"}`:                         `{"value": "NaN"}`,
		`"\`:                                       `"\`,
	} {
		if got := string(finiteJSON([]byte(text))); got != want {
			t.Errorf("%s became %s; want %s", text, got, want)
		}
	}
}
