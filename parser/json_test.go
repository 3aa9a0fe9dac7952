package parser_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/parser"
)

// A JSON text may begin where another has ended, as in a file to which a program appends, or at the
// end of a line.
func TestJSONTextsInARow(t *testing.T) {
	for log, want := range map[string]string{
		"{\n\"loss\": 0.5\n}{\n\"loss\": 0.7\n}\n":                 "0.5 0.7",
		"{\"a\": 1,\n\"loss\": 0.5} {\"loss\": 0.7}\n":             "0.5 0.7",
		"{\"loss\": 0.5}{\n\"loss\": 0.7\n}{\n\"loss\": 0.8\n}":    "0.5 0.7 0.8",
		"result: {\n\"loss\": 0.5\n}\nresult: {\n\"loss\": 0.7}\n": "0.5 0.7",
		"main() {\n{\"loss\": 0.5}\n}\n{\"loss\": 0.7}\n":          "0.5 0.7",
		"{\"msg\": \"{\",\n\"loss\": 0.5}\n":                       "0.5",
		"{\"loss\": 0.5}\n{\"loss\": 0.7 {\n{\"loss\": 0.8}\n":     "0.5 0.8",
	} {
		t.Run(log, func(t *testing.T) {
			var got []string
			for _, r := range readings(t, parser.Rule{JSON: "loss"}, log) {
				got = append(got, r.Text)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%q: got %q, want %q", log, got, want)
			}
		})
	}
}

// Of a name that stands twice in one object the last value counts, as for all who read JSON.
func TestSameNameTwiceInJSON(t *testing.T) {
	for text, want := range map[string]float64{
		`{"loss": 1, "loss": 2}`:                         2,
		"{\"loss\": 1,\n\"loss\": 2}":                    2,
		`{"loss": NaN, "loss": 2}`:                       2,
		`{"loss": 2, "loss": "diverged"}`:                0,
		`{"loss": 2, "loss": nan}`:                       0,
		`{"loss": 2, "loss": null}`:                      0,
		`[tune-metric]: {"loss": 1, "loss": 2}`:          2,
		`[tune-metric]: {"loss": 2, "loss": "diverged"}`: 0,
	} {
		for _, source := range []parser.Source{parser.Stdout, parser.File} {
			for _, pick := range []string{"last", "first", "min", "mean"} {
				rule := parser.Rule{JSON: "loss", Source: source, Pick: pick}
				if strings.HasPrefix(text, "[") {
					rule = parser.Rule{Dialect: "tune-metric", Metric: "loss", Source: source, Pick: pick}
				}
				got, err := read(t, rule, source, text+"\n")
				if got.Value != want || (err == nil) != (want > 0) {
					t.Errorf("%s of %s, %s: %v, %v; want %v", pick, text, source, got.Value, err, want)
				}
			}
		}
	}
}

// The hint is for the text that the message speaks of, and not for one before it.
func TestHintOfTheNearestText(t *testing.T) {
	_, err := read(t, parser.Rule{JSON: "eval.f1"}, parser.Stdout, `{"Eval": {"f1": 0.5}}`+"\n"+`{"eval": {"f1": null}}`)
	var none *parser.NoValueError
	if !errors.As(err, &none) || !strings.Contains(none.Detail, "line 2 has null") || none.Hint != "" {
		t.Errorf("got %+v", none)
	}
}
