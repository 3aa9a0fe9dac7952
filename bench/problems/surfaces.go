package problems

import (
	"math"
	"strconv"
)

// The surfaces of this file are made for this package. Each has one property
// that searches are known to stumble over; all live on the unit cube, and where
// they lie in it depends on the seed.

// AsymmetricValley rises 100 times as steeply on one side of its floor as on
// the other, along turned axes.
func AsymmetricValley(d int, seed uint64) Problem {
	r := stream(seed, 0xa5)
	o, q := randomPoint(r, d, 0.15, 0.85), rotation(r, d)
	slopes := sum(func(_ int, z float64) float64 {
		if z < 0 {
			z *= 10
		}
		return z * z
	})
	return onCube("asymmetric", d, 0, 1, o, func(x []float64) float64 { return slopes(rotate(q, subtract(x, o))) })
}

// FlatValley is a bent gully whose floor slopes 10⁴ times less than its walls.
func FlatValley(d int, seed uint64) Problem {
	o := randomPoint(stream(seed, 0xf1), d, 0.2, 0.8)
	return onCube("flatvalley", d, 0, 1, o, func(x []float64) float64 {
		wall, floor := x[0]-o[0], 0.0
		for i := 1; i < len(x); i++ {
			z := x[i] - o[i]
			wall -= 1.5 * z * z
			floor += z * z
		}
		return 10*wall*wall + 1e-3*floor
	})
}

// Steps is a staircase: flat nearly everywhere, with a pit of 2·r on a side.
func Steps(d int, seed uint64) Problem {
	const r = 0.07
	o := randomPoint(stream(seed, 0x57), d, 0.2, 0.8)
	p := onCube("steps", d, 0, 1, o, sum(func(i int, v float64) float64 {
		return math.Floor((math.Abs(v-o[i]) + r) / (2 * r))
	}))
	p.Lipschitz = math.Inf(1)
	return p
}

// Cliff slopes down to its optimum, which lies at the edge of a cliff: a step
// further along x₁ the value jumps by 3.
func Cliff(d int, seed uint64) Problem {
	o := randomPoint(stream(seed, 0xc1), d, 0.2, 0.8)
	p := onCube("cliff", d, 0, 1, o, func(x []float64) float64 {
		sum := math.Abs(x[0] - o[0])
		for i := 1; i < len(x); i++ {
			sum += 2 * (x[i] - o[i]) * (x[i] - o[i])
		}
		if x[0] > o[0] {
			sum += 3
		}
		return sum
	})
	p.Lipschitz = math.Inf(1)
	return p
}

// Needle is flat but for a hole with a standard deviation of 0.02.
func Needle(d int, seed uint64) Problem {
	const width = 0.02
	o := randomPoint(stream(seed, 0x4e), d, 0.1, 0.9)
	p := onCube("needle", d, 0, 1, o, func(x []float64) float64 {
		return -math.Expm1(-distance2(x, o) / (2 * width * width))
	})
	p.Lipschitz = math.Exp(-0.5) / width // at one standard deviation
	return p
}

// TwoBasins has a broad bowl that ends at 0.3 and a narrow one, about a
// twentieth of a three-dimensional cube, that ends at 0.
func TwoBasins(d int, seed uint64) Problem {
	r := stream(seed, 0x2b)
	broad := randomPoint(r, d, 0.15, 0.85)
	narrow := randomPoint(r, d, 0.15, 0.85)
	for distance2(broad, narrow) < 0.09*float64(d) {
		narrow = randomPoint(r, d, 0.15, 0.85)
	}
	return onCube("twobasins", d, 0, 1, narrow, func(x []float64) float64 {
		n := float64(len(x))
		return min(0.3+distance2(x, broad)/n, 25*distance2(x, narrow)/n)
	})
}

func distance2(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return sum
}

// Constant is 1 everywhere.
func Constant(d int) Problem {
	p := onCube("constant", d, 0, 1, constant(d, 0.5), func([]float64) float64 { return 1 })
	p.Min = 1
	return p
}

// PureNoise is Constant with a normal error of standard deviation 1: there is
// nothing to find.
func PureNoise(d int, seed uint64) Problem {
	p := WithNoise(Constant(d), 1, seed)
	p.Name = "noise" + strconv.Itoa(d)
	return p
}
