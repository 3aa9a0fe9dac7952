package gp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/gp"
)

// hartmann6 is the usual test function on the unit cube, negated for
// maximization.
func hartmann6(x []float64) float64 {
	a := [4][6]float64{{10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, 0.05, 10, 0.1, 14}}
	p := [4][6]float64{
		{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886}, {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
		{0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650}, {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381},
	}
	sum := 0.0
	for i, c := range []float64{1, 1.2, 3, 3.2} {
		e := 0.0
		for j := range 6 {
			t := x[j] - p[i][j]
			e += a[i][j] * t * t
		}
		sum += c * math.Exp(-e)
	}
	return sum
}

// benchData is half a space-filling, half a clustered design, as late in a
// study, with standardized values.
func benchData(n int) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(6, uint64(n)))
	centre := []float64{0.2, 0.15, 0.48, 0.28, 0.31, 0.66}
	for i := range n {
		p := point(rng, 6)
		if i%2 == 1 {
			for j := range p {
				p[j] = math.Min(1, math.Max(0, centre[j]+0.1*rng.NormFloat64()))
			}
		}
		x = append(x, p)
		y = append(y, hartmann6(p))
	}
	var mean, square float64
	for _, v := range y {
		mean += v / float64(n)
	}
	for _, v := range y {
		square += (v - mean) * (v - mean) / float64(n)
	}
	for i := range y {
		y[i] = (y[i] - mean) / math.Sqrt(square)
	}
	return x, y
}

var sizes = []int{25, 50, 100, 300, 1000}

// BenchmarkFit/cold starts at the prior's mode, /warm at the optimum for all
// but the last observation, as in a study, /both at the two.
func BenchmarkFit(b *testing.B) {
	for _, n := range sizes {
		x, y := benchData(n)
		s := gp.NewSettings(6)
		before, err := gp.NewFitter(x[:n-1]).Fit(b.Context(), y[:n-1], nil, s)
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range []struct {
			name   string
			start  *gp.Hyper
			others int
		}{{"cold", nil, 0}, {"warm", &before.Hyper, 0}, {"both", &before.Hyper, 1}} {
			s.Starts = c.others
			b.Run(fmt.Sprintf("%s/n=%d", c.name, n), func(b *testing.B) {
				b.ReportAllocs()
				evals := 0
				for b.Loop() {
					r, err := gp.NewFitter(x).Fit(b.Context(), y, c.start, s)
					if err != nil {
						b.Fatal(err)
					}
					evals = r.Evaluations
				}
				b.ReportMetric(float64(evals), "evals")
			})
		}
	}
}

func BenchmarkSubset(b *testing.B) {
	for _, n := range []int{1000, 5000} {
		x, y := benchData(n)
		b.Run(fmt.Sprintf("m=400/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				gp.Subset(x, y, 400, nil)
			}
		})
	}
}

func BenchmarkDrawPath(b *testing.B) {
	q, grad := []float64{0.1, 0.9, 0.3, 0.5, 0.2, 0.7}, make([]float64, 6)
	for _, n := range []int{25, 100, 300} {
		m := benchModel(b, n)
		b.Run(fmt.Sprintf("draw/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.DrawPath(gp.PathFeatures, rand.New(rand.NewPCG(1, 1))); err != nil {
					b.Fatal(err)
				}
			}
		})
		f, err := m.DrawPath(gp.PathFeatures, rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("ValueGrad/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.ValueGrad(q, grad)
			}
		})
	}
}

// BenchmarkSampleHyper is a fit of the paper's configuration: ten sweeps of a
// chain that goes on.
func BenchmarkSampleHyper(b *testing.B) {
	for _, n := range []int{25, 50, 100} {
		x, y := benchData(n)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := gp.SampleSettings{Samples: 10}
				if _, err := gp.SampleHyper(b.Context(), x, y, gp.SampleStart(6), s, rand.New(rand.NewPCG(1, 1))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// benchModel is a model of n observations with plausible hyper-parameters.
func benchModel(b *testing.B, n int) *gp.Model {
	x, y := benchData(n)
	h := gp.Hyper{LogLengths: make([]float64, 6), LogNoise: math.Log(1e-6)}
	for j := range h.LogLengths {
		h.LogLengths[j] = math.Log(0.6)
	}
	return newModel(b, x, y, h)
}

func BenchmarkNew(b *testing.B) {
	for _, n := range sizes {
		x, y := benchData(n)
		h := benchModel(b, n).Hyper()
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				newModel(b, x, y, h)
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, n := range sizes {
		m := benchModel(b, n)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Append([]float64{0.1, 0.9, 0.3, 0.5, 0.2, 0.7}, 0.5); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPredict(b *testing.B) {
	q := []float64{0.1, 0.9, 0.3, 0.5, 0.2, 0.7}
	dm, dv := make([]float64, 6), make([]float64, 6)
	for _, n := range sizes {
		p := benchModel(b, n).Predictor()
		b.Run(fmt.Sprintf("Mean/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Mean(q)
			}
		})
		b.Run(fmt.Sprintf("Predict/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Predict(q)
			}
		})
		b.Run(fmt.Sprintf("PredictGrad/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.PredictGrad(q, dm, dv)
			}
		})
		xs, mean, variance := make([][]float64, 512), make([]float64, 512), make([]float64, 512)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range xs {
			xs[i] = point(rng, 6)
		}
		b.Run(fmt.Sprintf("Batch512/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Batch(xs, mean, variance)
			}
		})
	}
}
