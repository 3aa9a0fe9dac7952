package gp

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// LeaveOneOut sets mean[i] and variance[i] to the prediction of observation i
// from all the others, noise included, the hyper-parameters unchanged:
//
//	y_i − α_i/[K⁻¹]_ii  and  1/[K⁻¹]_ii
//
// (Rasmussen and Williams, equation 5.12). Both slices have length n. O(n³/6).
func (m *Model) LeaveOneOut(mean, variance []float64) {
	n := m.Len()
	u := make([]float64, n*n)
	inverseTranspose(u, m.rows, make([]float64, n))
	for i, a := range m.alpha {
		row := u[i*n+i : i*n+n]
		variance[i] = 1 / floats.Dot(row, row)
		mean[i] = m.y[i] - a*variance[i]
	}
}

// LeaveOneOutLogDensity returns Σ_i ln p(y_i | all other observations), the
// pseudo-likelihood of Rasmussen and Williams, equation 5.11.
func (m *Model) LeaveOneOutLogDensity() float64 {
	n := m.Len()
	mean, variance := make([]float64, n), make([]float64, n)
	m.LeaveOneOut(mean, variance)
	sum := 0.0
	for i, y := range m.y {
		e := y - mean[i]
		sum -= 0.5 * (math.Log(2*math.Pi*variance[i]) + e*e/variance[i])
	}
	return sum
}
