package gp

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/floats"
)

// ErrNotPositiveDefinite is returned when the kernel matrix cannot be
// factorised even with the largest jitter.
var ErrNotPositiveDefinite = errors.New("gp: the kernel matrix is not positive definite")

// Jitter is added to the diagonal in units of σ0² when the factorisation
// fails without it: first minJitter, then ten times more up to maxJitter.
const (
	minJitter = 1e-10
	maxJitter = 1e-4
)

// The factorisations below are left-looking, one matrix-vector product per
// column. gonum's Dgemv has a vectorised kernel that its level-3 routines
// lack: for n up to 1000 this beats Dpotrf and Dpotri by a factor of 1.1 to 3.

// cholesky overwrites the lower triangle of the n×n row-major matrix a by L
// with a = L Lᵀ. It reports false if a is not numerically positive definite.
// The strict upper triangle is not touched; tmp has length n.
func cholesky(a []float64, n int, tmp []float64) bool {
	var im gonum.Implementation
	for j := range n {
		row := a[j*n : j*n+j+1]
		diag := row[j]
		pivot := diag - floats.Dot(row[:j], row[:j])
		if !(pivot > 8*epsilon*diag) {
			return false
		}
		row[j] = math.Sqrt(pivot)
		m := n - j - 1
		if m == 0 {
			break
		}
		inv := 1 / row[j]
		below := a[(j+1)*n:]
		if j == 0 {
			for i := range m {
				below[i*n] *= inv
			}
			continue
		}
		t := tmp[:m]
		im.Dgemv(blas.NoTrans, m, j, 1, below, n, row[:j], 1, 0, t, 1)
		for i, v := range t {
			below[i*n+j] = (below[i*n+j] - v) * inv
		}
	}
	return true
}

const epsilon = 0x1p-52

// factorRows returns the rows of the lower triangle of the n×n matrix a, row i
// with i+1 elements.
func factorRows(a []float64, n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = a[i*n : i*n+i+1 : i*n+i+1]
	}
	return rows
}

// forward replaces b by L⁻¹ b.
func forward(rows [][]float64, b []float64) {
	for i, row := range rows {
		b[i] = (b[i] - floats.Dot(row[:i], b[:i])) / row[i]
	}
}

// backward replaces b by L⁻ᵀ b.
func backward(rows [][]float64, b []float64) {
	for i := len(rows) - 1; i >= 0; i-- {
		row := rows[i]
		b[i] /= row[i]
		floats.AddScaled(b[:i], -b[i], row[:i])
	}
}

// inverseTranspose sets the n×n row-major matrix u to U = L⁻ᵀ (upper
// triangular; u must be zero below its diagonal), so that K⁻¹ = U Uᵀ.
// tmp has length n.
func inverseTranspose(u []float64, rows [][]float64, tmp []float64) {
	const block = 16
	var im gonum.Implementation
	n := len(rows)
	for i, row := range rows {
		inv := 1 / row[i]
		for j0 := 0; j0 < i; j0 += block {
			j1 := min(j0+block, i)
			t := tmp[:j1-j0]
			im.Dgemv(blas.NoTrans, j1-j0, i-j0, -inv, u[j0*n+j0:], n, row[j0:i], 1, 0, t, 1)
			for j, v := range t {
				u[(j0+j)*n+i] = v
			}
		}
		u[i*n+i] = inv
	}
}

// inverseRow sets dst[k] = [K⁻¹]_ik for k ≤ i, given U = L⁻ᵀ.
func inverseRow(dst, u []float64, n, i int) {
	gonum.Implementation{}.Dgemv(blas.NoTrans, i+1, n-i, 1, u[i:], n, u[i*n+i:i*n+n], 1, 0, dst[:i+1], 1)
}
