package gp

import (
	"cmp"
	"math"
	"slices"
)

// Subset chooses m of the points for a model of bounded size and returns their
// indices in increasing order:
//
//   - the best observation and the points nearest to it, a tenth of m together;
//   - up to half of m, one by one, the point farthest from all chosen before
//     (Gonzalez, 1985), so that no region is forgotten;
//   - the rest by a fixed pseudo-random order of the indices, which follows the
//     density of the observations and changes little as they grow.
//
// A share of the largest values is left out on purpose: under noise they are
// the luckiest, and around the best point they crowd out the rest.
//
// Distances are ‖(a−b)/scale‖; nil means the unit cube's own. When no more than
// m points are given, or m ≤ 0, all are returned. Ties go to the earlier
// observation. O(n m d).
func Subset(x [][]float64, y []float64, m int, scale []float64) []int {
	n := len(x)
	order := make([]int, n)
	best := 0
	for i := range order {
		order[i] = i
		if y[i] > y[best] {
			best = i
		}
	}
	if n <= m || m <= 0 {
		return order
	}
	c := newChooser(x, scale)
	c.take(best)
	near := slices.Clone(c.gap) // from the best point
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(near[a], near[b]) })
	for _, i := range order {
		if len(c.chosen) < m/10 && !c.taken[i] {
			c.take(i)
		}
	}
	for len(c.chosen) < m/2 {
		c.take(c.farthest())
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scramble(a), scramble(b)) })
	for _, i := range order {
		if len(c.chosen) < m && !c.taken[i] {
			c.chosen = append(c.chosen, i)
		}
	}
	slices.Sort(c.chosen)
	return c.chosen
}

// chooser takes points and knows how far the others are from those taken.
type chooser struct {
	x       [][]float64
	inverse []float64   // 1/scale
	cols    [][]float64 // scaled points, see kernel.go
	chosen  []int
	taken   []bool
	gap     []float64 // squared distance to the nearest chosen point
	row     []float64
}

func newChooser(x [][]float64, scale []float64) *chooser {
	n := len(x)
	c := &chooser{
		x: x, inverse: make([]float64, len(x[0])),
		taken: make([]bool, n), gap: make([]float64, n), row: make([]float64, n),
	}
	for j := range c.inverse {
		c.inverse[j] = 1 / scaleOf(scale, j)
	}
	c.cols = scaledColumns(x, c.inverse)
	for i := range c.gap {
		c.gap[i] = math.Inf(1)
	}
	return c
}

func (c *chooser) take(i int) {
	c.chosen = append(c.chosen, i)
	c.taken[i] = true
	sqdist(c.row, c.cols, c.x[i], c.inverse)
	for k, r2 := range c.row {
		c.gap[k] = min(c.gap[k], r2)
	}
}

// farthest returns the point farthest from those taken.
func (c *chooser) farthest() int {
	far := -1
	for i, g := range c.gap {
		if !c.taken[i] && (far < 0 || g > c.gap[far]) {
			far = i
		}
	}
	return far
}

// scramble is a bijection of the integers without visible order (the finaliser
// of SplitMix64: Steele, Lea and Flood, 2014).
func scramble(i int) uint64 {
	z := uint64(i) * 0x9e3779b97f4a7c15
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}
