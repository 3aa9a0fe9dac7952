package parser

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/lbotune/lbotune/internal/pattern"
)

// regexMatcher finds a metric by a regular expression whose group is the value.
type regexMatcher struct {
	re      *regexp.Regexp
	value   int // index of the group that holds the value
	step    int // index of the group that holds the step, 0 for none
	literal []byte
}

// newRegexMatcher compiles expr, which must have one group, or a group named
// value and perhaps one named step.
func newRegexMatcher(field, expr string) (*regexMatcher, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, regexSyntaxError(field, expr, err)
	}
	m := &regexMatcher{re: re, value: re.SubexpIndex("value"), step: max(re.SubexpIndex("step"), 0), literal: requiredLiteral(expr)}
	groups := re.NumSubexp()
	named := m.value > 0
	if m.value = max(m.value, 1); !named && m.step == 1 {
		m.value = 2
	}
	err = first(
		fault{groups == 0, RuleError{field, expr, 0, "has no group, so that it does not say which part of the match is the number",
			`put the number in parentheses, as in loss is ([-+.\w]+)`}},
		fault{!named && (m.step > 0 || groups > 1) && !(m.step > 0 && groups == 2), RuleError{field, expr, 0,
			"has several groups, and does not say which one is the number", "write (?P<value>...) for the number's group, or (?:...) for those that only group"}},
		fault{bytes.ContainsAny(m.literal, "\r\n"), RuleError{field, expr, 0, "asks for a line break, but a rule sees one line at a time", "match within one line"}},
	)
	return m, err
}

func regexSyntaxError(field, expr string, err error) error {
	problem := &RuleError{Field: field, Value: expr, Problem: err.Error(),
		Hint: "the syntax is that of Go and RE2: no look-ahead and no back-references"}
	if bad, ok := err.(*syntax.Error); ok {
		problem.Problem = bad.Code.String()
		if bad.Expr != "" {
			problem.Problem += ": " + bad.Expr
			problem.Offset = max(strings.Index(expr, bad.Expr), 0)
		}
	}
	return problem
}

func (m *regexMatcher) match(l line, found []occurrence) []occurrence {
	if !bytes.Contains(l.text, m.literal) {
		return found
	}
	for _, groups := range m.re.FindAllSubmatchIndex(l.text, -1) {
		start, end := groups[2*m.value], groups[2*m.value+1]
		if start < 0 {
			continue
		}
		o := m.read(l, start, end)
		if s := 2 * m.step; s > 0 && groups[s] >= 0 {
			n := scanNumber(bytes.TrimSpace(l.text[groups[s]:groups[s+1]]), numberMode{})
			o.step, o.hasStep = n.value, n.kind == finite
		}
		found = append(found, o)
	}
	return found
}

// read reads the number that a group captured. A capture that is only a part
// of a number is not read: `loss=([\d.]+)` captures "1" of "loss=1e-05".
func (m *regexMatcher) read(l line, start, end int) occurrence {
	token := bytes.TrimSpace(l.text[start:end])
	start += bytes.Index(l.text[start:end], token)
	end = start + len(token)
	o := occurrence{kind: unreadable, at: start, end: end}
	if whole, partial := wholeNumberAround(l.text, start, end); partial {
		o.at, o.end, o.part = whole[0], whole[1], string(token)
		return o
	}
	if isWide(l.text, start, end) || l.cut && end == len(l.text) {
		return o
	}
	if i := m.goesOn(l.text, token, end); i > 0 && isDecimal(token) {
		o.end, o.part = i, string(token)
		return o
	}
	o.value, o.kind = wholeNumber(token)
	return o
}

// isWide reports whether zero bytes stand between a single digit and what is around it, as in UTF-16.
func isWide(text []byte, start, end int) bool {
	before, behind := bytes.TrimRight(text[:start], "\x00"), bytes.TrimLeft(text[end:], "\x00")
	n, m := len(before), len(behind)
	return end-start == 1 && (0 < n && n < start && !isBlank(before[n-1]) || 0 < m && m < len(text)-end && !isBlank(behind[0]))
}

// goesOn reports where the number ends of which the captured token is only the beginning, 0 if it is all of it:
// before a power of ten, an exponent, or a sign that some locales and languages put between digits. An expression
// that has the power or the sign itself knows of it.
func (m *regexMatcher) goesOn(text, token []byte, end int) int {
	rest, expr := bytes.TrimLeft(text[end:], " \t"), m.re.String()
	if size := len(powerRE().Find(rest)); size > 0 && !strings.Contains(expr, "10") {
		return len(text) - len(rest) + size
	}
	if size := max(exponentApart(text[end:]), len(fortranRE().Find(text[end:]))); size > 0 {
		return end + size
	}
	if bytes.IndexByte(token, '.') >= 0 || end+1 >= len(text) || strings.IndexByte(",'_", text[end]) < 0 || !isDigit(text[end+1]) || strings.IndexByte(expr, text[end]) >= 0 {
		return 0
	}
	return skipDigits(text, end+1)
}

// fortranRE finds an exponent in double precision, as that of 1.5D-03, or in Wolfram's 1.5*^-3.
var fortranRE = pattern.Lazy("^(?:[dD][-+]|`?\\*\\^[-+]?)\\d+")

// wholeNumberAround looks for a longer number of another value of which
// text[start:end] is only a part.
func wholeNumberAround(text []byte, start, end int) (whole [2]int, partial bool) {
	const reach = 32 // no number that people print is longer
	left, right := start, end
	for left > 0 && start-left < reach && isNumberByte(text[left-1]) {
		left--
	}
	if before, size := utf8.DecodeLastRune(text[:left]); isMinus(before) {
		left -= size
	}
	for right < len(text) && right-end < reach && isNumberByte(text[right]) {
		right++
	}
	if start-left == reach || right-end == reach {
		return [2]int{left, right}, true
	}
	captured, _ := parseNumber(text[start:end])
	for s := left; s <= start; s++ {
		if s < start && s > 0 && (isDigit(text[s-1]) || isLetter(text[s-1]) || text[s-1] == '_') {
			continue // within a word: the dash of test-0.31 is no sign
		}
		for e := right; e >= end && s+(right-e) < start+(right-end); e-- {
			if !isDecimal(text[s:e]) {
				continue
			}
			if value, _ := parseNumber(text[s:e]); value != captured {
				return [2]int{s, e}, true
			}
		}
	}
	return [2]int{start, end}, false
}

// isNumberByte tells the bytes that a decimal number can have.
func isNumberByte(c byte) bool {
	return isDigit(c) || strings.IndexByte(".+-eE", c) >= 0
}

// requiredLiteral gives a string that every match of expr contains, the longest
// that is easily seen, or nil. Lines without it need no regular expression.
func requiredLiteral(expr string) []byte {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	literal := literalOf(tree.Simplify())
	if strings.ContainsRune(literal, '�') { // it matches any byte that is not UTF-8
		return nil
	}
	return []byte(literal)
}

func literalOf(tree *syntax.Regexp) string {
	switch tree.Op {
	case syntax.OpLiteral:
		if tree.Flags&syntax.FoldCase == 0 {
			return string(tree.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return literalOf(tree.Sub[0])
	case syntax.OpConcat:
		longest := ""
		for _, sub := range tree.Sub {
			if literal := literalOf(sub); len(literal) > len(longest) {
				longest = literal
			}
		}
		return longest
	}
	return ""
}
