package optimizer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// BenchmarkFrontAsk measures one ask and tell of three objectives, squared distances from three
// points, in the trials after n told ones: half of these are uniform, and half lie near the
// front. Refits are included, the first one not.
func BenchmarkFrontAsk(b *testing.B) {
	for _, n := range []int{100, 300, 1000, 5000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			measureTurns(b, n, func(x spaces.Point) (values, constraints []float64) {
				return []float64{-away(x, 0.2, 0.2), -away(x, 0.8, 0.3), -away(x, 0.4, 0.9)}, nil
			})
		})
	}
}

// BenchmarkLimitsAsk is the same with one objective and five constraints.
func BenchmarkLimitsAsk(b *testing.B) {
	for _, n := range []int{100, 300, 500, 1000, 5000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			measureTurns(b, n, func(x spaces.Point) (values, constraints []float64) {
				for k := range 5 {
					constraints = append(constraints, 0.2-away(x, 0.2*float64(k), 0.5))
				}
				return []float64{-away(x, 0.4, 0.9)}, constraints
			})
		})
	}
}

// away is the squared distance from a point of four dimensions.
func away(x spaces.Point, a, b float64) float64 {
	sum := 0.0
	for j, c := range []float64{a, b, b, a} {
		sum += (x[j] - c) * (x[j] - c)
	}
	return sum
}

// measureTurns reports the processor's time, in milliseconds, of the turns after n told trials.
func measureTurns(b *testing.B, n int, at func(spaces.Point) (values, constraints []float64)) {
	opt, err := optimizer.New(cube(4), 1, optimizer.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	told := 0
	tell := func(p optimizer.Proposal) {
		told++
		o := optimizer.Observation{Trial: told, Proposal: p, Status: optimizer.Succeeded}
		o.Values, o.Constraints = at(p.Point)
		if err := opt.Tell(o); err != nil {
			b.Fatal(err)
		}
	}
	turn := func() {
		p, err := opt.Ask(b.Context(), optimizer.Query{Trial: told + 1})
		if err != nil {
			b.Fatal(err)
		}
		tell(p)
	}
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	for k := range n {
		u, v, w := rng.ExpFloat64(), rng.ExpFloat64(), rng.ExpFloat64()
		s := u + v + w
		x, y := (0.2*u+0.8*v+0.4*w)/s, (0.2*u+0.3*v+0.9*w)/s
		p := spaces.Point{x, y, y, x} // on the triangle of the three points
		if k%2 == 0 {
			p = spaces.Point{rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()}
		}
		tell(optimizer.Proposal{Point: p, Origin: optimizer.OriginGiven})
	}
	turn()
	var times []float64
	for b.Loop() {
		start := processorTime()
		turn()
		times = append(times, processorTime()-start)
	}
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2], "ms-p50")
	b.ReportMetric(times[len(times)*95/100], "ms-p95")
	b.ReportMetric(times[len(times)-1], "ms-worst")
}
