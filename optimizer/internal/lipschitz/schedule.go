package lipschitz

import (
	"fmt"
	"math"
	"strings"
)

// Schedule names a rule by which the estimate L_lb, which is never too large, is
// raised to the constant in use: L = multiplier · L_lb.
type Schedule string

// The schedules; t is the number of observations and d that of active dimensions.
const (
	// SchedulePaper is κ t, the paper's (with κ = 10). It makes the bounds so loose
	// that in practice they exclude nothing.
	SchedulePaper Schedule = "paper"
	// ScheduleConstant is κ. Multipliers from 1 to about 3 change decisions.
	ScheduleConstant Schedule = "constant"
	// ScheduleRoot is κ max(1, (t/t0)^(1/d)), t0 = 10 d. It grows no faster than the
	// paper's argument for harmlessness needs: L exceeds the true constant after a
	// number of observations of the order (1/ε)^d.
	ScheduleRoot Schedule = "root"
)

// Schedules returns the names of all schedules.
func Schedules() []Schedule {
	return []Schedule{SchedulePaper, ScheduleConstant, ScheduleRoot}
}

// Multiplier returns L/L_lb for t observations in d active dimensions.
func (s Schedule) Multiplier(kappa float64, t, d int) (float64, error) {
	if !(kappa > 0) || math.IsInf(kappa, 1) {
		return 0, fmt.Errorf("kappa is %v, it must be a finite number above 0", kappa)
	}
	t, d = max(t, 1), max(d, 1)
	switch s {
	case SchedulePaper:
		return kappa * float64(t), nil
	case ScheduleConstant:
		return kappa, nil
	case ScheduleRoot:
		n := float64(d)
		return kappa * math.Max(1, math.Pow(float64(t)/(10*n), 1/n)), nil
	}
	names := make([]string, 0, len(Schedules()))
	for _, known := range Schedules() {
		names = append(names, string(known))
	}
	return 0, fmt.Errorf("unknown Lipschitz schedule %q, want one of %s", s, strings.Join(names, ", "))
}

// GeometricGrid returns the smallest (1+alpha)^k >= slope, k an integer: how AdaLIPO
// turns the largest slope into its estimate (Malherbe and Vayatis 2017). It
// exceeds the slope by less than the factor 1+alpha. A slope of 0 stays 0.
func GeometricGrid(slope, alpha float64) float64 {
	if slope <= 0 || alpha <= 0 {
		return math.Max(slope, 0)
	}
	base := math.Log1p(alpha)
	k := math.Ceil(math.Log(slope) / base)
	if l := math.Exp((k - 1) * base); l >= slope { // log rounded upwards
		return l
	}
	if l := math.Exp(k * base); l >= slope {
		return l
	}
	return math.Exp((k + 1) * base)
}
