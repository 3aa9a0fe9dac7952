package spaces_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

func relatedParams() []spaces.Param {
	return []spaces.Param{
		{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1},
		{Name: "y", Kind: spaces.KindFloat, Min: 1e-6, Max: 1, Scale: spaces.Log},
		{Name: "n", Kind: spaces.KindInt, Min: 0, Max: 64},
		{Name: "on", Kind: spaces.KindBool},
		{Name: "opt", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("sgd"), spaces.String("adam")}},
		{Name: "batch", Kind: spaces.KindOrdered, Choices: []spaces.Value{spaces.Int(16), spaces.Int(32), spaces.Float(48.5)}},
		{Name: "momentum", Kind: spaces.KindFloat, Min: 0, Max: 1, When: "opt == 'sgd'"},
	}
}

func TestRelationHolds(t *testing.T) {
	v := spaces.Values{{Name: "x", Value: spaces.Float(0.25)}, {Name: "y", Value: spaces.Float(0.5)}, {Name: "n", Value: spaces.Int(6)},
		{Name: "on", Value: spaces.Bool(true)}, {Name: "opt", Value: spaces.String("adam")}, {Name: "batch", Value: spaces.Int(32)}}
	for text, want := range map[string]bool{
		"x <= y":                            true,
		"x + y <= 0.75":                     true,
		"x + y < 0.75":                      false,
		"x * 2 == y":                        true,
		"x ** 2 < 0.0626":                   true,
		"n % 3 == 0":                        true,
		"n % 4 == 0":                        false,
		"12 % (n - 6) == 0":                 false, // has no value
		"n / 4 == 1.5":                      true,
		"n > x and not (y > x)":             false,
		"n > 60 or on":                      true,
		"opt == 'sgd' or x < 0.3":           true,
		"opt in ['sgd', 'adam'] and x <= 1": true,
		"not on or batch >= 32":             true,
		"batch * x == 8":                    true,
		"max(x, y) == 0.5":                  true,
		"abs(x - y) < 0.2":                  false,
		"0 < x and x <= y":                  true,
		"x < y and not (n == 3)":            true,
		"-x ** 2 < 0":                       true,
		"2 ** 3 ** 2 == 512 and x < 1":      true,
		"7 - 2 - 1 == 4 and x < 1":          true,
		"log2(batch) == n - 1":              true,
		"0.1 + 0.2 == 0.3 and x < 1":        true,
		"0.1 + 0.2 > 0.3 or x > 1":          false,
		"batch != 48.5":                     true,
		"n in [5, 6]":                       true,
		"0.1 + 0.2 - 0.3 <= 0 and x < 1":    true,
		"0.1 - 0.3 + 0.2 == 0 and x < 1":    true,
		"0.1 + 0.2 - 0.3001 == 0 or x > 1":  false,
		"1/(n - 6) - 1/(n - 6) == 0":        false, // has no value
		"0.3 % 0.1 == 0 and x < 1":          true,
		"0.35 % 0.1 == 0 or x > 1":          false,
		"2 ** (n * 1000) <= 5 or x > 1":     false, // beyond the largest float64
		"2 ** (n * 1000) > 5 and x < 1":     true,
		"exp(n * 1000) == 5 or x > 1":       false,
		"exp(n * 1000) == 1/(n - 6)":        true,
		"0.7 % 0 == 0 or x > 1":             false,
		"(0 - 7) % 3 == -1 and x < 1":       true,
		"9007199254740991 % 2 == 1 and on":  true,
		"floor(0.3 / 0.1) == 3 and x < 1":   true,
		"ceil(0.1 * 3 / 0.3) == 1 and on":   true,
		"floor(0.25 / 0.1) == 2 and on":     true,
	} {
		t.Run(text, func(t *testing.T) {
			r, err := spaces.ParseRelation(text, relatedParams())
			if err != nil {
				t.Errorf("%s: %v", text, err)
				return
			}
			if got := r.Holds(v); got != want {
				t.Errorf("%s: %v", text, got)
			}
		})
	}
}

func TestRelationErrors(t *testing.T) {
	for text, want := range map[string]struct {
		at, message string
		near        string
	}{
		"x + z <= 1":             {"z", "no parameter z", "x"},
		"x <":                    {"", "found the end; want a parameter", ""},
		"x <= y )":               {")", "want the end", ""},
		"(x <= y":                {"", "or )", ""},
		"x + y":                  {"x + y", "no comparison", ""},
		"x < opt":                {"opt", "opt is a text; want a number", ""},
		"on == 1":                {"1", "1 is a number; want true or false", ""},
		"x and on":               {"x", "x is a number", ""},
		"batch == 17":            {"17", "batch is never 17", "16"},
		"x = y":                  {"=", "means nothing", ""},
		"opt == sgd":             {"sgd", "sgd is a choice of opt: write it in quotes, 'sgd'", ""},
		"sqrt(x, y) < 1":         {"y", "one number", ""},
		"opt == 'sdg'":           {"'sdg'", "opt is never 'sdg'", "sgd"},
		"opt in ['sgd', 'adan']": {"", "opt is never 'adan'", "adam"},
		"1 < 2":                  {"1 < 2", "names no parameter", ""},
		"0 < x < 1":              {"0 < x", "0 < x is true or false; x < y < z is written", ""},
		"x == y == 1":            {"x == y", "x == y is true or false", ""},
		"(x + y) * 2 < 'a'":      {"'a'", "'a' is a text", ""},
		"opt < (x) + abs(y) > x": {"opt", "opt is a text", ""},
		"(x) + abs(y) or on":     {"(x) + abs(y)", "(x) + abs(y) is a number", ""},
		"len(opt) > 3":           {"len", "no parameter len", ""},
		"":                       {"", "want a parameter", ""},
	} {
		t.Run(text, func(t *testing.T) {
			_, err := spaces.ParseRelation(text, relatedParams())
			var e *spaces.RelationError
			if !errors.As(err, &e) {
				t.Errorf("%q: %v", text, err)
				return
			}
			if !strings.Contains(e.Message, want.message) {
				t.Errorf("%q: %s", text, e.Message)
			}
			end := min(e.Offset+e.Len, len(text))
			if got := text[min(e.Offset, len(text)):end]; want.at != "" && got != want.at {
				t.Errorf("%q: the place is %q, of %+v", text, got, e)
			}
			if want.near != "" && !strings.Contains(strings.Join(e.Allowed, " "), want.near) {
				t.Errorf("%q: allowed are %q", text, e.Allowed)
			}
		})
	}
}

// A relation says nothing of a parameter that does not exist.
func TestAbsentParameters(t *testing.T) {
	s, err := spaces.New(relatedParams()...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := spaces.ParseRelation("momentum + x <= 0.5", relatedParams())
	if err != nil {
		t.Fatal(err)
	}
	if s, err = s.Where(r); err != nil {
		t.Fatal(err)
	}
	adam := spaces.Values{{Name: "x", Value: spaces.Float(0.9)}, {Name: "opt", Value: spaces.String("adam")}}
	if _, err := s.Complete(adam); err != nil {
		t.Error(err)
	}
	sgd := spaces.Values{{Name: "x", Value: spaces.Float(0.9)}, {Name: "opt", Value: spaces.String("sgd")}}
	if v, err := s.Complete(sgd); err == nil {
		t.Error(v)
	}
}
