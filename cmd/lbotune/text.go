package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/spaces"
)

// printable makes text safe for a terminal: control characters but line feeds
// and tabs, and bytes that are not UTF-8, are shown escaped.
func printable(s string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "�") {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRune(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}

// oneLine is printable text without line feeds and tabs.
func oneLine(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(printable(s), "\n", `\n`), "\t", `\t`)
}

// shortened is text of at most so many characters.
func shortened(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return s
}

// short is a number as people compare it.
func short(x float64) string { return report.Short(x) }

// shortValue is a parameter's value as people compare it; show, best and --json
// print it exactly.
func shortValue(v spaces.Value) string {
	if x, ok := v.Any().(float64); ok {
		return short(x)
	}
	return valueText(v)
}

// valueText is a parameter's value as the program is given it, on one line; an empty
// one can be seen.
func valueText(v spaces.Value) string {
	if text := oneLine(v.Text()); text != "" {
		return text
	}
	return `""`
}

// shortValues is a configuration as people compare it: lr=0.01 depth=3.
func shortValues(vs spaces.Values) string {
	words := make([]string, len(vs))
	for i, a := range vs {
		words[i] = a.Name + "=" + shortValue(a.Value)
	}
	return strings.Join(words, " ")
}

// exact is a number that reads back as the same float64.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// took is a duration as people compare it.
func took(d time.Duration) string { return report.Took(d) }

// seconds is took for times that change while one looks: in whole seconds.
func seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return took(d)
}

// count writes "1 trial", "2 trials".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// rows are lines of a name, in so many columns, and what is to be said under it.
type rows struct {
	strings.Builder
	width int
}

func (s *rows) add(name, format string, args ...any) {
	fmt.Fprintf(s, "%-*s %s\n", s.width, name, fmt.Sprintf(format, args...))
}

// printTable aligns columns.
func printTable(w io.Writer, rows [][]string) error {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	var s strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += fmt.Sprintf("%-*s  ", width[i], cell)
		}
		s.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := fmt.Fprint(w, s.String())
	return err
}
