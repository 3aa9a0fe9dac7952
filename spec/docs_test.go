package spec

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/study"
)

// The reference names every key that the code reads, and no other.
func TestEveryKeyIsDocumented(t *testing.T) {
	known := map[string][]string{}
	for _, file := range []string{"full.toml", "several.toml", "certain.toml"} {
		src, err := os.ReadFile("testdata/good/" + file)
		if err != nil {
			t.Fatal(err)
		}
		d := parseDocument(string(src))
		var cfg study.Config
		d.config(&cfg, file)
		if len(d.problems) > 0 {
			t.Fatalf("%s has problems: %+v", file, d.problems)
		}
		for table, keys := range d.known {
			known[table] = append(known[table], keys...)
		}
	}
	read := map[string]map[string]bool{}
	for table, keys := range known {
		section, _, isNamed := strings.Cut(table, ".")
		switch {
		case section == "run" && isNamed, table == "params", table == "metrics", table == "constraints", table == "objectives":
			continue // environment variables, slots and sources; names of parameters, metrics and constraints
		case isNamed:
			section += ".NAME"
		}
		if read[section] == nil {
			read[section] = map[string]bool{}
		}
		for _, k := range keys {
			read[section][k] = true
		}
	}
	for section := range read {
		delete(read[""], strings.TrimSuffix(section, ".NAME"))
	}
	documented := documentedKeys(t, "../docs/spec.md")
	for section, keys := range read {
		for k := range keys {
			if !documented[section][k] {
				t.Errorf("docs/spec.md does not document %q of section %q", k, section)
			}
		}
		for k := range documented[section] {
			if !keys[k] {
				t.Errorf("docs/spec.md documents %q of section %q, which nothing reads", k, section)
			}
		}
	}
	if extra := slices.Collect(maps.Keys(documented)); len(extra) != len(read) {
		t.Errorf("documented sections %q", extra)
	}
}

var (
	headingRE = regexp.MustCompile("^## (?:`\\[+([a-zA-Z.]+)\\]+`|Top level)$")
	rowRE     = regexp.MustCompile("^\\| ((?:`[a-z_]+`(?:, )?)+) \\|")
	keyRE     = regexp.MustCompile("`([a-z_]+)`")
)

func documentedKeys(t *testing.T, path string) map[string]map[string]bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]bool{}
	var keys map[string]bool
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if m := headingRE.FindStringSubmatch(line); m != nil {
			keys = map[string]bool{}
			out[m[1]] = keys
		} else if strings.HasPrefix(line, "## ") {
			keys = nil
		}
		if m := rowRE.FindStringSubmatch(line); m != nil && keys != nil {
			for _, k := range keyRE.FindAllStringSubmatch(m[1], -1) {
				keys[k[1]] = true
			}
		}
	}
	return out
}
