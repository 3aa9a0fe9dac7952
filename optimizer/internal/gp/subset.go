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
//     density of the observations and changes little as they grow. The largest values are
//     the luckiest under noise, and would crowd out the rest.
//
// Distances are ‖(a−b)/scale‖; nil means the unit cube's own. No more than m points, or m ≤ 0,
// are all returned. Ties go to the earlier observation. O(n m d).
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
	inverse := make([]float64, len(x[0]))
	for j := range inverse {
		inverse[j] = 1 / scaleOf(scale, j)
	}
	cols := scaledColumns(x, inverse)
	chosen, taken := make([]int, 0, m), make([]bool, n)
	gap := slices.Repeat([]float64{math.Inf(1)}, n) // squared distance to the nearest chosen point
	row := make([]float64, n)
	take := func(i int) {
		chosen, taken[i] = append(chosen, i), true
		sqdist(row, cols, x[i], inverse)
		for k, r2 := range row {
			gap[k] = min(gap[k], r2)
		}
	}
	take(best)
	near := slices.Clone(gap) // from the best point
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(near[a], near[b]) })
	for _, i := range order {
		if len(chosen) < m/10 && !taken[i] {
			take(i)
		}
	}
	for len(chosen) < m/2 {
		far := -1
		for i, g := range gap {
			if !taken[i] && (far < 0 || g > gap[far]) {
				far = i
			}
		}
		take(far)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scramble(a), scramble(b)) })
	for _, i := range order {
		if len(chosen) < m && !taken[i] {
			chosen = append(chosen, i)
		}
	}
	slices.Sort(chosen)
	return chosen
}

// scramble is a bijection of the integers without visible order (the finaliser
// of SplitMix64: Steele, Lea and Flood, 2014).
func scramble(i int) uint64 {
	z := uint64(i) * 0x9e3779b97f4a7c15
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}
