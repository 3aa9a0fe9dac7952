package lipschitz

import "math"

// Multiplier returns L/L_lb: by what the estimate L_lb, which is never too large, is raised to
// the constant in use for t observations in d active dimensions. By schedule it is
//
//	constant  κ; multipliers from 1 to about 3 change decisions
//	root      κ max(1, (t/t0)^(1/d)), t0 = 10 d. It grows no faster than the paper's argument
//	          for harmlessness needs: L exceeds the true constant after a number of
//	          observations of the order (1/ε)^d
//	paper     κ t, with κ = 10: so loose that in practice the bounds exclude nothing
func Multiplier(schedule string, kappa float64, t, d int) float64 {
	n := float64(max(d, 1))
	switch schedule {
	case "paper":
		return kappa * float64(max(t, 1))
	case "root":
		return kappa * math.Max(1, math.Pow(float64(t)/(10*n), 1/n))
	}
	return kappa
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
