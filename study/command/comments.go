package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Alike reports whether two commands are surely the same to every shell, because they
// differ in comments alone.
func (c Command) Alike(d Command) bool {
	if c.Shell == "" || d.Shell == "" {
		return c.Shell == d.Shell && slices.Equal(c.Argv, d.Argv)
	}
	if c.Shell == d.Shell {
		return true
	}
	x, ok := withoutComments(c.Shell)
	y, same := withoutComments(d.Shell)
	return ok && same && x == y
}

// withoutComments is a shell command without its comments, and without the blanks and
// lines that were there for them alone; ok is false if shells may disagree on what a
// comment is, or if the command could tell the difference.
func withoutComments(text string) (out string, ok bool) {
	if strings.ContainsAny(text, "\r\x00`") || strings.Contains(text, "<<") || strings.Contains(text, "LINENO") || strings.Contains(text, "$'") {
		return "", false
	}
	posix, ok1 := commentsOf(text, syntax.LangPOSIX)
	bash, ok2 := commentsOf(text, syntax.LangBash)
	if !ok1 || !ok2 || !slices.Equal(posix, bash) {
		return "", false
	}
	var b strings.Builder
	from := 0
	for _, c := range posix {
		before := text[from:c.start]
		for strings.HasSuffix(before, " ") || strings.HasSuffix(before, "\t") {
			if strings.HasSuffix(before[:len(before)-1], `\`) {
				return "", false // a blank that belongs to a word
			}
			before = before[:len(before)-1]
		}
		b.WriteString(before)
		from = c.end
		if written := b.String(); strings.HasSuffix(written, "\n") || written == "" { // nothing else stood on the line
			if strings.HasSuffix(written, "\\\n") {
				return "", false // it ended a line that was continued
			}
			if strings.HasPrefix(text[from:], "\n") {
				from++
			}
		}
	}
	b.WriteString(text[from:])
	out = strings.Trim(b.String(), "\n")
	return out, !strings.HasSuffix(out, `\`)
}

// commentsOf returns where the comments of a command stand in one dialect, in order.
func commentsOf(text string, dialect syntax.LangVariant) (spans []span, ok bool) {
	file, err := syntax.NewParser(syntax.Variant(dialect), syntax.KeepComments(true)).Parse(strings.NewReader(filled(text, Parse(text))), "")
	if err != nil {
		return nil, false
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, is := n.(*syntax.Comment); is {
			spans = append(spans, spanOf(c))
		}
		return true
	})
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	return slices.Compact(spans), true
}
