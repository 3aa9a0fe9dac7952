package ansi_test

import (
	"testing"

	"github.com/lbotune/lbotune/internal/ansi"
)

func TestSanitize(t *testing.T) {
	for in, want := range map[string]string{
		"plain äöü 漢字\n\ttab":            "plain äöü 漢字\n\ttab",
		"10%\r20%\r\n30%\r":              "10%\n20%\n30%",
		"\r\n\r\r\nx":                    "\n\nx",
		"\x1b[1;31mred\x1b[0m":           "red",
		"\x1b[2J\x1b[H\x1b[?25lx":        "x",
		"a\x1b]0;title\x07b":             "ab",
		"a\x1b]0;title\x1b\\b":           "ab",
		"a\x1b]8;;http://x\x1b\\b\n":     "ab\n",
		"a\x1bPq#0~\x1b\\b":              "ab",
		"a\x1b]0;never ends\nb":          "a0;never ends\nb",
		"a\x1b(Bb":                       "ab",
		"a\x1b=b\x1b7c\x1bM":             "abc",
		"a\u009b31mb\u009d0;t\u009cc":    "abc",
		"a\x9b31mb":                      "a\ufffd31mb",
		"bell\x07 back\x08 nul\x00 \x7f": "bell back nul ",
		"evil\u202etxt.exe\u2066":        "eviltxt.exe",
		"\x1b":                           "",
		"\x1b[":                          "",
		"\x1b[12":                        "",
		"\x1b\nb":                        "\nb",
		"\x1b\x1b[31mb":                  "b",
		"\xff\xfe":                       "\ufffd\ufffd",
	} {
		t.Run(in, func(t *testing.T) {
			if got := ansi.Sanitize(in); got != want {
				t.Errorf("Sanitize(%q) = %q, want %q", in, got, want)
			}
		})
	}
}

func FuzzSanitize(f *testing.F) {
	f.Add("\x1b]0;x\x1b\\\u009b1m\r\n\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := ansi.Sanitize(s)
		for _, r := range got {
			if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
				t.Errorf("Sanitize(%q) = %q keeps %q", s, got, r)
			}
		}
		if again := ansi.Sanitize(got); again != got {
			t.Errorf("Sanitize(%q) = %q, and of that %q", s, got, again)
		}
	})
}
