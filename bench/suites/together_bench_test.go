package suites_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// BenchmarkTogether measures what is found in 20 seconds by workers whose trials take one on
// average, where each proposal takes the time that its making takes here: by random search, by a
// proposal for each worker in turn (alone), and by several from one model where workers would
// wait (together). Decades is the mean of the decimal logarithm of the regret, in units of that
// of the median of 400 random points and not below 1e-6, over the paper's functions; busy the
// share of the workers' time in which they ran a trial.
func BenchmarkTogether(b *testing.B) {
	for _, workers := range []int{8, 64, 256} {
		for _, law := range laws {
			for _, how := range []string{"random", "alone", "together"} {
				b.Run(fmt.Sprintf("%d/%s/%s", workers, law.name, how), func(b *testing.B) {
					var decades, busy, spent []float64
					for _, p := range problems.Paper() {
						c := crew{workers: workers, law: law.draw, how: how}
						c.work(b, p, 20)
						decades = append(decades, math.Log10(max(p.Regret(c.best)/(c.typical-p.Min), 1e-6)))
						busy, spent = append(busy, c.ran/(20*float64(workers))), append(spent, 1000*c.spent/float64(c.told))
					}
					b.ReportMetric(stat.Mean(decades, nil), "decades")
					b.ReportMetric(100*stat.Mean(busy, nil), "%busy")
					b.ReportMetric(stat.Mean(spent, nil), "ms/trial")
				})
			}
		}
	}
}

// crew are workers, with a clock of their own.
type crew struct {
	workers int
	law     func(*rand.Rand) float64
	how     string

	best, typical float64
	ran, spent    float64 // seconds of trials, and of the optimizer's
	told          int
}

// work runs a study until the clock shows the end.
func (c *crew) work(b *testing.B, p problems.Problem, end float64) {
	type active struct {
		optimizer.Observation
		begin, end float64
	}
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, uint64(c.workers)))
	var values []float64
	for range 400 {
		values = append(values, p.Eval(p.Sample(rng)))
	}
	slices.Sort(values)
	c.typical, c.best = values[200], math.Inf(1)
	space := p.Objective().Space
	set := optimizer.Settings{}
	if c.how == "random" {
		set.Method = "random"
	}
	opt, err := optimizer.New(space, seed, set)
	if err != nil {
		b.Fatal(err)
	}
	f := func(u spaces.Point) float64 { return -p.Eval(p.FromUnit(u)) }
	var running []active
	clock, trial, took := 0.0, 0, 0.0
	for clock < end {
		slices.SortFunc(running, func(x, y active) int { return cmp.Compare(x.end, y.end) })
		if len(running) == c.workers {
			clock = max(clock, running[0].end)
		}
		began := processorTime()
		for len(running) > 0 && running[0].end <= clock {
			done := running[0]
			running, c.told = running[1:], c.told+1
			c.ran += max(min(done.end, end)-done.begin, 0)
			c.best = min(c.best, -done.Value())
			if err := opt.Tell(done.Observation); err != nil {
				b.Fatal(err)
			}
		}
		q := optimizer.Query{Trial: trial + 1}
		for _, o := range running {
			q.Pending = append(q.Pending, optimizer.Pending{Trial: o.Trial, Point: o.Proposal.Point})
		}
		proposal, err := opt.Ask(b.Context(), q)
		if err != nil {
			b.Fatal(err)
		}
		proposals := []optimizer.Proposal{proposal}
		took = 0.9*took + 0.1*(processorTime()-began)
		wait := c.workers - len(running) - 1
		for c.how == "together" && float64(wait)*took > 0.05 && len(proposals) <= min(wait, 31) {
			p, err := opt.(optimizer.Batcher).More(b.Context(), trial+len(proposals)+1)
			if errors.Is(err, optimizer.ErrNoMore) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			proposals = append(proposals, p)
		}
		c.spent += processorTime() - began
		clock += processorTime() - began
		for _, p := range proposals {
			trial++
			running = append(running, active{evaluated(trial, p, f), clock, clock + c.law(rng)})
		}
	}
	for _, o := range running {
		c.ran += max(end-o.begin, 0)
	}
}

// processorTime is that of this program, in seconds.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
