package optimizer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/problems"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// BenchmarkAskTell measures one ask and tell of the default method on Hartmann-6
// in the 50 trials after n told ones, half of them uniform and half around the optimum. Refits
// are included, the first one not. Turns differ much, hence the quantiles.
func BenchmarkAskTell(b *testing.B) {
	for _, n := range []int{75, 300, 1000, 5000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			var opt optimizer.Optimizer
			trial := 0
			times := make([]float64, b.N)
			for i := range b.N {
				if i%50 == 0 {
					b.StopTimer()
					opt, trial = preloaded(b, n), n
					trial = askTell(b, opt, trial)
					b.StartTimer()
				}
				start := time.Now()
				trial = askTell(b, opt, trial)
				times[i] = time.Since(start).Seconds() * 1e3
			}
			slices.Sort(times)
			b.ReportMetric(times[len(times)/2], "ms-p50")
			b.ReportMetric(times[len(times)*95/100], "ms-p95")
			b.ReportMetric(times[len(times)-1], "ms-worst")
		})
	}
}

func hartmann6(b *testing.B) (*spaces.Space, problems.Problem) {
	var params []spaces.Param
	for j := range 6 {
		params = append(params, spaces.Param{Name: fmt.Sprintf("x%d", j), Kind: spaces.KindFloat, Min: 0, Max: 1})
	}
	space, err := spaces.New(params...)
	if err != nil {
		b.Fatal(err)
	}
	return space, problems.Hartmann6()
}

func preloaded(b *testing.B, n int) optimizer.Optimizer {
	space, p := hartmann6(b)
	opt, err := optimizer.New(space, 1, optimizer.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	for k := 1; k <= n; k++ {
		u := make(spaces.Point, 6)
		for j := range u {
			u[j] = rng.Float64()
			if k%2 == 0 {
				u[j] = min(max(p.Minimizers[0][j]+0.1*rng.NormFloat64(), 0), 1)
			}
		}
		tell(b, opt, k, optimizer.Proposal{Point: u, Origin: optimizer.OriginGiven})
	}
	return opt
}

func askTell(b *testing.B, opt optimizer.Optimizer, told int) int {
	p, err := opt.Ask(b.Context(), optimizer.Query{Trial: told + 1})
	if err != nil {
		b.Fatal(err)
	}
	tell(b, opt, told+1, p)
	return told + 1
}

func tell(b *testing.B, opt optimizer.Optimizer, trial int, p optimizer.Proposal) {
	value := -problems.Hartmann6().Eval(p.Point)
	if err := opt.Tell(optimizer.Observation{Trial: trial, Proposal: p, Status: optimizer.Succeeded, Values: []float64{value}}); err != nil {
		b.Fatal(err)
	}
}
