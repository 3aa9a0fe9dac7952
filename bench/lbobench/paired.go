package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// paired compares runs that share seed, initial design and noise: a[i] and b[i] belong
// together, and smaller is better.
type paired struct {
	n, wins, ties int     // pairs, those in which a is better, and equal ones
	better        float64 // probability that a is better, ties counting half
	low, high     float64 // its 95 % interval (Wilson 1927)
	p             float64 // two-sided signed-rank test on the logarithms
	decades       float64 // mean of log10(b/a) over the pairs in which both have found something; NaN if there is none
}

func pair(a, b []float64) (c paired) {
	c.n = min(len(a), len(b))
	var d, both []float64
	for i := range c.n {
		x := math.Log10(b[i]) - math.Log10(a[i])
		switch {
		case x > 0:
			c.wins++
		case x == 0:
			c.ties++
		}
		d = append(d, x)
		if math.Max(a[i], b[i]) < math.MaxFloat64 {
			both = append(both, x)
		}
	}
	c.decades = stat.Mean(both, nil)
	n, share := float64(c.n), (float64(c.wins)+float64(c.ties)/2)/float64(c.n)
	const z = 1.959963985
	mid, half := (share+z*z/(2*n))/(1+z*z/n), z/(1+z*z/n)*math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	c.better, c.low, c.high, c.p = share, mid-half, mid+half, signedRank(d)
	return c
}

// equivalence is how far the probability that one is better may be from a half for two to
// count as equivalent.
const equivalence = 0.1

// says is what the pairs allow to be said.
func (c paired) says(p float64) string {
	switch {
	case p < 0.05 && c.better > 0.5:
		return "better"
	case p < 0.05 && c.better < 0.5:
		return "worse"
	case c.low > 0.5-equivalence && c.high < 0.5+equivalence:
		return "equivalent"
	}
	return "open"
}

// cell is the probability, with a star where a single test is significant, in bold where it
// is after correction.
func (c paired) cell(corrected float64) string {
	s := fmt.Sprintf("%.2f", c.better)
	if c.p < 0.05 {
		s += "*"
	}
	if corrected < 0.05 {
		s = bold(s)
	}
	return s
}

// signedRank is the two-sided p-value of Wilcoxon's signed-rank test (1945), exact given
// the ranks; zeros are left out and ties share their mean rank.
func signedRank(d []float64) float64 {
	d = slices.DeleteFunc(slices.Clone(d), func(x float64) bool { return x == 0 })
	slices.SortFunc(d, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	// ways[s] is the probability that the positive ranks, doubled to be whole, have the sum s.
	n := len(d)
	ways, sum := make([]float64, n*(n+1)+1), 0
	ways[0] = 1
	for k := 0; k < n; {
		j := k
		for j < n && math.Abs(d[j]) == math.Abs(d[k]) {
			j++
		}
		for _, x := range d[k:j] {
			rank := k + 1 + j
			if x > 0 {
				sum += rank
			}
			for s := len(ways) - 1; s >= 0; s-- {
				ways[s] /= 2
				if s >= rank {
					ways[s] += ways[s-rank] / 2
				}
			}
		}
		k = j
	}
	below := 0.0
	for _, w := range ways[:min(sum, n*(n+1)-sum)+1] {
		below += w
	}
	return math.Min(1, 2*below)
}
