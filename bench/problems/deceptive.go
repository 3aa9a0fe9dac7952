package problems

import (
	"math"
)

// Deceptive lists surfaces on which what a search sees first misleads it, a new instance of each
// for each seed: the best corner lies opposite the one that the slope at the center points to,
// the center is a plateau, the broad basin is the wrong one, there are many narrow holes, or
// waves on a bowl.
func Deceptive(seed uint64) []Problem {
	return []Problem{
		WrongCorner(3, seed), WrongCorner(5, seed), FlatCenter(3, seed), FlatCenter(4, seed), TwoBasins(4, seed),
		Holes(3, seed), Holes(4, seed), Holes(6, seed), Langermann(3, seed), Langermann(5, seed),
		CosineMixture(4, seed), CosineMixture(6, seed), Rastrigin(4, seed),
	}
}

// WrongCorner is a bowl in one corner of the cube that ends at 0.3, and a steeper one in the
// opposite corner that ends at 0. The slope at the center points to the former.
func WrongCorner(d int, seed uint64) Problem {
	r := stream(seed, 0xc0)
	right, wrong := make([]float64, d), make([]float64, d)
	for i := range right {
		right[i] = float64(r.IntN(2))
		wrong[i] = 1 - right[i]
	}
	return onCube("corner", d, 0, 1, right, func(x []float64) float64 {
		n := float64(d)
		return min(0.3+distance2(x, wrong)/n, 8*distance2(x, right)/n)
	})
}

// FlatCenter is 1 all around the center and on most of the cube, and has one bowl near its border.
func FlatCenter(d int, seed uint64) Problem {
	r := stream(seed, 0xf1a7)
	at := randomPoint(r, d, 0, 1)
	for distance2(at, constant(d, 0.5)) < 0.13*float64(d) || distance2(at, constant(d, 0.5)) > 0.18*float64(d) {
		at = randomPoint(r, d, 0, 1)
	}
	return onCube("flat", d, 0, 1, at, func(x []float64) float64 {
		return min(1, distance2(x, at)/(0.12*float64(d)))
	})
}

// Holes is of Shekel's kind [DS]: ten wells of different depth at random places of [0, 10]^d.
func Holes(d int, seed uint64) Problem {
	r := stream(seed, 0x401e)
	var wells [][]float64
	var beta []float64
	for i := range 10 {
		wells, beta = append(wells, randomPoint(r, d, 0.5, 9.5)), append(beta, 0.1+0.07*float64(i))
	}
	p := onCube("holes", d, 0, 10, nil, func(x []float64) float64 {
		sum := 0.0
		for i, b := range beta {
			sum -= 1 / (b + distance2(x, wells[i]))
		}
		return sum
	})
	p.deepest(wells)
	return p
}

// Langermann is Σ cᵢ exp(−rᵢ²/π) cos(π rᵢ²), rᵢ the distance to one of five random places of
// [0, 10]^d [SB]: rings around each, in an otherwise flat cube.
func Langermann(d int, seed uint64) Problem {
	r := stream(seed, 0x1a9)
	var places [][]float64
	for range 5 {
		places = append(places, randomPoint(r, d, 1, 9))
	}
	weights := [...]float64{5, 3, 2, 2, 1}
	p := onCube("langermann", d, 0, 10, nil, func(x []float64) float64 {
		sum := 0.0
		for i, c := range weights {
			r2 := distance2(x, places[i])
			sum -= c * math.Exp(-r2/math.Pi) * math.Cos(math.Pi*r2)
		}
		return sum
	})
	p.deepest(places)
	return p
}

// CosineMixture is a bowl with ten waves across its width [JY], moved.
func CosineMixture(d int, seed uint64) Problem {
	at := randomPoint(stream(seed, 0xc05), d, -0.5, 0.5)
	return onCube("cosines", d, -1, 1, at, sum(func(i int, v float64) float64 {
		v -= at[i]
		return v*v + 0.1*(1-math.Cos(5*math.Pi*v))
	}))
}

// deepest sets the minimum: the least value that steps along the coordinates, each halved when
// none improves, reach from any of the points.
func (p *Problem) deepest(from [][]float64) {
	p.Min = math.Inf(1)
	for _, x := range from {
		x = append([]float64(nil), x...)
		y := p.Eval(x)
		for step := (p.High[0] - p.Low[0]) / 100; step > 1e-10; step /= 2 {
			for moved := true; moved; {
				moved = false
				for i := range x {
					for _, by := range []float64{step, -2 * step} {
						x[i] += by
						if v := p.Eval(x); v < y && p.contains(x) {
							y, moved = v, true
							break
						} else if by < 0 {
							x[i] += step
						}
					}
				}
			}
		}
		if y < p.Min {
			p.Min, p.Minimizers = y, [][]float64{x}
		}
	}
}
