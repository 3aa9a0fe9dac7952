package draft_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/draft"
	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/spec"
)

// Programs with what they print for --help and in a run, and what a draft must make of them. The
// rules of init were made on those in developed, and judged on those in judged. -v prints a table of each.
// Texts were recorded from the program that the first line names, or from a small one, if it does not
// say that they were written by hand.
//
// A file begins with lines of these kinds; then come the files help, stdout and stderr,
// reads/NAME, which the program reads, and writes/NAME, which it has written.
//
//	command LINE            or shell LINE: what is typed
//	exit N                  how the run ended
//	param NAME KIND LO HI   must be a parameter, whose range must lie within LO and HI
//	may NAME KIND LO HI     the same, if it is one
//	metric NAME DIRECTION FILE   the objective; last instead of metric NAME: the last number
//	left TEXT               must be listed as left as it is
//	edits TEXT              what still has to be done by hand
func TestPrograms(t *testing.T) {
	for _, dir := range []string{"developed", "judged"} {
		files, err := filepath.Glob("testdata/" + dir + "/*.txtar")
		if err != nil || len(files) == 0 {
			t.Fatal("there are no programs in", dir, err)
		}
		t.Logf("%-20s %-10s %-6s %s", dir, "parameters", "metric", "edits")
		without := 0
		for _, file := range files {
			p := readProgram(t, file)
			found, metric, edits := p.judge(t)
			t.Logf("%-20s %-10s %-6s %s", p.name, fmt.Sprintf("%d of %d", found, len(p.lines["param"])), metric, strings.Join(edits, "; "))
			if len(edits) == 0 {
				without++
			}
			if known := p.lines["edits"]; strings.Join(known, "; ") != strings.Join(edits, "; ") {
				text, _ := p.draft.TOML()
				t.Errorf("%s: the draft needs the edits %q, and %q are known\n%s", file, edits, known, text)
			}
		}
		t.Logf("%s: %d of %d need no edit", dir, without, len(files))
	}
}

type program struct {
	name  string
	lines map[string][]string // the text behind each first word
	draft draft.Program
	dir   string // of the spec
}

func readProgram(t *testing.T, file string) *program {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := &program{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), lines: map[string][]string{}}
	for line := range strings.Lines(string(a.Comment)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		p.lines[word] = append(p.lines[word], strings.TrimSpace(rest))
	}
	if line := p.lines["command"]; line != nil {
		p.draft.Argv = strings.Fields(line[0])
	} else {
		p.draft.Argv = p.lines["shell"]
	}
	texts := map[string]string{}
	for _, f := range a.Files {
		texts[f.Name] = string(f.Data)
	}
	p.dir, p.draft.Help, p.draft.Files = t.TempDir(), texts["help"], map[string]command.File{}
	outputs := []draft.Output{{Text: []byte(texts["stdout"])}}
	for name, text := range texts {
		if read, ok := strings.CutPrefix(name, "reads/"); ok {
			p.draft.Files[read] = command.File{From: read, Text: text}
			at := filepath.Join(p.dir, read)
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if written, ok := strings.CutPrefix(name, "writes/"); ok {
			outputs = append(outputs, draft.Output{Source: written, Text: []byte(text)})
		}
	}
	p.draft.TakeMetric(append(outputs, draft.Output{Source: "stderr", Text: []byte(texts["stderr"])})...)
	if exit := p.lines["exit"]; exit != nil {
		p.draft.Exit, _ = strconv.Atoi(exit[0])
	}
	return p
}

// judge says how many of the parameters were found, whether the metric is right, and what must be edited.
func (p *program) judge(t *testing.T) (found int, metric string, edits []string) {
	toml, _ := p.draft.TOML()
	text := string(toml)
	cfg, err := spec.Parse(filepath.Join(p.dir, "draft"), toml, "/")
	if strings.Contains(text, draft.NothingToVary) {
		return 0, "-", []string{"has no parameters"}
	}
	if err != nil {
		return 0, "no", []string{"no spec: " + err.Error()}
	}
	edit := func(format string, args ...any) { edits = append(edits, fmt.Sprintf(format, args...)) }
	is := map[string]spaces.Param{}
	for _, q := range cfg.Params {
		is[q.Name] = q
	}
	for _, want := range p.lines["param"] {
		f := strings.Fields(want)
		q, ok := is[f[0]]
		if delete(is, f[0]); !ok {
			edit("add %s", f[0])
		} else if found++; !within(q, f) {
			edit("correct %s", show(q))
		}
	}
	for _, want := range p.lines["may"] {
		f := strings.Fields(want)
		if q, ok := is[f[0]]; ok && !within(q, f) {
			edit("correct %s", show(q))
		}
		delete(is, f[0])
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		edit("take out %s", name)
	}
	o := cfg.Objective()
	got := cmp.Or(o.Rule.Metric+o.Rule.JSON, "last")
	metric = "wrong"
	for _, want := range slices.Concat(p.lines["metric"], p.lines["last"]) {
		file := fileRE.FindString(want)
		name, direction, named := cutLast(strings.TrimSpace(strings.TrimSuffix(want, file)))
		if named && strings.HasSuffix(name, got) || !named && got == "last" {
			if string(o.Direction) == direction && o.File == strings.TrimSpace(file) {
				metric = "right"
			}
		}
	}
	if metric == "wrong" {
		edit("metric %s", strings.TrimSpace(fmt.Sprint(got, " ", o.Direction, " ", o.File)))
	}
	for _, left := range p.lines["left"] {
		if !strings.Contains(text, "\n#   "+left) {
			edit("not said: %s", left)
		}
	}
	return found, metric, edits
}

var fileRE = regexp.MustCompile(` \S+\.\w+$`)

// cutLast cuts a text at its last blank.
func cutLast(text string) (before, last string, found bool) {
	i := strings.LastIndex(text, " ")
	return text[:max(i, 0)], text[i+1:], i >= 0
}

func show(q spaces.Param) string {
	if q.Kind == spaces.KindChoice {
		return fmt.Sprint(q.Name, " ", q.Kind, " ", q.Choices)
	}
	return fmt.Sprint(q.Name, " ", q.Kind, " ", q.Min, " to ", q.Max)
}

// within reports whether a parameter is of the kind, and its range within the limits, of a line.
func within(q spaces.Param, want []string) bool {
	if string(q.Kind) != want[1] {
		return false
	}
	lo, hi := math.Inf(-1), math.Inf(1)
	if len(want) == 4 {
		lo, _ = strconv.ParseFloat(want[2], 64)
		hi, _ = strconv.ParseFloat(want[3], 64)
	}
	return q.Min >= lo && q.Max <= hi && (q.Kind != spaces.KindChoice || len(q.Choices) > 1)
}
