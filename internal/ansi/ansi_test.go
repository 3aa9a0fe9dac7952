package ansi_test

import (
	"testing"

	"github.com/lbotune/lbotune/internal/ansi"
)

func TestSequence(t *testing.T) {
	for text, want := range map[string]struct {
		size  int
		moves bool
	}{
		"":                   {0, false},
		"text":               {0, false},
		"é":                  {0, false},
		"\x9b1m":             {0, false}, // not UTF-8
		"\x1b":               {1, false},
		"\x1b[1;31mred":      {7, false},
		"\x1b[Krest":         {3, true},
		"\x1b[12":            {4, false},
		"\x1b[é":             {2, false},
		"\x1b[3\x1b[1m":      {3, false},
		"\x1b]0;t\x07x":      {6, false},
		"\x1b]0;t\x1b\\x":    {7, false},
		"\u009d0;t\u009cx":   {7, false},
		"\x1b]0;t":           {2, false},
		"\x1b]0;t\n\x07":     {2, false},
		"\x1b]0\x1b[1m\x07":  {2, false},
		"\x1b]0\u009b1m\x07": {2, false},
		"\x1bPq#0~\x1b\\x":   {8, false},
		"\x1b(Bx":            {3, false},
		"\x1b(":              {2, false},
		"\x1b( é":            {3, false},
		"\x1b7x":             {2, false},
		"\x1bMx":             {2, true},
		"\u0085x":            {2, true},
		"\u009b31mx":         {5, false},
		"\x1b\nx":            {1, false},
		"\x1bé":              {1, false},
	} {
		t.Run(text, func(t *testing.T) {
			size, moves := ansi.Sequence(text)
			if size != want.size || moves != want.moves {
				t.Errorf("Sequence(%q) = %d, %v, want %+v", text, size, moves, want)
			}
			if same, _ := ansi.Sequence([]byte(text)); same != size {
				t.Errorf("Sequence of the bytes %q = %d, of the string %d", text, same, size)
			}
		})
	}
}
