// Package vector has the inner loops of the models and bounds, on amd64 four numbers at a
// time where the processor has AVX2 and FMA.
package vector

import (
	"math"
	"runtime"
)

// Kernel names what the inner loops and math.Exp run on: processors of one name give the same
// digits.
func Kernel() string { return runtime.GOARCH + features() }

// AddSquares adds (z − col[i])² to dst[i] for every i < len(dst).
func AddSquares(dst, col []float64, z float64) {
	col = col[:len(dst)]
	done := 0
	if fast() && len(dst) >= 4 {
		done = len(dst) &^ 3
		addSquaresAVX2(&dst[0], &col[0], done, z)
	}
	for i := done; i < len(dst); i++ {
		t := z - col[i]
		dst[i] += rounded(t * t)
	}
}

// Matern52 turns squared scaled distances into the kernel (Matérn
// with ν = 5/2; Rasmussen and Williams, equation 4.17) and its slope
//
//	k = σ0² (1 + s + s²/3) e^(−s),  slope = 5/3 σ0² (1 + s) e^(−s),  s = √(5 r²)
//
// so that ∂k/∂z_j = −slope·(z_j − z′_j) and ∂k/∂ln ℓ_j = slope·(z_j − z′_j)²
// without a division by r. k may be r2 itself, and a nil slope is not wanted.
func Matern52(k, slope, r2 []float64, signal float64) {
	k = k[:len(r2)]
	if slope != nil {
		slope = slope[:len(r2)]
	}
	done := 0
	if fast() && len(r2) >= 4 {
		var first *float64
		if slope != nil {
			first = &slope[0]
		}
		done = len(r2) &^ 3
		matern52AVX2(&k[0], first, &r2[0], done, signal)
	}
	for i := done; i < len(r2); i++ {
		s := math.Sqrt(5 * r2[i])
		e := signal * math.Exp(-s)
		k[i] = e * (1 + s + rounded(s*s*(1.0/3)))
		if slope != nil {
			slope[i] = e * (5.0 / 3) * (1 + s)
		}
	}
}

// Tile subtracts AᵀB from the four rows of eight numbers at c. A and B are the n rows of
// four and eight numbers at a and b, rows lda and ldb apart; those of c are ldb apart, too.
func Tile(c, b []float64, ldb int, a []float64, lda, n int) {
	if n == 0 {
		return
	}
	_, _, _ = c[3*ldb+7], b[(n-1)*ldb+7], a[(n-1)*lda+3]
	if fast() {
		tileAVX2(&c[0], ldb, &a[0], lda, &b[0], ldb, n)
	} else {
		plainTile(c, b, ldb, a, lda, n)
	}
}

// plainTile is Tile on any processor.
func plainTile(c, b []float64, ldb int, a []float64, lda, n int) {
	for r := range 4 {
		var s0, s1, s2, s3, s4, s5, s6, s7 float64
		for k := range n {
			v, x := a[k*lda+r], b[k*ldb:][:8]
			s0, s1, s2, s3 = s0+v*x[0], s1+v*x[1], s2+v*x[2], s3+v*x[3]
			s4, s5, s6, s7 = s4+v*x[4], s5+v*x[5], s6+v*x[6], s7+v*x[7]
		}
		for j, s := range [8]float64{s0, s1, s2, s3, s4, s5, s6, s7} {
			c[r*ldb+j] -= s
		}
	}
}

// Dots sets the four numbers dst to the products of x and the rows of w, ld apart. len(x) is a
// multiple of 8.
func Dots(dst, w []float64, ld int, x []float64) {
	_, _ = dst[3], w[3*ld+len(x)-1]
	if fast() {
		dotsAVX2(&dst[0], &w[0], ld, &x[0], len(x))
		return
	}
	for r := range 4 {
		var s0, s1, s2, s3 float64
		row := w[r*ld:][:len(x)]
		for i := 0; i < len(x); i += 4 {
			s0, s1 = s0+row[i]*x[i], s1+row[i+1]*x[i+1]
			s2, s3 = s2+row[i+2]*x[i+2], s3+row[i+3]*x[i+3]
		}
		dst[r] = s0 + s1 + s2 + s3
	}
}

// AddRows adds the four rows of w, ld apart and times the numbers x, to dst. len(dst) is a
// multiple of 8.
func AddRows(dst, w []float64, ld int, x []float64) {
	_, _ = x[3], w[3*ld+len(dst)-1]
	if fast() {
		addRowsAVX2(&dst[0], &w[0], ld, &x[0], len(dst))
		return
	}
	a, b, c, d := w[:len(dst)], w[ld:][:len(dst)], w[2*ld:][:len(dst)], w[3*ld:][:len(dst)]
	for i := range dst {
		dst[i] += x[0]*a[i] + x[1]*b[i] + x[2]*c[i] + x[3]*d[i]
	}
}
