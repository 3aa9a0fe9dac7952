package parser

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lbotune/lbotune/internal/pattern"
)

// maxDocument is how long a JSON text may be that goes over several lines.
const maxDocument = 4 << 20

// jsonShape follows the grammar of JSON byte by byte, as far as it takes to
// know whether a text that goes over several lines is complete, goes on, or was
// never JSON. Words and numbers are not checked: Python writes NaN.
type jsonShape struct {
	stack []byte // what closes the open containers
	next  string // one of these, aValue if empty
	// within a string or a word
	quoted, escaped, word bool
}

// What may come next; a w stands for the bytes of words and numbers.
const (
	aValue      = `"{[w`
	aValueOrEnd = aValue + "]"
	aKey        = `"`
	aKeyOrEnd   = aKey + "}"
	aColon      = ":"
	aCommaOrEnd = ",}]"
)

// feed takes the next bytes. It returns how many belong to the text if it is
// complete, and whether what was fed is JSON so far.
func (s *jsonShape) feed(p []byte) (size int, complete, valid bool) {
	for i, c := range p {
		switch {
		case s.escaped:
			s.escaped = false
		case s.quoted:
			s.escaped = c == '\\'
			s.quoted = c != '"'
		case s.word && isWordByte(c):
		default:
			s.word = false
			if !isBlank(c) && !s.take(c) {
				return i, false, false
			}
			if len(s.stack) == 0 {
				return i + 1, true, true
			}
		}
	}
	return len(p), false, true
}

// take moves over one byte outside of strings and words.
func (s *jsonShape) take(c byte) bool {
	const deepest = 1000
	last := len(s.stack) - 1
	class := c
	if isWordByte(c) {
		class = 'w'
	}
	if strings.IndexByte(cmp.Or(s.next, aValue), class) < 0 {
		return false
	}
	switch class {
	case '{':
		s.stack, s.next = append(s.stack, '}'), aKeyOrEnd
	case '[':
		s.stack, s.next = append(s.stack, ']'), aValueOrEnd
	case '}', ']':
		if s.stack[last] != c {
			return false
		}
		s.stack, s.next = s.stack[:last], aCommaOrEnd
	case ':':
		s.next = aValue
	case ',':
		s.next = aValue
		if s.stack[last] == '}' {
			s.next = aKey
		}
	default:
		s.quoted, s.word = c == '"', class == 'w'
		if s.next == aKey || s.next == aKeyOrEnd {
			s.next = aColon
		} else {
			s.next = aCommaOrEnd
		}
	}
	return len(s.stack) <= deepest
}

func isWordByte(c byte) bool {
	return isDigit(c) || isLetter(c) || c == '+' || c == '-' || c == '.' || c == '_' || c >= utf8.RuneSelf
}

// decodeJSON decodes the JSON text that starts text. Words that are no JSON, such as NaN and
// -inf, come as strings; numbers come as json.Number.
func decodeJSON(text []byte) (any, bool) {
	value, err := decodeStrict(text)
	if err != nil {
		value, err = decodeStrict(quoteWords(text, func(word []byte) bool { return !json.Valid(word) }))
	}
	return value, err == nil
}

func decodeStrict(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

// wordRE finds strings, and the words outside of them.
var wordRE = pattern.Lazy(`"(?:[^"\\]|\\(?s:.))*"|[\pL\d_.+∞-]+`)

// QuoteNonFinite makes JSON of what programs write for it: it puts quotes around NaN, -Infinity, inf
// and their like outside of strings.
func QuoteNonFinite(text []byte) []byte { return quoteWords(text, isNonFinite) }

// quoteWords puts quotes around some of the words outside of strings.
func quoteWords(text []byte, some func(word []byte) bool) []byte {
	return wordRE().ReplaceAllFunc(text, func(word []byte) []byte {
		if word[0] == '"' || !some(word) {
			return word
		}
		return slices.Concat([]byte{'"'}, word, []byte{'"'})
	})
}

// jsonOccurrence turns the value found in a JSON text into an occurrence. It
// has the kind notNumeric for null, which stands for no reading.
func jsonOccurrence(value any) occurrence {
	o := occurrence{kind: unreadable}
	switch v := value.(type) {
	case nil:
		o.kind = notNumeric
	case json.Number:
		o.printed = v.String()
		o.value, o.kind = parseNumber([]byte(v))
	case string:
		o.printed = cmp.Or(v, `""`)
		o.value, o.kind = wholeNumber([]byte(v))
	case bool:
		o.printed = fmt.Sprint(v)
	case []any:
		o.printed = fmt.Sprintf("a list of %d", len(v))
	default:
		o.printed = "an object"
	}
	return o
}
