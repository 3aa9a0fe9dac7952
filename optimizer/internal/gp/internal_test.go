package gp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestCholeskyVectors(t *testing.T) {
	x := [][]float64{{0.1, 0.2}, {0.4, 0.9}, {0.75, 0.35}, {0.9, 0.6}, {0.55, 0.15}}
	y := []float64{0.3, -1.2, 0.8, 1.5, -0.4}
	h := Hyper{LogLengths: []float64{math.Log(0.3), math.Log(0.6)}, LogSignal: math.Log(1.7), LogNoise: math.Log(0.01), Mean: 0.1}
	m, err := New(nil, x, y, h)
	if err != nil {
		t.Fatal(err)
	}
	diag := []float64{1.307669683062202, 1.259856324580018, 1.251818016904167, 0.887934125118101, 0.860434645358118}
	alpha := []float64{0.483954795786328, -0.96054254976817, 0.450505707931217, 0.887870765281246, -0.691479530787073}
	for i := range diag {
		if math.Abs(m.rows[i][i]-diag[i]) > 1e-14 {
			t.Errorf("L[%d,%d] = %.16g, want %.16g", i, i, m.rows[i][i], diag[i])
		}
		if math.Abs(m.alpha[i]-alpha[i]) > 1e-13 {
			t.Errorf("α[%d] = %.16g, want %.16g", i, m.alpha[i], alpha[i])
		}
	}
	if k := m.prior(x[0], x[1]); math.Abs(k-0.45817364701704083) > 1e-15 {
		t.Errorf("k(x1,x2) = %.17g", k)
	}
	if k := m.prior(x[0], x[2]); math.Abs(k-0.17883623466387402) > 1e-15 {
		t.Errorf("k(x1,x3) = %.17g", k)
	}
}

func TestFactorisationReproducesTheMatrix(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 3, 15, 16, 17, 33, 70} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			a, ld := randomDefinite(n, rng), padded(n)
			u := stored(a, n)
			if !cholesky(u, n) {
				t.Fatalf("n = %d: not positive definite", n)
			}
			rows := lower(u, n)
			w, strip, inv := invert(rows, &inverted{}).w, make([]float64, 4*ld), make([]float64, n*n)
			for i := range n {
				if i%4 == 0 {
					inverseRows(strip, w, n, i)
				}
				for k := i; k < n; k++ {
					inv[i*n+k], inv[k*n+i] = -strip[i%4*ld+k], -strip[i%4*ld+k]
				}
			}
			b := make([]float64, n)
			for i := range n {
				for j := range n {
					var product, identity float64
					for k := range min(i, j) + 1 {
						product += rows[i][k] * rows[j][k]
					}
					for k := range n {
						identity += a[i*n+k] * inv[k*n+j]
					}
					if i == j {
						identity--
					}
					if math.Abs(product-a[i*n+j]) > 1e-11 || math.Abs(identity) > 1e-9 {
						t.Fatalf("n = %d: (LLᵀ−A)[%d,%d] = %g, (AA⁻¹−I) = %g", n, i, j, product-a[i*n+j], identity)
					}
				}
				b[i] = a[i*n] // A e_0: the solution is e_0
			}
			forward(rows, b)
			backward(rows, b)
			for i, v := range b {
				want := 0.0
				if i == 0 {
					want = 1
				}
				if math.Abs(v-want) > 1e-9 {
					t.Fatalf("n = %d: solve gives %v at %d, want %v", n, v, i, want)
				}
			}
		})
	}
}

// stored stores the n×n matrix a as cholesky wants it.
func stored(a []float64, n int) []float64 {
	u := newSquare(n)
	for i := range n {
		copy(u[i*padded(n):], a[i*n:][:n])
	}
	return u
}

// randomDefinite returns G Gᵀ + I for a random n×n matrix G.
func randomDefinite(n int, rng *rand.Rand) []float64 {
	g, a := make([]float64, n*n), make([]float64, n*n)
	for i := range g {
		g[i] = rng.NormFloat64()
	}
	for i := range n {
		for j := range n {
			for k := range n {
				a[i*n+j] += g[i*n+k] * g[j*n+k]
			}
		}
		a[i*n+i]++
	}
	return a
}

func TestCholeskyRefusesIndefinite(t *testing.T) {
	for _, a := range [][]float64{{0}, {-1}, {math.NaN()}, {1, 2, 2, 1}, {1, 1, 1, 1}} {
		t.Run(fmt.Sprint(a), func(t *testing.T) {
			n := 1
			if len(a) == 4 {
				n = 2
			}
			if cholesky(stored(a, n), n) {
				t.Errorf("%v was factorised", a)
			}
		})
	}
}
