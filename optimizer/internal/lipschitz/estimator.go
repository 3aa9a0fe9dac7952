// Package lipschitz estimates the Lipschitz constant of a function from observed
// values and bounds the function with it.
//
// A function has the Lipschitz constant L in a metric when
// |f(x) - f(x')| <= L ‖x - x'‖ for all x, x'. Distances are Euclidean after
// division of each coordinate by its scale; nil scales mean 1. Values and L share
// one unit. f is maximized.
//
// Sources: Ahmed, Vaswani and Schmidt, Combining Bayesian Optimization and
// Lipschitz Optimization (2020), for the estimate, its schedule and the bounds;
// Malherbe and Vayatis, Global optimization of Lipschitz functions (2017), for
// LIPO and the geometric grid.
package lipschitz

import (
	"math"
	"slices"
)

// Distances in the unscaled cube below which points count as one: their values are
// averaged. With noise the tolerance is larger, as slopes between close points then
// show little but noise.
const (
	sameExact = 1e-9
	sameNoisy = 1e-6
)

// Estimator holds observations and the largest slope between any two of them,
//
//	L_lb = max_{i<j} (|y_i - y_j| - c_n √2 noise)₊ / ‖x_i - x_j‖,
//	c_n = max(3, √(4 ln n)),
//
// n the number of different points. Without noise this is the paper's lower bound
// of the Lipschitz constant. With noise, c_n √2 noise is about the largest of n² differences that
// it makes alone; the plain estimate would diverge as points come close to each other. The next
// estimate after a point costs O(n d) without noise; with it c_n changes, and it costs O(n² d).
type Estimator struct {
	scale []float64
	noise float64
	cells []cell
	known int // cells whose slopes are known
}

// cell is one point with the mean of its values.
type cell struct {
	x, z  []float64 // the point unscaled and scaled
	y     float64
	count int
	slope float64 // the largest to an earlier cell
}

// NewEstimator returns an empty estimator in the metric given by scale (nil: 1) for
// values observed with the given standard deviation of noise (0: none).
func NewEstimator(scale []float64, noise float64) *Estimator {
	return &Estimator{scale: scale, noise: math.Max(noise, 0)}
}

// Add adds an observation y at x, which is copied.
func (e *Estimator) Add(x []float64, y float64) {
	if k := e.find(x); k >= 0 {
		c := &e.cells[k]
		c.count++
		c.y += (y - c.y) / float64(c.count)
		e.known = min(e.known, k)
		return
	}
	e.cells = append(e.cells, cell{x: slices.Clone(x), z: scaled(x, e.scale), y: y, count: 1})
	if e.noise > 0 {
		e.known = 0
	}
}

// find returns the first cell at x, or -1.
func (e *Estimator) find(x []float64) int {
	tol := sameExact
	if e.noise > 0 {
		tol = sameNoisy
	}
	return slices.IndexFunc(e.cells, func(c cell) bool { return math.Abs(c.x[0]-x[0]) < tol && distance2(c.x, x) < tol*tol })
}

// scan computes the largest slope from cell k to the earlier ones.
func (e *Estimator) scan(k int) {
	allowed := 0.0 // c_n √2 noise
	if e.noise > 0 {
		allowed = math.Max(3, math.Sqrt(4*math.Log(float64(len(e.cells))))) * math.Sqrt2 * e.noise
	}
	c := &e.cells[k]
	rise2, dist2 := 0.0, 1.0
	for i := range e.cells[:k] {
		rise := math.Abs(c.y-e.cells[i].y) - allowed
		if rise <= 0 {
			continue
		}
		// rise/dist > the largest so far, without roots and quotients
		if d2 := distance2(e.cells[i].z, c.z); rise*rise*dist2 > rise2*d2 {
			rise2, dist2 = rise*rise, d2
		}
	}
	c.slope = math.Sqrt(rise2 / dist2)
}

// Slope returns the estimate L_lb, and 0 for less than two different points.
func (e *Estimator) Slope() float64 {
	for ; e.known < len(e.cells); e.known++ {
		e.scan(e.known)
	}
	most := 0.0
	for i := range e.cells {
		most = math.Max(most, e.cells[i].slope)
	}
	return most
}

func scaled(x, scale []float64) []float64 {
	z := slices.Clone(x)
	for i := range scale {
		z[i] /= scale[i]
	}
	return z
}

func distance2(a, b []float64) float64 {
	sum := 0.0
	b = b[:len(a)]
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return sum
}

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
