package lipschitz_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/lipschitz"
)

func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		schedule string
		kappa    float64
		t, d     int
		want     float64
	}{
		{"paper", 10, 30, 4, 300},
		{"paper", 10, 0, 4, 10},
		{"constant", 2, 30, 4, 2},
		{"root", 2, 30, 4, 2},
		{"root", 1.5, 160, 2, 1.5 * math.Sqrt(8)},
		{"root", 1, 60 * 64, 6, 2},
	} {
		t.Run(c.schedule, func(t *testing.T) {
			if got := lipschitz.Multiplier(c.schedule, c.kappa, c.t, c.d); math.Abs(got-c.want) > 1e-12 {
				t.Errorf("%s: %v, want %v", c.schedule, got, c.want)
			}
		})
	}
}

func TestGeometricGrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 1000 {
		slope := math.Exp(10 * rng.NormFloat64())
		l := lipschitz.GeometricGrid(slope, 0.1)
		if l < slope || l > slope*1.1*(1+1e-12) {
			t.Fatalf("slope %v became %v", slope, l)
		}
		if again := lipschitz.GeometricGrid(l, 0.1); again != l {
			t.Fatalf("%v is on the grid, but became %v", l, again)
		}
		k := math.Log(l) / math.Log(1.1)
		if math.Abs(k-math.Round(k)) > 1e-9 {
			t.Fatalf("%v is no power of 1.1", l)
		}
	}
	if lipschitz.GeometricGrid(0, 0.1) != 0 || lipschitz.GeometricGrid(3, 0) != 3 {
		t.Error("slope 0 or alpha 0 changed")
	}
}
