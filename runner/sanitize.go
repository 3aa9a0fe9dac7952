package runner

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lbotune/lbotune/internal/ansi"
)

// Sanitize returns s without anything that could command a terminal: escape sequences are
// dropped whole, a carriage return that redraws a line becomes a newline, other control
// characters and those that change the direction of writing are dropped, tabs and newlines
// stay, and bytes that are not UTF-8 become U+FFFD.
func Sanitize(s string) string {
	var out strings.Builder
	out.Grow(len(s))
	for i := 0; i < len(s); {
		if n, _ := ansi.Sequence(s[i:]); n > 0 {
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
