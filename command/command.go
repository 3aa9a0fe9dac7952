package command

import "strings"

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
		text, absent := b.Expand(element)
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
		words[i] = Word(w)
	}
	return strings.Join(words, " ")
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
			return "", &SyntaxError{p.Start, p.End, p.Text + " stands " + string(p.Context)}
		case absent:
			word := p.word
			if word == (span{p.Start, p.End}) && !p.Flag && isOption(text[p.before.start:p.before.end]) {
				word.start = p.before.start
			}
			gone = append(gone, withBlanks(text, word))
		}
	}
	plain := filled(text, parts)
	return assemble(parts, gone, func(p Part) string {
		t, _, known := b.text(p)
		switch {
		case !known:
			return p.Text
		case canStandBare(plain, p, t):
			return Word(t)
		}
		return Quote(t)
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
	for _, s := range spans {
		if at >= s.start && at < s.end {
			return true
		}
	}
	return false
}

func isLonePlaceholder(element string) bool {
	parts := Parse(element)
	return len(parts) == 1 && parts[0].IsPlaceholder() && !parts[0].Flag
}

// isOption reports whether a word is an option whose value is the next word.
func isOption(word string) bool {
	return len(word) > 1 && word[0] == '-' && !strings.Contains(word, "=")
}
