package optimizer

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// unitOf returns 1, or for values so large that sums of them overflow, a scale
// that brings them back.
func unitOf(y []float64) float64 {
	if top := floats.Norm(y, math.Inf(1)); top >= 1e100 {
		return top
	}
	return 1
}

func scaled(y []float64, unit float64) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = v / unit
	}
	return out
}

func pick[T any](v []T, rows []int) []T {
	out := make([]T, len(rows))
	for k, i := range rows {
		out[k] = v[i]
	}
	return out
}

// orderBy returns 0 … n−1 by ascending f, equal ones in order.
func orderBy(n int, f func(int) float64) []int {
	at := make([]float64, n)
	order := make([]int, n)
	for i := range n {
		at[i], order[i] = f(i), i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(at[a], at[b]), a-b) })
	return order
}
