package maximize

import (
	"cmp"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
)

// Starts is the number of candidates from which local searches start.
const Starts = 6

const (
	sureStarts = 2   // of these, the very best
	eta        = 2.0 // of the choice among the others
)

// PickStarts returns the indices of at most Starts different candidates to start
// local searches from: first the sureStarts best, then a random choice
// without replacement with probabilities proportional to exp(eta·v), v the standardized
// value (Boltzmann sampling, Balandat et al. 2020). Minus infinity and NaN are never
// chosen. Median and median absolute deviation of the better half standardize, so that
// rejected candidates at -1e10 do not flatten the choice.
func PickStarts(values []float64, rng *rand.Rand) []int {
	order := make([]int, 0, len(values))
	for i, v := range values {
		if v > math.Inf(-1) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(values[b], values[a]), a-b) })
	if len(order) <= Starts {
		return order
	}
	scale := spread(values, order)
	// The largest of eta·v + Gumbel noise are a draw without replacement from the
	// Boltzmann weights.
	rest := order[sureStarts:]
	keys := make([]float64, len(values))
	for _, i := range rest {
		gumbel := -math.Log(rng.ExpFloat64())
		keys[i] = eta*(values[i]-values[order[0]])/scale + gumbel
	}
	slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(keys[b], keys[a]) })
	return order[:Starts]
}

// spread returns a robust standard deviation of the better half of values, whose
// indices come sorted in descending order.
func spread(values []float64, order []int) float64 {
	half := order[:(len(order)+1)/2]
	median := values[half[len(half)/2]]
	dev := make([]float64, len(half))
	for i, k := range half {
		dev[i] = math.Abs(values[k] - median)
	}
	slices.Sort(dev)
	if mad := 1.4826 * dev[len(dev)/2]; mad > 0 {
		return mad
	}
	if far := dev[len(dev)-1]; far > 0 {
		return far
	}
	return 1
}

// Together makes n searches for maxima of f in turns: each goes on until it wants a gradient. Once all
// that are left want one, ahead is told where, so that what these have in common can be done at once.
// Where a point is closed none waits: f is minus infinity there.
func Together(n int, search func(k int, f Func), f Func, closed func(point []float64) bool, ahead func(points [][]float64)) {
	var left []func() (point []float64, wants bool)
	for k := range n {
		next, stop := iter.Pull(func(yield func([]float64) bool) {
			search(k, func(x, grad []float64) float64 {
				if grad != nil {
					if closed(x) {
						return math.Inf(-1)
					}
					yield(x)
				}
				return f(x, grad)
			})
		})
		defer stop()
		left = append(left, next)
	}
	for len(left) > 0 {
		var points [][]float64
		left = slices.DeleteFunc(left, func(next func() ([]float64, bool)) bool {
			x, wants := next()
			if wants {
				points = append(points, x)
			}
			return !wants
		})
		ahead(points)
	}
}
