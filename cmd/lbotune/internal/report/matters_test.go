package report

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// What matters is the same whatever the values are multiplied by, or how much is added to them.
func TestWhatMattersInAnyUnit(t *testing.T) {
	for name, unit := range map[string]func(float64) float64{
		"huge":   func(v float64) float64 { return 1.5e308 * (2*v - 1) },
		"offset": func(v float64) float64 { return 1e9 + 1e-3*v },
	} {
		t.Run(name, func(t *testing.T) {
			h := begin(t, float("x"), float("y"))
			for k := range 24 {
				x, y := math.Mod(float64(k+1)*math.Phi, 1), math.Mod(float64(k+1)*math.Sqrt2, 1)
				h.trialOf([]float64{x, y}, unit(0.9*x+0.1*y))
			}
			s := h.of(false)
			if err := s.Unimportant(); err != nil {
				t.Fatal(err)
			}
			x := s.Model.Importance.Params[0]
			if share := s.Model.Importance.Share(x.Gain).Value; !(x.Total.Value > 0.9) || !(share > 0.7 && share < 1) {
				t.Errorf("x has a total of %v and %v of the gain", x.Total, share)
			}
			if _, err := json.Marshal(s); err != nil {
				t.Error(err)
			}
		})
	}
}

// Of two parameters one is said to matter most only where that is likely.
func TestWhatMattersMostMayBeOpen(t *testing.T) {
	for want, first := range map[string][3]float64{
		"a matters most: ": {0.95, 0.05, 0},
		"It is a or b that matters most: 60 % likely a, ":             {0.6, 0.35, 0.05},
		"It is open which parameter matters most: 40 % likely a, and": {0.4, 0.3, 0.3},
		"It is a or c that matters most: 55 % likely a, ":             {0.55, 0.05, 0.4},
		"It is b or c that matters most: 60 % likely b, ":             {0.05, 0.6, 0.35},
	} {
		im := Importance{Objective: "loss"}
		for i, p := range first {
			im.Params = append(im.Params, ParamRow{Param: string(rune('a' + i)), First: p, Total: Interval{0.3 - 0.1*float64(i), 0, 1}, Good: Interval{0.3, 0, 1}})
		}
		if got := im.said("")[0]; !strings.HasPrefix(got, want) {
			t.Errorf("%s; want %s", got, want)
		}
	}
}

// The shares of gains of which the sum is no number are those of smaller ones.
func TestSharesOfHugeGains(t *testing.T) {
	im := Importance{Params: []ParamRow{{Gain: Interval{Value: 1.5e308}}, {Gain: Interval{Value: 0.5e308}}}}
	if got := im.Share(Interval{1.5e308, 1e308, 1.7e308}); math.Abs(got.Value-0.75) > 1e-12 || math.Abs(got.Low-0.5) > 1e-12 || math.Abs(got.High-0.85) > 1e-12 {
		t.Errorf("%+v", got)
	}
}

// Nothing matters to values that differ in how they were rounded.
func TestRoundingIsNoDifference(t *testing.T) {
	h := begin(t, float("x"), float("y"))
	for k := range 24 {
		x, y := math.Mod(float64(k+1)*math.Phi, 1), math.Mod(float64(k+1)*math.Sqrt2, 1)
		loss := 0.3
		if x > 0.5 {
			loss = math.Nextafter(loss, 1)
		}
		h.trialOf([]float64{x, y}, loss)
	}
	if err := h.of(false).Unimportant(); err == nil || err.Error() != "all values are equal" {
		t.Errorf("%v; want that all values are equal", err)
	}
}
