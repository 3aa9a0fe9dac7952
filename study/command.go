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
			word := p.word
			if word == (span{p.Start, p.End}) && !p.Flag && isOption(text[p.before.start:p.before.end]) {
				word.start = p.before.start
			}
			gone = append(gone, withBlanks(text, word))
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

// keywordRE matches the reserved words of shells.
var keywordRE = regexp.MustCompile(`^(?:if|then|else|elif|fi|do|done|case|esac|while|until|for|in|select|function|time|coproc)$`)

// canStandBare reports whether a plain value t needs no quotes where p stands: as
// a word of its own unless it is a keyword, and in a word after a character that
// ends a variable's name. Elsewhere it could join a variable's name or a tilde,
// or become a file descriptor or a function's name.
func canStandBare(text string, p Part, t string) bool {
	if p.Start > p.word.start {
		return strings.IndexByte("=/:,.+-@%", text[p.Start-1]) >= 0 && text[p.word.start] != '~'
	}
	joined := p.End < len(text) && strings.IndexByte("<>(", text[p.End]) >= 0
	alone := p.word.end == p.End && !keywordRE.MatchString(t)
	_, err := strconv.ParseFloat(t, 64)
	return !joined && (alone || err == nil || strings.HasPrefix(t, "/"))
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

// Render returns the text of the file in one attempt. A line with an absent value
// vanishes.
func (t Template) Render(b *Bindings) string {
	var out strings.Builder
	for line := range strings.Lines(t.Text) {
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
