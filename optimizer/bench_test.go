package optimizer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// BenchmarkAskTell measures one ask and tell of the default method on Hartmann-6
// in the 50 trials after n told ones, half of them uniform and half around the optimum. Refits
// are included, the first one not. Turns differ much, hence the quantiles. They are given in
// milliseconds of the processor and, since processors and what else they do differ, in units of
// gonum's factorisation of a matrix of order 300, the median of those beside the turns.
func BenchmarkAskTell(b *testing.B) {
	for _, n := range []int{75, 300, 1000, 5000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			var opt optimizer.Optimizer
			trial := 0
			times, units := make([]float64, b.N), []float64{}
			for i := range b.N {
				if i%10 == 0 {
					b.StopTimer()
					units = append(units, factorisation())
					b.StartTimer()
				}
				if i%50 == 0 {
					b.StopTimer()
					opt, trial = preloaded(b, n), n
					trial = askTell(b, opt, trial)
					b.StartTimer()
				}
				start := processorTime()
				trial = askTell(b, opt, trial)
				times[i] = processorTime() - start
			}
			slices.Sort(times)
			slices.Sort(units)
			unit := units[len(units)/2]
			b.ReportMetric(unit, "ms-unit")
			for name, t := range map[string]float64{"p50": times[len(times)/2], "p95": times[len(times)*95/100], "worst": times[len(times)-1]} {
				b.ReportMetric(t, "ms-"+name)
				b.ReportMetric(t/unit, "units-"+name)
			}
		})
	}
}

// factorisation returns how many milliseconds gonum's Cholesky factorisation of a matrix of
// order 300 takes.
func factorisation() float64 {
	const n = 300
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i {
			a.SetSym(i, j, 1/float64(1+i-j))
		}
		a.SetSym(i, i, n)
	}
	start := processorTime()
	var chol mat.Cholesky
	chol.Factorize(a)
	return processorTime() - start
}

// processorTime is that of this program, in milliseconds.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
}

func preloaded(b *testing.B, n int) optimizer.Optimizer {
	p := hartmann6()
	opt, err := optimizer.New(cube(6), 1, optimizer.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	for k := 1; k <= n; k++ {
		u := make(spaces.Point, 6)
		for j := range u {
			u[j] = rng.Float64()
			if k%2 == 0 {
				u[j] = min(max(p.minimizer[j]+0.1*rng.NormFloat64(), 0), 1)
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
	value := -hartmann6().eval(p.Point)
	if err := opt.Tell(optimizer.Observation{Trial: trial, Proposal: p, Status: optimizer.Succeeded, Values: []float64{value}}); err != nil {
		b.Fatal(err)
	}
}
