package gp

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/optimizer/internal/vector"
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

// A square matrix of order n is stored in rows of padded(n) numbers, and as many of them:
// beyond n it is the identity. So all work of third order is that of vector.Tile, without edges.

func padded(n int) int { return (n + 7) &^ 7 }

// newSquare returns room for a matrix of order n.
func newSquare(n int) []float64 { return make([]float64, padded(n)*padded(n)) }

// cholesky overwrites the upper triangle of u, a matrix of order n, by U = Lᵀ with
// UᵀU = u, and spoils what is below it. It reports false if u is not numerically positive
// definite.
func cholesky(u []float64, n int) bool {
	ld := padded(n)
	for i := range ld {
		clear(u[i*ld+max(i, n) : (i+1)*ld])
		if i >= n {
			u[i*ld+i] = 1
		}
	}
	for i0 := 0; i0 < n; i0 += 4 {
		var diag [4]float64
		for r := range diag {
			diag[r] = u[(i0+r)*ld+i0+r]
		}
		for c := i0 &^ 7; c < ld; c += 8 {
			vector.Tile(u[i0*ld+c:], u[c:], ld, u[i0:], ld, i0)
		}
		for r, d := range diag {
			i := i0 + r
			row := u[i*ld+i : (i+1)*ld]
			for k := i0; k < i; k++ {
				floats.AddScaled(row, -u[k*ld+i], u[k*ld+i:(k+1)*ld])
			}
			pivot := row[0]
			if !(pivot > 8*epsilon*d) {
				return false
			}
			floats.Scale(1/math.Sqrt(pivot), row)
			row[0] = math.Sqrt(pivot)
		}
	}
	return true
}

const epsilon = 0x1p-52

// jittered factorises the matrix of order n to which fill sets u, with as little jitter as
// will do, in units of σ0². It reports false if all is too little.
func jittered(u []float64, n int, fill func(jitter float64)) bool {
	for jitter := 0.0; jitter <= maxJitter; jitter = max(10*jitter, minJitter) {
		if fill(jitter); cholesky(u, n) {
			return true
		}
	}
	return false
}

// lower returns the rows of L = Uᵀ, row i with i+1 elements.
func lower(u []float64, n int) [][]float64 {
	rows, ld := make([][]float64, n), padded(n)
	store := make([]float64, n*(n+1)/2)
	for i := range rows {
		rows[i], store = store[:i+1:i+1], store[i+1:]
		for k := range rows[i] {
			rows[i][k] = u[k*ld+i]
		}
	}
	return rows
}

// U = Lᵀ is also kept in strips of four columns, of each the rows down to the diagonal: so a product
// reads memory in order.

// newStrips returns room for U of order n.
func newStrips(n int) []float64 { return make([]float64, padded(n)*(padded(n)+4)/2) }

// stripOf returns the columns from i0 on, a multiple of 4.
func stripOf(strips []float64, i0 int) []float64 { return strips[i0*(i0+4)/2:][:4*(i0+4)] }

// stripsOfRows sets the strips from that column on, a multiple of 4, to those of the rows of L.
func stripsOfRows(strips []float64, rows [][]float64, from int) {
	for i := from; i < padded(len(rows)); i++ {
		strip := stripOf(strips, i&^3)
		if i >= len(rows) {
			strip[4*i+i&3] = 1
			continue
		}
		for k, v := range rows[i] {
			strip[4*k+i&3] = v
		}
	}
}

// stripsOf sets the strips to those of U, a matrix of order n, with what is below its diagonal.
func stripsOf(strips, u []float64, n int) {
	ld := padded(n)
	for i0 := 0; i0 < ld; i0 += 4 {
		strip := stripOf(strips, i0)
		for k := range i0 + 4 {
			copy(strip[4*k:4*k+4], u[k*ld+i0:])
		}
	}
}

// substitute replaces V, which has padded(n) rows of width numbers, a multiple of 8, by
// L⁻¹ V, of which the rows before first, a multiple of 4, are there. A triangular V has nothing above
// its diagonal, and then L⁻¹ V has not either.
func substitute(v []float64, width int, strips []float64, n, first int, triangular bool) {
	for i0 := first; i0 < n; i0 += 4 {
		strip, used := stripOf(strips, i0), width
		if triangular {
			used = i0 + 4
		}
		for c := 0; c < used; c += 8 {
			from := 0
			if triangular {
				from = min(c, i0)
			}
			vector.Tile(v[i0*width+c:], v[from*width+c:], width, strip[4*from:], 4, i0-from)
		}
		for i := i0; i < i0+4; i++ {
			row := v[i*width:][:used]
			for k := i0; k < i; k++ {
				floats.AddScaled(row, -strip[4*k+i-i0], v[k*width:][:used])
			}
			floats.Scale(1/strip[4*i+i-i0], row)
		}
	}
}

// inverse sets w to W = L⁻¹, so that K⁻¹ = WᵀW, of which the rows before first, a multiple of 4, are there.
func inverse(w, strips []float64, n, first int) {
	ld := padded(n)
	for i := first; i < ld; i++ {
		row := w[i*ld:][:i&^7+8] // more was never written
		clear(row)
		row[i] = 1
	}
	substitute(w, ld, strips, n, first, true)
}

// inverted is L in the two forms in which products with its inverse are quick.
type inverted struct {
	rows   [][]float64
	strips []float64
	w      []float64 // L⁻¹
}

// invert returns L of these rows inverted. What it has in common with another L is copied.
func invert(rows [][]float64, like *inverted) *inverted {
	n, first := len(rows), 0
	for first < min(n, len(like.rows)) && &rows[first][0] == &like.rows[first][0] {
		first++
	}
	first &^= 3
	in, ld, known := &inverted{rows, newStrips(n), newSquare(n)}, padded(n), padded(len(like.rows))
	copy(in.strips, like.strips[:first*(first+4)/2])
	stripsOfRows(in.strips, rows, first)
	for i := range first {
		copy(in.w[i*ld:], like.w[i*known:][:i&^7+8])
	}
	inverse(in.w, in.strips, n, first)
	return in
}

// inverseRows sets the rows at dst, as long as those of w, to those of −K⁻¹ from row i0 on,
// four of them, and there to the columns from i0 on.
func inverseRows(dst, w []float64, n, i0 int) {
	ld := padded(n)
	clear(dst)
	for c := i0 &^ 7; c < ld; c += 8 {
		vector.Tile(dst[c:], w[c*ld+c:], ld, w[c*ld+i0:], ld, n-c)
	}
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

// newVector returns room for a vector of n numbers, with zeros up to padded(n).
func newVector(n int) []float64 { return make([]float64, n, padded(n)) }

// lowerTimes sets dst to Wx for a lower triangular W. Both vectors are of newVector.
func lowerTimes(dst, w, x []float64) {
	n, ld := len(dst), padded(len(dst))
	dst, x = dst[:ld], x[:ld]
	for i := 0; i < n; i += 4 {
		vector.Dots(dst[i:i+4], w[i*ld:], ld, x[:i&^7+8])
	}
	clear(dst[n:])
}

// upperTimes sets dst to Wᵀx for a lower triangular W. Both vectors are of newVector.
func upperTimes(dst, w, x []float64) {
	n, ld := len(dst), padded(len(dst))
	dst, x = dst[:ld], x[:ld]
	clear(dst)
	for i := 0; i < n; i += 4 {
		vector.AddRows(dst[:i&^7+8], w[i*ld:], ld, x[i:i+4])
	}
}

// bothTimes sets half to Wk and whole to WᵀWk at each of the points, for a lower triangular W, to the
// digits of lowerTimes and upperTimes, and reads W once. The vectors are of newVector.
func bothTimes(points []solved, w []float64) {
	n, ld := len(points[0].k), padded(len(points[0].k))
	for _, p := range points {
		clear(p.whole[:ld])
	}
	for i := 0; i < n; i += 4 {
		for _, p := range points {
			y, long := p.half[i:i+4], i&^7+8
			vector.Dots(y, w[i*ld:], ld, p.k[:long])
			clear(y[min(n-i, 4):])
			vector.AddRows(p.whole[:long], w[i*ld:], ld, y)
		}
	}
}

// The kernel works on scaled inputs z = x/ℓ, stored by dimension: cols[j][i] is
// coordinate j of point i. Loops along i are independent and branch-free.

// scaledColumns returns cols[j][i] = x[i][j]·scale[j].
func scaledColumns(x [][]float64, scale []float64) [][]float64 {
	cols := make([][]float64, len(scale))
	for j, s := range scale {
		cols[j] = make([]float64, len(x))
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
