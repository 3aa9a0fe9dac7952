package vector

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMatern52Vectors(t *testing.T) {
	r := []float64{0, 0.1, 0.5, 1, 2, 5}
	want := []float64{1, 0.9917592361711774, 0.8286491424181252, 0.5239941088318203, 0.13866021913850426, 0.0007509337888737746}
	r2, k, slope, value := make([]float64, 6), make([]float64, 6), make([]float64, 6), make([]float64, 6)
	for i, v := range r {
		r2[i] = v * v
	}
	Matern52(k, slope, r2, 1)
	Matern52(value, nil, r2, 1)
	for i := range want {
		if math.Abs(k[i]-want[i]) > 4e-16 || math.Abs(value[i]-want[i]) > 4e-16 {
			t.Errorf("k(%v) = %.17g and %.17g, want %.17g", r[i], k[i], value[i], want[i])
		}
		// dk/dr = −slope·r in scaled distance.
		const h = 1e-6
		num := (maternAt(r[i]+h) - maternAt(math.Abs(r[i]-h))) / (2 * h)
		if r[i] > 0 && math.Abs(num+slope[i]*r[i]) > 1e-8 {
			t.Errorf("dk/dr at %v = %v, by differences %v", r[i], -slope[i]*r[i], num)
		}
	}
}

func maternAt(r float64) float64 {
	k := []float64{r * r}
	Matern52(k, nil, k, 1)
	return k[0]
}

// Several pairs at once have the very digits of one alone, whose e^(−s) is math.Exp's.
func TestMatern52InVectors(t *testing.T) {
	if !fast() {
		t.Skip("this processor has no vectors for it")
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for n := range 4 * 500 {
		var r2, k, slope, value [7]float64
		for i := range r2 {
			r2[i] = math.Exp(40*rng.Float64() - 29)
		}
		r2[n%7] = 0
		Matern52(k[:], slope[:], r2[:], 1.7)
		Matern52(value[:], nil, r2[:], 1.7)
		for i := range r2 {
			var one, slopeOfOne [1]float64
			Matern52(one[:], slopeOfOne[:], r2[i:i+1], 1.7)
			if k[i] != one[0] || value[i] != one[0] || slope[i] != slopeOfOne[0] {
				t.Fatalf("r² = %v: k = %v and %v, slope %v; alone %v and %v", r2[i], k[i], value[i], slope[i], one[0], slopeOfOne[0])
			}
		}
	}
	k, slope := make([]float64, 4), make([]float64, 4)
	if Matern52(k, slope, []float64{0, 1e9, math.NaN(), 1e6}, 1); !(k[1] < 1e-290) || !(k[3] < 1e-290) || !math.IsNaN(k[2]) {
		t.Errorf("far away, and for no number: k = %v", k)
	}
}

func TestTileIsTheProduct(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const lda, ldb = 5, 11
	for n := range 6 {
		a, b := make([]float64, 6*lda), make([]float64, 6*ldb)
		for _, v := range [][]float64{a, b} {
			for i := range v {
				v[i] = rng.NormFloat64()
			}
		}
		for _, f := range []func(c, b []float64, ldb int, a []float64, lda, n int){Tile, plainTile} {
			c := make([]float64, 4*ldb)
			for i := range c {
				c[i] = float64(i)
			}
			f(c, b, ldb, a, lda, n)
			for i := range c {
				want := float64(i)
				for k := 0; k < n && i%ldb < 8; k++ {
					want -= a[k*lda+i/ldb] * b[k*ldb+i%ldb]
				}
				if math.Abs(c[i]-want) > 1e-14*float64(1+i) {
					t.Fatalf("%d rows: c[%d] = %v, want %v", n, i, c[i], want)
				}
			}
		}
	}
}

func TestAddSquares(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	col := make([]float64, 50)
	for i := range col {
		col[i] = 2 * rng.NormFloat64()
	}
	for n := range len(col) {
		dst := make([]float64, n)
		for i := range dst {
			dst[i] = float64(i)
		}
		AddSquares(dst, col, 1.5)
		for i, v := range dst {
			one := []float64{float64(i)}
			AddSquares(one, col[i:], 1.5)
			if want := float64(i) + (1.5-col[i])*(1.5-col[i]); v != one[0] || math.Abs(v-want) > 1e-14 {
				t.Errorf("%d numbers: %v at %d, want %v, and alone %v", n, v, i, want, one[0])
			}
		}
	}
}

func TestDotsAndAddRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const ld = 27
	for _, n := range []int{8, 16, 24} {
		w, x, y, dots := make([]float64, 4*ld), make([]float64, n), make([]float64, n), make([]float64, 4)
		for i := range w {
			w[i] = rng.NormFloat64()
		}
		for i := range x {
			x[i], y[i] = rng.NormFloat64(), float64(i)
		}
		Dots(dots, w, ld, x)
		AddRows(y, w, ld, dots)
		for r, got := range dots {
			want := 0.0
			for i, v := range x {
				want += w[r*ld+i] * v
			}
			if math.Abs(got-want) > 1e-13 {
				t.Errorf("%d numbers: dot %d is %v, want %v", n, r, got, want)
			}
		}
		for i, got := range y {
			want := float64(i)
			for r, v := range dots {
				want += w[r*ld+i] * v
			}
			if math.Abs(got-want) > 1e-13*float64(1+i) {
				t.Errorf("%d numbers: %v at %d, want %v", n, got, i, want)
			}
		}
	}
}
