package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lbotune/lbotune/runner"
)

// listener collects what Tail hears.
type listener struct {
	mu   sync.Mutex
	text []byte
}

func (l *listener) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	return len(p), nil
}

func (l *listener) heard() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// await waits until the listener has heard want.
func (l *listener) await(t *testing.T, want string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); l.heard() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("heard %.100q, want %.100q", l.heard(), want)
		}
	}
}

// logFile returns a file for appending and its path.
func logFile(t *testing.T) (*os.File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stdout")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, path
}

func appendTo(t *testing.T, f *os.File, text string) {
	t.Helper()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestTail(t *testing.T) {
	f, path := logFile(t)
	var l listener
	ended, done := make(chan struct{}), make(chan error)
	go func() { done <- runner.Tail(context.Background(), runner.At(path), math.MaxInt64, &l, ended) }()

	want := ""
	long := strings.Repeat("x", 1<<20)
	for _, text := range []string{"a", "bc\nd", "\x00\xff", long, "\n"} {
		appendTo(t, f, text)
		want += text
		l.await(t, want)
	}
	appendTo(t, f, "the end")
	close(ended)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := l.heard(); got != want+"the end" {
		t.Errorf("heard %d bytes, want %d", len(got), len(want)+7)
	}
}

func TestTailTruncation(t *testing.T) {
	f, path := logFile(t)
	appendTo(t, f, "first run\n")
	var l listener
	ended, done := make(chan struct{}), make(chan error)
	go func() { done <- runner.Tail(context.Background(), runner.At(path), math.MaxInt64, &l, ended) }()
	l.await(t, "first run\n")
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	appendTo(t, f, "second\n")
	l.await(t, "first run\nsecond\n")
	close(ended)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// A gapListener notes gaps as bars.
type gapListener struct{ listener }

func (l *gapListener) Gap() { _, _ = l.Write([]byte("|")) }

// A file that was emptied and is longer again at the next look is read from its start, and no line of it in part.
func TestTailOfRewritten(t *testing.T) {
	f, path := logFile(t)
	appendTo(t, f, "start\nloss=")
	var l gapListener
	ended, done := make(chan struct{}), make(chan error)
	go func() { done <- runner.Tail(context.Background(), runner.At(path), math.MaxInt64, &l, ended) }()
	l.await(t, "start\nloss=")
	again, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = again.WriteString("loss=12.5\nloss=11.5\n")
	}
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	close(ended)
	if err := <-done; err != nil || l.heard() != "start\nloss=|\nloss=12.5\nloss=11.5\n" {
		t.Errorf("heard %q, %v", l.heard(), err)
	}
}

func TestTailErrors(t *testing.T) {
	f, path := logFile(t)
	appendTo(t, f, "text")
	never := make(chan struct{})
	broken := errors.New("broken")
	err := runner.Tail(context.Background(), runner.At(path), math.MaxInt64, writer(func([]byte) (int, error) { return 0, broken }), never)
	if !errors.Is(err, broken) {
		t.Errorf("broken writer: %v", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(broken)
	if err := runner.Tail(ctx, runner.At(path), math.MaxInt64, new(listener), never); !errors.Is(err, broken) {
		t.Errorf("cancelled: %v", err)
	}
	if err := runner.Tail(context.Background(), runner.At(path+"x"), math.MaxInt64, new(listener), never); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

// An open file is followed from near its end, and read to a limit; what cannot be is an error.
func TestTailFileAndRead(t *testing.T) {
	f, path := logFile(t)
	appendTo(t, f, "first\nlast")
	over := make(chan struct{})
	close(over)
	for n, want := range map[int64]string{4: "last", 100: "first\nlast"} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var l listener
			if err := runner.Tail(t.Context(), runner.At(path), n, &l, over); err != nil || l.heard() != want {
				t.Errorf("the last %d bytes: %q, %v", n, l.heard(), err)
			}
		})
	}
	if err := runner.Tail(t.Context(), runner.At(filepath.Dir(path)), 4, new(listener), over); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
	var l listener
	if err := runner.Read(t.Context(), runner.At(path), &l, 7); err != nil || l.heard() != "first\nl" {
		t.Errorf("read %q, %v", l.heard(), err)
	}
	broken := errors.New("broken")
	if err := runner.Read(t.Context(), runner.At(path), writer(func([]byte) (int, error) { return 0, broken }), 7); !errors.Is(err, broken) {
		t.Errorf("broken writer: %v", err)
	}
	if err := runner.Read(t.Context(), runner.At(path+"x"), new(listener), 7); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestReadTail(t *testing.T) {
	f, path := logFile(t)
	for _, c := range []struct {
		n    int
		want string
	}{{0, ""}, {5, ""}} {
		t.Run(fmt.Sprint(c.n), func(t *testing.T) {
			if got, err := runner.ReadTail(runner.At(path), c.n); err != nil || got != c.want {
				t.Errorf("empty file: %q, %v", got, err)
			}
		})
	}
	appendTo(t, f, "one\ntwo\x1b[31m\n")
	for n, want := range map[int]string{0: "", 1: "\n", 100: "one\ntwo\n", 10: "\ntwo\n"} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if got, err := runner.ReadTail(runner.At(path), n); err != nil || got != want {
				t.Errorf("last %d bytes: %q, %v; want %q", n, got, err, want)
			}
		})
	}
}

// A gapWriter notes gaps as bars.
type gapWriter struct{ bytes.Buffer }

func (g *gapWriter) Gap() { g.WriteByte('|') }

// TestTailOfHole: who comes late hears a newline for what was released, or of a gap.
func TestTailOfHole(t *testing.T) {
	job := newJob(t)
	job.Shell = `echo first; head -c 20000000 /dev/zero | tr '\0' x; echo; echo last`
	job.MaxLog = 1 << 20
	exit, err := new(runner.Local).Launch(context.Background(), job)
	if err != nil || exit.Code != 0 {
		t.Fatalf("%+v, %v", exit, err)
	}
	if exit.Flooded {
		t.Skip("no holes on this file system")
	}
	ended := make(chan struct{})
	close(ended)
	var heard bytes.Buffer
	if err := runner.Tail(context.Background(), runner.At(filepath.Join(job.Dir, runner.StdoutName)), math.MaxInt64, &heard, ended); err != nil {
		t.Fatal(err)
	}
	text := heard.String()
	if heard.Len() > 2<<20 || !strings.HasPrefix(text, "first\nxxx") || !strings.HasSuffix(text, "xxx\nlast\n") ||
		strings.Count(text, "\n") != 4 || strings.Contains(text, "\x00") {
		t.Errorf("heard %d bytes with %d newlines: %.20q ... %q", heard.Len(), strings.Count(text, "\n"), text, text[len(text)-20:])
	}
	var gaps gapWriter
	if err := runner.Tail(context.Background(), runner.At(filepath.Join(job.Dir, runner.StdoutName)), math.MaxInt64, &gaps, ended); err != nil {
		t.Fatal(err)
	}
	before, after, _ := strings.Cut(text[len("first\n"):], "\n")
	if gaps.String() != "first\n"+before+"|"+after {
		t.Errorf("heard %d bytes with %d gaps", gaps.Len(), strings.Count(gaps.String(), "|"))
	}
}
