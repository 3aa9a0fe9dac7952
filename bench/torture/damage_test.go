//go:build linux

package torture_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
)

// realStudy runs a study of 50 trials and returns its journal.
func (l *lab) realStudy(name string) string {
	l.Helper()
	l.spec(name+".toml", "echo loss={x}", 50, 2)
	l.run(0, "run", name+".toml")
	return l.read(name + ".study/journal.jsonl")
}

// A journal that is cut anywhere goes on with every whole record, or is refused when
// not even the first is whole.
func TestTruncationAtEveryByte(t *testing.T) {
	slow(t)
	l := newLab(t)
	whole := l.realStudy("spec")
	step := scaled(61, 1)
	checked, refused := 0, 0
	for cut := 0; cut <= len(whole); cut++ {
		border := cut > 0 && strings.Contains(whole[cut-1:min(cut+1, len(whole))], "\n")
		if cut%step == 0 || border {
			checked++
			if !l.reopens(whole, cut) {
				refused++
			}
		}
	}
	first := strings.IndexByte(whole, '\n')
	t.Logf("%d cuts of %d bytes; %d of them, in the %d bytes of the first line, were refused", checked, len(whole), refused, first)
}

// reopens cuts a journal, opens the study, and reports whether it could.
func (l *lab) reopens(whole string, cut int) bool {
	l.Helper()
	dir := fmt.Sprintf("cut-%d", cut)
	l.write(dir+"/journal.jsonl", whole[:cut])
	defer os.RemoveAll(l.path(dir))
	s, err := session.Open(nil, session.Options{Dir: l.path(dir), Launcher: &runner.Local{}})
	first := strings.IndexByte(whole, '\n')
	if cut < first {
		var damage *journal.CorruptError
		if !errors.As(err, &damage) || damage.Line != 1 || l.read(dir+"/journal.jsonl") != whole[:cut] {
			l.Errorf("cut at %d: %v", cut, err)
		}
		return false
	}
	if err != nil {
		l.Errorf("cut at %d: %v", cut, err)
		return false
	}
	l.check(s.Close())
	keep := strings.LastIndexByte(whole[:cut], '\n') + 1
	torn := whole[keep:cut]
	if cut < len(whole) && whole[cut] == '\n' { // only the line end is missing
		keep, torn = cut+1, ""
	}
	if !strings.HasPrefix(l.read(dir+"/journal.jsonl"), whole[:keep]) {
		l.Errorf("cut at %d: a whole record was lost", cut)
	}
	if torn != "" && l.read(dir+"/journal.jsonl.torn-1") != torn || torn == "" && l.exists(dir+"/journal.jsonl.torn-1") {
		l.Errorf("cut at %d: the torn bytes were not kept", cut)
	}
	if n := strings.Count(whole[:keep], `"type":"finished"`); len(s.State().Order) != n {
		l.Errorf("cut at %d: %d finished trials; want %d", cut, len(s.State().Order), n)
	}
	return true
}

// A cut study runs to its end, with every result that was whole.
func TestTruncatedStudyRunsOn(t *testing.T) {
	slow(t)
	l := newLab(t)
	whole := l.realStudy("spec")
	r := rand.New(rand.NewPCG(*seed, 1))
	first := strings.IndexByte(whole, '\n')
	for range scaled(5, 150) {
		cut := first + r.IntN(len(whole)-first)
		l.check(os.CopyFS(l.path("copy.study"), os.DirFS(l.path("spec.study"))))
		l.write("copy.study/journal.jsonl", whole[:cut])
		l.run(0, "resume", "copy.study")
		now := l.read("copy.study/journal.jsonl")
		if keep := strings.LastIndexByte(whole[:cut], '\n') + 1; !strings.HasPrefix(now, whole[:keep]) {
			t.Errorf("cut at %d: a whole record was lost", cut)
		}
		if n := strings.Count(now, `"type":"finished"`); n != 50 {
			t.Errorf("cut at %d: %d trials finished", cut, n)
		}
		l.run(0, "journal", "replay", "copy.study")
		l.check(os.RemoveAll(l.path("copy.study")))
	}
}

// damages are ways in which a file goes bad. Lines are those of the file, other those
// of another study's.
var damages = map[string]func(r *rand.Rand, lines, other []string) string{
	"bit flipped": func(r *rand.Rand, lines, _ []string) string {
		b := []byte(strings.Join(lines, ""))
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		return string(b)
	},
	"bytes deleted": func(r *rand.Rand, lines, _ []string) string {
		text := strings.Join(lines, "")
		from := r.IntN(len(text))
		return text[:from] + text[min(len(text), from+1+r.IntN(30)):]
	},
	"line deleted": func(r *rand.Rand, lines, _ []string) string {
		i := r.IntN(len(lines))
		return strings.Join(slices.Delete(lines, i, i+1), "")
	},
	"lines swapped": func(r *rand.Rand, lines, _ []string) string {
		i, j := r.IntN(len(lines)), r.IntN(len(lines))
		lines[i], lines[j] = lines[j], lines[i]
		return strings.Join(lines, "")
	},
	"line repeated": func(r *rand.Rand, lines, _ []string) string {
		i := r.IntN(len(lines))
		return strings.Join(slices.Insert(lines, r.IntN(len(lines)+1), lines[i]), "")
	},
	"end of another": func(r *rand.Rand, lines, other []string) string {
		i := 1 + r.IntN(min(len(lines), len(other))-1)
		return strings.Join(append(lines[:i], other[i:]...), "")
	},
	"line of another": func(r *rand.Rand, lines, other []string) string {
		i := 1 + r.IntN(min(len(lines), len(other))-1)
		lines[i] = other[i]
		return strings.Join(lines, "")
	},
	"zeros": func(r *rand.Rand, lines, _ []string) string {
		b := []byte(strings.Join(lines, ""))
		from := r.IntN(len(b))
		clear(b[from:min(len(b), from+1+r.IntN(4096))])
		return string(b)
	},
}

var damagedAt = regexp.MustCompile(`is damaged at line ([0-9]+) `)

// No damage is accepted silently. Each is told with its line, and the file stays as it is.
func TestDamageIsReported(t *testing.T) {
	slow(t)
	l := newLab(t)
	lines := slices.Collect(strings.Lines(l.realStudy("spec")))
	other := slices.Collect(strings.Lines(l.realStudy("other")))
	r := rand.New(rand.NewPCG(*seed, 2))
	reported := 0
	for _, kind := range []string{"bit flipped", "bytes deleted", "line deleted", "lines swapped", "line repeated", "end of another", "line of another", "zeros"} {
		for n := 0; n < scaled(6, 250); {
			bad := damages[kind](r, slices.Clone(lines), other)
			at, whole := firstDifference(lines, bad)
			if whole {
				continue // it only ends earlier, or not even that
			}
			n++
			reported++
			l.write("spec.study/journal.jsonl", bad)
			res := l.run(3, "journal", "verify", "spec.study")
			if m := damagedAt.FindStringSubmatch(res.err); m == nil || m[1] != strconv.Itoa(at) {
				t.Errorf("%s in line %d: %s", kind, at, res.err)
			}
			if n == 1 {
				l.refused(bad)
			}
		}
	}
	t.Logf("%d of %d reported with their line", reported, reported)
}

// firstDifference returns the number of the first line of text that is not what it
// was, and whether text is only a shorter journal or one with a torn end.
func firstDifference(lines []string, text string) (at int, whole bool) {
	for i, line := range lines {
		rest, same := strings.CutPrefix(text, line)
		if !same {
			return i + 1, i > 0 && (text == "" || !strings.Contains(text, "\n"))
		}
		text = rest
	}
	return len(lines) + 1, !strings.Contains(text, "\n")
}

// refused checks that nothing touches a damaged journal.
func (l *lab) refused(bad string) {
	l.Helper()
	before := l.listing("spec.study")
	l.run(3, "run", "spec.toml")
	l.run(3, "resume", "spec.study")
	l.run(3, "status", "spec.study")
	l.run(3, "best", "spec.study")
	if l.read("spec.study/journal.jsonl") != bad {
		l.Error("the damaged file was changed")
	}
	if after := l.listing("spec.study"); after != before {
		l.Errorf("files of a damaged study changed from\n%s\nto\n%s", before, after)
	}
}

// listing names the files below a directory of the lab.
func (l *lab) listing(dir string) string {
	l.Helper()
	var names []string
	l.check(fs.WalkDir(os.DirFS(l.path(dir)), ".", func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	}))
	return strings.Join(names, "\n")
}
