package quadratic_test

import (
	"math"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/quadratic"
)

func TestRegion(t *testing.T) {
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
		name       string
		gain, want float64
	}{
		{"as predicted", 0.9, 0.16},
		{"half as good", 0.5, 0.08},
		{"little gain", 0.1, 0.04},
		{"worse", -2, 0.04},
		{"failed", math.NaN(), 0.04},
		{"broken off", math.Inf(-1), 0.04},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := r.Judged(1, c.gain); got.Radius != c.want {
				t.Errorf("%s: %+v, want %v", c.name, got, c.want)
			}
		})
	}
	if got := (quadratic.Region{Radius: 0.9}).Judged(1, 1); got.Radius != quadratic.MaxRadius {
		t.Errorf("radius %v exceeds the limit", got.Radius)
	}
	if elsewhere, nearby := r.Moved(0.3), r.Moved(0.05); elsewhere != start || nearby != r {
		t.Errorf("after a better point elsewhere %+v, and nearby %+v", elsewhere, nearby)
	}
	if start.Collapsed() || r.Collapsed() || !(quadratic.Region{Radius: 5e-8}).Collapsed() {
		t.Error("Collapsed is wrong")
	}
}
