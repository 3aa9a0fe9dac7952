package parser

import "bytes"

const escape = 0x1b

// stripANSI appends text without its ANSI escape sequences to dst. Colours,
// titles and links vanish without a trace; a sequence that moves the cursor or
// erases becomes a blank, since what stands after it was not printed beside
// what stands before it.
func stripANSI(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, escape)
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		size, moves := escapeSequence(text[i:])
		if moves {
			dst = append(dst, ' ')
		}
		text = text[i+size:]
	}
}

// escapeSequence measures the sequence that starts text (ECMA-48, 5.3 to 5.6)
// and tells whether it moves the cursor or erases.
func escapeSequence(text []byte) (size int, moves bool) {
	if len(text) < 2 {
		return len(text), false
	}
	switch c := text[1]; {
	case c == '[':
		i := 2
		for i < len(text) && 0x20 <= text[i] && text[i] <= 0x3f {
			i++
		}
		if i == len(text) {
			return i, false
		}
		return i + 1, text[i] != 'm'
	case c == ']', c == 'P', c == 'X', c == '^', c == '_':
		return controlString(text), false
	default:
		i := 1
		for i < len(text) && 0x20 <= text[i] && text[i] <= 0x2f {
			i++
		}
		return min(i+1, len(text)), false
	}
}

// controlString measures a string sequence, which ends at BEL or ESC \. One
// that another sequence interrupts, or that does not end soon, is only its two
// opening bytes: the rest is text.
func controlString(text []byte) int {
	const longest = 4096
	for i := 2; i < min(len(text), longest); i++ {
		switch {
		case text[i] == 0x07:
			return i + 1
		case text[i] == escape && i+1 < len(text) && text[i+1] == '\\':
			return i + 2
		case text[i] == escape:
			return 2
		}
	}
	return 2
}
