package session_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of promises in docs/reliability.md")

// promise is a column of the table.
type promise struct {
	name, short string
	// owner is the setting beside which the promise is made; a promise without one is made to all.
	owner string
	of    func(cells) string
}

var promises = []promise{
	{"a value is the program's own, and whole", "value", "", func(c cells) string { return c.value }},
	{"every trial of the budget runs exactly once, and no result is lost", "once", "", func(c cells) string { return c.once }},
	{"a failure is nobody's but the program's", "failure", "", func(c cells) string { return c.blame }},
	{"nothing is proposed that breaks a safety limit", "safe", "safety", func(c cells) string { return c.safe }},
	{"`reachable` stops nothing that would have been the best", "reachable", "reachable", func(c cells) string { return c.early }},
	{"the best holds the limits if a trial does", "best", "constraints", func(c cells) string { return c.best }},
	{"an end by `gap` leaves no more to gain than it says", "gap", "gap", func(c cells) string { return c.gap }},
	{"an interval holds the truth as often as it says", "interval", "", func(c cells) string { return c.interval }},
	{"the journal proposes the same again", "replay", "", func(c cells) string { return c.replay }},
	{"a secret of `secret_env` is not written", "secret", "secret_env", func(c cells) string { return c.secret }},
	{"nothing is left running, or lying about", "left", "", func(c cells) string { return c.left }},
}

// Each cell of the table says how its promise stands, and what it says is so.
func TestPromisesTable(t *testing.T) {
	promisesBase(t)
	if n := reflect.TypeFor[cells]().NumField(); n != len(promises) {
		t.Errorf("cells have %d promises, the table %d", n, len(promises))
	}
	for _, s := range settings {
		for _, p := range promises {
			if wrong := p.wrong(s, p.of(s.cells)); wrong != "" {
				t.Errorf("%s, %s: %s", s.name, p.short, wrong)
			}
		}
	}
}

// wrong says what is wrong with a cell, "" if nothing is.
func (p promise) wrong(s setting, cell string) string {
	kind, what, _ := strings.Cut(cell, ": ")
	page, sentence, _ := strings.Cut(what, ": ")
	switch kind {
	case "":
		return "the cell is empty: is the promise held beside the setting?"
	case sim:
		switch {
		case s.draw == nil:
			return "the simulation does not switch the setting on"
		case p.short == "interval":
			return "the simulation does not count intervals"
		case p.owner != "" && p.owner != s.name && !p.together(s, 1, nil):
			return "the two cannot be simulated together"
		}
	case either:
		if p.owner == "" || !p.together(s, draws, func(err error) bool { return strings.HasPrefix(refusalOf(err), "are two") }) {
			return "the two can stand together"
		}
	case "refused":
		if p.owner == "" || !p.together(s, 1, func(err error) bool { return strings.Contains(err.Error(), what) }) {
			return "lbotune check does not say " + what
		}
	case "test":
		file, name, _ := strings.Cut(what, " ")
		text, err := os.ReadFile(filepath.Join("..", file))
		if err != nil || !strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") {
			return "there is no such test"
		}
	case "weaker":
		text, err := os.ReadFile(filepath.Join("..", page))
		if before, after, found := strings.Cut(string(text), tableBegins); found {
			_, after, _ = strings.Cut(after, tableEnds)
			text = []byte(before + after)
		}
		if err != nil || len(sentence) < 20 || !strings.Contains(strings.Join(strings.Fields(string(text)), " "), sentence) {
			return "the page does not say so"
		}
	case apart:
	default:
		return "unknown kind of cell"
	}
	return ""
}

// draws is how many studies show whether two settings can stand together.
const draws = 12

// together says whether so many studies with the setting and the promise's own can be drawn, or have
// an error that is wanted.
func (p promise) together(s setting, enough int, want func(error) bool) bool {
	for seed := uint64(0); enough > 0 && seed < draws; seed++ {
		if _, err := drawnPlan([]string{p.owner, s.name}, seed); want == nil && err == nil || want != nil && err != nil && want(err) {
			enough--
		}
	}
	return enough == 0
}

// Every key of the spec belongs to a setting, and every step of a simulation; a key that is new
// needs a line of its own, or one that it belongs to.
func TestEveryKeyHasPromises(t *testing.T) {
	of := map[string]string{}
	for _, s := range settings {
		for _, k := range s.keys {
			if of[k] != "" {
				t.Errorf("%s belongs to %s and to %s", k, of[k], s.name)
			}
			of[k] = s.name
		}
	}
	known := map[string]bool{}
	for _, key := range specKeys(t) {
		section, name, _ := strings.Cut(key, ".")
		if of[key] == "" && slices.Contains([]string{"objective", "objectives", "metrics", "constraints"}, section) {
			key = "*." + name
		}
		if known[key] = true; of[key] == "" {
			t.Errorf("no setting of the table of promises has the key %s: write its line into session/promises_table_test.go", key)
		}
	}
	for k, s := range of {
		if !known[k] {
			t.Errorf("%s has the key %s, which docs/spec.md does not document", s, k)
		}
	}
}

var (
	sectionRE = regexp.MustCompile("(?m)^## (?:`\\[+([a-z]+)(?:\\.NAME)?\\]+`|(Top level))$")
	specRowRE = regexp.MustCompile("(?m)^\\| ((?:`[a-z_]+`(?:, )?)+) \\|")
	specKeyRE = regexp.MustCompile("`([a-z_]+)`")
)

// specKeys are the keys that docs/spec.md documents, which are all: a test of spec compares.
func specKeys(t *testing.T) (keys []string) {
	t.Helper()
	text, err := os.ReadFile("../docs/spec.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "\n## ") {
		m := sectionRE.FindStringSubmatch("## " + part)
		if m == nil {
			continue
		}
		for _, row := range specRowRE.FindAllStringSubmatch(part, -1) {
			for _, k := range specKeyRE.FindAllStringSubmatch(row[1], -1) {
				keys = append(keys, strings.TrimPrefix(m[1]+"."+k[1], "."))
			}
		}
	}
	if len(keys) < 100 {
		t.Fatalf("docs/spec.md has the keys %v", keys)
	}
	return keys
}

const tableBegins, tableEnds = "<!-- promises: go test ./session -run TestPromisesPage -update -->\n", "<!-- end of promises -->\n"

// The page has the table.
func TestPromisesPage(t *testing.T) {
	const page = "../docs/reliability.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(text), tableBegins)
	shown, after, ok2 := strings.Cut(rest, tableEnds)
	if !ok1 || !ok2 {
		t.Fatalf("%s lacks the marks between which the table stands", page)
	}
	want := promisesTable()
	if *update {
		if err := os.WriteFile(page, []byte(before+tableBegins+want+tableEnds+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if shown != want {
		t.Errorf("the table of %s is not that of the code: go test ./session -run TestPromisesPage -update", page)
	}
}

// promisesTable is the table as Markdown, settings with the same cells in one row, and what its
// cells point to below.
func promisesTable() string {
	var b strings.Builder
	notes := map[string][]string{}
	mark := func(kind, note string) string {
		i := slices.Index(notes[kind], note)
		if i < 0 {
			i = len(notes[kind])
			notes[kind] = append(notes[kind], note)
		}
		return fmt.Sprintf("%s%d", kind, i+1)
	}
	b.WriteString("\n| setting |")
	for _, p := range promises {
		b.WriteString(" " + p.short + " |")
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(promises)) + "\n")
	var rows []string // of settings with the same cells
	names := map[string][]string{}
	for _, s := range settings {
		row := ""
		for _, p := range promises {
			kind, what, _ := strings.Cut(p.of(s.cells), ": ")
			switch kind {
			case sim:
				what = "S"
			case apart:
				what = "–"
			case either:
				what = "="
			case "test":
				what = mark("T", what)
			case "refused":
				what = mark("R", what)
			case "weaker":
				what = mark("W", what)
			}
			row += " " + what + " |"
		}
		if names[row] == nil {
			rows = append(rows, row)
		}
		names[row] = append(names[row], s.name)
	}
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s |%s\n", strings.Join(names[row], " · "), row)
	}
	b.WriteString("\n")
	for i, note := range notes["T"] {
		file, name, _ := strings.Cut(note, " ")
		fmt.Fprintf(&b, "- T%d: [%s](../%s) `%s()`\n", i+1, strings.TrimPrefix(file, "bench/"), file, name)
	}
	for i, note := range notes["R"] {
		fmt.Fprintf(&b, "- R%d: \"%s\"\n", i+1, note)
	}
	for i, note := range notes["W"] {
		page, sentence, _ := strings.Cut(note, ": ")
		page = strings.TrimPrefix(page, "docs/")
		if page == "reliability.md" {
			fmt.Fprintf(&b, "- W%d: %s, see below\n", i+1, sentence)
			continue
		}
		fmt.Fprintf(&b, "- W%d: [%s](%s): \"%s\"\n", i+1, page, page, sentence)
	}
	return b.String() + "\n"
}
