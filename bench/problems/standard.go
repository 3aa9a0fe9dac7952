package problems

import "math"

// The functions of this file are the usual ones of the literature. Where the
// published optimum lies in the middle of the box or at a round number it is
// moved to a place that depends on the seed.

// Ackley has a deep funnel at its optimum and ripples around it [SB, JY]:
//
//	20 + e − 20·exp(−0.2·√(Σz²/d)) − exp(Σcos(2πz)/d)
//
// with z = x − o on [−32.768, 32.768]^d.
func Ackley(d int, seed uint64) Problem {
	o := randomPoint(stream(seed, 0xac), d, -20, 20)
	return onCube("ackley", d, -32.768, 32.768, o, func(x []float64) float64 {
		squares, waves := 0.0, 0.0
		for i, v := range x {
			z := v - o[i]
			squares += z * z
			waves += math.Cos(2 * math.Pi * z)
		}
		n := float64(len(x))
		return -20*math.Expm1(-0.2*math.Sqrt(squares/n)) + math.E - math.Exp(waves/n)
	})
}

// Rastrigin is a bowl with a lattice of local minima [SB, JY]:
//
//	Σ z² + 10(1 − cos 2πz)
//
// with z = x − o on [−5.12, 5.12]^d.
func Rastrigin(d int, seed uint64) Problem {
	o := randomPoint(stream(seed, 0x4a), d, -3.5, 3.5)
	return onCube("rastrigin", d, -5.12, 5.12, o, sum(func(i int, v float64) float64 {
		z := v - o[i]
		return z*z + 10*(1-math.Cos(2*math.Pi*z))
	}))
}

// Schwefel has its best minimum far from the second best [SB, JY]:
//
//	Σ 418.98… − z·sin √|z|
//
// on [−500, 500]^d. Each coordinate is turned round or not, and moved by up to
// 250 towards the middle; beyond |z| = 500, where the formula would fall below
// its minimum, a quadratic wall stands.
func Schwefel(d int, seed uint64) Problem {
	const best, offset = 420.968746359982, 418.9828872724339
	r := stream(seed, 0x5c)
	sign, shift, at := make([]float64, d), make([]float64, d), make([]float64, d)
	for i := range at {
		sign[i] = 1
		if r.IntN(2) == 0 {
			sign[i] = -1
		}
		shift[i] = 250 * r.Float64()
		at[i] = sign[i] * (best - shift[i])
	}
	return onCube("schwefel", d, -500, 500, at, sum(func(i int, v float64) float64 {
		z := sign[i]*v + shift[i]
		inside := min(max(z, -500), 500)
		beyond := z - inside
		return offset - inside*math.Sin(math.Sqrt(math.Abs(inside))) + beyond*beyond/100
	}))
}

// Griewank is a wide bowl with fine ripples [SB, JY]:
//
//	1 + Σ z²/4000 − Π cos(z_i/√i)
//
// with z = x − o on [−600, 600]^d.
func Griewank(d int, seed uint64) Problem {
	o := randomPoint(stream(seed, 0x61), d, -400, 400)
	return onCube("griewank", d, -600, 600, o, func(x []float64) float64 {
		sum, product := 0.0, 1.0
		for i, v := range x {
			z := v - o[i]
			sum += z * z / 4000
			product *= math.Cos(z / math.Sqrt(float64(i+1)))
		}
		return 1 + sum - product
	})
}

// Levy is the function of Levy and Montalvo [SB] on [−10, 10]^d, minimal at 1.
func Levy(d int) Problem {
	return onCube("levy", d, -10, 10, constant(d, 1), func(x []float64) float64 {
		w := func(i int) float64 { return 1 + (x[i]-1)/4 }
		square := func(v float64) float64 { return v * v }
		sum := square(math.Sin(math.Pi * w(0)))
		last := len(x) - 1
		for i := range last {
			sum += square(w(i)-1) * (1 + 10*square(math.Sin(math.Pi*w(i)+1)))
		}
		return sum + square(w(last)-1)*(1+square(math.Sin(2*math.Pi*w(last))))
	})
}

// StyblinskiTang has 2^d minima, all but one of them wrong [SB, JY]:
//
//	½ Σ x⁴ − 16x² + 5x
//
// on [−5, 5]^d.
func StyblinskiTang(d int) Problem {
	twice := sum(func(_ int, v float64) float64 { return v*v*v*v - 16*v*v + 5*v })
	p := onCube("styblinski", d, -5, 5, constant(d, -2.903534027771177), func(x []float64) float64 { return twice(x) / 2 })
	p.Min = -39.16616570377141 * float64(d)
	return p
}

// DixonPrice is a curved valley [SB]:
//
//	(x₁ − 1)² + Σ_{i≥2} i(2x_i² − x_{i−1})²
//
// on [−10, 10]^d.
func DixonPrice(d int) Problem {
	at := make([]float64, d)
	for i := range at {
		at[i] = math.Exp2(-(1 - math.Exp2(-float64(i))))
	}
	return onCube("dixonprice", d, -10, 10, at, func(x []float64) float64 {
		sum := (x[0] - 1) * (x[0] - 1)
		for i := 1; i < len(x); i++ {
			a := 2*x[i]*x[i] - x[i-1]
			sum += float64(i+1) * a * a
		}
		return sum
	})
}

// Shekel has ten wells of different depth in four dimensions, on [0, 10]⁴ [DS];
// [SB] print the seventh well as (5, 3, 5, 3).
func Shekel() Problem {
	beta := [...]float64{.1, .2, .2, .4, .4, .6, .3, .7, .5, .5}
	wells := [...][4]float64{
		{4, 4, 4, 4}, {1, 1, 1, 1}, {8, 8, 8, 8}, {6, 6, 6, 6}, {3, 7, 3, 7},
		{2, 9, 2, 9}, {5, 5, 3, 3}, {8, 1, 8, 1}, {6, 2, 6, 2}, {7, 3.6, 7, 3.6},
	}
	at := []float64{4.000746531, 4.000592935, 3.999663399, 3.999509801}
	p := onCube("shekel", 4, 0, 10, at, func(x []float64) float64 {
		sum := 0.0
		for i, b := range beta {
			for j, v := range x {
				b += (v - wells[i][j]) * (v - wells[i][j])
			}
			sum -= 1 / b
		}
		return sum
	})
	p.Min = -10.536409816692043
	return p
}

// Eggholder is rugged throughout and best at the edge [SB, JY], on [−512, 512]².
func Eggholder() Problem {
	p := onCube("eggholder", 2, -512, 512, []float64{512, 404.231805123817}, func(x []float64) float64 {
		y := x[1] + 47
		return -y*math.Sin(math.Sqrt(math.Abs(y+x[0]/2))) - x[0]*math.Sin(math.Sqrt(math.Abs(x[0]-y)))
	})
	p.Min = -959.6406627208506
	return p
}

// Sphere is Σ (x − o)² on [−5, 5]^d [SB, JY].
func Sphere(d int, seed uint64) Problem {
	o := randomPoint(stream(seed, 0x5f), d, -4, 4)
	return onCube("sphere", d, -5, 5, o, func(x []float64) float64 { return distance2(x, o) })
}

// Ellipsoid is a bowl 10⁴ times as steep along one axis as along another; the
// axes are turned at random, so that no coordinate can be searched alone. The
// box is [−5, 5]^d.
func Ellipsoid(d int, seed uint64) Problem {
	r := stream(seed, 0xe1)
	o, q := randomPoint(r, d, -4, 4), rotation(r, d)
	bowl := sum(func(i int, z float64) float64 { return math.Pow(1e4, float64(i)/float64(d-1)) * z * z })
	return onCube("ellipsoid", d, -5, 5, o, func(x []float64) float64 { return bowl(rotate(q, subtract(x, o))) })
}
