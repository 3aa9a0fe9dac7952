package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A copy has the time of its source, or the whole seconds of it where a file system keeps no
// more. Any other time is that of a write, also within the same second.
func TestCopiesAreTold(t *testing.T) {
	was := trace{There: true, Copied: true, Dev: 1, Ino: 2, CTime: 3, Size: 7, MTime: 5_250_000_000}
	for name, c := range map[string]struct {
		now  trace
		want bool
	}{
		"the copy":                {trace{There: true, Dev: 8, Ino: 9, CTime: 10, Size: 7, MTime: 5_250_000_000}, true},
		"in whole seconds":        {trace{There: true, Size: 7, MTime: 5_000_000_000}, true},
		"later in the second":     {trace{There: true, Size: 7, MTime: 5_750_000_000}, false},
		"earlier in the second":   {trace{There: true, Size: 7, MTime: 5_125_000_000}, false},
		"in the next second":      {trace{There: true, Size: 7, MTime: 6_000_000_000}, false},
		"longer":                  {trace{There: true, Size: 8, MTime: 5_250_000_000}, false},
		"longer in whole seconds": {trace{There: true, Size: 8, MTime: 5_000_000_000}, false},
		"gone":                    {trace{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := was.same(c.now, ""); got != c.want {
				t.Errorf("%s: as it was: %v; want %v", name, got, c.want)
			}
		})
	}
	if none := (trace{Copied: true}); none.same(trace{There: true}, "") {
		t.Error("what was not there is as it was")
	}
}

// A file system that keeps hundreds of nanoseconds, or two seconds, gives a copy another time than its source
// has: the content tells whether it was written.
func TestCopiesOfCoarseTimes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loss.txt")
	if err := os.WriteFile(path, []byte("loss=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := trace{There: true, Size: 7}.sum(path)
	for name, c := range map[string]struct {
		time int64
		sum  string
		want bool
	}{
		"100 ns":                 {5_123_456_700, sum, true},
		"10 ms":                  {5_130_000_000, sum, true},
		"2 s":                    {6_000_000_000, sum, true},
		"other content":          {5_130_000_000, "another", false},
		"content that is long":   {5_130_000_000, "", false},
		"seconds later":          {7_130_000_000, sum, false},
		"a time to a nanosecond": {5_130_000_001, sum, false},
	} {
		was := trace{There: true, Copied: true, Size: 7, MTime: 5_123_456_789, Sum: c.sum}
		if got := was.same(trace{There: true, Size: 7, MTime: c.time}, path); got != c.want {
			t.Errorf("%s: as it was: %v; want %v", name, got, c.want)
		}
	}
}

// A network's file system is another device on another machine, or once it is mounted again.
func TestOtherDevice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loss.txt")
	for _, text := range []string{"loss=1\n", "loss=2\n"} {
		if err := os.WriteFile(path, []byte("loss=1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		was, err := traceOf(path)
		if err != nil {
			t.Fatal(err)
		}
		was.Dev, was.Sum = was.Dev+1, was.sum(path)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, time.Time{}, time.Unix(0, was.MTime))); err != nil {
			t.Fatal(err)
		}
		now, err := traceOf(path)
		if got, want := was.same(now, path), text == "loss=1\n"; err != nil || got != want {
			t.Errorf("%q: as it was: %v, %v; want %v", text, got, err, want)
		}
	}
}
