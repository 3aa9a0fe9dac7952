package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// pty opens a terminal: what is written to it is read from the other file.
func pty(t *testing.T) (terminal, other *os.File) {
	t.Helper()
	other, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { other.Close() })
	n, err := unix.IoctlGetInt(int(other.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(other.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skip(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return terminal, other
}

// Long work says on a terminal how far it is, and leaves nothing there; in a pipe it is silent.
func TestMeter(t *testing.T) {
	t.Setenv("TERM", "xterm")
	terminal, other := pty(t)
	g := &global{streams: streams{err: terminal}}
	m := g.meter("reading the study")
	m.at(1500, 10000)
	in := bufio.NewReader(other)
	if line, err := in.ReadString(')'); err != nil || !strings.Contains(line, "reading the study: 1500 of 10000 trials (1s)") {
		t.Errorf("found %q, %v", line, err)
	}
	m.end()
	fmt.Fprintln(terminal, "done")
	rest, err := in.ReadString('\n')
	if at := strings.LastIndex(rest, "\r\x1b[K"); err != nil || at < 0 || !strings.HasPrefix(rest[at:], "\r\x1b[Kdone") {
		t.Errorf("found %q, %v", rest, err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	g.err = w
	if m := g.meter("reading the study"); m.quit != nil {
		t.Error("a pipe is taken for a terminal")
	}
}
