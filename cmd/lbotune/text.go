package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/internal/spelling"
	"github.com/lbotune/lbotune/spaces"
)

// printable makes text safe for a terminal: but for line feeds and tabs, what commands is escaped.
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

// word is a path as a word of a command that people paste.
func word[T ~string](path T) string { return shell.Word(oneLine(string(path))) }

func shortened(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return s
}

// short is a number as people compare it.
func short(x float64) string { return report.Short(x) }

// shortValue is a parameter's value as people compare it; show, best and --json are exact.
func shortValue(v spaces.Value) string {
	if x, ok := v.Any().(float64); ok {
		return short(x)
	}
	return valueText(v)
}

// valueText is a parameter's value as the program is given it, on one line, never empty.
func valueText(v spaces.Value) string {
	return cmp.Or(oneLine(v.Text()), `""`)
}

// shortValues is a configuration as people compare it: lr=0.01 depth=3.
func shortValues(vs spaces.Values) string {
	return strings.Join(lists.Map(vs, func(a spaces.Assignment) string { return a.Name + "=" + shortValue(a.Value) }), " ")
}

// exact is a number that reads back as the same float64.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// took is a duration as people compare it.
func took(d time.Duration) string { return report.Took(d) }

func secondsOf(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

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

// meant asks whether the nearest of some names was meant, or says something else if none is near.
func meant(word string, names []string, prefix, otherwise string) string {
	if near, ok := spelling.Nearest(word, names); ok {
		return "did you mean " + prefix + near + "?"
	}
	return otherwise
}

// when is a text if that holds, and else empty.
func when(holds bool, format string, args ...any) string {
	if holds {
		return fmt.Sprintf(format, args...)
	}
	return ""
}

// either is the first of two if that holds, and else the second.
func either[T any](holds bool, first, second T) T {
	if holds {
		return first
	}
	return second
}

// maybe is a value for JSON, or nothing unless that holds.
func maybe[T any](holds bool, v T) *T {
	if holds {
		return &v
	}
	return nil
}

// rows are lines of a name, in so many columns, and what is to be said under it.
type rows struct {
	strings.Builder
	width int
}

func (s *rows) add(name, format string, args ...any) {
	fmt.Fprintf(s, "%-*s %s\n", s.width, name, fmt.Sprintf(format, args...))
}

// when adds a line if that holds.
func (s *rows) when(holds bool, name, format string, args ...any) {
	if holds {
		s.add(name, format, args...)
	}
}

// list adds lines with one name.
func (s *rows) list(name string, lines []string) {
	for _, line := range lines {
		s.add(name, "%s", line)
		name = ""
	}
}

// tableText aligns columns. Those that have no room in so many columns of a terminal follow below, in
// pieces with the first one each; 0 is without end.
func tableText(rows [][]string, columns int) string {
	width, last := make([]int, len(rows[0])), make([]int, len(rows[0])) // last is without blanks, which end no line
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], widthOf(cell))
			last[i] = max(last[i], widthOf(strings.TrimRight(cell, " ")))
		}
	}
	var s strings.Builder
	for from, n := 1, 1; s.Len() == 0 || from < len(width); from = n {
		at := width[0] + 2
		for n = from; n < len(width) && (n == from || columns <= 0 || at+last[n] <= columns); n++ {
			at += width[n] + 2
		}
		s.WriteString(when(from > 1, "\n"))
		for _, row := range rows {
			line := ""
			add := func(i int) { line += row[i] + strings.Repeat(" ", width[i]-widthOf(row[i])+2) }
			add(0)
			for i := from; i < min(n, len(row)); i++ {
				add(i)
			}
			s.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	return s.String()
}

// jsonVersion is the version of what --json prints: docs/schema/v1.json. Within a version
// fields are added, but none goes or changes its meaning.
const jsonVersion = 1

// show prints a result: as JSON, or as a text for people.
func (g *global) show(result any, text string) error {
	if g.json {
		return printJSON(g.out, result)
	}
	return g.print("%s", text)
}

func (g *global) print(format string, args ...any) error {
	_, err := fmt.Fprintf(g.out, format, args...)
	return err
}

// showLine is show of one of many results, each a line of its own.
func (g *global) showLine(result any, text string) error {
	if g.json {
		return printLine(g.out, result)
	}
	return g.print("%s\n", text)
}

// printLines prints results as JSON, each on a line of its own.
func printLines[T any](w io.Writer, list []T, asJSON func(T) any) error {
	for _, v := range list {
		if err := printLine(w, asJSON(v)); err != nil {
			return err
		}
	}
	return nil
}

// printLine prints one of many results as JSON on a line of its own.
func printLine(w io.Writer, v any) error { return writeJSON(w, v, "") }

func printJSON(w io.Writer, v any) error { return writeJSON(w, v, "  ") }

func writeJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeJSON(b.Bytes()))
	return err
}

// escapeJSON escapes what can command a terminal and JSON leaves as it is: DEL to U+009F, and what
// changes the direction of writing. In JSON they can only stand in strings.
func escapeJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}
