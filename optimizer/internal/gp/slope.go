package gp

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Distances are ‖(x−x′)/scale‖ here, where nil is the unit cube's own metric. In it the gradient
// of f is (scale_j ∂f/∂x_j)_j.

// Slope returns the norm of the posterior mean's gradient at x and the standard deviation
// of the derivative of f in that direction:
//
//	‖g‖,  √(uᵀ Cov[∇f] u),  g = (scale_j ∂μ/∂x_j)_j,  u = g/‖g‖
//
// O(n²/2). Derivatives of a Matérn-5/2 process are again Gaussian, with prior variance
// 5/3·σ0²/ℓ_j².
func (p *Predictor) Slope(x, scale []float64) (norm, sd float64) {
	m := p.m
	p.kernel(x, p.slope)
	dir := make([]float64, m.Dim())
	copy(p.v, p.slope)
	floats.Mul(p.v, m.alpha)
	m.gradient(dir, p.v, x, -1)
	m.centreGrad(x, dir)
	for j := range dir {
		dir[j] *= scaleOf(scale, j)
	}
	norm = floats.Norm(dir, 2)
	if norm > 0 {
		floats.Scale(1/norm, dir)
	} else { // a stationary mean has no direction: take the roughest one
		m.roughest(dir, scale)
	}
	prior := 0.0
	for j, inv := range m.inv {
		dir[j] *= scaleOf(scale, j) * inv // direction in scaled inputs z
		prior += dir[j] * dir[j]
	}
	prior *= 5.0 / 3 * m.signal
	cov := p.v // Cov[derivative along dir at x, f(x_i)], up to its sign
	clear(cov)
	for j, inv := range m.inv {
		z := x[j] * inv
		for i, c := range m.cols[j] {
			cov[i] += dir[j] * (z - c)
		}
	}
	floats.Mul(cov, p.slope)
	forward(m.rows, cov)
	return norm, math.Sqrt(math.Max(prior-floats.Dot(cov, cov), 0))
}

// GradientBound returns the largest ‖∇μ‖ + 2 sd(∂f) among the points, see Slope; 0 if there
// are none.
func (p *Predictor) GradientBound(points [][]float64, scale []float64) float64 {
	largest := 0.0
	for _, x := range points {
		norm, sd := p.Slope(x, scale)
		largest = math.Max(largest, norm+2*sd)
	}
	return largest
}

// roughest sets dir to the coordinate direction of the largest prior derivative.
func (m *Model) roughest(dir, scale []float64) {
	best := 0
	for j, inv := range m.inv {
		dir[j] = 0
		if scaleOf(scale, j)*inv > scaleOf(scale, best)*m.inv[best] {
			best = j
		}
	}
	dir[best] = 1
}

func scaleOf(scale []float64, j int) float64 {
	if scale == nil {
		return 1
	}
	return scale[j]
}
