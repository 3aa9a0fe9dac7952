package parser_test

import (
	"testing"

	"github.com/lbotune/lbotune/parser"
)

// Numbers that JSON lacks are written in quotes, and text is left alone.
func TestQuoteNonFinite(t *testing.T) {
	for text, want := range map[string]string{
		`{"value": NaN}`: `{"value": "NaN"}`,
		`{"metrics": {"a": -Infinity, "b": 1e-3}}`: `{"metrics": {"a": "-Infinity", "b": 1e-3}}`,
		`{"failed": "NaN \\", "value": Infinity}`:  `{"failed": "NaN \\", "value": "Infinity"}`,
		`{"failed": "a \" NaN"}`:                   `{"failed": "a \" NaN"}`,
		`{"value": "NaN"}`:                         `{"value": "NaN"}`,
		`"\`:                                       `"\`,
		`{"value": -nan, "a": [inf, .5, 0x1, 2]}`:  `{"value": "-nan", "a": ["inf", .5, 0x1, 2]}`,
		`{"value": null, "a": True}`:               `{"value": null, "a": True}`,
	} {
		t.Run(text, func(t *testing.T) {
			if got := string(parser.QuoteNonFinite([]byte(text))); got != want {
				t.Errorf("%s became %s; want %s", text, got, want)
			}
		})
	}
}
