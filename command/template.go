package command

import (
	"fmt"
	"regexp"
)

// Part is a stretch of a template: literal text or one placeholder. A {{name}}
// is a part of its own.
type Part struct {
	// Text is the literal text, {name} for {{name}}. For a placeholder it is the
	// placeholder as it was written, braces included.
	Text string
	// Name is the placeholder's name; empty for literal text.
	Name string
	// Flag marks {flag:name}.
	Flag bool
	// Format is what followed a colon, as in {lr:.3g}. A placeholder of unknown
	// name whose format is not ValidFormat is no placeholder: {user:root} stays.
	Format string
	// Start and End are byte offsets in the template.
	Start, End int
	// Context says where in a shell command the placeholder stands. Only a
	// placeholder in a plain word can be replaced safely.
	Context Context

	// word and before are the shell word that the placeholder stands in and the
	// one before it.
	word, before span
}

// span is a range of byte offsets in a template.
type span struct{ start, end int }

// IsPlaceholder reports whether the part is replaced.
func (p Part) IsPlaceholder() bool { return p.Name != "" }

// placeholderRE finds {{...}}, which stands for {...}, and {...}. The second
// pair of groups is a placeholder's name and format.
var placeholderRE = regexp.MustCompile(
	`\{(\{[A-Za-z_][A-Za-z0-9_]*(?::[^{}\s"']+)?\})\}|\{([A-Za-z_][A-Za-z0-9_]*)(?::([^{}\s"']+))?\}`)

var (
	formatRE = regexp.MustCompile(`^\+?0?[0-9]{0,3}(?:\.[0-9]{1,3})?[dgGeEfF]$`)
	identRE  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// Parse splits text into literal stretches and placeholders.
//
// A placeholder is {name}, {name:format} or {flag:name}: a bare identifier in
// braces, not preceded by $. So ${name}, { print $3 } and JSON stay as they
// are, and {{name}} is a literal {name}.
func Parse(text string) []Part {
	var parts []Part
	literal := func(s string, start, end int) {
		if s != "" {
			parts = append(parts, Part{Text: s, Start: start, End: end})
		}
	}
	at := 0
	for _, m := range placeholderRE.FindAllStringSubmatchIndex(text, -1) {
		start, end := m[0], m[1]
		literal(text[at:start], at, start)
		at = end
		switch {
		case start > 0 && text[start-1] == '$':
			literal(text[start:end], start, end)
		case m[2] >= 0:
			literal(text[m[2]:m[3]], start, end)
		default:
			p := Part{Text: text[start:end], Name: text[m[4]:m[5]], Start: start, End: end}
			if m[6] >= 0 {
				p.Format = text[m[6]:m[7]]
			}
			if p.Name == "flag" && identRE.MatchString(p.Format) && !ValidFormat(p.Format) {
				p.Flag, p.Name, p.Format = true, p.Format, ""
			}
			parts = append(parts, p)
		}
	}
	literal(text[at:], at, len(text))
	return parts
}

// ValidFormat reports whether f formats a number: an optional + and 0, a width
// and a precision, then one of d (ints only), g, G, e, E, f and F.
func ValidFormat(f string) bool { return formatRE.MatchString(f) }

// SyntaxError says what is wrong at one place of a template.
type SyntaxError struct {
	Start, End int // byte offsets in the template
	Message    string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("at byte %d: %s", e.Start, e.Message)
}
