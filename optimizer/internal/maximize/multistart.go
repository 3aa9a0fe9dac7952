package maximize

import (
	"math"
	"math/rand/v2"
	"slices"
)

// MultiStart says how [Maximizer.MultiStart] explores.
type MultiStart struct {
	Candidates int     // points drawn from the generator
	Starts     int     // local searches; 0 means 6
	Sure       int     // of these, how many start at the very best candidates; 0 means 1
	Eta        float64 // sharpness of the choice of the others; 0 means 2
}

// MultiStart evaluates the candidates that generate writes (candidate i into x),
// picks starts among them by [PickStarts] and searches from each. It returns all
// results, best first; equal values keep the order of their starts.
func (m *Maximizer) MultiStart(f Func, generate func(i int, x []float64), opt MultiStart, rng *rand.Rand) []Result {
	n := len(m.lo)
	buf := make([]float64, opt.Candidates*n)
	points := make([][]float64, opt.Candidates)
	values := make([]float64, opt.Candidates)
	for i := range points {
		x := buf[i*n : (i+1)*n : (i+1)*n]
		generate(i, x)
		for j, v := range x {
			x[j] = math.Min(math.Max(v, m.lo[j]), m.up[j])
		}
		points[i], values[i] = x, f(x, nil)
	}
	starts := PickStarts(values, opt, rng)
	results := make([]Result, 0, len(starts))
	for _, k := range starts {
		results = append(results, m.Maximize(f, points[k]))
	}
	slices.SortStableFunc(results, func(a, b Result) int { return compare(b.F, a.F) })
	return results
}

// PickStarts returns the indices of at most opt.Starts different candidates to
// start local searches from: the opt.Sure best, then a random choice without
// replacement with probabilities proportional to exp(Eta·v), v the standardized
// value (Boltzmann sampling, as BoTorch does). Minus infinity and NaN are never
// chosen. Values are standardized by median and median absolute deviation of the
// better half, so that rejected candidates, which may lie at -1e10, do not flatten
// the choice among the others.
func PickStarts(values []float64, opt MultiStart, rng *rand.Rand) []int {
	count, sure, eta := opt.Starts, max(opt.Sure, 1), opt.Eta
	if count <= 0 {
		count = 6
	}
	if eta <= 0 {
		eta = 2
	}
	order := make([]int, 0, len(values))
	for i, v := range values {
		if v > math.Inf(-1) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(values[b], values[a]) })
	if len(order) <= count {
		return order
	}
	scale := spread(values, order)
	// The largest of eta·v + Gumbel noise are a draw without replacement from the
	// Boltzmann weights.
	sure = min(sure, count)
	rest := order[sure:]
	keys := make([]float64, len(values))
	for _, i := range rest {
		gumbel := -math.Log(rng.ExpFloat64())
		keys[i] = eta*(values[i]-values[order[0]])/scale + gumbel
	}
	slices.SortStableFunc(rest, func(a, b int) int { return compare(keys[b], keys[a]) })
	return order[:count]
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

// compare orders numbers, with NaN below all.
func compare(a, b float64) int {
	switch {
	case a < b || (math.IsNaN(a) && !math.IsNaN(b)):
		return -1
	case a > b || (math.IsNaN(b) && !math.IsNaN(a)):
		return 1
	}
	return 0
}
