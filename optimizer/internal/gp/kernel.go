package gp

import "math"

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
		col := cols[j][:len(dst)]
		z := q[j] * s
		for i, c := range col {
			t := z - c
			dst[i] += t * t
		}
	}
}

// sqdistRow is sqdist from point i to the points before it.
func sqdistRow(dst []float64, cols [][]float64, i int) {
	clear(dst)
	for _, col := range cols {
		z := col[i]
		col = col[:len(dst)]
		for k, c := range col {
			t := z - c
			dst[k] += t * t
		}
	}
}

// matern52 turns squared scaled distances into the kernel (Matérn
// with ν = 5/2; Rasmussen and Williams, equation 4.17) and its slope
//
//	k = σ0² (1 + s + s²/3) e^(−s),  slope = 5/3 σ0² (1 + s) e^(−s),  s = √(5 r²)
//
// so that ∂k/∂z_j = −slope·(z_j − z′_j) and ∂k/∂ln ℓ_j = slope·(z_j − z′_j)²
// without a division by r. k may be r2 itself.
func matern52(k, slope, r2 []float64, signal float64) {
	k, slope = k[:len(r2)], slope[:len(r2)]
	for i, v := range r2 {
		s := math.Sqrt(5 * v)
		e := signal * math.Exp(-s)
		k[i] = e * (1 + s + s*s*(1.0/3))
		slope[i] = e * (5.0 / 3) * (1 + s)
	}
}

// matern52Value is matern52 without the slope.
func matern52Value(k, r2 []float64, signal float64) {
	k = k[:len(r2)]
	for i, v := range r2 {
		s := math.Sqrt(5 * v)
		k[i] = signal * math.Exp(-s) * (1 + s + s*s*(1.0/3))
	}
}
