package study

import (
	"slices"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study/pruner"
)

// lastRun reports whether the budget has room for one trial, and none was given
// all of the resource yet. A study must not end without having done so.
func (s *State) lastRun() bool {
	return s.Search.resource != "" && s.Room() == 1 &&
		!slices.ContainsFunc(s.Trials, func(t *Trial) bool { return s.Search.rung(t.Values) == s.Search.top() })
}

// owed returns the trial that should be continued now and on which rung, nil if
// there is none: the highest rung with such a trial comes first.
func (s *State) owed() (from *Trial, rung int) {
	if s.Search.resource == "" {
		return nil, 0
	}
	results := s.results()
	last := s.lastRun()
	for k := s.Search.top() - 1; k >= 0; k-- {
		reduction := s.Config.Prune.Reduction
		if last {
			reduction = 1
		}
		n := pruner.Promotable(results[k], reduction)
		switch {
		case n > 0 && last:
			return s.Trials[n-1], s.Search.top()
		case n > 0:
			return s.Trials[n-1], k + 1
		}
	}
	return nil, 0
}

// results are those of each rung. A trial whose continuation failed has none.
func (s *State) results() [][]pruner.Result {
	out := make([][]pruner.Result, len(s.Search.rungs))
	for _, t := range s.Trials {
		if !t.Done() || t.Status == optimizer.Failed || !t.Teaches() || t.Cut.limited() || t.next > 0 && s.Trials[t.next-1].Status == optimizer.Failed {
			continue
		}
		if k := s.Search.rung(t.Values); k >= 0 {
			out[k] = append(out[k], pruner.Result{Trial: t.Number, Value: s.worth(t.Value), Promoted: t.next > 0})
		}
	}
	return out
}
