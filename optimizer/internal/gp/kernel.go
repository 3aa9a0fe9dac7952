package gp

import "github.com/lbotune/lbotune/optimizer/internal/vector"

// The kernel works on scaled inputs z = x/ℓ, stored by dimension: cols[j][i] is
// coordinate j of point i. Loops along i are independent and branch-free.

// scaledColumns returns cols[j][i] = x[i][j]·scale[j].
func scaledColumns(x [][]float64, scale []float64) [][]float64 {
	n := len(x)
	cols := make([][]float64, len(scale))
	store := make([]float64, len(scale)*n)
	for j, s := range scale {
		cols[j] = store[j*n : (j+1)*n : (j+1)*n]
		for i, p := range x {
			cols[j][i] = p[j] * s
		}
	}
	return cols
}

// sqdist sets dst[i] = Σ_j (z_j − cols[j][i])² for every i < len(dst), where
// z_j = q[j]·scale[j].
func sqdist(dst []float64, cols [][]float64, q, scale []float64) {
	clear(dst)
	for j, s := range scale {
		vector.AddSquares(dst, cols[j], q[j]*s)
	}
}
