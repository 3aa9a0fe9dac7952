package acquisition

import "math"

// Penalty is the local penaliser of one pending point (González et al. 2016): an
// estimate of the probability that x lies outside the ball around the pending
// point that, by the Lipschitz constant, cannot hold the maximum,
//
//	φ(x) = Φ((‖x - Center‖ - Radius)/Width),
//	Radius = (best - mu)/L,  Width = sigma/L.
//
// Distances are in the metric of L: ‖(x - Center)/Scale‖, Scale nil meaning 1.
type Penalty struct {
	Center []float64
	Scale  []float64
	Radius float64
	Width  float64
}

// NewPenalty returns the penaliser of a pending point with posterior mean mu and
// standard deviation sigma; best is the incumbent value and lipschitz > 0 an
// estimate of the Lipschitz constant in the metric given by scale. Where the
// posterior mean promises more than best the radius is 0, not negative: a pending
// point repels however good it looks.
func NewPenalty(center, scale []float64, mu, sigma, best, lipschitz float64) Penalty {
	s, _ := floorSigma(sigma)
	return Penalty{
		Center: center,
		Scale:  scale,
		Radius: math.Max(best-mu, 0) / lipschitz,
		Width:  s / lipschitz,
	}
}

// AddLog returns ln φ(x) and, when grad is not nil, adds its gradient by x to
// grad. At the centre itself the gradient is taken as 0.
func (p Penalty) AddLog(x, grad []float64) float64 {
	dist := 0.0
	for i, c := range p.Center {
		d := p.scaled(i, x[i]-c)
		dist += d * d
	}
	dist = math.Sqrt(dist)
	z := (dist - p.Radius) / p.Width
	f, slope := logCDF(z)
	if grad != nil && dist > 0 {
		slope /= p.Width * dist
		for i, c := range p.Center {
			grad[i] += slope * p.scaled(i, p.scaled(i, x[i]-c))
		}
	}
	return f
}

func (p Penalty) scaled(i int, d float64) float64 {
	if p.Scale == nil {
		return d
	}
	return d / p.Scale[i]
}
