package runner

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sanitize returns s without anything that could command a terminal: escape sequences are
// dropped whole, a carriage return that redraws a line becomes a newline, other control
// characters and those that change the direction of writing are dropped, tabs and newlines
// stay, and bytes that are not UTF-8 become U+FFFD.
func Sanitize(s string) string {
	var out strings.Builder
	out.Grow(len(s))
	for i := 0; i < len(s); {
		if n := escapeLen(s[i:]); n > 0 {
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
		case r == '\n' || r == '\t':
			out.WriteRune(r)
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

const (
	esc = "\x1b"
	bel = "\x07"
	st8 = "\u009c" // string terminator as one character
)

// escapeLen returns the length of the escape sequence that s begins with, or 0. One that
// does not end is as long as its line.
func escapeLen(s string) int {
	var kind byte // what follows ESC, of which the C1 controls are the short form
	var n int
	switch r, size := utf8.DecodeRuneInString(s); {
	case r == 0x1b && len(s) > 1:
		kind, n = s[1], 2
	case r == 0x1b:
		return 1
	case r >= 0x80 && r < 0xa0:
		kind, n = byte(r-0x40), size
	default:
		return 0
	}
	switch {
	case kind == '[': // CSI: parameters, then one final byte
		for n < len(s) && s[n] >= 0x20 && s[n] < 0x40 {
			n++
		}
		if n < len(s) && s[n] >= 0x40 && s[n] < 0x7f {
			n++
		}
	case strings.IndexByte("PX]^_", kind) >= 0: // a string, up to its terminator
		n += stringLen(s[n:])
	case kind >= 0x20 && kind < 0x30: // intermediate bytes, then one final byte
		for n < len(s) && s[n] >= 0x20 && s[n] < 0x30 {
			n++
		}
		if n < len(s) && s[n] >= 0x30 && s[n] < 0x7f {
			n++
		}
	case kind < 0x20 || kind >= 0x7f: // no sequence: drop ESC alone
		n = 1
	}
	return n
}

// stringLen returns the length of a control string with its terminator.
func stringLen(s string) int {
	end, size := strings.IndexByte(s, '\n'), 0
	if end < 0 {
		end = len(s)
	}
	for _, stop := range []string{bel, esc + `\`, st8} {
		if i := strings.Index(s[:end], stop); i >= 0 {
			end, size = i, len(stop)
		}
	}
	return end + size
}
