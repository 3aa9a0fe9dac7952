package main

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/optimizer"
)

// laws are those of how many seconds a trial takes, one on average, and take turns from seed to
// seed. The last is Pareto's with exponent 1.5: half of the trials take less than 0.53, and one of
// 164 more than 10.
var laws = []struct {
	name string
	draw func(*rand.Rand) float64
}{
	{"constant", func(*rand.Rand) float64 { return 1 }},
	{"exponential", (*rand.Rand).ExpFloat64},
	{"heavy-tailed", func(r *rand.Rand) float64 { return math.Pow(1-r.Float64(), -1/1.5) / 3 }},
}

// timed are twelve functions on which nothing was chosen.
func timed(seed uint64) []problems.Objective {
	return objectives(append(problems.Standard(seed), problems.Schwefel(3, seed), problems.TwoBasins(3, seed)))
}

// against runs a study until the clock shows the end, or until nothing that counts is left to find.
// An ask and the tells before it take what the processor takes for them, one after the other, and
// more proposals are made with one where the program would (session/loop.go). The two points are
// for half of the time and for all of it, and have the best value of the trials that had ended by
// then. Both also have, in I, Y and Sec, how many were begun, in which share of the workers' time
// one ran, and when the study stopped.
func (j job) against(ctx context.Context, opt optimizer.Optimizer) (run, error) {
	batcher, _ := opt.(optimizer.Batcher)
	spent := processorTime
	if p, ok := opt.(*peer); ok {
		spent = func() float64 { return p.spent }
	}
	var active byEnd
	var values, took []float64 // by trial
	rng, enough := stream(uint64(j.seed)), j.objective.Min+floors[len(floors)-1]*spread(j.objective)/10
	best, law := [2]float64{math.Inf(1), math.Inf(1)}, laws[j.seed%len(laws)].draw
	clock, ran, ask, trial := 0.0, 0.0, 0.0, 0.0 // the last two are moving means, 0 while there are none
	for best[0] > enough && (clock < j.clock/2 || best[1] > enough) {
		if len(active) == j.workers {
			clock = max(clock, active[0].end)
		}
		before := spent()
		for len(active) > 0 && active[0].end <= min(clock, j.clock) {
			done := heap.Pop(&active).(running)
			trial = 0.9*cmp.Or(trial, took[done.trial-1]) + 0.1*took[done.trial-1]
			o := optimizer.Observation{Trial: done.trial, Proposal: done.proposal, Status: optimizer.Succeeded, Values: []float64{-values[done.trial-1]}}
			if err := opt.Tell(o); err != nil {
				return run{}, fmt.Errorf("tell trial %d: %w", done.trial, err)
			}
		}
		q := optimizer.Query{Trial: len(values) + 1}
		for _, a := range sortedByTrial(active) {
			q.Pending = append(q.Pending, optimizer.Pending{Trial: a.trial, Point: a.proposal.Point})
		}
		p, err := opt.Ask(ctx, q)
		if err != nil {
			return run{}, fmt.Errorf("%s on %s, seed %d: %w", j.variant, j.objective.Name, j.seed, err)
		}
		proposals, free := []optimizer.Proposal{p}, j.workers-len(active)-1
		for long := trial > 0 && float64(free)*ask > 0.05*trial; long && batcher != nil && len(proposals) <= min(free, 63); {
			if p, err = batcher.More(ctx, q.Trial+len(proposals)); err != nil {
				break // as in the program, the next Ask says what it is
			}
			proposals = append(proposals, p)
		}
		passed := spent() - before
		ask, clock = 0.9*cmp.Or(ask, passed)+0.1*passed, clock+passed
		if clock >= j.clock {
			break
		}
		for _, p := range proposals {
			y, takes := j.objective.Eval(j.objective.Space.Decode(p.Point)), law(rng)
			values, took, ran = append(values, y), append(took, takes), ran+takes
			heap.Push(&active, running{end: clock + takes, trial: len(values), proposal: p})
			for k := range best {
				if clock+takes <= j.clock/float64(2-k) {
					best[k] = min(best[k], y)
				}
			}
		}
	}
	if len(values) == 0 {
		return run{}, fmt.Errorf("%s on %s, seed %d: the first ask took all of the %g seconds, and nothing was begun", j.variant, j.objective.Name, j.seed, j.clock)
	}
	clock = min(clock, j.clock)
	for _, a := range active {
		ran -= max(a.end-clock, 0)
	}
	var r run
	for _, found := range best {
		r.points = append(r.points, point{I: len(values), Y: ran / clock / float64(j.workers), Best: found, Sec: clock})
	}
	return r, nil
}

// processorTime is that of this program, in seconds.
func processorTime() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it cannot fail
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// writeLaws compares the runs at the end under each law, and says how many trials began in a second
// and how busy the workers were.
func writeLaws(b *strings.Builder, s *store, jobs []job) {
	for i, l := range laws {
		some := slices.DeleteFunc(slices.Clone(jobs), func(j job) bool { return j.seed%len(laws) != i })
		if len(some) == 0 {
			continue
		}
		fmt.Fprintf(b, "### %d workers, %s durations, after %g seconds\n\nTrials begun in a second, and the share of the workers' time in which one ran.", some[0].workers, l.name, some[0].clock)
		r, sums := newRegrets(), map[string]point{}
		r.addStore(s, some, 2)
		for _, j := range some {
			end, sum := s.runs[j.key()].points[1], sums[j.variant]
			sums[j.variant] = point{I: sum.I + end.I, Sec: sum.Sec + end.Sec, Y: sum.Y + end.Sec*end.Y}
		}
		for _, p := range r.peers {
			fmt.Fprintf(b, " %s: %.3g, %.0f %%.", p, float64(sums[p].I)/sums[p].Sec, 100*sums[p].Y/sums[p].Sec)
		}
		b.WriteString("\n")
		r.writePairs(b, r.peers[0], r.peers)
		b.WriteString("\n")
	}
}
