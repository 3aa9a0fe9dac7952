package study

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/runner"
)

// Render returns the command of one attempt, with every placeholder replaced.
// Nothing that a value holds can become shell syntax or another argument.
func (c Command) Render(b *Bindings) (Command, error) {
	if c.Shell != "" {
		line, err := renderShell(c.Shell, b)
		return Command{Shell: line}, err
	}
	var out []string
	for _, element := range c.Argv {
		text, absent := renderText(element, b)
		switch n := len(out); {
		case !absent:
			out = append(out, text)
		case n > 1 && isLonePlaceholder(element) && isOption(out[n-1]):
			out = out[:n-1] // --momentum {momentum} vanish together
		}
	}
	return Command{Argv: out}, nil
}

// String is the command as one line to paste into a shell.
func (c Command) String() string {
	if c.Shell != "" {
		return c.Shell
	}
	words := make([]string, len(c.Argv))
	for i, w := range c.Argv {
		words[i] = quoteWord(w)
	}
	return strings.Join(words, " ")
}

// plainWordRE matches words that mean themselves to every shell.
var plainWordRE = regexp.MustCompile(`^(?:[A-Za-z0-9_./@%+,:-]+|-[A-Za-z0-9_./@%+,:=-]+)$`)

// quoteWord quotes a word unless it means itself.
func quoteWord(w string) string {
	if plainWordRE.MatchString(w) {
		return w
	}
	return runner.Quote(w)
}

// renderShell replaces every placeholder by one quoted word. The word around an
// absent value vanishes, and with it an option that stands before it by itself.
func renderShell(text string, b *Bindings) (string, error) {
	parts, err := ParseShell(text)
	if err != nil {
		return "", err
	}
	var gone []span
	for _, p := range parts {
		_, absent, known := "", false, false
		if p.IsPlaceholder() {
			_, absent, known = b.text(p)
		}
		switch {
		case known && p.Context != InWord:
			return "", &TemplateError{p.Start, p.End, p.Text + " stands " + string(p.Context)}
		case absent:
			gone = append(gone, p.word)
			if p.word == (span{p.Start, p.End}) && !p.Flag && isOption(text[p.before.start:p.before.end]) {
				gone = append(gone, p.before)
			}
		}
	}
	return assemble(parts, gone, func(p Part) string {
		t, _, known := b.text(p)
		switch {
		case !known:
			return p.Text
		case canStandBare(text, p, t):
			return quoteWord(t)
		}
		return runner.Quote(t)
	}), nil
}

// canStandBare reports whether a plain value t needs no quotes where p stands:
// after =, and as a word of its own if it is a number, begins with / or follows
// an option. Elsewhere it could join a variable's name or a tilde, become a
// keyword or a file descriptor.
func canStandBare(text string, p Part, t string) bool {
	switch {
	case p.Start > 0 && text[p.Start-1] == '=':
		return true
	case p.word.start != p.Start || p.End < len(text) && strings.IndexByte("<>", text[p.End]) >= 0:
		return false
	}
	_, err := strconv.ParseFloat(t, 64)
	alone := p.word.end == p.End
	return err == nil || strings.HasPrefix(t, "/") || alone && isOption(text[p.before.start:p.before.end])
}

// renderText replaces placeholders by their bare values. It reports whether one
// of them is absent.
func renderText(text string, b *Bindings) (out string, absent bool) {
	out = assemble(ParseTemplate(text), nil, func(p Part) string {
		t, gone, known := b.text(p)
		absent = absent || gone
		if !known {
			return p.Text
		}
		return t
	})
	return out, absent
}

// renderFile renders a configuration file. A line with an absent value
// vanishes.
func renderFile(text string, b *Bindings) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if t, absent := renderText(line, b); !absent {
			out.WriteString(t)
		}
	}
	return out.String()
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
	for _, s := range spans {
		if at >= s.start && at < s.end {
			return true
		}
	}
	return false
}

func isLonePlaceholder(element string) bool {
	parts := ParseTemplate(element)
	return len(parts) == 1 && parts[0].IsPlaceholder() && !parts[0].Flag
}

// isOption reports whether a word is an option whose value is the next word.
func isOption(word string) bool {
	return len(word) > 1 && word[0] == '-' && !strings.Contains(word, "=")
}
