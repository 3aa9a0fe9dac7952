package spaces_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/spaces"
)

func TestEnumerateFiniteSpace(t *testing.T) {
	s, err := spaces.New(
		spaces.Param{Name: "n", Kind: spaces.KindInt, Min: 1, Max: 3},
		spaces.Param{Name: "b", Kind: spaces.KindBool},
		spaces.Param{Name: "c", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.Int(1), spaces.Int(2)}, When: "b == true"},
	)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	if !s.Enumerate(func(v spaces.Values) bool { seen[v.String()] = true; return true }) {
		t.Error("the enumeration did not end by itself")
	}
	if n, ok := s.Size(100); n != 9 || !ok || len(seen) != 9 {
		t.Errorf("Size is %d (%v) and %d were enumerated, want 9", n, ok, len(seen))
	}
	if _, ok := s.Size(8); ok {
		t.Error("a limit of 8 was not exceeded by 9")
	}
	if _, ok := mixed(t).Size(1000); ok {
		t.Error("a space with a float was called finite")
	}
}

// A float with a format has exactly the values that Decode returns.
func TestEnumerateFormattedFloat(t *testing.T) {
	for _, p := range []spaces.Param{
		{Min: 0, Max: 2.7, Format: ".1f"},
		{Min: -3, Max: 3, Format: ".0f"},
		{Min: 0.1, Max: 30, Scale: spaces.Log, Format: ".1f"},
		{Min: 1e-3, Max: 10, Scale: spaces.Log, Format: ".1g"},
		{Min: 0.5, Max: 20, Format: ".1e"},
	} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			p.Name, p.Kind = "x", spaces.KindFloat
			s, err := spaces.New(p)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			steps := effort.Sequential(50_000, 200_000, 200_000)
			for i := range steps + 1 {
				v := s.Decode(spaces.Point{float64(i) / float64(steps)}).String()
				if len(want) == 0 || want[len(want)-1] != v {
					want = append(want, v)
				}
			}
			var got []string
			if !s.Enumerate(func(v spaces.Values) bool { got = append(got, v.String()); return true }) {
				t.Errorf("%+v: the enumeration did not end by itself", p)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v: got %d values %v, want %d %v", p, len(got), got, len(want), want)
			}
		})
	}
}
