package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFlood: without holes the only bound is the end of the attempt.
func TestFlood(t *testing.T) {
	dir := t.TempDir()
	job := Job{Dir: filepath.Join(dir, "a1"), ID: dir, Shell: "exec yes", MaxLog: 1 << 20}
	a, err := prepare(job)
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	a.out.punch = func(int, int64, int64) error { return unix.ENOTSUP }
	l := new(Local)
	if err := l.spawn(a); err != nil {
		t.Fatal(err)
	}
	exit, err := l.run(context.Background(), a)
	if err != nil || !exit.Flooded || exit.Cancelled || exit.TimedOut {
		t.Errorf("%+v, %v", exit, err)
	}
}

func TestBoundedLog(t *testing.T) {
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "log"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const limit = 1 << 20
	var told []int64 // sizes at which it is called long
	var b boundedLog
	b = newBoundedLog(&Job{MaxLog: limit, Long: func() { told = append(told, b.size) }})
	b.fd = int(f.Fd())
	kept := make(map[int64]bool) // offsets of blocks, apart from the holes
	b.punch = func(_ int, from, length int64) error {
		for off := from; off < from+length; off += holeUnit {
			delete(kept, off)
		}
		return nil
	}
	size := int64(0)
	for i := range 1000 {
		chunk := make([]byte, 1000*(1+i%37))
		if _, err := f.Write(chunk); err != nil {
			t.Fatal(err)
		}
		for off := size / holeUnit * holeUnit; off < size+int64(len(chunk)); off += holeUnit {
			kept[off] = true
		}
		size += int64(len(chunk))
		if grew, err := b.trim(); err != nil || !grew {
			t.Fatalf("at %d: grew %v, %v", size, grew, err)
		}
		if used := int64(len(kept)) * holeUnit; used > limit+3*holeUnit {
			t.Fatalf("at %d: %d bytes kept", size, used)
		}
		for _, off := range []int64{0, min(size, limit/4) - 1, max(0, size-limit/2), size - 1} {
			t.Run(fmt.Sprint(off), func(t *testing.T) {
				if !kept[off/holeUnit*holeUnit] {
					t.Fatalf("at %d: offset %d was released", size, off)
				}
			})
		}
	}
	if !b.truncated {
		t.Error("nothing was released")
	}
	if len(told) != 1 || told[0] <= limit/4 || told[0] > limit/4+50_000 {
		t.Errorf("called long at %d", told)
	}
	if grew, err := b.trim(); grew || err != nil {
		t.Errorf("grew %v, %v without a write", grew, err)
	}
	// The program starts its output afresh.
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	kept = make(map[int64]bool)
	if _, err := b.trim(); err != nil || b.hole != 0 {
		t.Errorf("after truncation: hole up to %d, %v", b.hole, err)
	}
	// And again, and prints much before anybody looks, but less than was there before.
	b.size, b.hole = size, size-limit/2
	if _, err := f.Write(make([]byte, 2*limit)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.trim(); err != nil || b.hole != 2*limit-limit/2 {
		t.Errorf("after another truncation: hole up to %d, %v", b.hole, err)
	}
}

func TestCeil(t *testing.T) {
	for n, want := range map[int64]int64{0: 0, 1: holeUnit, holeUnit: holeUnit, holeUnit + 1: 2 * holeUnit} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if got := ceil(n, holeUnit); got != want {
				t.Errorf("%d is rounded up to %d", n, got)
			}
		})
	}
}
