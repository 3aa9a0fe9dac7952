package study

import (
	"fmt"
	"math"
	"slices"
)

// The methods of early stopping.
const (
	PruneMedian     = "median"
	PrunePercentile = "percentile"
	PruneASHA       = "asha"
	PrunePatience   = "patience"
	PruneThreshold  = "threshold"
)

// verdict says why trial t, whose last reading has just arrived, should be
// stopped; empty means that it may go on.
func (s *State) verdict(t *Trial) string {
	p := s.Config.Prune
	if p == nil || len(t.Readings) == 0 || p.Resource != "" {
		return ""
	}
	now := t.Readings[len(t.Readings)-1]
	if now.Step < p.Warmup {
		return ""
	}
	switch p.Method {
	case PruneThreshold:
		if !s.atLeast(now.Value, *p.Threshold) {
			return fmt.Sprintf("%v at step %v is worse than the threshold %v", now.Value, now.Step, *p.Threshold)
		}
	case PrunePatience:
		if n := s.sinceBestReading(t.Readings); n >= p.Patience {
			return fmt.Sprintf("no better reading in %d", n)
		}
	case PruneMedian:
		return s.belowOthers(t, 50)
	case PrunePercentile:
		return s.belowOthers(t, p.Percentile)
	case PruneASHA:
		return s.belowRung(t)
	}
	return ""
}

// worth is a value turned so that larger is better; what is not a number is the
// worst there is.
func (s *State) worth(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(-1)
	}
	return s.Config.Objective.Direction.Maximised(v)
}

func (s *State) atLeast(v, bound float64) bool { return s.worth(v) >= s.worth(bound) }

// sinceBestReading counts the readings after the best one.
func (s *State) sinceBestReading(rs []Reading) int {
	best := 0
	for i, r := range rs {
		if s.worth(r.Value) > s.worth(rs[best].Value) {
			best = i
		}
	}
	return len(rs) - 1 - best
}

// belowOthers compares the best reading of t so far with the readings that the
// successful trials had at the same step: t should stop if it is worse than
// their percentile, counted from the worst. That is the median stopping rule of
// Golovin et al. (Google Vizier, KDD 2017, section 3.4), with the readings
// themselves for their running averages.
func (s *State) belowOthers(t *Trial, percentile float64) string {
	now := t.Readings[len(t.Readings)-1]
	var others []float64
	for _, o := range s.Trials {
		if o.Number == t.Number || !o.Succeeded() {
			continue
		}
		if v, ok := readingAt(o.Readings, now.Step); ok {
			others = append(others, s.worth(v))
		}
	}
	if len(others) < max(s.Config.Prune.MinTrials, 1) {
		return ""
	}
	bound := quantile(others, percentile/100)
	best := math.Inf(-1)
	for _, r := range t.Readings {
		best = math.Max(best, s.worth(r.Value))
	}
	if best >= bound {
		return ""
	}
	dir := s.Config.Objective.Direction
	return fmt.Sprintf("best reading %v up to step %v, where others had %v", dir.Maximised(best), now.Step, dir.Maximised(bound))
}

// readingAt returns the last reading up to a step, of a trial that got there.
func readingAt(rs []Reading, step float64) (float64, bool) {
	i, _ := slices.BinarySearchFunc(rs, step, func(r Reading, step float64) int {
		if r.Step <= step {
			return -1
		}
		return 1
	})
	if i == 0 || i == len(rs) && rs[i-1].Step < step {
		return 0, false
	}
	return rs[i-1].Value, true
}

// quantile is the linear interpolation of the order statistics (definition 7 of
// Hyndman and Fan 1996).
func quantile(xs []float64, p float64) float64 {
	slices.Sort(xs)
	h := p * float64(len(xs)-1)
	i := int(h)
	if i+1 >= len(xs) || xs[i] == xs[i+1] {
		return xs[i]
	}
	return xs[i] + (h-float64(i))*(xs[i+1]-xs[i])
}

// belowRung is asynchronous successive halving (Li et al., MLSys 2020) by
// stopping: a trial that reaches a rung goes on if it is among the best 1/eta
// of all that have reached it so far. Rungs lie at min_resource · reduction^k.
func (s *State) belowRung(t *Trial) string {
	p := s.Config.Prune
	n := len(t.Readings)
	before := math.Inf(-1)
	if n > 1 {
		before = t.Readings[n-2].Step
	}
	now := t.Readings[n-1].Step
	rung := p.MinResource
	for rung*p.Reduction <= now {
		rung *= p.Reduction
	}
	if rung > now || rung <= before {
		return ""
	}
	var there []float64
	for _, o := range s.Trials {
		if v, ok := firstAtRung(o.Readings, rung); ok && o.Number != t.Number && !o.Excluded {
			there = append(there, s.worth(v))
		}
	}
	if len(there)+1 < p.MinTrials {
		return ""
	}
	rank, ok := rankAmong(s.worth(t.Readings[n-1].Value), there, p.Reduction)
	if ok {
		return ""
	}
	return fmt.Sprintf("place %d of %d at step %v", rank, len(there)+1, rung)
}

// firstAtRung returns the reading with which a trial reached a rung.
func firstAtRung(rs []Reading, rung float64) (float64, bool) {
	for _, r := range rs {
		if r.Step >= rung {
			return r.Value, true
		}
	}
	return 0, false
}

// rankAmong returns the place of v among itself and others, 1 for the best, and
// whether it is one of the best 1/eta. One is always good enough.
func rankAmong(v float64, others []float64, eta float64) (rank int, ok bool) {
	rank = 1
	for _, o := range others {
		if o > v {
			rank++
		}
	}
	return rank, rank <= max(1, int(float64(len(others)+1)/eta))
}
