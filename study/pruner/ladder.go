package pruner

import (
	"fmt"
	"math"
)

// Ladder lays out the rungs of a resource, such as epochs, of which trials are
// first given little.
type Ladder struct {
	// Min and Max bound the resource: the range of the parameter.
	Min, Max int
	// MinResource is the least that a rung may give.
	MinResource float64
	// Reduction is η: each rung gives η times as much as the one below, to the
	// best 1/η of it. At least 1.1.
	Reduction float64
}

// Rungs returns the resource of each rung, increasing. The last is Max, so that
// the best trial gets all there is, and the others lie below it by factors of
// η (Li et al. 2020 count them from below and may miss the maximum):
//
//	r_k = round(Max / η^(K-k)),  k = 0 .. K,
//	K = the largest number with Max / η^K ≥ max(Min, MinResource).
//
// It is an error if that leaves one rung only.
func (l Ladder) Rungs() ([]int, error) {
	if err := checkRungs(l.MinResource, l.Reduction); err != nil {
		return nil, err
	}
	if l.Min < 1 || l.Max <= l.Min {
		return nil, fmt.Errorf("resource: found the range %d to %d; want at least 1, and more at its end", l.Min, l.Max)
	}
	least := math.Max(float64(l.Min), l.MinResource)
	top := int(math.Log(float64(l.Max)/least)/math.Log(l.Reduction) + 1e-9)
	var out []int
	for k := top; k >= 0; k-- {
		r := int(math.Round(float64(l.Max) / math.Pow(l.Reduction, float64(k))))
		if len(out) == 0 || r > out[len(out)-1] {
			out = append(out, r)
		}
	}
	if len(out) < 2 {
		return nil, fmt.Errorf("min_resource: found %v; want at most %v, the maximum of the resource divided by reduction",
			least, float64(l.Max)/l.Reduction)
	}
	return out, nil
}
