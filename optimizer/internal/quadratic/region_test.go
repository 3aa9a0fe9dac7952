package quadratic_test

import (
	"math"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/quadratic"
)

func TestRegion(t *testing.T) {
	local := func(predicted, gain float64) quadratic.Outcome {
		return quadratic.Outcome{Local: true, Predicted: predicted, Gain: gain}
	}
	start := quadratic.Region{}
	if got := start.Start(0.05); got.Radius != 0.95*0.05 {
		t.Errorf("radius %v, want 0.95 times the farthest", got.Radius)
	}
	if got := start.Start(0.9); got.Radius != quadratic.FirstRadius {
		t.Errorf("radius %v, want the cap", got.Radius)
	}
	r := quadratic.Region{Radius: 0.08}
	if got := r.Start(0.9); got != r {
		t.Errorf("started twice: %+v", got)
	}
	for _, c := range []struct {
		name string
		o    quadratic.Outcome
		want quadratic.Region
	}{
		{"as predicted", local(1, 0.9), quadratic.Region{Radius: 0.16}},
		{"half as good", local(1, 0.5), quadratic.Region{Radius: 0.08}},
		{"little gain", local(1, 0.1), quadratic.Region{Radius: 0.04}},
		{"worse", local(1, -2), quadratic.Region{Radius: 0.04}},
		{"failed", local(1, math.NaN()), quadratic.Region{Radius: 0.04}},
		{"better elsewhere", quadratic.Outcome{Gain: 1, Distance: 0.3}, quadratic.Region{}},
		{"better nearby", quadratic.Outcome{Gain: 1, Distance: 0.05}, r},
		{"worse elsewhere", quadratic.Outcome{Gain: -1, Distance: 0.3}, r},
		{"failed elsewhere", quadratic.Outcome{Gain: math.Inf(-1), Distance: 0.3}, r},
	} {
		if got := r.Next(c.o); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if got := (quadratic.Region{Radius: 0.9}).Next(local(1, 1)); got.Radius != quadratic.MaxRadius {
		t.Errorf("radius %v exceeds the limit", got.Radius)
	}
	if start.Collapsed() || r.Collapsed() || !(quadratic.Region{Radius: 5e-8}).Collapsed() {
		t.Error("Collapsed is wrong")
	}
}
