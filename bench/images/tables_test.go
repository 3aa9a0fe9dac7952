package images_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// table is a table of medians in a page of bench/results.
type table struct {
	names []string // of the rows, but those of ranks
	cells map[[2]string]string
}

// median is the number that a cell begins with.
func (t table) median(row, column string) (float64, error) {
	cell, _, _ := strings.Cut(t.cells[[2]string{row, column}], " ")
	v, err := strconv.ParseFloat(strings.TrimPrefix(cell, "<"), 64)
	if err != nil {
		return 0, fmt.Errorf("%s on %s: %w", column, row, err)
	}
	return max(v, least), nil
}

// readTables reads the tables between the marks of a section, the first below each heading.
func readTables(page, section string) (map[string]table, error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return nil, err
	}
	_, rest, begun := strings.Cut(string(text), "<!-- begin "+section+" -->")
	within, _, ended := strings.Cut(rest, "<!-- end "+section+" -->")
	if !begun || !ended {
		return nil, fmt.Errorf("%s: no section %s", page, section)
	}
	out := map[string]table{}
	title, head := "", []string(nil)
	for row := range strings.Lines(within) {
		row = strings.TrimSpace(row)
		if name, ok := strings.CutPrefix(row, "#"); ok {
			title, head = strings.TrimLeft(name, "# "), nil
		}
		inner, ok := strings.CutPrefix(row, "| ")
		if !ok {
			if head != nil { // what follows is no more that of the heading
				title, head = "", nil
			}
			continue
		}
		cells := strings.Split(strings.TrimSuffix(inner, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case head == nil:
			head = cells
			out[title] = table{cells: map[[2]string]string{}}
		case len(cells) != len(head):
			return nil, fmt.Errorf("%s: %s: a row of %d cells below %d heads", page, title, len(cells), len(head))
		case cells[0] != "" && !strings.ContainsAny(cells[0][:1], "*-"):
			t := out[title]
			t.names = append(t.names, cells[0])
			for i := range cells {
				t.cells[[2]string{cells[0], head[i]}] = cells[i]
			}
			out[title] = t
		}
	}
	return out, nil
}
