package gp

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
	matern52(k, slope, r2, 1)
	matern52Value(value, r2, 1)
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
	matern52Value(k, k, 1)
	return k[0]
}

func TestCholeskyVectors(t *testing.T) {
	x := [][]float64{{0.1, 0.2}, {0.4, 0.9}, {0.75, 0.35}, {0.9, 0.6}, {0.55, 0.15}}
	y := []float64{0.3, -1.2, 0.8, 1.5, -0.4}
	h := Hyper{LogLengths: []float64{math.Log(0.3), math.Log(0.6)}, LogSignal: math.Log(1.7), LogNoise: math.Log(0.01), Mean: 0.1}
	m, err := New(x, y, h)
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
		a := randomDefinite(n, rng)
		l := append([]float64(nil), a...)
		tmp := make([]float64, n)
		if !cholesky(l, n, tmp) {
			t.Fatalf("n = %d: not positive definite", n)
		}
		rows := factorRows(l, n)
		u := make([]float64, n*n)
		inverseTranspose(u, rows, tmp)
		inv := make([]float64, n*n)
		for i := range n {
			inverseRow(tmp, u, n, i)
			for k := range i + 1 {
				inv[i*n+k], inv[k*n+i] = tmp[k], tmp[k]
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
	}
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
		n := 1
		if len(a) == 4 {
			n = 2
		}
		if cholesky(a, n, make([]float64, n)) {
			t.Errorf("%v was factorised", a)
		}
	}
}
