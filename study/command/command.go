package command

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/shell"
)

// Command is what one trial runs: exactly one of the two is set.
type Command struct {
	Shell string   `json:"shell,omitempty"` // given to /bin/sh -c
	Argv  []string `json:"argv,omitempty"`  // run directly
}

// Render returns the command of one attempt, with every placeholder replaced.
// Nothing that a value holds can become shell syntax or another argument.
func (c Command) Render(b *Bindings) (Command, error) {
	if c.Shell != "" {
		line, err := renderShell(c.Shell, b)
		return Command{Shell: line}, err
	}
	var out []string
	for _, element := range c.Argv {
		if p, ok := lonePlaceholder(element); ok {
			words, absent, known := b.words(p)
			switch n := len(out); {
			case !known:
				out = append(out, element)
			case !absent:
				out = append(out, words...)
			case !p.Flag && n > 1 && isOption(out[n-1]):
				out = out[:n-1] // --momentum {momentum} vanish together
			}
		} else if text, absent := b.Expand(element); !absent {
			out = append(out, text)
		}
	}
	return Command{Argv: out}, nil
}

var assignmentRE = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// Assignments splits a program with its arguments, as people write them for a shell, into the
// variables that stand before it, as NAME=value, and the rest.
func Assignments(argv []string) (env, rest []string) {
	n := slices.IndexFunc(argv, func(a string) bool { return !assignmentRE.MatchString(a) })
	if n < 0 { // there is no program
		n = 0
	}
	return slices.Clone(argv[:n]), argv[n:]
}

// String is the command as one line to paste into a shell.
func (c Command) String() string {
	if c.Shell != "" {
		return c.Shell
	}
	words := make([]string, len(c.Argv))
	for i, w := range c.Argv {
		words[i] = shell.Word(w)
	}
	return strings.Join(words, " ")
}

// renderShell replaces every placeholder by one quoted word, or by several where
// it stands alone and has several. The word around an absent value vanishes, and
// with it an option that stands before it by itself.
func renderShell(text string, b *Bindings) (string, error) {
	parts, err := ParseShell(text)
	if err != nil {
		return "", err
	}
	var gone []span
	for _, p := range parts {
		if !p.IsPlaceholder() {
			continue
		}
		words, absent, known := b.words(p)
		switch {
		case known && p.Context != InWord:
			return "", &SyntaxError{p.Start, p.End, p.Text + " stands " + string(p.Context)}
		case absent:
			word := p.word
			if p.alone() && !p.Flag && isOption(text[p.before.start:p.before.end]) {
				word.start = p.before.start
			}
			gone = append(gone, withBlanks(text, word))
		case known && len(words) == 0 && p.alone() && p.listed:
			gone = append(gone, withBlanks(text, p.word))
		}
	}
	plain := filled(text, parts)
	quoted := func(p Part, t string) string {
		if canStandBare(plain, p, t) {
			return shell.Word(t)
		}
		return shell.Quote(t)
	}
	return assemble(parts, gone, func(p Part) string {
		words, _, known := b.words(p)
		switch {
		case !known:
			return p.Text
		case !p.alone() || !p.listed:
			return quoted(p, strings.Join(words, " "))
		}
		all := make([]string, len(words))
		for i, t := range words {
			all[i] = quoted(p, t)
		}
		return strings.Join(all, " ")
	}), nil
}

// withBlanks is the span of a word and of the blanks before it, if blanks or the
// end of a line follow it too: then nothing is joined when all of that vanishes. A
// line that held nothing else and was continued vanishes whole.
func withBlanks(text string, word span) span {
	if word.end < len(text) && strings.IndexByte(" \t\n", text[word.end]) < 0 {
		return word
	}
	for word.start > 0 && strings.IndexByte(" \t", text[word.start-1]) >= 0 {
		word.start--
	}
	rest := strings.TrimLeft(text[word.end:], " \t")
	if strings.HasSuffix(text[:word.start], "\\\n") && strings.HasPrefix(rest, "\\\n") {
		word.end = len(text) - len(rest) + len("\\\n")
	}
	return word
}

// assemble joins the parts of a template but for the gone spans.
func assemble(parts []Part, gone []span, replace func(Part) string) string {
	var out strings.Builder
	for _, p := range parts {
		switch {
		case p.IsPlaceholder() && !inSpans(p.Start, gone):
			out.WriteString(replace(p))
		case p.IsPlaceholder():
		case len(p.Text) != p.End-p.Start: // {{name}}
			if !inSpans(p.Start, gone) {
				out.WriteString(p.Text)
			}
		default:
			for i := range len(p.Text) {
				if !inSpans(p.Start+i, gone) {
					out.WriteByte(p.Text[i])
				}
			}
		}
	}
	return out.String()
}

func inSpans(at int, spans []span) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return at >= s.start && at < s.end })
}

// lonePlaceholder returns the placeholder that is all of an element.
func lonePlaceholder(element string) (Part, bool) {
	parts := Parse(element)
	if len(parts) != 1 || !parts[0].IsPlaceholder() {
		return Part{}, false
	}
	return parts[0], true
}

// isOption reports whether a word is an option whose value is the next word.
func isOption(word string) bool {
	return len(word) > 1 && word[0] == '-' && !strings.Contains(word, "=")
}
