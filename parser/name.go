package parser

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lbotune/lbotune/internal/pattern"
)

// nameMatcher finds metrics by their names: the name as a whole word, a separator
// and a number, or the name at the head of a column.
type nameMatcher struct {
	columns []*column // where tables may have the names
	next    []int     // scratch: where their names stand next on the line, -1 for nowhere
	lines   int       // looked at
	rows    bool      // the next line may be a row of a table
}

// soughtName is the name of a metric.
type soughtName struct {
	metric int
	step   string // the name of a column that may hold its steps
	from   int    // where on the line the next occurrence may start
	found  bool   // on the line
}

// add adds a name, which may mean a column, or as "macro avg f1-score" the column f1-score of
// the row "macro avg".
func (m *nameMatcher) add(n *soughtName, name string) {
	for i := -1; i < len(name); i++ {
		if i < 0 || name[i] == ' ' {
			m.columns = append(m.columns, &column{sought: n, name: []byte(name[i+1:]), label: name[:max(i, 0)]})
		}
	}
}

func (m *nameMatcher) match(l line, found []occurrence) []occurrence {
	worthwhile := m.rows
	m.next = m.next[:0]
	for _, c := range m.columns {
		at := findName(l.text, c.name, 0)
		m.next = append(m.next, at)
		worthwhile = worthwhile || at >= 0
		c.sought.from, c.sought.found = 0, false
	}
	if !worthwhile {
		return found
	}
	m.lines++
	found, named := m.pairs(l, found)
	var heads []*header
	if named {
		heads = headersOf(l.text)
	}
	m.rows = false
	for _, c := range m.columns {
		if row := c.advance(l, m.lines, heads); row != nil && !c.sought.found {
			found = c.read(row, l, found)
		}
		m.rows = m.rows || c.table != nil || len(c.next) > 0
	}
	return found
}

// pairs finds the names before numbers, in the order of the text, and says whether some stand
// before none.
func (m *nameMatcher) pairs(l line, found []occurrence) (_ []occurrence, named bool) {
	qualifiers := qualifiers{text: l.text}
	from := max(bytes.Index(l.text, []byte("Benchmark")), 0)
	counted := countedRE().Match(l.text[from:])
	for {
		first := -1
		for i, at := range m.next {
			if at >= 0 && (first < 0 || at < m.next[first]) {
				first = i
			}
		}
		if first < 0 {
			return found, named
		}
		c, at := m.columns[first], m.next[first]
		m.next[first] = findName(l.text, c.name, at+1)
		n := c.sought
		if at < n.from {
			continue
		}
		end := at + len(c.name)
		if c.label == "" {
			n.from = end
		}
		start, number := numberAfter(l, end, false)
		if counted && at >= from {
			start = bytes.LastIndexAny(bytes.TrimRight(l.text[:at], " \t"), " \t") + 1
			end, number = start, scanValue(l.text[start:at], numberMode{})
		}
		if number.kind == notNumeric {
			c.named, named = true, true
			if number = insteadAfter(l, end, start); number.kind == notNumeric || c.label != "" {
				continue
			}
		}
		qualifier := qualifiers.before(at)
		if c.label != "" { // "valid loss" is the loss of a line that is marked as valid
			if qualifier == unqualified || qualifier != qualifierNamed([]byte(c.label)) {
				continue
			}
			qualifier = unqualified
		}
		n.from, n.found = start+number.size, number.kind != missing
		o := occurrence{metric: n.metric, kind: number.kind, value: number.value, at: start, end: n.from, qualifier: qualifier}
		if row := rowOfNumbers(l.text, end, start, n.from); row != "" && o.kind != missing {
			o.kind, o.printed = severalColumns, row
		}
		found = append(found, o)
	}
}

// numberAfter reads the number behind a name that ends at a place. For a step it is laxer: "Epoch 3/10",
// "Epoch: [3][10/391]" and "step #3" are all step 3.
func numberAfter(l line, end int, step bool) (start int, n number) {
	start, ok := skipSeparator(l.text, end)
	if step && start < len(l.text) && bytes.IndexByte([]byte("[(#"), l.text[start]) >= 0 {
		start, ok = skipBlanks(l.text, start+1), true
	}
	if !ok {
		return start, number{}
	}
	start = skipWrapper(l.text, start)
	if rest := l.text[start:]; len(rest) > 0 && bytes.IndexByte([]byte("[("), rest[0]) >= 0 && (len(bytes.Trim(l.text[end:start], blanksAndQuotes)) > 0 || realRE().Match(rest)) {
		start = skipBrackets(l.text, start)
	}
	return start, scanValue(l.text[start:], numberMode{cut: l.cut, ratio: step})
}

// countedRE matches lines that have each number before its name: those of Go's benchmarks and of time on macOS.
var countedRE = pattern.Lazy(`^[ \t]*(?:Benchmark\S*[ \t]+\d+(?:[ \t]+[-+]?(?:[\d.]|NaN|Inf)\S*[ \t]+[A-Za-z%]\S*)+|` +
	`\d+(?:[ \t]+[\d.]+[ \t]+[A-Za-z]+/(?:op|s))+|` +
	`[\d.]+[ \t]+real[ \t]+[\d.]+[ \t]+user[ \t]+[\d.]+[ \t]+sys)[ \t]*$`)

// rowOfNumbers gives what stands behind a name if it is three numbers or more, far
// apart: the row of a table, of which nobody knows the column that is meant.
func rowOfNumbers(text []byte, nameEnd, start, end int) string {
	const many, longest = 3, 200
	if len(bytes.Trim(text[nameEnd:start], " \t|")) > 0 || len(text)-start > longest {
		return ""
	}
	for numbers := 1; ; numbers++ {
		rest := bytes.TrimLeftFunc(text[end:], func(r rune) bool { return isBlankRune(r) || r == '|' })
		if len(rest) == 0 && numbers >= many {
			return string(bytes.TrimRight(text[start:], " \t|"))
		}
		n := scanNumber(rest, numberMode{})
		next := len(text) - len(rest)
		if n.kind == notNumeric || next-end < 2 && text[end] != '\t' {
			return ""
		}
		end = next + n.size
	}
}

// findName gives the first place at or after from where name stands as a whole
// word, or -1.
func findName(text, name []byte, from int) int {
	for at := from; ; at++ {
		i := bytes.Index(text[at:], name)
		if i < 0 {
			return -1
		}
		if at += i; isWord(text, at, at+len(name)) {
			return at
		}
	}
}

// isWord reports whether the name from at to end is not a part of a longer one: val_loss, val/loss,
// test-loss and --loss are not loss. "->" is a separator, although a dash belongs to names.
func isWord(text []byte, at, end int) bool {
	before, _ := utf8.DecodeLastRune(text[:at])
	first, _ := utf8.DecodeRune(text[at:])
	last, _ := utf8.DecodeLastRune(text[:end])
	after, _ := utf8.DecodeRune(text[end:])
	return !(isNameRune(before) && isNameRune(first)) &&
		(!(isNameRune(last) && isNameRune(after)) || bytes.HasPrefix(text[end:], []byte("->")))
}

// isNameRune tells what belongs to the word around it, so that a name which
// touches it is only a part of a longer name.
func isNameRune(r rune) bool {
	return strings.ContainsRune("_-./@$#", r) || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// skipSeparator goes from the end of a name to the start of its value: past
// what closes a quoted or bracketed name, and past one separator. Blanks alone
// separate too.
func skipSeparator(text []byte, i int) (int, bool) {
	for closers := 0; closers < 4 && i < len(text) && bytes.IndexByte([]byte("\"'`]\\*"), text[i]) >= 0; closers++ {
		i++
	}
	next := skipBlanks(text, i)
	separated := next > i && text[i-1] != '*' // which is a product unless a separator follows
	for _, separator := range []string{":=", "=>", "->", "=", ":", "|", "│", "→", "：", "＝"} {
		if bytes.HasPrefix(text[next:], []byte(separator)) {
			return skipBlanks(text, next+len(separator)), true
		}
	}
	return next, separated
}

// skipWrapper goes past what stands before a scalar: quotes, Markdown's stars, and the constructors
// in tensor(0.31, device='cuda:0') or np.float64(0.31).
func skipWrapper(text []byte, i int) int {
	i = skipQuote(text, i)
	if bold := skipBlanks(text, i+len("**")); bytes.HasPrefix(text[i:], []byte("**")) && startsNumber(text[bold:]) {
		return bold
	}
	if i == len(text) || !isLetter(text[i]) {
		return i
	}
	size := len(wrapperRE().Find(text[i:]))
	if size == 0 {
		return i
	}
	return skipBrackets(text, skipQuote(text, i+size))
}

// wrapperRE finds what PyTorch, NumPy, JAX, TensorFlow, Python's decimal and Rust print around one number.
var wrapperRE = pattern.Lazy(`^(?:[A-Za-z\d.]*\.)?(?:[tT]ensor|[aA]rray|DeviceArray|Decimal|float(?:16|32|64)|longdouble|int(?:32|64)|Some|Ok)\([\x00- \x7f]*`)

// skipBrackets goes past the brackets around one number: "[0.3]", "(0.3,)". A list of several is a
// history, "[1] 0.3" counts what is printed, and "(1) mean" is one of a list.
func skipBrackets(text []byte, i int) int {
	if start := i + 1; startsNumber(text[min(start, len(text)):]) && measuredRE().Match(text[i:]) {
		return start
	}
	m := bracketsRE().FindSubmatch(text[i:])
	if m == nil || len(m[1]) > len(m[3]) {
		return i
	}
	_, k := wholeNumber(m[2])
	closed := len(m[4]) == 0 || bytes.IndexByte([]byte(",;|)]}"), m[4][0]) >= 0
	if k == unreadable || !closed && (startsNumber(m[4]) || bytes.IndexByte(m[2], '.') < 0) {
		return i
	}
	return i + bytes.Index(text[i:], m[2])
}

var bracketsRE = pattern.Lazy(`^([\[(]+)\s*([^\s,\[\]()]+)\s*,?\s*([\])]+)\s*(\S*)`)

// measuredRE finds a number in brackets with its deviation: "[0.93 ± 0.01]", "(0.93 (+/- 0.01))", "[0.93(1)]".
var measuredRE = pattern.Lazy(`^[\[(][^\s,\[\]()]*` +
	`(?:\.\d*\(\d+\)|(?:\s*` + spreadRE + `)+|\s*\(\s*` + spreadRE + `\s*\))\s*,?\s*[\])]`)

const spreadRE = `(?:±|\+/-|\+-)\s*[^\s,\[\]()]+`

// realRE finds a number in brackets that counts nothing, as the 3 of "epoch [3]" does.
var realRE = pattern.Lazy(`^\[+\s*[-+]?\d*(?:\.|[eE]-)\d`)

const blanksAndQuotes = " \t\\\"'"

func skipQuote(text []byte, i int) int {
	rest := bytes.TrimPrefix(text[i:], []byte(`\`))
	if len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'') {
		return len(text) - len(rest) + 1
	}
	return i
}

// nextRE finds the next name and its number behind a name that has none.
var nextRE = pattern.Lazy(`^[ \t][A-Za-z_][\w./@-]*=[-+.\d]`)

// insteadAfter reads what stands at start instead of the number of a name that ends at end: a word
// which says that there is none, nothing or the next name ("loss= acc=1"), or a number that is not exact. It
// must stand behind a separator, since "loss none" may be prose. JSON has null for what was not measured, also
// in the lines of a log in which others are: see jsonOccurrence.
func insteadAfter(l line, end, start int) number {
	rest := l.text[start:]
	if len(bytes.Trim(l.text[end:start], blanksAndQuotes)) == 0 && !bytes.HasPrefix(rest, []byte("≈")) && !bytes.HasPrefix(rest, []byte("~=")) {
		return number{}
	}
	word := string(rest[:len(rest)-len(bytes.TrimLeftFunc(rest, func(r rune) bool {
		return r > ' ' && !strings.ContainsRune(",;|)]}\"'\x7f", r)
	}))])
	if (word == "" || nextRE().Match(l.text[start-1:])) && bytes.HasSuffix(bytes.TrimRight(l.text[end:start], blanksAndQuotes), []byte("=")) && !isHeading(l.text) {
		return number{kind: missing}
	}
	known := isMissing(word) && (len(word) > 1 || word == "?") || strings.EqualFold(word, "true") || strings.EqualFold(word, "false")
	if known && (word != "null" || l.text[end] != '"') {
		return number{size: len(word), kind: missing}
	}
	return scanInstead(rest, word, numberMode{cut: l.cut})
}

// isHeading tells lines such as "= loss =".
func isHeading(text []byte) bool {
	text = bytes.Trim(text, " \t")
	behind, before := bytes.TrimLeft(text, "="), bytes.TrimRight(text, "=")
	return len(behind) < len(text) && len(behind) == len(before)
}
