package spec

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Problem is one complaint about a spec, tied to its place in the file.
type Problem struct {
	Line, Col int    // 1-based; Col counts bytes; Line 0 means the whole file
	Len       int    // bytes to underline, at least 1
	Key       string // dotted path such as params.lr.min
	Message   string // what was found and what is allowed
	Hint      string // what to do about it; may be empty
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

// printable keeps the width of a line while it removes what could move the
// terminal's cursor.
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
