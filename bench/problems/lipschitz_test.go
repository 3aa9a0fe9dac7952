package problems

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// estimateLipschitz searches for the largest gradient norm of p over the unit
// cube: it takes central differences at the given number of random points and
// then climbs from the steepest ten. The result is a lower bound of the
// Lipschitz constant in the Euclidean norm, tight where the climb finds the
// steepest place.
func estimateLipschitz(p Problem, points int, seed uint64) float64 {
	type place struct {
		u     []float64
		slope float64
	}
	r := rand.New(rand.NewPCG(seed, 0x11b))
	places := make([]place, points)
	for i := range places {
		u := make([]float64, p.Dim())
		for j := range u {
			u[j] = r.Float64()
		}
		places[i] = place{u, slope(p, u)}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(b.slope, a.slope) })
	steepest := 0.0
	for _, s := range places[:min(10, points)] {
		steepest = max(steepest, climb(p, s.u, s.slope))
	}
	return steepest
}

// climb improves the slope by moving along one axis at a time: first anywhere on
// the axis, then by steps that are halved when no axis helps.
func climb(p Problem, u []float64, best float64) float64 {
	try := func(j int, v float64) bool {
		at := u[j]
		u[j] = min(max(v, 0), 1)
		if s := slope(p, u); s > best {
			best = s
			return true
		}
		u[j] = at
		return false
	}
	const cells = 256
	for j := range u {
		for i := range cells + 1 {
			try(j, float64(i)/cells)
		}
	}
	for step := 1.0 / cells; step > 1e-6; {
		moved := false
		for j := range u {
			moved = try(j, u[j]+step) || try(j, u[j]-step) || moved
		}
		if !moved {
			step /= 2
		}
	}
	return best
}

// slope is the gradient norm at u by central differences, one-sided at the
// faces of the cube.
func slope(p Problem, u []float64) float64 {
	const h = 1e-6
	x := p.FromUnit(u)
	sum := 0.0
	for j := range u {
		width := p.High[j] - p.Low[j]
		at := x[j]
		up, down := min(u[j]+h, 1), max(u[j]-h, 0)
		x[j] = p.Low[j] + up*width
		f := p.Eval(x)
		x[j] = p.Low[j] + down*width
		g := (f - p.Eval(x)) / (up - down)
		x[j] = at
		sum += g * g
	}
	return math.Sqrt(sum)
}
