package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode"
)

// JSON commands no terminal, and reads back as what it was.
func TestJSONIsPrintable(t *testing.T) {
	every := ""
	for r := rune(0); r <= 0xff; r++ {
		every += string(r)
	}
	every += "\u200e\u202e\u2066\u2028 \U0001f600"
	for _, print := range []func(*bytes.Buffer) error{
		func(b *bytes.Buffer) error { return printJSON(b, map[string]string{every: every}) },
		func(b *bytes.Buffer) error { return printLine(b, map[string]string{every: every}) },
	} {
		var b bytes.Buffer
		if err := print(&b); err != nil {
			t.Fatal(err)
		}
		for _, r := range b.String() {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Errorf("it holds %q", r)
			}
		}
		var got map[string]string
		if err := json.Unmarshal(b.Bytes(), &got); err != nil || got[every] != every {
			t.Errorf("%v: reads back as %q", err, got)
		}
	}
}
