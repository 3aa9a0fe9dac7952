package command

import (
	"fmt"
	"regexp"
	"strings"
)

// Part is a stretch of a template: literal text or one placeholder. A {{name}}
// is a part of its own.
type Part struct {
	// Text is the literal text, {name} for {{name}}. For a placeholder it is the
	// placeholder as it was written, braces included.
	Text string
	// Name is the placeholder's name; empty for literal text.
	Name string
	// Flag marks {flag:name}, {flag:name=on} and {flag:name=on|off}. The program is
	// given On or Off as the parameter has it, and nothing for an empty one.
	Flag    bool
	On, Off string
	// Format is what followed a colon, as in {lr:.3g}. A placeholder of unknown
	// name whose format is not ValidFormat is not a placeholder: {user:root} stays.
	Format string
	// Start and End are byte offsets in the template.
	Start, End int
	// Context says where in a shell command the placeholder stands. Only a
	// placeholder in a plain word can be replaced safely.
	Context Context

	// word and before are the shell word that the placeholder stands in and the
	// one before it.
	word, before span
	// listed: the word is one of a list, such as a command's arguments, so that
	// there may be more of them or none.
	listed bool
}

// span is a range of byte offsets in a template.
type span struct{ start, end int }

// alone reports whether the part is a shell word by itself.
func (p Part) alone() bool { return p.word == span{p.Start, p.End} }

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
// A placeholder is {name}, {name:format} or {flag:name...}: a bare identifier in
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
			p.readFlag()
			parts = append(parts, p)
		}
	}
	literal(text[at:], at, len(text))
	return parts
}

// readFlag recognizes a flag.
func (p *Part) readFlag() {
	name, texts, own := strings.Cut(p.Format, "=")
	if p.Name != "flag" || !identRE.MatchString(name) || ValidFormat(p.Format) {
		return
	}
	p.Flag, p.Name, p.Format = true, name, ""
	p.On = "--" + strings.ReplaceAll(name, "_", "-")
	if own {
		p.On, p.Off, _ = strings.Cut(texts, "|")
	}
}

// ValidFormat reports whether f is a format: of a number, or a literal one.
func ValidFormat(f string) bool { return NumberFormat(f) || LiteralFormat(f) }

// NumberFormat reports whether f formats a number: an optional + and 0, a width
// and a precision, then one of d (ints only), g, G, e, E, f and F.
func NumberFormat(f string) bool { return formatRE.MatchString(f) }

// LiteralFormat reports whether f writes a value as configuration files have it: a
// number that every reader takes for one, a string in quotes, true or false.
func LiteralFormat(f string) bool { return f == "json" || f == "yaml" || f == "toml" }

// SyntaxError says what is wrong at one place of a template.
type SyntaxError struct {
	Start, End int // byte offsets in the template
	Message    string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("at byte %d: %s", e.Start, e.Message)
}
