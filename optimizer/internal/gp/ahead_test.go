package gp_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/gp"
)

// What is prepared for several points, or is left of the model before the last observations, changes no digit.
func TestAhead(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	point := func() []float64 { return []float64{rng.Float64(), rng.Float64(), rng.Float64()} }
	h := gp.Hyper{LogLengths: []float64{-0.5, 0, 0.5}, LogNoise: -9}
	type posterior struct{ mean, variance, batchMean, batchVariance float64 }
	at := func(p *gp.Predictor, x []float64) (out posterior, grads []float64) {
		grads = make([]float64, 6)
		out.mean, out.variance = p.PredictGrad(x, grads[:3], grads[3:])
		mean, variance := make([]float64, 1), make([]float64, 1)
		p.Batch([][]float64{x}, mean, variance)
		out.batchMean, out.batchVariance = mean[0], variance[0]
		return out, grads
	}
	for _, n := range []int{1, 3, 4, 7, 8, 21} {
		var x [][]float64
		var y []float64
		for range n {
			x, y = append(x, point()), append(y, rng.NormFloat64())
		}
		m, err := gp.New(nil, x, y, h)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 { // more than a block of the inverse
			points := [][]float64{point(), point(), point()}
			together, other := m.Predictor(), point()
			together.Ahead(points)
			for _, p := range slices.Concat(points, [][]float64{other, points[0]}) {
				got, grads := at(together, p)
				fresh := gp.Fresh(m).Predictor()
				want, wantGrads := at(fresh, p)
				if got != want || !slices.Equal(grads, wantGrads) {
					t.Fatalf("of %d observations: %v %v, alone and afresh %v %v", m.Len(), got, grads, want, wantGrads)
				}
			}
			aside, err := m.Append(point(), 0.5) // as a pending trial is believed, which the next model does not have
			if err != nil {
				t.Fatal(err)
			}
			at(aside.Predictor(), other)
			if m, err = m.Append(point(), rng.NormFloat64()); err != nil {
				t.Fatal(err)
			}
		}
	}
}
