package parser

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// nameMatcher finds metrics by their names: the name as a whole word, a
// separator, a number.
type nameMatcher struct {
	names []*soughtName
	index nameIndex
}

// soughtName is the name of a metric, or of several that differ otherwise.
type soughtName struct {
	text    []byte
	metrics []int
	from    int // where on the line the next occurrence may start
}

func newNameMatcher() *nameMatcher { return &nameMatcher{index: newNameIndex()} }

func (m *nameMatcher) add(metric int, name string) {
	for _, n := range m.names {
		if string(n.text) == name {
			n.metrics = append(n.metrics, metric)
			return
		}
	}
	n := &soughtName{text: []byte(name), metrics: []int{metric}}
	m.names = append(m.names, n)
	m.index.add(n)
}

func (m *nameMatcher) needles() [][]byte {
	var needles [][]byte
	for _, n := range m.names {
		needles = append(needles, n.text)
	}
	return needles
}

func (m *nameMatcher) match(l line, found []occurrence) []occurrence {
	for _, n := range m.names {
		n.from = 0
	}
	for at, n := range m.index.places(l.text) {
		if at < n.from {
			continue
		}
		n.from = at + len(n.text)
		start, ok := skipSeparator(l.text, n.from)
		if !ok {
			continue
		}
		start = skipWrapper(l.text, start)
		number := scanNumber(l.text[start:], numberMode{cut: l.cut})
		if number.kind == notNumeric {
			continue
		}
		n.from = start + number.size
		o := occurrence{
			kind: number.kind, value: number.value, at: start, end: n.from,
			qualifier: qualifierBefore(l.text[:at]),
		}
		for _, o.metric = range n.metrics {
			found = append(found, o)
		}
	}
	return found
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
