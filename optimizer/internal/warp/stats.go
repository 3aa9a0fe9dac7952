package warp

import (
	"math"
	"slices"
)

// moments returns the mean and the standard deviation, with divisor n, and 1 if the values are
// equal. It is exact for these (their computed mean may differ from them in the last bit, which
// must not count as spread) and safe for values whose squares overflow.
func moments(v []float64) (mean, sd float64) {
	low, high := slices.Min(v), slices.Max(v)
	if low == high {
		return low, 1
	}
	n := float64(len(v))
	scale := math.Max(math.Abs(low), math.Abs(high))
	sum, square := 0.0, 0.0
	for _, x := range v {
		sum += x / scale
	}
	centre := sum / n
	for _, x := range v {
		t := x/scale - centre
		square += t * t
	}
	return centre * scale, math.Sqrt(square/n) * scale
}

// medianMAD returns the median and the median absolute deviation from it.
func medianMAD(v []float64) (median, mad float64) {
	median = Median(v)
	away := make([]float64, len(v))
	for i, x := range v {
		away[i] = math.Abs(x - median)
	}
	return median, Median(away)
}

// Median returns the median of at least one value.
func Median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return s[n/2-1]/2 + s[n/2]/2
}
