package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lbotune/lbotune/study"
)

// Problem is one complaint about a spec, tied to its place in the file.
type Problem struct {
	Line    int    `json:"line,omitempty"` // from 1; 0 means the whole file
	Col     int    `json:"-"`              // bytes, from 1
	Len     int    `json:"-"`              // bytes to underline, at least 1
	Key     string `json:"key,omitempty"`  // dotted path such as params.lr.min
	Message string `json:"message"`        // what was found and what is allowed
	Hint    string `json:"hint,omitempty"` // what to do about it; may be empty
}

// Error is everything that is wrong with one spec.
type Error struct {
	Path     string
	Problems []Problem
	OnlyRule bool // nothing is wrong but that the spec does not say how to find the metric
	lines    []string
}

// Error draws every problem with its line and a caret.
func (e *Error) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		e.draw(&b, p)
	}
	if n := len(e.Problems); n > 1 {
		fmt.Fprintf(&b, "\n%d problems in %s; nothing was started", n, e.Path)
	} else {
		b.WriteString("\nnothing was started")
	}
	return b.String()
}

func (e *Error) draw(b *strings.Builder, p Problem) {
	where := e.Path
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", e.Path, p.Line, p.Col)
	}
	b.WriteString(where + ": ")
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Message + "\n")
	if p.Line > 0 && p.Line <= len(e.lines) {
		e.excerpt(b, p)
	}
	if p.Hint != "" {
		fmt.Fprintf(b, "  hint: %s\n", p.Hint)
	}
}

// excerptWidth is how much of a line an excerpt shows: so much that it fits into a
// terminal of 80 columns.
const excerptWidth = 70

// excerpt draws the line before the problem, its line, and a caret below.
func (e *Error) excerpt(b *strings.Builder, p Problem) {
	if p.Line > 1 && strings.TrimSpace(e.lines[p.Line-2]) != "" {
		above, _ := window([]rune(printable(e.lines[p.Line-2])), 0, 0)
		fmt.Fprintf(b, "%5d | %s\n", p.Line-1, above)
	}
	line := e.lines[p.Line-1]
	start := min(max(p.Col-1, 0), len(line))
	end := min(start+max(p.Len, 1), len(line))
	from, to := utf8.RuneCountInString(line[:start]), utf8.RuneCountInString(line[:end])
	shown, cut := window([]rune(printable(line)), from, to)
	fmt.Fprintf(b, "%5d | %s\n", p.Line, shown)
	width := min(max(to-from, 1), excerptWidth)
	fmt.Fprintf(b, "      | %s%s\n", strings.Repeat(" ", from-cut), strings.Repeat("^", width))
}

// window returns the part of a long line around what stands from one rune to
// another, with dots for the rest, and by how much it has moved to the left.
func window(line []rune, from, to int) (shown string, moved int) {
	const dots = "..."
	if len(line) <= excerptWidth {
		return string(line), 0
	}
	start := 0
	if to > excerptWidth-len(dots) {
		start = max(min(from, to-excerptWidth/2)-excerptWidth/4, 0)
	}
	start = max(min(start, len(line)-excerptWidth), 0)
	end := min(start+excerptWidth, len(line))
	out := slices.Clone(line[start:end])
	if start > 0 {
		copy(out, []rune(dots))
	}
	if end < len(line) {
		copy(out[len(out)-len(dots):], []rune(dots))
	}
	return string(out), start
}

// printable keeps the width of a line while it removes what could move the terminal's cursor.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == utf8.RuneError:
			return '?'
		}
		return r
	}, s)
}

// place hands on what is wrong with the configuration, at its place in the file.
func (t *table) place(cfg *study.Config, p study.Problem) {
	in, keys := t, p.Key
	if keys[0] == "metrics" {
		in, keys = t.metricTable(cfg, keys[1]), keys[2:]
	}
	var element []string
	for len(keys) > 1 {
		_, isTable := in.data[keys[0]].(map[string]any)
		i, err := strconv.Atoi(keys[1])
		switch {
		case isTable || err != nil:
			in, keys = in.sub(keys[0]), keys[1:]
		case len(keys) > 2:
			in, keys = in.subs(keys[0])[i], keys[2:]
		default:
			element, keys = []string{number(i)}, keys[:1]
		}
	}
	k := keys[0]
	_, isTable := in.data[k].(map[string]any)
	switch {
	case p.Piece != "":
		in.piece(p, k, element...)
	case isTable:
		in.sub(k).self(p.Hint, "%s", p.Message)
	default:
		in.Wrong(k, p.Hint, "%s", p.Message)
	}
}

// placeByName hands on what names its key itself: "prune: min_resource: found 100".
func (t *table) placeByName(p study.Problem) {
	key, rest, _ := strings.Cut(p.Message, ": ")
	switch _, isTable := t.data[key].(map[string]any); {
	case isTable:
		p.Message = rest
		t.sub(key).placeByName(p)
	case t.has(key):
		t.Wrong(key, p.Hint, "%s", rest)
	default:
		t.self(p.Hint, "%s", p.Message)
	}
}

func (t *table) metricTable(cfg *study.Config, name string) *table {
	for _, section := range []string{"objectives", "metrics", "constraints"} {
		if in := t.sub(section); in.has(name) && (section == "objectives" || name != cfg.Objective().Name) {
			return in.sub(name)
		}
	}
	return t.sub("objective")
}

// piece complains about a piece of the text at a path in the table, where the file shows it.
func (t *table) piece(p study.Problem, k string, element ...string) {
	at, shown := t.find(p.Piece, strings.Count(p.Text[:p.At], p.Piece), append([]string{k}, element...)...)
	if !shown {
		at = t.doc.locate(below(t.at, k), false)
	}
	t.doc.complain(at, t.name(k), p.Hint, "%s", p.Message)
}

// find looks for a part of the value at a path in the table, the one behind so many like it. If
// the file does not show it as it is, the answer is the place of the whole value.
func (t *table) find(part string, behind int, path ...string) (at place, shown bool) {
	at = t.doc.locate(below(t.at, path...), false)
	if at.line == 0 || part == "" {
		return at, false
	}
	from := at.col - 1
	for i, line := range t.doc.lines[at.line-1:] {
		pieces := strings.Split(line[from:], part)
		if n := len(pieces) - 1; n > behind {
			col := from + len(strings.Join(pieces[:behind+1], part)) + 1
			return place{line: at.line + i, col: col, length: len(part)}, true
		}
		behind -= len(pieces) - 1
		from = 0
	}
	return at, false
}
