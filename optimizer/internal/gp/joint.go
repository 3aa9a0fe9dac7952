package gp

import (
	"math"
	"math/rand/v2"

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

// DrawJoint draws n functions from the posterior of the latent values, each known at the points.
func (m *Model) DrawJoint(points [][]float64, n int, rng *rand.Rand) [][]float64 {
	rows := m.Joint(points) // becomes U with UᵀU = Joint, row by row
	for i, row := range rows {
		floats.Scale(1/math.Sqrt(m.latent(row[i])), row[i:])
		for k := i + 1; k < len(rows); k++ {
			floats.AddScaled(rows[k][k:], -row[k], row[k:])
		}
	}
	mean, out := make([]float64, len(points)), make([][]float64, n)
	m.Predictor().Batch(points, mean, make([]float64, len(points)))
	for k := range out {
		out[k] = append([]float64(nil), mean...)
		for i, row := range rows {
			floats.AddScaled(out[k][i:], rng.NormFloat64(), row[i:])
		}
	}
	return out
}
