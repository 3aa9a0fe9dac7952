package secrets_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/secrets"
	"github.com/lbotune/lbotune/parser"
)

// repeated is what the parser says of a last line that is no number.
func repeated(t *testing.T, line string) string {
	t.Helper()
	p, err := parser.Compile(parser.Rule{Dialect: "bare-number"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Explain(strings.NewReader(line), func(parser.Match) {})
	var none *parser.NoValueError
	if !errors.As(err, &none) {
		t.Fatal(err)
	}
	return "the last line is " + strconv.Quote(none.Text)
}

// What is set and cannot be taken for other text is kept.
func TestOf(t *testing.T) {
	t.Setenv("FOUR", "abcd")
	t.Setenv("THREE", "abc")
	if got := secrets.Of([]string{"FOUR", "THREE", "LBOTUNE_UNSET"}); len(got) != 1 || got["FOUR"] != "abcd" {
		t.Errorf("kept are %d", len(got))
	}
}

// A secret is hidden where it stands whole, where a quotation has cut it, and line by
// line; what has a few of its characters is other text.
func TestHide(t *testing.T) {
	long := "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + strings.Repeat("0a1b2c3d", 12)
	s := secrets.Set{"TOKEN": "abcdefghijkl", "KEY": "-----\nMIIEvQIBADAN\nBgkqhkiG9w0B\n-----\n",
		"LONG": long, "ODD": `a"b\c-5f1<9d77`, "EIGHT": "{\neightbit\n}\n"}
	for text, want := range map[string]string{
		"":                        "",
		"token=abcdefghijkl;":     "token=[TOKEN];",
		"abcdefghijklabcdefghijk": "[TOKEN][TOKEN]",
		"the end: ...ghijkl":      "the end: ...[TOKEN]",
		"cut: abcdef...":          "cut: [TOKEN]...",
		"abc and jkl are text":    "abc and jkl are text",
		"x MIIEvQIBADAN y":        "x [KEY] y",
		"x eightbit y":            "x [EIGHT] y",
		"begins abcdef, ends":     "begins [TOKEN], ends",
		"four: abcd...":           "four: [TOKEN]...",
		"three: abc...":           "three: abc...",
		"a -----\nb":              "a -----\nb",
		"loss: " + strconv.Quote(long[:60]+"..."): `loss: "[LONG]..."`,
		"loss: " + long[:9] + "...":               "loss: [LONG]...",
		"the end " + long[len(long)-20:]:          "the end [LONG]",
		`loss: "a\"b\\c-5f1<9d77" on line 1`:      `loss: "[ODD]" on line 1`,
		`{"loss": "a\"b\\c-5f1\u003c9d77"}`:       `{"loss": "[ODD]"}`,
		repeated(t, "1 of "+long):                 `the last line is "1 of [LONG]..."`,
	} {
		t.Run(text, func(t *testing.T) {
			if got := s.Hide(text); got != want {
				t.Errorf("%q became %q; want %q", text, got, want)
			}
		})
	}
}
