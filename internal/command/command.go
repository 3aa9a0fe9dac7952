// Package command makes the command and the files of one attempt: it replaces
// placeholders such as {lr} in a shell command, in an argument list, in a path or
// in a configuration file by the values of a trial.
//
// Values are data. In a shell command each is quoted, and a placeholder stands
// only where quotes count: [ParseShell] finds out.
package command

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/internal/shell"
)

// Command is what one trial runs: exactly one of the two is set.
type Command struct {
	Shell string   `json:"shell,omitempty"` // given to /bin/sh -c
	Argv  []string `json:"argv,omitempty"`  // run directly
}

// Render returns the command of one attempt, with every placeholder replaced.
// Nothing that a value holds can become shell syntax or another argument.
func (c Command) Render(b *Bindings) (Command, error) { return c.Parsed()(b) }

// Parsed returns Render for many attempts: what of it does not depend on the attempt is done once.
func (c Command) Parsed() func(*Bindings) (Command, error) {
	if c.Shell == "" {
		return func(b *Bindings) (Command, error) { return Command{Argv: c.renderArgv(b)}, nil }
	}
	parts, err := ParseShell(c.Shell)
	plain := filled(c.Shell, parts)
	return func(b *Bindings) (Command, error) {
		if err != nil {
			return Command{}, err
		}
		line, err := renderShell(c.Shell, parts, plain, b)
		return Command{Shell: line}, err
	}
}

func (c Command) renderArgv(b *Bindings) (out []string) {
	kept := false // the element before is in it
	for i, element := range c.Argv {
		before := len(out)
		if p, ok := lonePlaceholder(element); ok {
			words, absent, known := b.words(p)
			switch {
			case !known:
				out = append(out, element)
			case !absent:
				out = append(out, words...)
			case !p.Flag && before > 1 && kept && isOption(c.Argv[i-1]):
				out = out[:before-1] // --momentum {momentum} vanish together
			}
		} else if text, absent := b.Expand(element); !absent {
			out = append(out, text)
		}
		kept = len(out) > before
	}
	return out
}

var assignmentRE = pattern.Lazy(`^[A-Za-z_][A-Za-z0-9_]*=`)

// Assignments splits a program with its arguments into variables before it, as NAME=value, and the rest.
func Assignments(argv []string) (env, rest []string) {
	n := max(0, slices.IndexFunc(argv, func(a string) bool { return !assignmentRE().MatchString(a) })) // 0 also without a program
	return slices.Clone(argv[:n]), argv[n:]
}

// String is the command as one line to paste into a shell.
func (c Command) String() string {
	if c.Shell != "" {
		return c.Shell
	}
	return strings.Join(lists.Map(c.Argv, shell.Word), " ")
}

// renderShell replaces every placeholder among the parts of a command by one quoted word, or by several
// where it stands alone and has several. The word around an absent value vanishes, and
// with it an option that stands before it by itself.
func renderShell(text string, parts []Part, plain string, b *Bindings) (string, error) {
	var edits []Edit
	for _, p := range parts {
		words, absent, known := b.words(p)
		switch {
		case !known:
			if p.Text != text[p.Start:p.End] { // {{name}}
				edits = append(edits, Edit{p.Start, p.End, p.Text})
			}
			continue
		case p.Context != InWord:
			return "", &SyntaxError{p.Start, p.End, p.Text + " stands " + string(p.Context)}
		case absent, p.Flag && b.idle(text[p.word.start:p.word.end]), len(words) == 0 && p.alone() && p.listed:
			gone := p.word
			if absent && p.alone() && !p.Flag && isOption(text[p.before.start:p.before.end]) {
				gone.start = p.before.start
			}
			gone = withBlanks(text, gone)
			edits = append(edits, Edit{gone.start, gone.end, ""})
			continue
		}
		if !p.alone() || !p.listed {
			words = []string{strings.Join(words, " ")}
		}
		quoted := func(t string) string {
			if canStandBare(plain, p, t) {
				return shell.Word(t)
			}
			return shell.Quote(t)
		}
		edits = append(edits, Edit{p.Start, p.End, strings.Join(lists.Map(words, quoted), " ")})
	}
	return Edited(text, edits), nil
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

// Edit puts a text in the place of what stands between two bytes of another.
type Edit struct {
	Start, End int
	Text       string
}

// Edited makes edits, but for those within a longer one.
func Edited(text string, edits []Edit) string {
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	var out strings.Builder
	at := 0
	for _, e := range edits {
		if e.Start >= at {
			out.WriteString(text[at:e.Start] + e.Text)
		}
		at = max(at, e.End)
	}
	return out.String() + text[at:]
}

// lonePlaceholder returns the placeholder that is all of an element.
func lonePlaceholder(element string) (Part, bool) {
	parts := Parse(element)
	if len(parts) != 1 || !parts[0].IsPlaceholder() {
		return Part{}, false
	}
	return parts[0], true
}

// isOption reports whether a word may be an option whose value is the next word: it is no negative
// number, nor the end of all options.
func isOption(word string) bool {
	_, err := strconv.ParseFloat(word, 64)
	return len(word) > 1 && word[0] == '-' && !strings.Contains(word, "=") && err != nil && word != "--"
}

// keywordRE matches the reserved words of shells.
var keywordRE = pattern.Lazy(`^(?:if|then|else|elif|fi|do|done|case|esac|while|until|for|in|select|function|time|coproc)$`)

// patternRE matches the start of a list or a range of alternatives.
var patternRE = pattern.Lazy(`\[|(?:^|[^$])\{`)

// canStandBare reports whether a plain value t needs no quotes where p stands in the filled text: as
// a word of its own that is no keyword, or in a word after a character that ends a variable's name.
// Elsewhere it could join that, a tilde or a pattern, or become a descriptor or a function's name.
func canStandBare(text string, p Part, t string) bool {
	if patternRE().MatchString(text[p.word.start:p.Start]) {
		return false
	}
	if p.Start > p.word.start {
		return strings.IndexByte("=/:,.+-@%", text[p.Start-1]) >= 0 && text[p.word.start] != '~'
	}
	joined := p.End < len(text) && strings.IndexByte("<>(", text[p.End]) >= 0
	alone := p.word.end == p.End && !keywordRE().MatchString(t)
	_, err := strconv.ParseFloat(t, 64)
	return !joined && (alone || err == nil || strings.HasPrefix(t, "/"))
}

// Alike reports whether two commands are surely the same to every shell, but for comments.
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

// withoutComments is a shell command without its comments and the blanks that were there for them; ok
// is false if shells may disagree on what one is, or if the command could tell the difference.
func withoutComments(text string) (out string, ok bool) {
	if strings.ContainsAny(text, "\r\x00`") || strings.Contains(text, "<<") || strings.Contains(text, "LINENO") || strings.Contains(text, "$'") {
		return "", false
	}
	posix, ok1 := commentsOf(text, syntax.LangPOSIX)
	bash, ok2 := commentsOf(text, syntax.LangBash)
	if !ok1 || !ok2 || !slices.Equal(posix, bash) {
		return "", false
	}
	from := 0
	for _, c := range posix {
		before := strings.TrimRight(text[from:c.start], " \t")
		blanks := c.start - from - len(before)
		out += before
		if strings.HasSuffix(before, `\`) && blanks > 0 || strings.HasSuffix(out, "\\\n") {
			return "", false // a blank that belongs to a word, or a line that was continued
		}
		from = c.end
		if (out == "" || strings.HasSuffix(out, "\n")) && strings.HasPrefix(text[from:], "\n") {
			from++ // nothing else stood on the line
		}
	}
	out = strings.Trim(out+text[from:], "\n")
	return out, !strings.HasSuffix(out, `\`)
}

// commentsOf returns where the comments of a command stand in one dialect, in order.
func commentsOf(text string, dialect syntax.LangVariant) (spans []span, ok bool) {
	file, err := parse(text, Parse(text), dialect)
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
