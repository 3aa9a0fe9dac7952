package gp

import (
	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/optimizer/internal/vector"
)

// Joint returns the posterior covariances of the latent values at points,
// k(x,x') − k(x,X) K⁻¹ k(X,x') (Rasmussen and Williams 2006, equation 2.26). O(n² b + n b²) for b points.
func (m *Model) Joint(points [][]float64) [][]float64 {
	p := m.Predictor()
	whitened := make([][]float64, len(points)) // L⁻¹ k(X,x)
	for i, x := range points {
		p.kernel(x, nil)
		forward(m.rows, p.k)
		whitened[i] = append([]float64(nil), p.k...)
	}
	cols := make([][]float64, m.Dim())
	for j, inv := range m.inv {
		cols[j] = newVector(len(points))
		for i, x := range points {
			cols[j][i] = x[j] * inv
		}
	}
	joint := make([][]float64, len(points))
	for i, x := range points {
		row := newVector(len(points))
		sqdist(row, cols, x, m.inv)
		vector.Matern52(row, nil, row, m.signal)
		for k := range row {
			row[k] -= floats.Dot(whitened[i], whitened[k])
		}
		row[i] = m.latent(row[i])
		joint[i] = row
	}
	return joint
}
