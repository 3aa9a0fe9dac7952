package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Pages that tell what was measured stay short: their tables are in bench/results.
func TestPagesStayShort(t *testing.T) {
	for page, most := range map[string]int{"docs/benchmarks.md": 200, "docs/reproduction.md": 200, "docs/lbo.md": 450} {
		t.Run(page, func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), "\n"); n > most {
				t.Errorf("%s has %d lines, more than %d", page, n, most)
			}
			if section.Match(text) {
				t.Errorf("%s has a generated table: it belongs in bench/results", page)
			}
		})
	}
}

var section = regexp.MustCompile(`(?m)^<!-- begin (.*) -->$`)

// Each page of bench/results is in their list, and has the command that writes its tables: but
// that of many dimensions, of which none is left, and the claims, which rest on other pages.
func TestResultsHaveTheirCommands(t *testing.T) {
	found, err := filepath.Glob("bench/results/*.md")
	if err != nil || len(found) < 2 {
		t.Fatalf("%d pages of results: %v", len(found), err)
	}
	list, err := os.ReadFile("bench/results/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range found {
		name := filepath.Base(page)
		if name == "README.md" {
			continue
		}
		if !strings.Contains(string(list), "("+name+")") {
			t.Errorf("bench/results/README.md does not list %s", name)
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		tables, commands := len(section.FindAll(text, -1)), strings.Count(string(text), "--page results/"+name)
		if commands != tables {
			t.Errorf("%s: %d commands write %d generated tables", page, commands, tables)
		}
		if !strings.Contains(string(text), "\n    ") && name != "reproduction-claims.md" && name != "dimensions.md" {
			t.Errorf("%s has no command that made it", page)
		}
	}
}
