package main

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// floor is the regret below which all values count as equal: recorded values
// have ten digits.
const floor = 1e-9

// median of a list, NaN for none.
func median(xs []float64) float64 { return quantile(xs, 0.5) }

// quantile interpolates linearly between order statistics.
func quantile(xs []float64, q float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := slices.Clone(xs)
	slices.Sort(s)
	at := q * float64(len(s)-1)
	lo := int(at)
	if at == float64(lo) || s[lo] == s[lo+1] { // between infinite ones there is nothing
		return s[lo]
	}
	return s[lo] + (at-float64(lo))*(s[lo+1]-s[lo])
}

// mannWhitney is the two-sided p-value of the rank-sum test in the normal
// approximation with correction for ties and continuity.
func mannWhitney(a, b []float64) float64 {
	type item struct {
		v     float64
		first bool
	}
	n, m := float64(len(a)), float64(len(b))
	if n == 0 || m == 0 {
		return math.NaN()
	}
	var all []item
	for _, v := range a {
		all = append(all, item{v, true})
	}
	for _, v := range b {
		all = append(all, item{v, false})
	}
	slices.SortFunc(all, func(x, y item) int { return cmp.Compare(x.v, y.v) })
	rankSum, ties := 0.0, 0.0
	for k := 0; k < len(all); {
		j := k
		for j < len(all) && all[j].v == all[k].v {
			j++
		}
		rank := float64(k+1+j) / 2
		for _, it := range all[k:j] {
			if it.first {
				rankSum += rank
			}
		}
		t := float64(j - k)
		ties += t*t*t - t
		k = j
	}
	u := rankSum - n*(n+1)/2
	variance := n * m / 12 * ((n + m + 1) - ties/((n+m)*(n+m-1)))
	if variance <= 0 {
		return 1
	}
	z := (math.Abs(u-n*m/2) - 0.5) / math.Sqrt(variance)
	return math.Erfc(math.Max(z, 0) / math.Sqrt2)
}

// holm corrects p-values for their number (Holm 1979), in their order.
func holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	out, top := make([]float64, len(ps)), 0.0
	for k, i := range order {
		top = math.Max(top, math.Min(1, ps[i]*float64(len(ps)-k)))
		out[i] = top
	}
	return out
}

// ranks gives every name the rank of its value, 1 for the least; ties share
// their mean rank.
func ranks(values map[string]float64) map[string]float64 {
	names := slices.SortedFunc(maps.Keys(values), func(a, b string) int { return cmp.Compare(values[a], values[b]) })
	out := map[string]float64{}
	for k := 0; k < len(names); {
		j := k
		for j < len(names) && values[names[j]] == values[names[k]] {
			j++
		}
		for _, n := range names[k:j] {
			out[n] = float64(k+1+j) / 2
		}
		k = j
	}
	return out
}

// verdict says how the regrets of one variant compare with another's, at the 5 %
// level.
type verdict int

const (
	alike verdict = iota
	isBetter
	isWorse
)

func (v verdict) String() string { return [...]string{"alike", "better", "worse"}[v] }

func compareRegrets(a, b []float64) verdict {
	if p := mannWhitney(a, b); math.IsNaN(p) || p >= 0.05 {
		return alike
	}
	if median(a) < median(b) {
		return isBetter
	}
	return isWorse
}
