package sobol

import (
	"math"
	"math/rand/v2"
	"slices"
)

// LatinHypercube returns n points in [0,1)^dim whose coordinates, in every
// dimension, fall one into each of the n intervals [k/n, (k+1)/n).
func LatinHypercube(n, dim int, rng *rand.Rand) [][]float64 {
	points := slices.Collect(slices.Chunk(make([]float64, n*dim), dim))
	for j := range dim {
		for i, cell := range rng.Perm(n) {
			points[i][j] = (float64(cell) + rng.Float64()) / float64(n)
		}
	}
	return points
}

// Maximin returns the best of several Latin hypercubes: the one whose smallest
// Euclidean distance, between its own points and between them and others (such as
// a centre point that is evaluated anyway; may be nil), is largest. tries is the
// number drawn, at least 1.
func Maximin(n, dim, tries int, others [][]float64, rng *rand.Rand) [][]float64 {
	var best [][]float64
	most := math.Inf(-1)
	for range max(tries, 1) {
		points := LatinHypercube(n, dim, rng)
		if d := minDistance2(points, others); d > most || best == nil {
			best, most = points, d
		}
	}
	return best
}

func minDistance2(points, others [][]float64) float64 {
	least := math.Inf(1)
	for i, p := range points {
		for _, q := range slices.Concat(points[:i], others) {
			sum := 0.0
			for k, v := range p {
				sum += (v - q[k]) * (v - q[k])
			}
			least = math.Min(least, sum)
		}
	}
	return least
}
