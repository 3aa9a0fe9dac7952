package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTerminalSize(t *testing.T) {
	for _, name := range []string{os.DevNull, filepath.Join(t.TempDir(), "file")} {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if columns, rows, ok := sizeOf(f); ok {
			t.Errorf("%s is taken for a terminal of %d columns and %d rows", name, columns, rows)
		}
	}
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	if err := unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 91, Row: 17}); err != nil {
		t.Skip(err)
	}
	if columns, rows, ok := sizeOf(f); columns != 91 || rows != 17 || !ok {
		t.Errorf("%d columns and %d rows, %v; want 91 and 17", columns, rows, ok)
	}
}

// Letters that take two columns, or none, neither break a line of what is drawn nor move a table's columns.
func TestWideLetters(t *testing.T) {
	const wide = "損失関数 e\u0301 ｱ한글"
	if n := widthOf(wide); n != 8+1+1+1+1+4 {
		t.Errorf("%q has %d columns; want 16", wide, n)
	}
	for columns, want := range map[int]string{8: "損失関", 9: "損失関数", 20: wide, 0: wide} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			if got := window(wide, columns, 0)[0]; got != want {
				t.Errorf("in %d columns stands %q; want %q", columns, got, want)
			}
		})
	}
	p := pane{w: io.Discard, size: func() (int, int) { return 10, 0 }, lines: []string{wide, "12345"}}
	if got, want := p.wiped(), "\r\x1b[2A\x1b[J"; got != want { // the first stands on two lines
		t.Errorf("it is wiped by %q; want %q", got, want)
	}
	if got, want := tableText([][]string{{"損失", "x"}, {"abcd", "y"}}, 0), "損失  x\nabcd  y\n"; got != want {
		t.Errorf("the table is %q; want %q", got, want)
	}
}
