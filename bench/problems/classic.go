package problems

import "math"

// Branin is the Branin–Hoo function [DS, SB]:
//
//	(x₂ − 5.1x₁²/(4π²) + 5x₁/π − 6)² + 10(1 − 1/(8π))cos x₁ + 10
//
// on [−5, 10]×[0, 15], with three equal minima.
func Branin() Problem {
	const pi = math.Pi
	return Problem{
		Name: "branin2",
		Low:  []float64{-5, 0}, High: []float64{10, 15},
		Min:        10 / (8 * pi), // both squares vanish and cos x₁ = −1
		Minimizers: [][]float64{{-pi, 12.275}, {pi, 2.275}, {3 * pi, 2.475}},
		Lipschitz:  1704.71,
		Eval: func(x []float64) float64 {
			a := x[1] - 5.1/(4*pi*pi)*x[0]*x[0] + 5/pi*x[0] - 6
			return a*a + 10*(1-1/(8*pi))*math.Cos(x[0]) + 10
		},
	}
}

// Camel is the six-hump camel function [DS, SB]:
//
//	(4 − 2.1x₁² + x₁⁴/3)x₁² + x₁x₂ + (4x₂² − 4)x₂²
//
// on [−3, 3]×[−2, 2].
func Camel() Problem {
	return Problem{
		Name: "camel2",
		Low:  []float64{-3, -2}, High: []float64{3, 2},
		Min:        -1.0316284534898774,
		Minimizers: [][]float64{{0.08984201, -0.7126564}, {-0.08984201, 0.7126564}},
		Lipschitz:  1771.94,
		Eval: func(x []float64) float64 {
			a, b := x[0]*x[0], x[1]*x[1]
			return (4-2.1*a+a*a/3)*a + x[0]*x[1] + (4*b-4)*b
		},
	}
}

// GoldsteinPrice is the function of Goldstein and Price (1971) [DS, SB] on
// [−2, 2]². Its values range over six orders of magnitude.
func GoldsteinPrice() Problem {
	return Problem{
		Name: "goldstein2",
		Low:  []float64{-2, -2}, High: []float64{2, 2},
		Min:        3,
		Minimizers: [][]float64{{0, -1}},
		Lipschitz:  8.90355e6,
		Eval: func(x []float64) float64 {
			s, t := x[0]+x[1], 2*x[0]-3*x[1]
			// The two quadratic forms of the publication in terms of s and t.
			return (1 + (s+1)*(s+1)*(19-14*s+3*s*s)) * (30 + t*t*(18-16*t+3*t*t))
		},
	}
}

// Rosenbrock is the banana valley [SB, JY]:
//
//	Σ 100(x_{i+1} − x_i²)² + (1 − x_i)²
//
// on [−5, 10]^d, the box that [SB] calls usual.
func Rosenbrock(d int) Problem {
	lipschitz := map[int]float64{2: 6.30813e6, 3: 8.10099e6, 4: 9.58883e6, 5: 1.087498e7}
	p := onCube("rosenbrock", d, -5, 10, constant(d, 1), func(x []float64) float64 {
		return sum(func(i int, v float64) float64 {
			a, b := x[i+1]-v*v, 1-v
			return 100*a*a + b*b
		})(x[:len(x)-1])
	})
	p.Lipschitz = lipschitz[d]
	return p
}

// Michalewicz has d! local minima in steep valleys [SB]:
//
//	−Σ sin(x_i) sin²⁰(i·x_i²/π)
//
// on [0, π]^d. The sum separates, so the minimum for any d ≤ 10 is known.
func Michalewicz(d int) Problem {
	at := []float64{
		2.202905525751003, 1.570796328204838, 1.284991574366075, 1.923058470634968, 1.7204697720879212,
		1.5707963276940493, 1.4544139695256897, 1.7560865209158254, 1.6557174164071422, 1.5707963277896977,
	}
	lipschitz := map[int]float64{2: 21.3331, 5: 73.6201, 10: 196.871}
	p := onCube("michalewicz", d, 0, math.Pi, nil, sum(func(i int, v float64) float64 {
		s := math.Sin(float64(i+1) * v * v / math.Pi)
		s *= s
		s4 := s * s * s * s
		return -math.Sin(v) * s4 * s4 * s * s
	}))
	p.Lipschitz = lipschitz[d]
	p.Min, p.Minimizers = math.NaN(), nil
	if d <= len(at) {
		p.Min, p.Minimizers = p.Eval(at[:d]), [][]float64{at[:d]}
	}
	return p
}
