package study

import (
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study/pruner"
)

// Watched is one call to the pruner: a reading that must be kept, or a trial
// whose readings stay or go. A pruner that is given them in order goes on as
// the one that made the decisions.
type Watched struct {
	Reading        pruner.Reading // with Finish the trial's value alone
	Finish, Forget int            // numbers of trials, 0 for none
	excluded       bool           // Forget is for an exclusion, which may be taken back
}

// watch keeps what the pruner has to know of an event.
func (s *State) watch(w Watched) {
	if s.Config.Prunes() {
		s.Watched = append(s.Watched, w)
	}
}

// Maximized is a reading as the pruner takes it.
func (s *State) Maximized(trial int, r Reading) pruner.Reading {
	out := pruner.Reading{Trial: trial, Step: r.Step, Value: s.worth(r.Value)}
	for j, v := range r.Others {
		out.Others = append(out.Others, s.Config.Objectives()[j+1].Direction.Maximized(v))
	}
	return out
}

// noBar reports whether other trials must not be stopped for a finished one, however good its
// readings are, by a rule that stops what cannot become the best: it could not be the best
// itself, since it breaks a limit, was stopped at one, or lies outside of the ranges.
func (s *State) noBar(t *Trial) bool {
	return s.Config.Prune != nil && s.Config.Prune.Method == string(pruner.Reachable) && t.Done() && (t.Outside || t.Status != optimizer.Succeeded || !s.Feasible(t))
}
