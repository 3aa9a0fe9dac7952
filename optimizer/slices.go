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

func mapped[T, U any](v []T, f func(T) U) []U {
	out := make([]U, len(v))
	for i, x := range v {
		out[i] = f(x)
	}
	return out
}

func scaled(y []float64, unit float64) []float64 {
	return mapped(y, func(v float64) float64 { return v / unit })
}

func pick[T any](v []T, rows []int) []T {
	return mapped(rows, func(i int) T { return v[i] })
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
