package optimizer

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lbotune/lbotune/optimizer/internal/sobol"
	"github.com/lbotune/lbotune/spaces"
)

// A design has d+1 points, within these bounds: in a hundred dimensions it would take
// as many trials as people have, while a model of 24 points already finds better ones.
const (
	leastDesign = 4
	mostDesign  = 24
)

// design returns the first points of a study that the settings ask for. In
// spaces with few levels points can coincide.
//
//	lhs     the centre, then a maximin latin hypercube, the best of 50 by its
//	        smallest distance between points, the centre included (McKay,
//	        Beckman and Conover 1979; Johnson, Moore and Ylvisaker 1990)
//	walk    the same, after today's values if they are known; the walk takes two of it
//	sobol   a scrambled Sobol sequence
//	random  independent uniform points
func design(space *spaces.Space, set Settings, seed uint64) []spaces.Point {
	n, d := set.DesignSize, space.Len()
	rng := stream(seed, 0, "design")
	var points []spaces.Point
	var us [][]float64
	switch set.Design {
	case "sobol":
		us = sobol.Scrambled(d, seed).Points(0, n)
	case "random":
		for range n {
			points = append(points, space.Draw(rng))
		}
	default:
		points = append(points, space.Center())
		if today, known := today(space); known && set.Design == walking {
			points[0] = today
		}
		us = sobol.Maximin(n-1, d, 50, [][]float64{slices.Repeat([]float64{0.5}, d)}, rng)
	}
	points = append(points, mapped(us, space.FromUniform)...)
	allow(space, points, rng)
	return points
}

// today is the point of today's values, if the space knows any.
func today(space *spaces.Space) (spaces.Point, bool) {
	values, known := space.Default()
	if !known {
		return nil, false
	}
	p, err := space.Encode(values)
	return p, err == nil
}

// allow replaces the points that may not be proposed, each by a draw far from the others.
func allow(space *spaces.Space, points []spaces.Point, rng *rand.Rand) {
	all := mapped(points, func(p spaces.Point) []float64 { return p })
	good := slices.DeleteFunc(all, func(p []float64) bool { return !space.Allows(p) })
	for i, p := range points {
		if space.Allows(p) {
			continue
		}
		points[i] = farthest(mitchell, func() []float64 { return space.Draw(rng) }, good, never)
		good = append(good, points[i])
	}
}

// mitchell is the number of draws of which the farthest fills the space.
const mitchell = 64

// farthest draws points and returns the one that is farthest from all known points
// (Mitchell's best candidate, 1991), nil if all are taken.
func farthest(draws int, draw func() []float64, known [][]float64, taken func([]float64) bool) []float64 {
	var best []float64
	widest := -1.0
	for range draws {
		p := draw()
		if least := nearestDistance(p, known); least > widest && !taken(p) {
			best, widest = p, least
		}
	}
	return best
}

// never is what no point is.
func never([]float64) bool { return false }

// nearestDistance is the Euclidean distance of p to the nearest of the points,
// infinite without any.
func nearestDistance(p []float64, points [][]float64) float64 {
	least := math.Inf(1)
	for _, q := range points {
		least = math.Min(least, spaces.Distance(p, q))
	}
	return least
}
