package study_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/layout"
)

var (
	recordRE = regexp.MustCompile("(?s)\n### `([a-z]+)`\n(.*?)(?:\n##|$)")
	fieldRE  = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|")
)

// docs/journal.md describes every event with all of its fields, and shows a line of the
// golden journal for each.
func TestEveryRecordIsDocumented(t *testing.T) {
	page, err1 := os.ReadFile("../docs/journal.md")
	golden, err2 := os.ReadFile(layout.Study("testdata/v1").Journal())
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	sections := map[string]string{}
	rest := string(page)
	for { // sections border on each other
		m := recordRE.FindStringSubmatchIndex(rest)
		if m == nil {
			break
		}
		sections[rest[m[2]:m[3]]] = rest[m[4]:m[5]]
		rest = rest[m[5]:]
	}
	seen := map[string]bool{}
	for _, e := range everyEvent() {
		name := typeOf(t, e)
		section, ok := sections[name]
		if !ok {
			t.Errorf("no section tells of %s", name)
		}
		if seen[name] || !ok {
			continue
		}
		seen[name] = true
		var documented, fields []string
		for _, m := range fieldRE.FindAllStringSubmatch(section, -1) {
			documented = append(documented, m[1])
		}
		for _, f := range reflect.VisibleFields(reflect.TypeOf(e)) {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			fields = append(fields, key)
		}
		if !slices.Equal(fields, documented) {
			t.Errorf("%s has the fields %q, and the page says %q", name, fields, documented)
		}
		_, line, _ := strings.Cut(section, "```json\n")
		line, _, _ = strings.Cut(line, "```")
		if !strings.Contains(line, `"type":"`+name+`"`) || !slices.Contains(slices.Collect(strings.Lines(string(golden))), line) {
			t.Errorf("the golden journal has no such line of %s: %s", name, line)
		}
	}
	if len(seen) != len(sections) {
		t.Errorf("%d events, and %d sections", len(seen), len(sections))
	}
}
