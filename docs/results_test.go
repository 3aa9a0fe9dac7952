package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// The ranks of today's optimizer that the page on benchmarks gives are those of the tables.
func TestRanksAreThoseOfTheTables(t *testing.T) {
	_, today, _ := strings.Cut(read(t, "docs/benchmarks.md"), "These were made with today's optimizer")
	sections := map[string]string{"standard": "ranks standard", "shifted": "ranks shifted", "compare": "compare from seed 20", "mixed": "ranks mixed"}
	name, checked := "", 0
	for line := range strings.Lines(today) {
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		if len(cells) != 6 {
			if checked > 0 {
				break
			}
			continue
		}
		if m := regexp.MustCompile(`^ \[(\w+)\]`).FindStringSubmatch(cells[0]); m != nil {
			name = m[1]
		}
		ranks := regexp.MustCompile(`[\d.]+`).FindAllString(cells[4]+cells[5], 2)
		if sections[name] == "" || len(ranks) != 2 {
			continue
		}
		_, table, _ := strings.Cut(read(t, "bench/results/"+name+".md"), "<!-- begin "+sections[name]+" -->")
		_, table, _ = strings.Cut(table, "### After "+strings.TrimSpace(cells[3])+" evaluations")
		_, row, _ := strings.Cut(table, "| **below 0.001 of the range equal** |")
		row, _, _ = strings.Cut(row, "\n")
		var found []float64
		for _, rank := range regexp.MustCompile(`[\d.]+`).FindAllString(row, -1) {
			found = append(found, figure(t, rank))
		}
		if len(found) < 3 || found[0] != figure(t, ranks[0]) || slices.Min(found[1:]) != figure(t, ranks[1]) {
			t.Errorf("%s after%strials: the page has %s, and the table %v", name, cells[3], ranks, found)
		}
		checked++
	}
	if checked != 12 {
		t.Errorf("%d rows were found", checked)
	}
}
