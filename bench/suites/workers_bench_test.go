package suites_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// laws are those of how long a trial takes.
var laws = []struct {
	name string
	draw func(*rand.Rand) float64
}{
	{"equal", func(*rand.Rand) float64 { return 1 }},
	{"half-normal", func(r *rand.Rand) float64 { return math.Abs(r.NormFloat64()) }},
	{"exponential", (*rand.Rand).ExpFloat64},
}

// BenchmarkWorkers measures how many evaluations asynchronous workers need for what one
// worker has after 100, or for a regret of 1e-6 if that is more: rho is the median of the
// ratios of both numbers over the problems of the suite standard, rho-p90 their 90th
// percentile, and unreached the share of studies that were not there after 400, which
// count as if they were.
func BenchmarkWorkers(b *testing.B) {
	const alone, most, enough = 100, 400, 1e-6
	type need struct {
		problem problems.Problem
		seed    uint64
		regret  float64
		n       int
	}
	var needs []need
	for seed := range uint64(2) {
		for _, p := range problems.Standard(seed) {
			regrets := regretsOf(b, p, seed, 1, alone, laws[0].draw, enough)
			needs = append(needs, need{p, seed, math.Max(regrets[len(regrets)-1], enough), len(regrets)})
			n := &needs[len(needs)-1]
			n.n = 1 + slices.IndexFunc(regrets, func(r float64) bool { return r <= n.regret })
		}
	}
	for _, workers := range []int{8, 64} {
		for _, law := range laws {
			b.Run(fmt.Sprintf("%d/%s", workers, law.name), func(b *testing.B) {
				var ratios []float64
				unreached := 0.0
				for _, n := range needs {
					regrets := regretsOf(b, n.problem, n.seed, workers, most, law.draw, n.regret)
					if regrets[len(regrets)-1] > n.regret {
						unreached++
					}
					ratios = append(ratios, float64(len(regrets))/float64(n.n))
				}
				slices.Sort(ratios)
				b.ReportMetric(ratios[len(ratios)/2], "rho")
				b.ReportMetric(ratios[len(ratios)*9/10], "rho-p90")
				b.ReportMetric(unreached/float64(len(needs)), "unreached")
			})
		}
	}
}

// regretsOf runs a study until it has the regret or has spent its evaluations, and returns
// the least regret after each.
func regretsOf(b *testing.B, p problems.Problem, seed uint64, workers, evals int, law func(*rand.Rand) float64, regret float64) []float64 {
	type active struct {
		optimizer.Observation
		end float64
	}
	var params []spaces.Param
	for j := range p.Dim() {
		params = append(params, spaces.Param{Name: fmt.Sprintf("x%d", j), Kind: spaces.KindFloat, Min: 0, Max: 1})
	}
	space, err := spaces.New(params...)
	if err != nil {
		b.Fatal(err)
	}
	opt, err := optimizer.New(space, seed, optimizer.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	f := func(u spaces.Point) float64 { return -p.Eval(p.FromUnit(u)) }
	rng := rand.New(rand.NewPCG(seed, uint64(workers)))
	var running []active
	var regrets []float64
	least, clock := math.Inf(1), 0.0
	for next := 1; len(regrets) < evals && least > regret; {
		for len(running) < workers {
			q := optimizer.Query{Trial: next}
			for _, o := range running {
				q.Pending = append(q.Pending, optimizer.Pending{Trial: o.Trial, Point: o.Proposal.Point})
			}
			proposal, err := opt.Ask(b.Context(), q)
			if err != nil {
				b.Fatal(err)
			}
			running = append(running, active{evaluated(next, proposal, f), clock + law(rng)})
			next++
		}
		first := 0
		for i, o := range running {
			if o.end < running[first].end {
				first = i
			}
		}
		done := running[first]
		running, clock = slices.Delete(running, first, first+1), done.end
		if err := opt.Tell(done.Observation); err != nil {
			b.Fatal(err)
		}
		least = math.Min(least, p.Regret(-done.Value()))
		regrets = append(regrets, least)
	}
	return regrets
}
