package problems

import (
	"math"
	"math/rand/v2"

	"github.com/lbotune/lbotune/spaces"
)

// LargestSlope is the steepest slope between any two of the given number of
// random configurations, by distance in the space's cube: what the paper calls
// the true Lipschitz constant, estimated offline from many random points. It is
// defined where gradients are not: for steps, ints and choices. It takes
// points·(points−1)/2 distances; trials that fail do not count.
func LargestSlope(o Objective, points int, seed uint64) float64 {
	r := rand.New(rand.NewPCG(seed, 0x5109e))
	var at []spaces.Point
	var values []float64
	for range points {
		v := o.Sample(r)
		if o.Fails != nil && o.Fails(v) {
			continue
		}
		p, err := o.Space.Encode(v)
		if err != nil {
			panic("problems: a sampled configuration does not encode: " + err.Error())
		}
		at = append(at, p)
		values = append(values, o.Eval(v))
	}
	steepest := 0.0
	for i := range at {
		for j := range i {
			if d := spaces.Distance(at[i], at[j]); d > 1e-9 {
				steepest = max(steepest, math.Abs(values[i]-values[j])/d)
			}
		}
	}
	return steepest
}
