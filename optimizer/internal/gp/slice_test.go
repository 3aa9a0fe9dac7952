package gp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// average returns the mean of f over the states of a chain and its standard
// error, from 50 batches.
func average(states []float64, f func(float64) float64) (mean, stderr float64) {
	const batches = 50
	size := len(states) / batches
	var means [batches]float64
	for b := range batches {
		for _, v := range states[b*size : (b+1)*size] {
			means[b] += f(v) / float64(size)
		}
		mean += means[b] / batches
	}
	square := 0.0
	for _, m := range means {
		square += (m - mean) * (m - mean)
	}
	return mean, math.Sqrt(square / (batches * (batches - 1)))
}

func expect(t *testing.T, what string, states []float64, f func(float64) float64, want float64) {
	t.Helper()
	mean, stderr := average(states, f)
	if math.Abs(mean-want) > 4*stderr {
		t.Errorf("%s: %v ± %v, want %v", what, mean, stderr, want)
	}
}

func run(seed uint64, n int, logDensity func(float64) float64, start float64) []float64 {
	s := slicer{rng: rand.New(rand.NewPCG(seed, 1)), width: 1}
	x, value := start, logDensity(start)
	states := make([]float64, n)
	for i := range states {
		var t float64
		t, value = s.step(func(t float64) float64 { return logDensity(x + t) }, value)
		x += t
		states[i] = x
	}
	return states
}

func below(c float64) func(float64) float64 {
	return func(v float64) float64 {
		if v < c {
			return 1
		}
		return 0
	}
}

func identity(v float64) float64 { return v }
func square(v float64) float64   { return v * v }

func TestSliceSamplerOnTwoModes(t *testing.T) {
	// 0.3 N(−3, ½²) + 0.7 N(2, 1): a valley between the modes, which only the
	// doubling crosses.
	states := run(1, 100_000, func(x float64) float64 {
		a, b := (x+3)/0.5, x-2
		return math.Log(0.3/0.5*math.Exp(-a*a/2) + 0.7*math.Exp(-b*b/2))
	}, 0)
	expect(t, "mean", states, identity, 0.5)
	expect(t, "second moment", states, square, 0.3*9.25+0.7*5)
	expect(t, "P(x < 0)", states, below(0), 0.3+0.7*0.5*math.Erfc(2/math.Sqrt2))
	expect(t, "P(x < −3)", states, below(-3), 0.15)
	expect(t, "P(x < 3)", states, below(3), 0.3+0.7*0.5*math.Erfc(-1/math.Sqrt2))
}

func TestSliceSamplerAtAnEdge(t *testing.T) {
	states := run(2, 100_000, func(x float64) float64 {
		if x < 0 {
			return math.Inf(-1)
		}
		return -x / 20 // far wider than the first interval
	}, 3)
	expect(t, "mean", states, identity, 20)
	expect(t, "P(x < 1)", states, below(1), 1-math.Exp(-0.05))
	expect(t, "P(x < 40)", states, below(40), 1-math.Exp(-2))
}

func TestSliceSamplerOnANarrowDensity(t *testing.T) {
	states := run(3, 20_000, func(x float64) float64 { return -x * x / 2 * 1e8 }, 1e-4)
	expect(t, "mean", states, identity, 0)
	expect(t, "second moment", states, square, 1e-8)
}
