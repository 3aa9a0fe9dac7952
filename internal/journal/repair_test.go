package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
)

// repair returns what Repair makes of content.
func repair(t *testing.T, content []byte) ([]byte, journal.Repaired, error) {
	t.Helper()
	fsys := faultfs.New()
	fsys.Put("/journal.jsonl", content)
	result, err := journal.Repair("/journal.jsonl", "/new.jsonl", fsys)
	if !bytes.Equal(fsys.Content("/journal.jsonl"), content) {
		t.Fatal("Repair changed its source")
	}
	return fsys.Content("/new.jsonl"), result, err
}

// What leaves the chain of checksums to be found is undone without a loss.
func TestRepairWithoutLoss(t *testing.T) {
	good := build(t, "s1", 12)
	other := splitLines(build(t, "s2", 12))
	lines := splitLines(good)
	swapped, reversed := slices.Clone(lines), slices.Clone(lines)
	swapped[3], swapped[8] = swapped[8], swapped[3]
	slices.Reverse(reversed)
	file := func(lines []string) string { return strings.Join(lines, "\n") + "\n" }
	for name, c := range map[string]struct {
		content         string
		mended, dropped []int // line numbers
	}{
		"intact":            {string(good), nil, nil},
		"no line end":       {strings.TrimSuffix(string(good), "\n"), nil, nil},
		"stray end":         {strings.TrimSuffix(string(good), "\n") + "\x00\x00", []int{12}, nil},
		"torn end":          {string(good) + `{"seq":13,"ev`, nil, []int{13}},
		"CR LF":             {strings.ReplaceAll(string(good), "\n", "\r\n"), upTo(12), nil},
		"byte order mark":   {"\xef\xbb\xbf" + string(good), []int{1}, nil},
		"empty lines":       {strings.ReplaceAll(string(good), "\n", "\n\n"), nil, []int{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24}},
		"line repeated":     {file(slices.Insert(slices.Clone(lines), 5, lines[4])), nil, []int{6}},
		"twice":             {string(good) + string(good), nil, []int{13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24}},
		"lines swapped":     {file(swapped), []int{5, 4}, nil},
		"reversed":          {file(reversed), []int{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, nil},
		"foreign lines":     {file(slices.Insert(slices.Clone(lines), 5, other[4], other[5], other[6])), nil, []int{6, 7, 8}},
		"a note at the top": {"// my study\n" + string(good), nil, []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			got, result, err := repair(t, []byte(c.content))
			check(t, err)
			if !bytes.Equal(got, good) || result.Kept != 12 {
				t.Errorf("repaired to\n%swith %+v", got, result)
			}
			if m, d := numbers(result.Mended), numbers(result.Dropped); !slices.Equal(m, c.mended) || !slices.Equal(d, c.dropped) {
				t.Errorf("mended %v, dropped %v; want %v, %v", result.Mended, result.Dropped, c.mended, c.dropped)
			}
			if name == "stray end" && !strings.HasSuffix(result.Mended[0].Reason, ": 2") {
				t.Errorf("2 bytes: %q", result.Mended[0].Reason)
			}
		})
	}
}

func upTo(n int) []int {
	var all []int
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

func numbers(findings []journal.Finding) []int {
	var lines []int
	for _, f := range findings {
		lines = append(lines, f.Line)
	}
	return lines
}

// One flipped bit inside a line is found and flipped back.
func TestRepairOfAFlippedBit(t *testing.T) {
	good := build(t, "s1", 12)
	for i := 0; i < 8*len(good); i += 13 {
		damaged := bytes.Clone(good)
		damaged[i/8] ^= 1 << (i % 8)
		if good[i/8] == '\n' || damaged[i/8] == '\n' {
			continue
		}
		got, result, err := repair(t, damaged)
		check(t, err)
		line := bytes.Count(good[:i/8], []byte("\n")) + 1
		if !bytes.Equal(got, good) || !slices.Equal(numbers(result.Mended), []int{line}) || len(result.Dropped) > 0 {
			t.Fatalf("bit %d of line %d: %+v", i, line, result)
		}
		first := bytes.LastIndexByte(good[:i/8], '\n') + 1 // byte of the line
		if want := fmt.Sprintf("bit %d of its byte %d was flipped back", i%8, i/8-first+1); result.Mended[0].Reason != want {
			t.Fatalf("found %q, want %q", result.Mended[0].Reason, want)
		}
	}
}

// A flipped bit is not looked for where that would not give a JSON object.
func TestRepairDoesNotFlipIntoNonsense(t *testing.T) {
	first := sealed(`{"seq":1,"format":"lbotune-journal","version":1`)
	body := `{"seq":2,"x":`
	chained := crc32.ChecksumIEEE([]byte(`{"seq":1,"format":"lbotune-journal","version":1` + body))
	nonsense := fmt.Sprintf("%s,\"crc\":\"%08x\"}", body, chained)
	_, result, err := repair(t, []byte(first+strings.Replace(nonsense, "x", "y", 1)+"\n"))
	check(t, err)
	if result.Kept != 1 || !slices.Equal(numbers(result.Dropped), []int{2}) {
		t.Errorf("%+v", result)
	}
}

// Where the chain breaks, it ends: the new file has all before, and the rest is listed.
func TestRepairWithLoss(t *testing.T) {
	good := build(t, "s1", 6)
	other := splitLines(build(t, "s2", 6))
	lines := splitLines(good)
	file := func(lines ...string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }
	nothing := "nothing ties it to the records before line 4"
	for name, c := range map[string]struct {
		content []byte
		kept    int
		dropped []string
	}{
		"line missing": {file(lines[0], lines[1], lines[2], lines[4], lines[5]), 3,
			[]string{"record 5 stands where record 4 belongs", nothing}},
		"line rewritten": {file(lines[0], lines[1], lines[2], strings.Replace(lines[3], "finished", "failed", 1), lines[4], lines[5]), 3,
			[]string{"its checksum is", nothing, nothing}},
		"end of another study": {file(lines[0], lines[1], lines[2], other[3], other[4], other[5]), 3,
			[]string{"its checksum is", nothing, nothing}},
		"lines of another study": {file(lines[0], other[1], other[2], lines[3]), 1,
			[]string{"its checksum is", "nothing ties it to the records before line 2", "nothing ties it to the records before line 2"}},
		"noise before the break": {file(lines[0], "noise", lines[1], lines[1], lines[3]), 2,
			[]string{"it is not a record of this journal", "there is a record 2 already", "record 4 stands where record 3 belongs"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, result, err := repair(t, c.content)
			check(t, err)
			if !bytes.Equal(got, file(lines[:c.kept]...)) || result.Kept != uint64(c.kept) {
				t.Errorf("repaired to\n%swith %+v", got, result)
			}
			if len(result.Dropped) != len(c.dropped) {
				t.Fatalf("dropped %+v", result.Dropped)
			}
			for i, want := range c.dropped {
				if f := result.Dropped[i]; !strings.HasPrefix(f.Reason, want) || f.Offset != lineStart(string(c.content), f.Line) {
					t.Errorf("dropped %+v, want %q", f, want)
				}
			}
		})
	}
}

func TestRepairNeedsAFirstLine(t *testing.T) {
	good := build(t, "s1", 6)
	lines := splitLines(good)
	for name, content := range map[string]string{
		"empty":              "",
		"first line missing": strings.Join(lines[1:], "\n") + "\n",
		"first line cut":     string(good[:30]),
		"another file":       "hello\n",
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := repair(t, []byte(content))
			if corrupt := is[*journal.CorruptError](t, err); corrupt.Line != 1 || got != nil {
				t.Errorf("%s: %v, file %q", name, err, got)
			}
		})
	}
}

// However it was damaged, what Repair makes is a beginning of the journal, and of
// the lines that were read before none is missing.
func TestRepairOfMutations(t *testing.T) {
	original, sibling := build(t, "s1", 30), build(t, "s2", 30)
	r := rand.New(rand.NewPCG(3, 4))
	for _, what := range slices.Sorted(maps.Keys(mutations)) {
		for range effort.Of(10, 40, 40) {
			mutated := mutations[what](r, bytes.Clone(original), sibling)
			readable, _, _ := read(mutated)
			got, result, err := repair(t, mutated)
			if err != nil {
				if corrupt := is[*journal.CorruptError](t, err); corrupt.Line != 1 || len(readable) > 0 {
					t.Fatalf("%s: %v", what, err)
				}
				continue
			}
			lines, sum, err := read(got)
			check(t, err)
			if !bytes.HasPrefix(original, got) && !bytes.HasPrefix(sibling, got) {
				t.Fatalf("%s: repaired to\n%s", what, got)
			}
			if len(lines) < len(readable) || result.Kept != sum.Records || sum.Torn != nil {
				t.Fatalf("%s: %d lines readable before, %+v after, said %+v", what, len(readable), sum, result)
			}
		}
	}
}

func TestRepairReplacesNothing(t *testing.T) {
	fsys := faultfs.New()
	fsys.Put("/journal.jsonl", build(t, "s1", 3))
	fsys.Put("/mine.jsonl", []byte("mine"))
	fsys.Put("/fixed.jsonl.new", []byte("mine")) // which is how a new study's draft ends
	for _, dst := range []string{"/mine.jsonl", "/journal.jsonl"} {
		if _, err := journal.Repair("/journal.jsonl", dst, fsys); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Repair into %s: %v", dst, err)
		}
	}
	_, err := journal.Repair("/journal.jsonl", "/fixed.jsonl", fsys)
	check(t, err)
	for _, name := range []string{"/mine.jsonl", "/fixed.jsonl.new"} {
		if string(fsys.Content(name)) != "mine" {
			t.Errorf("%s was replaced", name)
		}
	}
}

// A repair that fails leaves no half of a journal.
func TestFaultsWhileWritingARepair(t *testing.T) {
	content := build(t, "s1", 20)
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			for fault.N = 1; ; fault.N++ {
				fsys := faultfs.New()
				fsys.Put("/journal.jsonl", content)
				fsys.Inject(fault)
				_, err := journal.Repair("/journal.jsonl", "/new.jsonl", fsys)
				if got := fsys.Content("/new.jsonl"); got != nil && !bytes.Equal(got, content) {
					t.Fatalf("half a journal: %q", got)
				}
				for state := range fsys.PowerCuts(func(string) bool { return true }) {
					if got := state.Content("/new.jsonl"); got != nil && !bytes.Equal(got, content) {
						t.Fatalf("half a journal after a power cut: %q", got)
					}
				}
				if !fsys.Fired() {
					check(t, err)
					break
				}
				if is[*journal.WriteError](t, err); errors.Is(err, syscall.ENOENT) {
					t.Fatal(err)
				}
			}
		})
	}
}
