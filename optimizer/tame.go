package optimizer

import (
	"fmt"
	"math"
	"slices"

	"github.com/lbotune/lbotune/optimizer/internal/warp"
)

// A value so far above all others that these look alike beside it is hardly one of the
// same objective: a division by almost nothing, a sum that overflowed. One such trial
// would end the search, which could no longer tell the others apart.
const (
	wildRatio = 1e6 // times the larger of the next value, the median and 1
	wildLeast = 4   // values from which on one can be judged
	wildShare = 10  // at most one in so many is wild
)

// tamed returns the values with those that are absurdly large put just below the largest of
// the rest, and which those are. Without any it returns y itself. What it makes of the
// first n values depends on these alone.
func tamed(y []float64) (_ []float64, wild []int) {
	for len(y) >= wildLeast && len(wild) <= len(y)/wildShare {
		first, second := -1, -1
		for i, v := range y {
			switch {
			case slices.Contains(wild, i):
			case first < 0 || v > y[first]:
				first, second = i, first
			case second < 0 || v > y[second]:
				second = i
			}
		}
		gap := y[first]/wildRatio - y[second]/wildRatio // the difference might overflow
		if !(gap > math.Max(1, math.Abs(y[second]))) || !(gap > math.Abs(warp.Median(y))) {
			break
		}
		wild = append(wild, first)
	}
	if len(wild) == 0 {
		return y, nil
	}
	rest := math.Inf(-1)
	for i, v := range y {
		if !slices.Contains(wild, i) {
			rest = math.Max(rest, v)
		}
	}
	y = slices.Clone(y)
	for _, i := range wild {
		y[i] = math.Nextafter(rest, math.Inf(-1))
	}
	return y, wild
}

// tamedNote says which trials were tamed, empty if none was.
func (h *history) tamedNote() string {
	if len(h.wild) == 0 {
		return ""
	}
	i := h.wild[0]
	return fmt.Sprintf("; trial %d, more than %.0e times beyond all others, counts as no better than these", h.trial[i], wildRatio)
}
