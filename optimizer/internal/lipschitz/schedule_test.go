package lipschitz_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/lipschitz"
)

func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		s     lipschitz.Schedule
		kappa float64
		t, d  int
		want  float64
	}{
		{lipschitz.SchedulePaper, 10, 30, 4, 300},
		{lipschitz.ScheduleConstant, 2, 30, 4, 2},
		{lipschitz.ScheduleRoot, 2, 30, 4, 2},
		{lipschitz.ScheduleRoot, 1.5, 160, 2, 1.5 * math.Sqrt(8)},
		{lipschitz.ScheduleRoot, 1, 60 * 64, 6, 2},
	} {
		got, err := c.s.Multiplier(c.kappa, c.t, c.d)
		if err != nil || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, %v, want %v", c.s, got, err, c.want)
		}
	}
	if _, err := lipschitz.Schedule("log").Multiplier(1, 1, 1); err == nil {
		t.Error("an unknown schedule was taken")
	}
	for _, kappa := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := lipschitz.ScheduleConstant.Multiplier(kappa, 1, 1); err == nil {
			t.Errorf("kappa %v was taken", kappa)
		}
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
