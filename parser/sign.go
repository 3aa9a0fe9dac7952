package parser

import (
	"bytes"
	"unicode/utf8"
)

// minusSize measures the minus sign of typesetting that begins text, 0 for none. Java, ICU
// and R print it in some locales; directly before a digit it means what "-" does.
func minusSize(text []byte) int {
	if len(text) == 0 || text[0] < utf8.RuneSelf {
		return 0
	}
	if r, size := utf8.DecodeRune(text); isMinus(r) {
		return size
	}
	return 0
}

// isMinus knows the minus, two hyphens, the dash, and the small and the wide one.
func isMinus(r rune) bool {
	switch r {
	case '\u2212', '\u2010', '\u2011', '\u2013', '\ufe63', '\uff0d':
		return true
	}
	return false
}

// plainMinus writes the minus signs of a token as "-".
func plainMinus(token []byte) []byte {
	if bytes.IndexFunc(token, isMinus) < 0 {
		return token
	}
	return bytes.Map(func(r rune) rune {
		if isMinus(r) {
			return '-'
		}
		return r
	}, token)
}

// skipDeviation goes past the deviation of a number that ends at i: "± 0.01", "+/- 0.01",
// perhaps in parentheses. Without one it stays there.
func skipDeviation(text []byte, i int) int {
	at := skipBlanks(text, i)
	if at < len(text) && text[at] == '(' {
		at = skipBlanks(text, at+1)
	}
	for _, sign := range []string{"±", "+/-", "+-"} {
		if !bytes.HasPrefix(text[at:], []byte(sign)) {
			continue
		}
		at = skipBlanks(text, at+len(sign))
		if n := scanNumber(text[at:], numberMode{}); n.kind != notNumeric {
			return at + n.size
		}
	}
	return i
}

// goesOn reports whether what stands at i, which ends most tokens, is within this one: a
// power or a product, bytes of zero as in UTF-16, and backspaces of which the terminal
// shows digits that are put over those before.
func goesOn(text []byte, i int) bool {
	c := text[i]
	if c != '*' && c != 0 && c != '\b' {
		return false
	}
	next := i
	for next < len(text) && text[next] == c {
		next++
	}
	if c == '\b' && next-i > i {
		return false // all that was printed is put away: a progress bar begins anew
	}
	if c == 0 {
		return next < len(text) && !isBlank(text[next])
	}
	return startsNumber(text[next:])
}
