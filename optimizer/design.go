package optimizer

import (
	"math"
	"math/rand/v2"

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
		middle := make([]float64, d)
		for i := range middle {
			middle[i] = 0.5
		}
		points = append(points, space.Center())
		if today, known := today(space); known && set.Design == walking {
			points[0] = today
		}
		us = sobol.Maximin(n-1, d, 50, [][]float64{middle}, rng)
	}
	for _, u := range us {
		points = append(points, space.FromUniform(u))
	}
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

// allow replaces the points that may not be proposed, each by the one of 64 draws that is
// farthest from the others.
func allow(space *spaces.Space, points []spaces.Point, rng *rand.Rand) {
	var good [][]float64
	for _, p := range points {
		if space.Allows(p) {
			good = append(good, p)
		}
	}
	for i, p := range points {
		if space.Allows(p) {
			continue
		}
		widest := -1.0
		for range 64 {
			if q := space.Draw(rng); nearestDistance(q, good) > widest {
				points[i], widest = q, nearestDistance(q, good)
			}
		}
		good = append(good, points[i])
	}
}

// farthest draws 64 points and returns the one that is farthest from all known
// points (Mitchell's best candidate, 1991): what to try while there is too
// little for a model.
func farthest(d *domain, known [][]float64, rng *rand.Rand, taken func([]float64) bool) (spaces.Point, error) {
	var best []float64
	widest := -1.0
	for range 64 {
		p := d.uniform(rng)
		if least := nearestDistance(p, known); least > widest && !taken(p) {
			best, widest = p, least
		}
	}
	if best == nil {
		return d.fresh(rng, taken)
	}
	return best, nil
}

// nearestDistance is the Euclidean distance of p to the nearest of the points,
// infinite without any.
func nearestDistance(p []float64, points [][]float64) float64 {
	least := math.Inf(1)
	for _, q := range points {
		least = math.Min(least, spaces.Distance(p, q))
	}
	return least
}
