package main

import (
	"fmt"
	"slices"
	"strings"
)

// writeHead begins a Markdown table.
func writeHead(b *strings.Builder, cells ...string) {
	writeRow(b, cells)
	writeRow(b, slices.Repeat([]string{"---"}, len(cells)))
}

func writeRow(b *strings.Builder, cells []string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// number prints a regret with two digits, and what is below the floor as <1e-9.
func number(x float64) string {
	switch {
	case x != x:
		return ""
	case x <= floor:
		return "<1e-9"
	}
	return fmt.Sprintf("%.2g", x)
}

func bold(cell string) string { return "**" + cell + "**" }

// writeMedians prints a table of median regrets: a row for each function, a
// column for each peer.
func writeMedians(b *strings.Builder, corner string, r *regrets, peers []string) {
	writeHead(b, slices.Concat([]string{corner}, peers)...)
	for _, f := range r.functions {
		row := []string{f}
		for _, p := range peers {
			row = append(row, number(median(r.of(p, f))))
		}
		writeRow(b, row)
	}
}
