package main

import (
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
