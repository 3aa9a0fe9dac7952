// Package ansi measures the escape sequences by which programs command a terminal.
package ansi

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape begins most sequences.
const Escape = 0x1b

// Sequence measures the sequence that text begins with (ECMA-48, 5.3 to 5.6), 0 if with none, and tells
// whether it moves the cursor or erases. The C1 controls are known in UTF-8, as U+0080 to U+009F.
//
// Of what is no whole sequence as little as possible belongs to it, so that no text is lost: ESC alone
// where nothing that could follow does, and the two bytes that open a control string which does not end
// on its line or is interrupted by another sequence.
func Sequence[T ~string | ~[]byte](text T) (size int, moves bool) {
	var kind byte // what follows ESC, of which a C1 control is the short form
	switch {
	case len(text) == 0 || text[0] != Escape && !isC1(text):
		return 0, false
	case len(text) == 1:
		return 1, false
	case text[0] == Escape:
		kind = text[1]
	default:
		kind = text[1] - 0x40
	}
	switch kind {
	case '[': // CSI: parameters, then one final byte
		end := skip(text, 2, 0x20, 0x3f)
		if end < len(text) && 0x40 <= text[end] && text[end] < 0x7f {
			return end + 1, text[end] != 'm'
		}
		return end, false
	case 'P', 'X', ']', '^', '_':
		return controlString(text), false
	case 'D', 'E', 'M': // to another line
		return 2, true
	}
	switch {
	case 0x20 <= kind && kind <= 0x2f: // intermediate bytes, then one final byte
		end := skip(text, 2, 0x20, 0x2f)
		return skip(text[:min(end+1, len(text))], end, 0x30, 0x7e), false
	case kind < 0x20 || kind >= 0x7f:
		return 1, false
	}
	return 2, false
}

func isC1[T ~string | ~[]byte](text T) bool {
	return len(text) > 1 && text[0] == 0xc2 && 0x80 <= text[1] && text[1] < 0xa0
}

// skip gives the end of the bytes from at on that lie between two.
func skip[T ~string | ~[]byte](text T, at int, first, last byte) int {
	for at < len(text) && first <= text[at] && text[at] <= last {
		at++
	}
	return at
}

// controlString measures a string that two bytes open. BEL, ESC \ or U+009C end it.
func controlString[T ~string | ~[]byte](text T) int {
	const open = 2
	for i := open; i < len(text); i++ {
		switch {
		case text[i] == 0x07:
			return i + 1
		case text[i] == Escape && i+1 < len(text) && text[i+1] == '\\':
			return i + 2
		case isC1(text[i:]) && text[i+1] == 0x9c:
			return i + 2
		case text[i] == '\n', text[i] == Escape, isC1(text[i:]):
			return open
		}
	}
	return open
}

// Sanitize returns s without anything that could command a terminal, such as escape sequences and
// characters that change the direction of writing. A carriage return that redraws a line becomes a
// newline, tabs and newlines stay, and bytes that are not UTF-8 become U+FFFD.
func Sanitize(s string) string {
	var out strings.Builder
	out.Grow(len(s))
	for i := 0; i < len(s); {
		if n, _ := Sequence(s[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == '\r':
			if i < len(s) && s[i] != '\n' && s[i] != '\r' {
				out.WriteByte('\n')
			}
		case r == '\n', r == '\t', !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r):
			out.WriteRune(r)
		}
	}
	return out.String()
}
