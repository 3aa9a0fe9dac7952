package parser

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// nameMatcher finds metrics by their names: the name as a whole word, a separator
// and a number, or the name at the head of a column.
type nameMatcher struct {
	names []*soughtName
	index nameIndex
	heads headers // of the line that is being looked at
	lines int     // looked at
	rows  bool    // the next line may be a row of a table
}

// soughtName is the name of a metric, or of several that differ otherwise.
type soughtName struct {
	text    []byte
	targets []target
	columns []*column // where a table may have it
	from    int       // where on the line the next occurrence may start
	found   bool      // on the line
}

type target struct {
	metric int
	step   string // the name of a column that may hold its steps
}

func newNameMatcher() *nameMatcher { return &nameMatcher{index: newNameIndex()} }

func (m *nameMatcher) add(t target, name string) {
	for _, n := range m.names {
		if string(n.text) == name {
			n.targets = append(n.targets, t)
			return
		}
	}
	n := &soughtName{text: []byte(name), targets: []target{t}}
	n.columns = columnsOf(n)
	for _, c := range n.columns {
		m.index.add(c)
	}
	m.names = append(m.names, n)
}

// needles lists the last words of the names: the head of a column may have no more
// of a name that begins with a row's label.
func (m *nameMatcher) needles() [][]byte {
	var needles [][]byte
	for _, n := range m.names {
		needles = append(needles, n.text[bytes.LastIndexByte(n.text, ' ')+1:])
	}
	return needles
}

func (m *nameMatcher) match(l line, found []occurrence) []occurrence {
	m.lines++
	m.heads = headers{text: l.text}
	for _, n := range m.names {
		n.from, n.found = 0, false
	}
	found = m.pairs(l, found)
	m.rows = false
	for _, n := range m.names {
		for _, c := range n.columns {
			row := c.advance(m)
			if row != nil && !n.found {
				found = c.read(row, l, found)
			}
			m.rows = m.rows || c.table != nil || c.next != nil
		}
	}
	return found
}

// pairs finds the names before numbers.
func (m *nameMatcher) pairs(l line, found []occurrence) []occurrence {
	qualifiers := qualifiers{text: l.text}
	for at, c := range m.index.places(l.text) {
		n := c.sought
		if at < n.from {
			continue
		}
		end := at + len(c.name)
		if c.label == "" {
			n.from = end
		}
		start, number := numberAfter(l, end)
		if number.kind == notNumeric {
			c.named = true
			if number.size = missingAfter(l.text, end); number.size == 0 || c.label != "" {
				continue
			}
			number.kind = missing
		}
		qualifier := qualifiers.before(at)
		if c.label != "" { // "valid loss" is the loss of a line that is marked as valid
			if qualifier == unqualified || qualifier != qualifierNamed([]byte(c.label)) {
				continue
			}
			qualifier = unqualified
		}
		n.from, n.found = start+number.size, number.kind != missing
		o := occurrence{kind: number.kind, value: number.value, at: start, end: n.from, qualifier: qualifier}
		if row := rowOfNumbers(l.text, end, start, n.from); row != "" && o.kind != missing {
			o.kind, o.printed = severalColumns, row
		}
		for _, t := range n.targets {
			o.metric = t.metric
			found = append(found, o)
		}
	}
	return found
}

// numberAfter reads the number behind a name that ends at a place.
func numberAfter(l line, end int) (start int, n number) {
	start, ok := skipSeparator(l.text, end)
	if !ok {
		return start, number{}
	}
	start = skipWrapper(l.text, start)
	return start, scanNumber(l.text[start:], numberMode{cut: l.cut})
}

// rowOfNumbers gives what stands behind a name if it is three numbers or more, far
// apart: the row of a table, of which nobody knows the column that is meant.
func rowOfNumbers(text []byte, nameEnd, start, end int) string {
	const many, longest = 3, 200
	if len(bytes.Trim(text[nameEnd:start], " \t|")) > 0 || len(text)-start > longest {
		return ""
	}
	numbers := 1
	for {
		next := end
		for next < len(text) && (isBlank(text[next]) || text[next] == '|') {
			next++
		}
		if next == len(text) {
			break
		}
		n := scanNumber(text[next:], numberMode{})
		if n.kind == notNumeric || next-end < 2 && text[end] != '\t' {
			return ""
		}
		end = next + n.size
		numbers++
	}
	if numbers < many {
		return ""
	}
	return string(bytes.TrimRight(text[start:], " \t|"))
}

// findName gives the first place at or after from where name stands as a whole
// word, or -1.
func findName(text, name []byte, from int) int {
	for from <= len(text) {
		i := bytes.Index(text[from:], name)
		if i < 0 {
			return -1
		}
		at := from + i
		if wordStarts(text, at) && wordEnds(text, at+len(name)) {
			return at
		}
		from = at + 1
	}
	return -1
}

// wordStarts reports whether a name that starts at i is not the end of a
// longer one: val_loss, val/loss, test-loss and --loss are not loss.
func wordStarts(text []byte, i int) bool {
	if i == 0 {
		return true
	}
	before, _ := utf8.DecodeLastRune(text[:i])
	first, _ := utf8.DecodeRune(text[i:])
	return !isNameRune(before) || !isNameRune(first)
}

// wordEnds reports whether a name that ends at i is not the start of a longer
// one. "->" is a separator, although a dash belongs to names.
func wordEnds(text []byte, i int) bool {
	if i == len(text) || bytes.HasPrefix(text[i:], []byte("->")) {
		return true
	}
	last, _ := utf8.DecodeLastRune(text[:i])
	after, _ := utf8.DecodeRune(text[i:])
	return !isNameRune(last) || !isNameRune(after)
}

// isNameRune tells what belongs to the word around it, so that a name which
// touches it is only a part of a longer name.
func isNameRune(r rune) bool {
	switch r {
	case '_', '-', '.', '/', '@', '$', '#':
		return true
	case utf8.RuneError:
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// skipSeparator goes from the end of a name to the start of its value: past
// what closes a quoted or bracketed name, and past one separator. Blanks alone
// separate too.
func skipSeparator(text []byte, i int) (int, bool) {
	for closers := 0; closers < 4 && i < len(text) && bytes.IndexByte([]byte("\"'`]\\"), text[i]) >= 0; closers++ {
		i++
	}
	next := skipBlanks(text, i)
	separated := next > i
	for _, separator := range []string{":=", "=>", "->", "=", ":", "|", "│", "→"} {
		if bytes.HasPrefix(text[next:], []byte(separator)) {
			return skipBlanks(text, next+len(separator)), true
		}
	}
	return next, separated
}

// skipWrapper goes past what libraries print around a scalar: quotes, and the
// constructors in tensor(0.31, device='cuda:0') or np.float64(0.31).
func skipWrapper(text []byte, i int) int {
	i = skipQuote(text, i)
	end := i
	for end < len(text) && end-i < len("jax.numpy.DeviceArray") && isWrapperByte(text[end]) {
		end++
	}
	if end == len(text) || text[end] != '(' || !isWrapper(text[i:end]) {
		return i
	}
	return skipQuote(text, skipBlanks(text, end+1))
}

func skipQuote(text []byte, i int) int {
	quote := i
	if quote < len(text) && text[quote] == '\\' {
		quote++
	}
	if quote < len(text) && (text[quote] == '"' || text[quote] == '\'') {
		return quote + 1
	}
	return i
}

func isWrapperByte(c byte) bool {
	return c == '.' || isDigit(c) || isLetter(c)
}

// isWrapper knows the constructors that PyTorch, NumPy, JAX, TensorFlow and
// Python's decimal print around one number.
func isWrapper(name []byte) bool {
	name = name[bytes.LastIndexByte(name, '.')+1:]
	switch string(name) {
	case "tensor", "Tensor", "array", "Array", "DeviceArray", "Decimal",
		"float16", "float32", "float64", "longdouble", "int32", "int64":
		return true
	}
	return false
}
