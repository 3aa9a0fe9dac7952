package journal_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
)

// checkDamage reads mutated, a changed copy of original, and wants the first line
// that differs to be reported, and all before it to be read.
func checkDamage(t *testing.T, original, mutated []byte, what string) {
	t.Helper()
	same := 0
	for same < min(len(original), len(mutated)) && original[same] == mutated[same] {
		same++
	}
	line := 1 + bytes.Count(mutated[:same], []byte("\n"))
	lines, sum, err := read(mutated)
	if err != nil {
		if corrupt := is[*journal.CorruptError](t, err); corrupt.Line != line {
			t.Fatalf("%s: damage at line %d is reported as %v", what, line, err)
		}
	} else if sum.Torn == nil || sum.Torn.Line != line {
		t.Fatalf("%s: damage at line %d is reported as torn %+v", what, line, sum.Torn)
	}
	want := splitLines(original)[:line-1]
	if sum.Torn != nil && sum.Torn.Whole {
		want = splitLines(original)[:line]
	}
	if !slices.Equal(lines, want) {
		t.Fatalf("%s: damage at line %d: %d records were read", what, line, len(lines))
	}
	if err == nil {
		return
	}
	fsys := faultfs.New()
	fsys.Put("/journal.jsonl", mutated)
	_, _, err = journal.Open("/journal.jsonl", ignore, fsys)
	is[*journal.CorruptError](t, err)
	if !bytes.Equal(fsys.Content("/journal.jsonl"), mutated) {
		t.Fatalf("%s: Open refused the file and changed it", what)
	}
}

func TestEveryBitFlipIsFound(t *testing.T) {
	original := build(t, "s1", 20)
	for at := range original {
		for bit := range 8 {
			if testing.Short() && bit != at%8 {
				continue
			}
			mutated := bytes.Clone(original)
			mutated[at] ^= 1 << bit
			checkDamage(t, original, mutated, "bit flip")
		}
	}
}

// mutations are ways to damage a journal a; b is a journal of a sibling study.
var mutations = map[string]func(r *rand.Rand, a, b []byte) []byte{
	"bits": func(r *rand.Rand, a, _ []byte) []byte {
		for range 1 + r.IntN(4) {
			a[r.IntN(len(a))] ^= 1 << r.IntN(8)
		}
		return a
	},
	"bytes overwritten": func(r *rand.Rand, a, _ []byte) []byte {
		from, to := byteRange(r, a)
		for i := from; i < to; i++ {
			a[i] = byte(r.IntN(256))
		}
		return a
	},
	"zeros": func(r *rand.Rand, a, _ []byte) []byte {
		from, to := byteRange(r, a)
		clear(a[from:to])
		return a
	},
	"bytes deleted": func(r *rand.Rand, a, _ []byte) []byte {
		from, to := byteRange(r, a)
		return slices.Delete(a, from, to)
	},
	"bytes repeated": func(r *rand.Rand, a, _ []byte) []byte {
		from, to := byteRange(r, a)
		return slices.Insert(a, to, bytes.Clone(a[from:to])...)
	},
	"bytes moved": func(r *rand.Rand, a, _ []byte) []byte {
		from, to := byteRange(r, a)
		block := bytes.Clone(a[from:to])
		a = slices.Delete(a, from, to)
		return slices.Insert(a, r.IntN(len(a)+1), block...)
	},
	"digit changed": func(r *rand.Rand, a, _ []byte) []byte {
		for {
			if i := r.IntN(len(a)); a[i] >= '0' && a[i] <= '9' {
				a[i] = '0' + byte(r.IntN(10))
				return a
			}
		}
	},
	"lines deleted": onLines(func(r *rand.Rand, a, _ []string) []string {
		from, to := lineRange(r, a)
		return slices.Delete(a, from, to)
	}),
	"lines swapped": onLines(func(r *rand.Rand, a, _ []string) []string {
		i, j := r.IntN(len(a)), r.IntN(len(a))
		a[i], a[j] = a[j], a[i]
		return a
	}),
	"lines repeated": onLines(func(r *rand.Rand, a, _ []string) []string {
		from, to := lineRange(r, a)
		return slices.Insert(a, to, slices.Clone(a[from:to])...)
	}),
	"lines moved": onLines(func(r *rand.Rand, a, _ []string) []string {
		from, to := lineRange(r, a)
		block := slices.Clone(a[from:to])
		a = slices.Delete(a, from, to)
		return slices.Insert(a, r.IntN(len(a)+1), block...)
	}),
	"lines of a sibling": onLines(func(r *rand.Rand, a, b []string) []string {
		from, to := lineRange(r, a)
		copy(a[from:to], b[from:to])
		return a
	}),
	"lines of a sibling inserted": onLines(func(r *rand.Rand, a, b []string) []string {
		from, to := lineRange(r, b)
		return slices.Insert(a, r.IntN(len(a)+1), b[from:to]...)
	}),
	"end of a sibling": onLines(func(r *rand.Rand, a, b []string) []string {
		from := 1 + r.IntN(len(a)-1)
		return append(a[:from], b[from:]...)
	}),
	"lines joined": onLines(func(r *rand.Rand, a, _ []string) []string {
		i := r.IntN(len(a) - 1)
		a[i] += a[i+1]
		return slices.Delete(a, i+1, i+2)
	}),
	"empty line": onLines(func(r *rand.Rand, a, _ []string) []string {
		return slices.Insert(a, r.IntN(len(a)+1), "")
	}),
}

func onLines(mutate func(r *rand.Rand, a, b []string) []string) func(r *rand.Rand, a, b []byte) []byte {
	return func(r *rand.Rand, a, b []byte) []byte {
		lines := mutate(r, splitLines(a), splitLines(b))
		return []byte(strings.Join(lines, "\n") + "\n")
	}
}

func byteRange(r *rand.Rand, a []byte) (from, to int) {
	from = r.IntN(len(a))
	return from, min(len(a), from+1+r.IntN(40))
}

func lineRange(r *rand.Rand, a []string) (from, to int) {
	from = r.IntN(len(a))
	return from, min(len(a), from+1+r.IntN(3))
}

// No mutation is accepted silently. A file that merely ends earlier, after a whole
// line, is no mutation: it is what the journal once was.
func TestMutationsAreFound(t *testing.T) {
	original, sibling := build(t, "s1", 50), build(t, "s2", 50)
	r := rand.New(rand.NewPCG(1, 2))
	each := effort.Of(50, 250, 250)
	for _, what := range slices.Sorted(maps.Keys(mutations)) {
		for found := 0; found < each; {
			mutated := mutations[what](r, bytes.Clone(original), sibling)
			if bytes.HasPrefix(original, mutated) && (len(mutated) == 0 || mutated[len(mutated)-1] == '\n') {
				continue
			}
			whose := original
			if bytes.HasPrefix(mutated, sibling[:bytes.IndexByte(sibling, '\n')]) {
				whose = sibling // by its first line, it is the sibling that was damaged
			}
			checkDamage(t, whose, mutated, what)
			found++
		}
	}
	if n := each * len(mutations); n < effort.Of(400, 2000, 2000) {
		t.Errorf("only %d mutations", n)
	}
}
