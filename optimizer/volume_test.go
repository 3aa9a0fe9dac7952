package optimizer

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/internal/pareto"
	"github.com/lbotune/lbotune/optimizer/internal/gp"
)

// The score is the logarithm of the mean gain over draws from the posteriors, and its
// gradient that of its values.
func TestVolumeScoreIsAnExpectation(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	models := []*gp.Model{wavy(t, 0), wavy(t, 1.5), wavy(t, 3)}
	for m := 1; m <= 3; m++ {
		f := &volumeScore{}
		var points [][]float64
		for range 5 {
			p := make([]float64, m)
			for j := range p {
				p[j] = 2*rng.Float64() - 0.5
			}
			points = append(points, p)
		}
		ref := []float64{-1, -1, -1}[:m]
		f.boxes = pareto.Undominated(points, ref)
		for _, model := range models[:m] {
			f.parts = append(f.parts, model.Predictor())
		}
		for range 4 {
			x := []float64{rng.Float64(), rng.Float64()}
			grad := make([]float64, 2)
			got := f.at(x, grad)
			const draws = 40_000
			sum, squares := 0.0, 0.0
			y := make([]float64, m)
			for range draws {
				for j, p := range f.parts {
					mu, variance := p.Predict(x)
					y[j] = mu + math.Sqrt(variance)*rng.NormFloat64()
				}
				g := pareto.Gain(f.boxes, y)
				sum, squares = sum+g, squares+g*g
			}
			mean := sum / draws
			sd := math.Sqrt((squares/draws - mean*mean) / draws)
			if math.Abs(math.Exp(got)-mean) > 5*sd+1e-9 {
				t.Errorf("%d objectives at %v: %v, and by Monte Carlo %v ± %v", m, x, math.Exp(got), mean, sd)
			}
			for i := range grad {
				const h = 1e-5
				up, down := append([]float64(nil), x...), append([]float64(nil), x...)
				up[i] += h
				down[i] -= h
				slope := (f.at(up, nil) - f.at(down, nil)) / (2 * h)
				if math.Abs(slope-grad[i]) > 1e-3*(1+math.Abs(slope)) {
					t.Errorf("%d objectives at %v: slope %v, and by differences %v", m, x, grad[i], slope)
				}
			}
		}
	}
}
