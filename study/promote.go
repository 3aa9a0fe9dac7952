package study

import (
	"fmt"
	"slices"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/pruner"
	"github.com/lbotune/lbotune/spaces"
)

// originContinued is the origin of trials that continue others.
const originContinued optimizer.Origin = "continued"

// first is the trial with which the configuration began that the trial continues.
func (t *Trial) first() int {
	if t.root > 0 {
		return t.root
	}
	return t.Number
}

// lastRun reports whether the budget has room for one trial, and none was given
// all of the resource yet. A study must not end without having done so.
func (s *State) lastRun() bool {
	return s.search.resource != "" && s.room() == 1 &&
		!slices.ContainsFunc(s.Trials, func(t *Trial) bool { return s.search.rung(t.Values) == s.search.top() })
}

// known reports of the optimizer's points whether their configuration was run
// before, on whatever rung; nil without a resource.
func (s *State) known() func(spaces.Point) bool {
	if s.search.resource == "" {
		return nil
	}
	search, run := s.search, map[string]bool{}
	for _, t := range s.Trials {
		run[search.on(0, t.Values).String()] = true
	}
	return func(p spaces.Point) bool { return run[search.Decode(p).String()] }
}

// unasked is the next trial if the optimizer need not be asked for it: one that
// continues another, or values that a person enqueued.
func (s *State) unasked() (Proposed, bool) {
	if from, rung := s.owed(); from != nil {
		return Proposed{Origin: originContinued, Values: s.search.on(rung, from.Values), Continues: from.Number}, true
	}
	if len(s.Queue) > 0 {
		return Proposed{Origin: optimizer.OriginGiven, Values: s.fresh(s.search.upwards(s.Queue[0]))}, true
	}
	return Proposed{}, false
}

// fresh returns what a configuration that was not run before is run with.
func (s *State) fresh(v spaces.Values) spaces.Values {
	if s.lastRun() {
		return s.search.on(s.search.top(), v)
	}
	return v
}

// owed returns the trial that should be continued now and on which rung, nil if
// there is none: the highest rung with such a trial comes first.
func (s *State) owed() (from *Trial, rung int) {
	if s.search.resource == "" {
		return nil, 0
	}
	results := s.results()
	last := s.lastRun()
	for k := s.search.top() - 1; k >= 0; k-- {
		reduction := s.Config.Prune.Reduction
		if last {
			reduction = 1
		}
		n := pruner.Promotable(results[k], reduction)
		switch {
		case n > 0 && last:
			return s.Trials[n-1], s.search.top()
		case n > 0:
			return s.Trials[n-1], k + 1
		}
	}
	return nil, 0
}

// results are those of each rung. A trial whose continuation failed has none.
func (s *State) results() [][]pruner.Result {
	out := make([][]pruner.Result, len(s.search.rungs))
	for _, t := range s.Trials {
		if !t.Done() || t.Status == optimizer.Failed || !t.teaches() || t.next > 0 && s.Trials[t.next-1].Status == optimizer.Failed {
			continue
		}
		if k := s.search.rung(t.Values); k >= 0 {
			out[k] = append(out[k], pruner.Result{Trial: t.Number, Value: s.worth(t.Value), Promoted: t.next > 0})
		}
	}
	return out
}

// continued notes that a trial continues another.
func (s *State) continued(t *Trial, from int) error {
	f, err := s.trial(from)
	switch {
	case err != nil:
		return err
	case !f.Done() || f.Status == optimizer.Failed:
		return fmt.Errorf("trial %d continues trial %d, which has no value", t.Number, from)
	}
	t.Continues, t.root, f.next = from, f.first(), t.Number
	return nil
}

// graded completes the end of a trial that has a value: with less than all of the
// resource it is no success, because nobody knows how it would have gone on.
func (s *State) graded(v spaces.Values, f *Finished) {
	f.Status = optimizer.Succeeded
	if rung := s.search.rung(v); s.search.resource != "" && rung < s.search.top() {
		f.Status = optimizer.Pruned
		f.Failure = &Failure{Kind: FailPruned,
			Text: fmt.Sprintf("at %s=%d of %d", s.search.resource, s.search.rungs[rung], s.search.rungs[s.search.top()])}
	}
}
