package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// jsonVersion is the version of what --json prints: docs/schema/v1.json. Within a version
// fields are added, but none goes or changes its meaning.
const jsonVersion = 1

// printLine prints one of many results as JSON on a line of its own.
func printLine(w io.Writer, v any) error { return writeJSON(w, v, "") }

// printJSON prints one result as JSON.
func printJSON(w io.Writer, v any) error { return writeJSON(w, v, "  ") }

func writeJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeJSON(b.Bytes()))
	return err
}

// escapeJSON writes as \u.... what JSON leaves as it is although it can command a
// terminal: the control characters from DEL to U+009F, and those that change the
// direction of writing. In JSON they can only stand in strings.
func escapeJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	return out
}
