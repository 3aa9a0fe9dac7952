package parser

import (
	"bytes"
	"unicode/utf8"
)

// lastNumber finds the last number of each line. Every line that is not
// blank has an occurrence, so that the last one is that of the last line, with
// a number or without.
func lastNumber(l line, found []occurrence) []occurrence {
	if l.blank() {
		return found
	}
	last := occurrence{kind: absent, end: len(l.text)}
	if 3*bytes.Count(l.text, []byte{0}) > len(l.text) { // in UTF-16
		return append(found, last)
	}
	for i := 0; i < len(l.text); {
		n := number{}
		if numberStarts(l.text, i) {
			n = scanNumber(l.text[i:], numberMode{cut: l.cut})
		}
		if n.kind == notNumeric {
			i++
			continue
		}
		before := trimBlanks(l.text[:i])
		if last.kind != absent && (bytes.HasSuffix(before, []byte("±")) || bytes.HasSuffix(before, []byte("+/-"))) {
			i += n.size // one more deviation, behind a word: "0.93 ± 0.01 (stat) ± 0.02 (syst)"
			continue
		}
		if end := thousands(l.text[i:], n.size); end > 0 && bytes.HasSuffix(before, []byte(":")) {
			n = number{kind: unreadable, size: end} // elsewhere a blank stands between two numbers
		} else if end := inUnits(l.text[i:], n.size); end > 0 {
			n = number{kind: unreadable, size: end}
		}
		r, size := utf8.DecodeLastRune(before)
		ahead := trimBlanks(before[:len(before)-size])
		if (r == '-' || isMinus(r)) && (bytes.HasSuffix(ahead, []byte(":")) || bytes.HasSuffix(ahead, []byte("="))) {
			n.kind = unreadable // "loss: - 0.5"; elsewhere the dash is one between words, or begins a list
		}
		last = occurrence{kind: n.kind, value: n.value, at: i, end: i + n.size}
		i = skipDeviation(l.text, i+n.size)
	}
	return append(found, last)
}

// numberStarts reports whether a number may start at i, and would not be the end of a word:
// v1.2 and P@1 hold no number, nor does the second half of a text in UTF-16.
func numberStarts(text []byte, i int) bool {
	c := text[i]
	if !isDigit(c) && c < utf8.RuneSelf && bytes.IndexByte([]byte(".+-nNiI"), c) < 0 {
		return false
	}
	before, _ := utf8.DecodeLastRune(bytes.TrimRight(text[:i], "\x00"))
	return i == 0 || !isNameRune(before) && before != '+' && !isMinus(before)
}
