package session_test

import (
	"testing"

	"github.com/lbotune/lbotune/session"
)

// A secret is hidden where it stands whole, where a quotation has cut it, and line by
// line; what has a few of its characters is other text.
func TestHide(t *testing.T) {
	s := session.Secrets{"TOKEN": "abcdefghijkl", "KEY": "-----\nMIIEvQIBADAN\nBgkqhkiG9w0B\n-----\n"}
	for text, want := range map[string]string{
		"":                        "",
		"token=abcdefghijkl;":     "token=[TOKEN];",
		"abcdefghijklabcdefghijk": "[TOKEN][TOKEN]",
		"the end: ...ghijkl":      "the end: ...[TOKEN]",
		"cut: abcdef...":          "cut: [TOKEN]...",
		"abc and jkl are text":    "abc and jkl are text",
		"x MIIEvQIBADAN y":        "x [KEY] y",
		"a -----\nb":              "a -----\nb",
	} {
		if got := s.Hide(text); got != want {
			t.Errorf("%q became %q; want %q", text, got, want)
		}
	}
}
