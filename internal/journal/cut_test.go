package journal_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
)

// A journal cut anywhere goes on with every record that was whole, or, cut inside
// the first line, is refused.
func TestCutAtEveryByte(t *testing.T) {
	for _, n := range effort.Of([]int{1, 20}, []int{1, 20, 50}, []int{1, 20, 50}) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			content := build(t, "s1", n)
			lines := splitLines(content)
			whole, end := 0, len(lines[0]) // records in the first cut bytes, end of the next
			for cut := range len(content) + 1 {
				if whole < n && cut == end {
					if whole++; whole < n {
						end += 1 + len(lines[whole])
					}
				}
				if cut%effort.Of(7, 1, 1) != 0 && cut != len(content) {
					continue
				}
				for _, tail := range []string{"", "\x00", string(make([]byte, 5000)), "\x00x", "x"} {
					if cut%7 == 0 || tail == "" {
						checkCut(t, append(content[:cut:cut], tail...), lines[:whole])
					}
				}
			}
		})
	}
}

// checkCut opens content, which must begin with the lines of want and have nothing
// after them but what was torn, adds a record and reads it all again.
func checkCut(t *testing.T, content []byte, want []string) {
	t.Helper()
	fsys := faultfs.New()
	fsys.Put("/journal.jsonl", content)
	var c collector
	j, sum, err := journal.Open("/journal.jsonl", c.visit, fsys)
	if len(want) == 0 {
		if corrupt := is[*journal.CorruptError](t, err); corrupt.Line != 1 {
			t.Fatalf("%d bytes: %v", len(content), err)
		}
		if string(fsys.Content("/journal.jsonl")) != string(content) {
			t.Fatal("a refused file was changed")
		}
		return
	}
	check(t, err)
	if !slices.Equal(c.lines, want) || sum.Records != uint64(len(want)) {
		t.Fatalf("%d bytes: found %q, want %q", len(content), c.lines, want)
	}
	checkTorn(t, fsys, content, want, sum.Torn)
	_, readSum, err := read(content)
	check(t, err)
	if readSum.Records != sum.Records || readSum.CRC != sum.CRC || (readSum.Torn == nil) != (sum.Torn == nil) {
		t.Fatalf("%d bytes: Read summed up %+v, Open %+v", len(content), readSum, sum)
	}
	err = j.Append(sample("s1", 99))
	check(t, err)
	check(t, j.Close())
	lines, sum, err := read(fsys.Content("/journal.jsonl"))
	check(t, err)
	if len(lines) != len(want)+1 || !slices.Equal(lines[:len(want)], want) || sum.Torn != nil {
		t.Fatalf("%d bytes: %d records after one more, torn %v", len(content), len(lines), sum.Torn)
	}
}

// checkTorn compares what was said about the end of content, and kept of it, with
// what stands there after the records.
func checkTorn(t *testing.T, fsys *faultfs.FS, content []byte, records []string, torn *journal.Torn) {
	t.Helper()
	end := len(records) - 1
	for _, record := range records {
		end += len(record)
	}
	rest := string(content[end:])
	if torn == nil {
		if rest != "\n" {
			t.Fatalf("nothing was said about %q", rest)
		}
		return
	}
	want := journal.Torn{Line: len(records), Offset: int64(end), Length: int64(len(rest)), Whole: true}
	if rest != "" && rest[0] == '\n' {
		rest = rest[1:]
		want = journal.Torn{Line: len(records) + 1, Offset: int64(end) + 1, Length: int64(len(rest))}
	}
	if rest != "" {
		want.Kept = "/journal.jsonl.torn-1"
	}
	if *torn != want {
		t.Fatalf("said %+v, want %+v", *torn, want)
	}
	if rest != string(fsys.Content(want.Kept)) {
		t.Fatalf("kept %q, want %q", fsys.Content(want.Kept), rest)
	}
}

func TestTornBytesAreNeverOverwritten(t *testing.T) {
	fsys := faultfs.New()
	fsys.Put("/journal.jsonl", build(t, "s1", 3))
	for _, torn := range []string{"one", "two", "three"} {
		fsys.Put("/journal.jsonl", append(fsys.Content("/journal.jsonl"), torn...))
		j, sum, err := journal.Open("/journal.jsonl", ignore, fsys)
		check(t, err)
		check(t, j.Close())
		if got := string(fsys.Content(sum.Torn.Kept)); got != torn {
			t.Errorf("%s holds %q, want %q", sum.Torn.Kept, got, torn)
		}
	}
	if n := len(fsys.Files()); n != 5 {
		t.Errorf("%d files, want journal, lock and three torn ends", n)
	}
}
