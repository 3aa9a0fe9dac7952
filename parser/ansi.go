package parser

import (
	"bytes"

	"github.com/lbotune/lbotune/internal/ansi"
)

// stripANSI appends text without its ANSI escape sequences to dst. Colours,
// titles and links vanish without a trace; a sequence that moves the cursor or
// erases becomes a blank, since what stands after it was not printed beside
// what stands before it.
func stripANSI(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, ansi.Escape)
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		size, moves := ansi.Sequence(text[i:])
		if moves {
			dst = append(dst, ' ')
		}
		text = text[i+size:]
	}
}
