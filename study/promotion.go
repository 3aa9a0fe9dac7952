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
	last := s.lastRun()
	for k := s.Search.top() - 1; k >= 0; k-- {
		reduction := s.Config.Prune.Reduction
		if last {
			reduction = 1
		}
		n := s.rungs[k].Promotable(reduction)
		switch {
		case n > 0 && last:
			return s.Trials[n-1], s.Search.top()
		case n > 0:
			return s.Trials[n-1], k + 1
		}
	}
	return nil, 0
}

// layRungs lays the results of all trials on their rungs.
func (s *State) layRungs() {
	s.rungs = make([]pruner.Rung, len(s.Search.rungs))
	for _, t := range s.Trials {
		if k := s.rungOf(t); k >= 0 {
			s.rungs[k].Add(pruner.Result{Trial: t.Number, Value: s.worth(t.Value)})
			if t.next > 0 {
				s.rungs[k].Promote(t.Number)
			}
		}
	}
}

// rungOf is the rung on which a trial has a result, -1 if it has none. One whose
// continuation failed has none.
func (s *State) rungOf(t *Trial) int {
	if s.Search.resource == "" || !t.Done() || t.Status == optimizer.Failed || !t.Teaches() || t.Cut.limited() ||
		t.next > 0 && s.Trials[t.next-1].Status == optimizer.Failed {
		return -1
	}
	return s.Search.rung(t.Values)
}

// climb lays the result of a trial that has finished on its rung.
func (s *State) climb(t *Trial) {
	if k := s.rungOf(t); k >= 0 {
		s.rungs[k].Add(pruner.Result{Trial: t.Number, Value: s.worth(t.Value)})
	}
	if t.Continues > 0 && t.Status == optimizer.Failed {
		if k := s.Search.rung(s.Trials[t.Continues-1].Values); k >= 0 {
			s.rungs[k].Remove(t.Continues)
		}
	}
}
