package spaces_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/spaces"
)

// What is computed of round ends is as round as they are.
func TestRoundValues(t *testing.T) {
	float := func(lo, hi float64, scale spaces.Scale) spaces.Param {
		return spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: lo, Max: hi, Scale: scale}
	}
	for _, c := range []struct {
		p    spaces.Param
		u    float64
		want string
	}{
		{float(1e-4, 1, spaces.Log), 0.5, "0.01"},
		{float(1e-6, 1e-2, spaces.Log), 0.25, "1e-05"},
		{float(1e-300, 1e300, spaces.Log), 0.5, "1"},
		{float(1e-5, 1e-4, spaces.Log), 0.5, "3.16227766016838e-05"}, // 10^-4.5, which is not round
		{float(0.1, 0.3, spaces.Linear), 0.5, "0.2"},
		{float(-0.1, 0.2, spaces.Linear), 1.0 / 3, "0"},
		{float(0, 0.3, spaces.Linear), 1.0 / 3, "0.1"},
		{float(0, 0.3, spaces.Linear), 2.0 / 3, "0.2"},
		{float(-1e20, 1e20, spaces.Linear), 0.5, "0"},
		{float(1.0/3, 2.0/3, spaces.Linear), 0.5, "0.5"},
		{float(1.0/3, 2.0/3, spaces.Linear), 0, "0.3333333333333333"},
	} {
		t.Run(c.want, func(t *testing.T) {
			s, err := spaces.New(c.p)
			if err != nil {
				t.Fatal(err)
			}
			v := s.Decode(spaces.Point{c.u})
			if got := v[0].Value.Text(); got != c.want {
				t.Errorf("%v of %v to %v (%s) is %s; want %s", c.u, c.p.Min, c.p.Max, c.p.Scale, got, c.want)
			}
			back, err := s.Encode(v)
			if err != nil || math.Abs(back[0]-c.u) > 1e-14 {
				t.Errorf("%v of %v to %v comes back as %v: %v", c.u, c.p.Min, c.p.Max, back, err)
			}
		})
	}
}

// A parameter with a format has the values that it can write, so that the program
// is given what everybody else is told.
func TestFormats(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, p := range []spaces.Param{
		{Min: 1e-4, Max: 1, Scale: spaces.Log, Format: ".3g"},
		{Min: 1e-7, Max: 1e5, Scale: spaces.Log, Format: "+.2e"},
		{Min: 1e-300, Max: 1e300, Scale: spaces.Log, Format: ".17g"},
		{Min: 0.001, Max: 100, Scale: spaces.Log, Format: "9.3f"},
		{Min: -5, Max: 5, Format: ".3g"},
		{Min: -1, Max: 1, Format: ".0f"},
		{Min: 0, Max: 1, Format: "g"},
		{Min: 0, Max: 1e15, Format: ".20f"},
	} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			p.Name, p.Kind = "x", spaces.KindFloat
			s, err := spaces.New(p)
			if err != nil {
				t.Fatal(err)
			}
			for range effort.Sequential(2_000, 20_000, 20_000) {
				v := s.Decode(spaces.Point{rng.Float64()})
				x, _ := v[0].Value.Number()
				if y, err := strconv.ParseFloat(strings.TrimSpace(fmt.Sprintf("%"+p.Format, x)), 64); err != nil || x != y {
					t.Fatalf("%s writes %v as %v", p.Format, x, y)
				}
				q, err := s.Encode(v)
				if err != nil {
					t.Fatal(err)
				}
				if back := s.Decode(q); !back.Equal(v) {
					t.Fatalf("%s: %v became %v", p.Format, v, back)
				}
			}
		})
	}
	for want, p := range map[string]spaces.Param{
		`parameter x: format: the format ".3f" writes the value 0.0001 of the range as 0.000`: {Name: "x", Kind: spaces.KindFloat, Min: 1e-4, Max: 1, Format: ".3f"},
		`parameter x: format: the format ".1g" writes the value 0.15 of the range as 0.1`:     {Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 0.15, Format: ".1g"},
		`parameter x: format: only a float has a format; this one is int`:                     {Name: "x", Kind: spaces.KindInt, Min: 0, Max: 3, Format: ".1g"},
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := spaces.New(p); err == nil || err.Error() != want {
				t.Errorf("%+v: %v; want %s", p, err, want)
			}
		})
	}
}
