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

import "math"

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
// it makes alone; the plain estimate would diverge as points come close to each other. Adding a
// point costs O(n d) without noise; with it c_n changes, and the next estimate costs O(n² d).
type Estimator struct {
	scale []float64
	noise float64
	cells []cell
	x, z  []float64 // unscaled and scaled coordinates, cell after cell
	dim   int
	stale bool // slopes must be computed anew
}

// cell is one point with the mean of its values.
type cell struct {
	y     float64
	count int
	slope float64 // the largest to an earlier cell
	peer  int     // that cell, -1 for none
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
		e.updated(k)
		return
	}
	e.dim = len(x)
	e.cells = append(e.cells, cell{y: y, count: 1})
	e.x = append(e.x, x...)
	e.z = append(e.z, scaled(x, e.scale)...)
	if e.noise > 0 {
		e.stale = true
		return
	}
	e.scan(len(e.cells) - 1)
}

// find returns the first cell at x, or -1.
func (e *Estimator) find(x []float64) int {
	tol := sameExact
	if e.noise > 0 {
		tol = sameNoisy
	}
	for k := range e.cells {
		at := row(e.x, e.dim, k)
		if math.Abs(at[0]-x[0]) < tol && distance2(at, x) < tol*tol {
			return k
		}
	}
	return -1
}

// row returns the k-th of the vectors of length dim that lie one after the other.
func row(v []float64, dim, k int) []float64 { return v[k*dim : (k+1)*dim] }

// scan computes the largest slope from cell k to the earlier ones.
func (e *Estimator) scan(k int) {
	allowed := 0.0 // c_n √2 noise
	if e.noise > 0 {
		allowed = math.Max(3, math.Sqrt(4*math.Log(float64(len(e.cells))))) * math.Sqrt2 * e.noise
	}
	y, z := e.cells[k].y, row(e.z, e.dim, k)
	peer, rise2, dist2 := -1, 0.0, 1.0
	for i := range e.cells[:k] {
		rise := math.Abs(y-e.cells[i].y) - allowed
		if rise <= 0 {
			continue
		}
		// rise/dist > the largest so far, without roots and quotients
		if d2 := distance2(row(e.z, e.dim, i), z); rise*rise*dist2 > rise2*d2 {
			peer, rise2, dist2 = i, rise*rise, d2
		}
	}
	e.cells[k].slope, e.cells[k].peer = math.Sqrt(rise2/dist2), peer
}

// updated renews the slopes after the value of cell k changed.
func (e *Estimator) updated(k int) {
	if e.noise > 0 {
		e.stale = true
		return
	}
	e.scan(k)
	for j := k + 1; j < len(e.cells); j++ {
		c := &e.cells[j]
		rise := math.Abs(c.y - e.cells[k].y)
		switch s := rise / math.Sqrt(distance2(row(e.z, e.dim, j), row(e.z, e.dim, k))); {
		case c.peer == k && s < c.slope:
			e.scan(j)
		case s > c.slope:
			c.slope, c.peer = s, k
		}
	}
}

// Slope returns the estimate L_lb, and 0 for less than two different points.
func (e *Estimator) Slope() float64 {
	if e.stale {
		for k := range e.cells {
			e.scan(k)
		}
		e.stale = false
	}
	most := 0.0
	for i := range e.cells {
		most = math.Max(most, e.cells[i].slope)
	}
	return most
}

// scaled returns x divided by scale.
func scaled(x, scale []float64) []float64 {
	z := append([]float64(nil), x...)
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
