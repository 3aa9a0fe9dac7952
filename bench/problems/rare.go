package problems

import (
	"fmt"
	"math"
	"slices"

	"github.com/lbotune/lbotune/spaces"
)

// Rare lists objectives that succeed in 1, 4 and 10 % of a cube of 3, 6 and 9
// dimensions only: in a ball, with the optimum off its centre.
func Rare(seed uint64) []Objective {
	var out []Objective
	for _, d := range []int{3, 6, 9} {
		for _, percent := range []int{1, 4, 10} {
			out = append(out, rare(d, percent, seed))
		}
	}
	return out
}

// rare is value = ‖x − o‖², which fails where ‖x − c‖ > r: c uniform in the cube, o
// within 0.05 of it in each coordinate, and r such that the given share succeeds.
func rare(d, percent int, seed uint64) Objective {
	r := stream(seed, uint64(100*d+percent))
	params := make([]spaces.Param, d)
	c, o := make([]float64, d), make([]float64, d)
	for j := range params {
		params[j] = float(fmt.Sprintf("x%d", j+1), 0, 1)
		c[j] = r.Float64()
		o[j] = math.Min(math.Max(c[j]+0.1*(r.Float64()-0.5), 0), 1)
	}
	s := space(params...)
	const samples = 100_000
	seen, x := make([]float64, samples), make([]float64, d)
	for i := range seen {
		for j := range x {
			x[j] = r.Float64()
		}
		seen[i] = distance2(x, c)
	}
	slices.Sort(seen)
	border := seen[samples*percent/100]
	best := make(spaces.Values, d)
	for j, x := range o {
		best[j] = spaces.Assignment{Name: params[j].Name, Value: spaces.Float(x)}
	}
	return Objective{
		Name: fmt.Sprintf("rare%d-%d%%", d, percent), Space: s, Best: best,
		Eval:  func(v spaces.Values) float64 { return distance2(vector(v), o) },
		Fails: func(v spaces.Values) bool { return distance2(vector(v), c) > border },
	}
}
