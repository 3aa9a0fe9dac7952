package spaces_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

// A relation that would take more of the stack than there is, is refused at its place.
func TestDeepRelations(t *testing.T) {
	params := []spaces.Param{spaces.NewFloat("x", 0, 1), spaces.NewBool("b")}
	for name, text := range map[string]string{
		"parentheses": strings.Repeat("(", 500_000) + "x",
		"minus":       strings.Repeat("-", 500_000) + "x <= 1",
		"not":         strings.Repeat("not ", 500_000) + "b",
		"powers":      "x" + strings.Repeat(" ** x", 500_000) + " <= 1",
		"functions":   strings.Repeat("abs(", 500_000) + "x",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := spaces.ParseRelation(text, params)
			if wrong := new(spaces.RelationError); !errors.As(err, &wrong) || wrong.Message != "more than 100 expressions stand within each other" || wrong.Offset > 1000 {
				t.Errorf("found %v", err)
			}
		})
	}
	if _, err := spaces.ParseRelation(strings.Repeat("(", 90)+"x"+strings.Repeat(")", 90)+" < 1", params); err != nil {
		t.Error(err)
	}
	if r, err := spaces.ParseRelation("x"+strings.Repeat(" + x", 100_000)+" >= 0", params); err != nil || !r.Holds(spaces.Values{{Name: "x", Value: spaces.Float(1)}}) {
		t.Error(err)
	}
}

// Whatever a relation or a condition is, it is read or refused at a place of its own.
func FuzzParseRelation(f *testing.F) {
	for _, text := range []string{"x + y <= 1", "kind in ['a', 'b'] and not b", "min(x, y) ** -2 > 3e5 % 2", "((x)) != -y", "'", "x <", "log(x) == inf"} {
		f.Add(text)
	}
	params := []spaces.Param{spaces.NewFloat("x", 0, 1), spaces.NewFloat("y", 0, 1), spaces.NewBool("b"), spaces.NewChoice("kind", "a", "b")}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := spaces.ParseRelation(text, params)
		if err == nil {
			r.Holds(spaces.Values{{Name: "x", Value: spaces.Float(0.5)}, {Name: "y", Value: spaces.Float(0)}, {Name: "b", Value: spaces.Bool(true)}, {Name: "kind", Value: spaces.String("a")}})
		} else if wrong := new(spaces.RelationError); !errors.As(err, &wrong) || wrong.Offset < 0 || wrong.Offset > len(text) || wrong.Message == "" {
			t.Errorf("found %v", err)
		}
		_, _ = spaces.New(append(params, spaces.Param{Name: "z", Kind: spaces.KindBool, When: text})...)
	})
}
