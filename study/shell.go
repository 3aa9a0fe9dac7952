package study

import "strings"

// ShellContext says where in a shell command a placeholder stands. Everything
// but InWord makes the value's own quoting ineffective.
type ShellContext string

// The contexts that the shell scanner tells apart; their texts complete the
// sentence "the placeholder stands ...".
const (
	InWord         ShellContext = ""
	InSingleQuotes ShellContext = "inside single quotes"
	InDoubleQuotes ShellContext = "inside double quotes"
	InBackquotes   ShellContext = "inside backquotes"
	InComment      ShellContext = "inside a comment"
	InHereDocument ShellContext = "inside a here-document"
	InExpansion    ShellContext = "inside ${...}"
	InArithmetic   ShellContext = "inside $((...))"
	AfterBackslash ShellContext = "after a backslash"
)

// shellFrame is one level of nesting: $( ) inside " " starts a new one, in
// which words are plain again.
type shellFrame struct {
	context ShellContext
	start   int  // where it was opened
	parens  int  // open parentheses inside it
	cases   int  // case ... esac, whose patterns close parentheses unopened
	ends    byte // what closes it; 0 for the outermost

	// The words of an InWord frame.
	wordAt  int   // where the current one began
	before  span  // the one before it
	waiting []int // the parts in the current one
}

// shellScanner follows a POSIX shell's quoting over a command, far enough to
// know in which context each placeholder stands.
type shellScanner struct {
	text  string
	parts []Part
	next  int // first part that does not lie before at
	at    int
	stack []shellFrame
	heres []hereDoc // announced on this line, their bodies still to come
}

type hereDoc struct {
	end  string // the line that ends it
	tabs bool   // <<-: leading tabs do not count
}

func (s *shellScanner) top() *shellFrame { return &s.stack[len(s.stack)-1] }

func (s *shellScanner) push(c ShellContext, width int, ends byte) {
	s.stack = append(s.stack, shellFrame{context: c, start: s.at, ends: ends, wordAt: s.at + width})
	s.at += width
}

func (s *shellScanner) pop(width int) {
	s.endWord()
	s.stack = s.stack[:len(s.stack)-1]
	s.at += width
}

func (s *shellScanner) scan() error {
	for s.at < len(s.text) {
		if s.placeholder(s.top().context) {
			continue
		}
		switch s.top().context {
		case InSingleQuotes:
			s.until('\'')
		case InDoubleQuotes, InExpansion, InArithmetic, InBackquotes:
			s.inside()
		default:
			s.word()
		}
	}
	s.endWord()
	if f := s.top(); f.ends != 0 {
		open := s.text[f.start:min(f.start+1, len(s.text))]
		if open == "$" {
			open = s.text[f.start : f.start+2]
		}
		return &TemplateError{f.start, f.start + len(open), "this " + open + " is never closed"}
	}
	return nil
}

// placeholder marks and steps over the placeholder that starts here.
func (s *shellScanner) placeholder(c ShellContext) bool {
	for s.next < len(s.parts) && (s.parts[s.next].Start < s.at || !s.parts[s.next].IsPlaceholder()) {
		s.next++
	}
	if s.next == len(s.parts) || s.parts[s.next].Start != s.at {
		return false
	}
	s.parts[s.next].Context = c
	s.at = s.parts[s.next].End
	s.top().waiting = append(s.top().waiting, s.next)
	return true
}

// endWord ends the current word before the byte at s.at.
func (s *shellScanner) endWord() {
	f := s.top()
	word := span{f.wordAt, s.at}
	for _, i := range f.waiting {
		s.parts[i].word, s.parts[i].before = word, f.before
	}
	if word.start < word.end {
		f.before = word
	}
	f.waiting, f.wordAt = nil, s.at+1
}

func (s *shellScanner) until(end byte) {
	if s.text[s.at] == end {
		s.pop(1)
		return
	}
	s.at++
}

func (s *shellScanner) has(prefix string) bool { return strings.HasPrefix(s.text[s.at:], prefix) }

// inside is for contexts in which a backslash and $ still count.
func (s *shellScanner) inside() {
	f := s.top()
	ch := s.text[s.at]
	switch {
	case ch == '\\':
		s.backslash()
	case f.context == InArithmetic && s.has("))") && f.parens == 0:
		s.pop(2)
	case f.context == InArithmetic && ch == '(':
		f.parens++
		s.at++
	case f.context == InArithmetic && ch == ')':
		f.parens--
		s.at++
	case f.context != InArithmetic && ch == f.ends:
		s.pop(1)
	case f.context == InBackquotes:
		s.at++
	case f.context == InExpansion && ch == '\'':
		s.push(InSingleQuotes, 1, '\'')
	case f.context == InExpansion && ch == '"':
		s.push(InDoubleQuotes, 1, '"')
	case ch == '$' || ch == '`':
		s.substitution()
	default:
		s.at++
	}
}

// word is for plain text: the outermost level and the inside of $( ).
func (s *shellScanner) word() {
	f := s.top()
	ch := s.text[s.at]
	if strings.IndexByte(" \t\n;&|()<>", ch) >= 0 {
		s.endWord()
		if ch != ' ' && ch != '\t' {
			f.before = span{}
		}
	}
	switch {
	case ch == '\\':
		s.backslash()
	case ch == '\'':
		s.push(InSingleQuotes, 1, '\'')
	case ch == '"':
		s.push(InDoubleQuotes, 1, '"')
	case ch == '$' || ch == '`':
		s.substitution()
	case ch == '#' && s.wordStarts():
		s.comment()
	case ch == '\n':
		s.at++
		s.hereBodies()
	case s.has("<<<"):
		s.at += 3
	case s.has("<<"):
		s.hereStart()
	case ch == '(':
		f.parens++
		s.at++
	case ch == ')' && f.parens > 0:
		f.parens--
		s.at++
	case ch == ')' && f.ends == ')' && f.cases == 0:
		s.pop(1)
	case s.keyword("case"):
		f.cases++
		s.at += len("case")
	case s.keyword("esac"):
		f.cases = max(f.cases-1, 0)
		s.at += len("esac")
	default:
		s.at++
	}
}

func (s *shellScanner) wordStarts() bool {
	return s.at == 0 || strings.IndexByte(" \t\n;&|()", s.text[s.at-1]) >= 0
}

func (s *shellScanner) keyword(w string) bool {
	if !s.has(w) || !s.wordStarts() {
		return false
	}
	after := s.at + len(w)
	return after == len(s.text) || strings.IndexByte(" \t\n;&|)", s.text[after]) >= 0
}

func (s *shellScanner) backslash() {
	if f := s.top(); s.has("\\\n") && f.wordAt == s.at {
		f.wordAt += 2 // a continued line ends no word, but is none either
	}
	s.at++
	if s.at < len(s.text) && !s.placeholder(AfterBackslash) {
		s.at++
	}
}

// substitution opens $(( )), $( ), ${ } or a pair of backquotes; a $ before
// anything else is a character.
func (s *shellScanner) substitution() {
	switch {
	case s.has("`"):
		s.push(InBackquotes, 1, '`')
	case s.has("$(("):
		s.push(InArithmetic, 3, ')')
	case s.has("$("):
		s.push(InWord, 2, ')')
	case s.has("${"):
		s.push(InExpansion, 2, '}')
	default:
		s.at++
	}
}

func (s *shellScanner) comment() {
	for s.at < len(s.text) && s.text[s.at] != '\n' {
		if !s.placeholder(InComment) {
			s.at++
		}
	}
}

// hereStart reads the operator and the delimiter of a here-document.
func (s *shellScanner) hereStart() {
	s.at += 2
	h := hereDoc{}
	if s.has("-") {
		h.tabs = true
		s.at++
	}
	for s.has(" ") || s.has("\t") {
		s.at++
	}
	n := strings.IndexAny(s.text[s.at:], " \t\n;&|<>()")
	if n < 0 {
		n = len(s.text) - s.at
	}
	h.end = strings.NewReplacer(`\`, "", `'`, "", `"`, "").Replace(s.text[s.at : s.at+n])
	s.at += n
	s.heres = append(s.heres, h)
}

// hereBodies steps over the here-documents announced on the line that ended.
func (s *shellScanner) hereBodies() {
	for _, h := range s.heres {
		for s.at < len(s.text) {
			line, _, _ := strings.Cut(s.text[s.at:], "\n")
			end := min(s.at+len(line)+1, len(s.text))
			for s.at < end {
				if !s.placeholder(InHereDocument) {
					s.at++
				}
			}
			if h.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if line == h.end {
				break
			}
		}
	}
	s.heres = nil
}
