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
