package quadratic

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The errors without one point each are those of as many fits.
func TestErrorsWithoutOnePoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for d := 3; d < 7; d++ {
		n := d + 4
		s, v := mat.NewDense(n, d, nil), mat.NewVecDense(n, nil)
		for i := range n {
			v.SetVec(i, rng.NormFloat64())
			for j := range d {
				s.Set(i, j, rng.Float64()-0.5)
			}
		}
		whole, err := interpolate(s, s, v)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for out := range n {
			rest, values := mat.NewDense(n-1, d, nil), mat.NewVecDense(n-1, nil)
			for i, k := range without(n, out) {
				rest.SetRow(i, s.RawRowView(k))
				values.SetVec(i, v.AtVec(k))
			}
			m := &Model{Center: make([]float64, d), Far: 1, Unit: 1}
			if err := m.solve(rest, values); err != nil {
				t.Fatal(err)
			}
			row := s.RowView(out)
			e := (v.AtVec(out) - m.At(s.RawRowView(out))) / mat.Dot(row, row)
			want += e * e
		}
		if got := whole.error(s); math.Abs(got-want) > 1e-6*want {
			t.Errorf("%d dimensions: %v, by as many fits %v", d, got, want)
		}
	}
}

func without(n, out int) (kept []int) {
	for i := range n {
		if i != out {
			kept = append(kept, i)
		}
	}
	return kept
}
