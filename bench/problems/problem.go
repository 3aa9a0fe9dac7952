// Package problems holds objectives with known answers, for benchmarks and
// tests of optimizers: the twelve synthetic functions of the paper, a second
// suite that is meant to be unpleasant in other ways, and the paper's three
// real tasks as functions.
//
// Everything is in minimization form, as these functions are published.
//
// References in short form:
//
//	[SB]  Surjanovic and Bingham, Virtual Library of Simulation Experiments:
//	      Test Functions and Datasets, Simon Fraser University,
//	      https://www.sfu.ca/~ssurjano
//	[JY]  Jamil and Yang, A Literature Survey of Benchmark Functions for Global
//	      Optimisation Problems, Int. J. of Mathematical Modelling and Numerical
//	      Optimisation 4(2), 2013
//	[DS]  Dixon and Szegő, The Global Optimization Problem: An Introduction, in
//	      Towards Global Optimisation 2, North-Holland, 1978
package problems

import (
	"math/rand/v2"
	"slices"
	"strconv"
)

// Problem is a function over a box, to be minimized.
type Problem struct {
	Name      string
	Low, High []float64 // the box, one entry for each dimension

	// Min is the least value in the box; NaN when it is not known.
	Min float64
	// Minimizers are points of the box with that value, to the digits of their
	// source; not always all of them, and none where they are not known.
	Minimizers [][]float64

	// Lipschitz is the largest gradient norm over the box after it is scaled to
	// the unit cube; 0 when it was not computed, +Inf where the function jumps.
	Lipschitz float64

	// Eval is the function itself, without noise. It neither keeps nor changes x.
	Eval func(x []float64) float64

	// Noisy is what a trial of that number sees at x. It depends on nothing
	// else, so trials can be evaluated in any order. Nil means Eval.
	Noisy func(x []float64, trial uint64) float64
}

// Dim is the number of dimensions.
func (p Problem) Dim() int { return len(p.Low) }

// FromUnit maps a point of the unit cube into the box.
func (p Problem) FromUnit(u []float64) []float64 {
	x := make([]float64, len(u))
	for i := range u {
		x[i] = p.Low[i] + u[i]*(p.High[i]-p.Low[i])
	}
	return x
}

// ToUnit maps a point of the box into the unit cube.
func (p Problem) ToUnit(x []float64) []float64 {
	u := make([]float64, len(x))
	for i := range x {
		u[i] = (x[i] - p.Low[i]) / (p.High[i] - p.Low[i])
	}
	return u
}

// Regret is how far y lies above the least value; NaN when that is not known.
func (p Problem) Regret(y float64) float64 { return y - p.Min }

func (p Problem) contains(x []float64) bool {
	for i := range x {
		if x[i] < p.Low[i] || x[i] > p.High[i] {
			return false
		}
	}
	return true
}

// Sample draws a point of the box uniformly.
func (p Problem) Sample(r *rand.Rand) []float64 {
	x := make([]float64, p.Dim())
	for i := range x {
		x[i] = p.Low[i] + r.Float64()*(p.High[i]-p.Low[i])
	}
	return x
}

// WithNoise adds to every trial a normal error with standard deviation sd,
// drawn from a stream of its own for each seed and trial.
func WithNoise(p Problem, sd float64, seed uint64) Problem {
	eval := p.Eval
	p.Noisy = func(x []float64, trial uint64) float64 {
		return eval(x) + sd*stream(seed, trial).NormFloat64()
	}
	return p
}

// stream gives the random numbers that belong to two keys.
func stream(a, b uint64) *rand.Rand { return rand.New(rand.NewPCG(a, b)) }

// onCube is a function on [low, high]^d with the value 0 at its minimizer.
func onCube(family string, d int, low, high float64, at []float64, eval func(x []float64) float64) Problem {
	return Problem{
		Name: family + strconv.Itoa(d), Low: constant(d, low), High: constant(d, high),
		Minimizers: [][]float64{at}, Eval: eval,
	}
}

func constant(d int, v float64) []float64 { return slices.Repeat([]float64{v}, d) }

// sum is the function Σ term(i, x_i), with i counted from 0.
func sum(term func(i int, v float64) float64) func(x []float64) float64 {
	return func(x []float64) float64 {
		total := 0.0
		for i, v := range x {
			total += term(i, v)
		}
		return total
	}
}
