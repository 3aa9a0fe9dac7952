package main

import (
	"strings"
	"testing"
)

// A picture that moves begins with its first lines, not with an empty terminal.
func TestBeginsWithItsFirstLines(t *testing.T) {
	var b strings.Builder
	if err := draw(&b, strings.NewReader(strings.Repeat("line\n", atOnce+2)), "title", 100, 0, 80, 0.5); err != nil {
		t.Fatal(err)
	}
	for moment, want := range map[string]int{"0.00s": atOnce, "0.50s": 1, "1.00s": 1} {
		t.Run(moment, func(t *testing.T) {
			if n := strings.Count(b.String(), "animation-duration:"+moment); n != want {
				t.Errorf("%d lines wait for %s, want %d", n, moment, want)
			}
		})
	}
}
