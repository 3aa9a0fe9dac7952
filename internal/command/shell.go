package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/lbotune/lbotune/internal/pattern"
)

// Context says where a placeholder stands: anywhere but InWord the value's own quoting is ineffective.
type Context string

// The contexts; their texts complete the sentence "the placeholder stands ...".
// A command that cannot be parsed has contexts of its own, which say why.
const (
	InWord         Context = ""
	InSingleQuotes Context = "inside single quotes"
	InDoubleQuotes Context = "inside double quotes"
	InBackquotes   Context = "inside backquotes"
	InComment      Context = "inside a comment"
	InHereDocument Context = "inside a here-document"
	InExpansion    Context = "inside ${...}"
	InArithmetic   Context = "inside arithmetic"
	AfterBackslash Context = "after a backslash"
	Unclear        Context = "where shells do not agree on what is quoted"
)

// longest is how long one argument can be on Linux. What is longer could also nest too deeply.
const longest = 128 << 10

// ParseShell is Parse for a command of /bin/sh -c: it also finds out where each placeholder stands, or
// in a *SyntaxError which quote is never closed.
//
// /bin/sh is bash on some systems and a plain POSIX shell on others, and they read some texts in
// different ways. A value is safe where both quote it.
func ParseShell(text string) ([]Part, error) {
	if len(text) > longest {
		return nil, &SyntaxError{Message: fmt.Sprintf("the command has %d bytes; no system runs one of more than %d", len(text), longest)}
	}
	parts := Parse(text)
	posix, posixErr := parseDialect(text, parts, syntax.LangPOSIX)
	bash, bashErr := parseDialect(text, parts, syntax.LangBash)
	unclosed := neverClosed(text, posixErr)
	switch {
	case strings.ContainsAny(text, "\r\x00"):
		// The parser takes these for blanks, as no shell does.
		guess(text, parts, "it has a carriage return or a zero byte")
	case posixErr == nil && bashErr == nil:
		for i := range posix {
			if posix[i].Context == InWord {
				posix[i].Context = bash[i].Context
			}
		}
		return posix, nil
	case posixErr == nil && !bashOnlyRE().MatchString(text):
		return posix, nil
	case bashErr == nil && unclosed != nil:
		guess(text, parts, "shells do not agree on what is quoted")
	case bashErr == nil:
		return bash, nil
	case unclosed != nil:
		return parts, unclosed
	default:
		guess(text, parts, bashErr.Error())
	}
	return parts, nil
}

// bashOnlyRE matches what is special to bash, and plain words to a POSIX shell.
var bashOnlyRE = pattern.Lazy(`\$'|\(\(|\[|\blet\b`)

// neverClosed returns an error for a quote that is never closed, which no shell forgives.
func neverClosed(text string, err error) *SyntaxError {
	var parse syntax.ParseError
	if !errors.As(err, &parse) || !parse.Incomplete {
		return nil
	}
	at := int(parse.Pos.Offset())
	open := quoteRE().FindString(text[min(at, len(text)):])
	if open == "" {
		return nil
	}
	return &SyntaxError{at, at + len(open), "this " + open + " is never closed"}
}

var quoteRE = pattern.Lazy("^(?:'|\"|`|\\$\\(|\\$\\{)")

// guess sets the contexts in a command that cannot be parsed. Before anything that quotes or nests,
// every shell reads a word.
func guess(text string, parts []Part, why string) {
	clear := len(text)
	if m := quotingRE().FindStringIndex(text); m != nil {
		clear = m[0]
	}
	for i := range parts {
		p := &parts[i]
		p.Context = Context("in a command that lbotune cannot follow (" + why + ")")
		if p.End <= clear {
			const ends = " \t\n;&|()<>"
			p.Context = InWord
			p.word.start = strings.LastIndexAny(text[:p.Start], ends) + 1
			p.word.end = len(text)
			if n := strings.IndexAny(text[p.End:], ends); n >= 0 {
				p.word.end = p.End + n
			}
		}
	}
}

var quotingRE = pattern.Lazy("['\"\\\\`$#\\[\r\x00]|<<|[<>]&|\\(\\(|\\blet\\b")

// mostBrackets bounds how deep a command that is parsed can nest: the parser calls itself for each level,
// and arithmetic of 128 KB of parentheses takes more stack than a Go program may have.
const mostBrackets = longest / 8

func parse(text string, parts []Part, dialect syntax.LangVariant) (*syntax.File, error) {
	if n := strings.Count(text, "(") + strings.Count(text, "["); n > mostBrackets {
		return nil, fmt.Errorf("it has %d opening brackets, more than %d", n, mostBrackets)
	}
	return syntax.NewParser(syntax.Variant(dialect), syntax.KeepComments(true)).Parse(strings.NewReader(filled(text, parts)), "")
}

// parseDialect returns the parts with their contexts as one dialect has them.
func parseDialect(text string, parts []Part, dialect syntax.LangVariant) ([]Part, error) {
	file, err := parse(text, parts, dialect)
	if err != nil {
		return nil, err
	}
	l := locator{text: text, parts: slices.Clone(parts), at: map[syntax.Node]frame{}}
	for i := range l.parts {
		l.parts[i].Context = Unclear // until a word is found
	}
	stack := []frame{{context: outside}}
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		f := l.enter(n, stack[len(stack)-1])
		stack = append(stack, f)
		if f.context != outside {
			l.note(n, f)
		}
		return true
	})
	for i := range l.parts {
		p := &l.parts[i]
		if p.Context == InWord && (l.oddDelimiter || afterDollar(text[:p.Start])) {
			p.Context = Unclear
		}
	}
	return l.parts, nil
}

// afterDollar reports whether shells read what follows text right behind a dollar sign: in bash $' quotes in another way.
func afterDollar(text string) bool {
	joined := strings.TrimSuffix(text, "\\\n")
	for len(joined) < len(text) {
		joined, text = strings.TrimSuffix(joined, "\\\n"), joined
	}
	return strings.HasSuffix(joined, "$")
}

// filled is text with every placeholder replaced by as many bytes that mean
// themselves in a word and are a number's name with its sign in arithmetic. They
// end the name of a variable before them, as a quoted value does, and are none.
func filled(text string, parts []Part) string {
	out := []byte(text)
	for _, p := range parts {
		if p.IsPlaceholder() && (p.Flag || p.Format == "" || ValidFormat(p.Format)) { // else it is text
			copy(out[p.Start:p.End], "+"+strings.Repeat("a", p.End-p.Start-1))
		}
	}
	return string(out)
}

// outside is the context of what lies in no word.
const outside Context = "outside"

// frame is what is known of a node of the syntax tree.
type frame struct {
	context Context
	sealed  bool // no node below has another context
	word    span // the outermost word, with the assignment or redirection that it belongs to
	before  span // the word before it
	listed  bool // the word is one of a list
}

// locator finds out where the placeholders of a parsed command stand.
type locator struct {
	text  string
	parts []Part
	// at holds what a node's parent knows of it.
	at map[syntax.Node]frame
	// oddDelimiter: shells may disagree on where a here-document ends.
	oddDelimiter bool
}

// note gives the node's context to the placeholders in it.
func (l *locator) note(n syntax.Node, f frame) {
	node := spanOf(n)
	first, _ := slices.BinarySearchFunc(l.parts, node.start, func(p Part, start int) int { return p.Start - start })
	for i := first; i < len(l.parts) && l.parts[i].Start <= node.end; i++ {
		p := &l.parts[i]
		if !p.IsPlaceholder() || p.End > node.end {
			continue
		}
		p.Context, p.word, p.before, p.listed = f.context, f.word, f.before, f.listed
		if _, literal := n.(*syntax.Lit); literal && f.context == InWord {
			before := l.text[node.start:p.Start]
			if (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1 {
				p.Context = AfterBackslash
			}
		}
	}
}

// enter returns what is known of a node below one with the frame f.
func (l *locator) enter(node syntax.Node, f frame) frame {
	if f.sealed {
		return f
	}
	if known, ok := l.at[node]; ok {
		f = known
	}
	seal := func(c Context) { f.context, f.sealed = c, true }
	switch n := node.(type) {
	case *syntax.Word:
		if f.context == outside {
			f.context = InWord
			if f.word == (span{}) {
				f.word = spanOf(n)
			}
		}
	case *syntax.CallExpr:
		before := span{}
		for _, arg := range n.Args {
			l.at[arg] = frame{context: outside, listed: true, before: before}
			before = spanOf(arg)
		}
	case *syntax.WordIter:
		for _, item := range n.Items {
			l.at[item] = frame{context: outside, listed: true}
		}
	case *syntax.Assign: // what is nil is never met
		l.at[n.Index] = frame{context: InArithmetic, sealed: true}
		l.at[n.Value] = frame{context: outside, word: spanOf(n)}
	case *syntax.ArrayElem:
		l.at[n.Index] = frame{context: InArithmetic, sealed: true}
		l.at[n.Value] = frame{context: outside, listed: true}
	case *syntax.Redirect:
		l.redirect(n)
	case *syntax.BinaryTest:
		switch n.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			f.context = InArithmetic
		}
	case *syntax.UnaryTest:
		if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
			seal(InArithmetic) // of an array's index
		}
	case *syntax.CmdSubst:
		f = frame{context: outside}
		if n.Backquotes {
			seal(InBackquotes)
		}
	case *syntax.ProcSubst:
		f = frame{context: outside}
	case *syntax.SglQuoted:
		f.context = InSingleQuotes
	case *syntax.DblQuoted:
		f.context = InDoubleQuotes
	case *syntax.ParamExp:
		f.context = InExpansion
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
		f.context = InArithmetic
	case *syntax.ExtGlob:
		seal(Unclear)
	case *syntax.Comment:
		f.context = InComment
	}
	return f
}

// delimiterRE matches delimiters of here-documents that every shell reads alike.
var delimiterRE = pattern.Lazy(`^(?:\\?[A-Za-z0-9_.!%+-]+|'[A-Za-z0-9_.!%+ -]+'|"[A-Za-z0-9_.!%+ -]+")$`)

func (l *locator) redirect(n *syntax.Redirect) {
	if n.Op == syntax.DplOut || n.Op == syntax.DplIn {
		// Bash expands the word after >& twice, and the second time it has no quotes.
		l.at[n.Word] = frame{context: Unclear, sealed: true}
		return
	}
	if n.Op != syntax.Hdoc && n.Op != syntax.DashHdoc {
		l.at[n.Word] = frame{context: outside, word: spanOf(n)}
		return
	}
	inside := frame{context: InHereDocument, sealed: true}
	l.at[n.Word], l.at[n.Hdoc] = inside, inside
	word := spanOf(n.Word)
	if !delimiterRE().MatchString(l.text[word.start:word.end]) {
		l.oddDelimiter = true
	}
}

func spanOf(n syntax.Node) span {
	return span{int(n.Pos().Offset()), int(n.End().Offset())}
}
