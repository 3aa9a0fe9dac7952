package study

import (
	"fmt"
	"math"
	"time"

	"github.com/lbotune/lbotune/optimizer"
)

// Ending says why the study should ask for no more trials, nil if it should go
// on.
func (s *State) Ending(elapsed time.Duration) *Closed {
	b, unsafe := s.Config.Budget, s.Unsafe()
	switch {
	case unsafe != "":
		return &Closed{Why: EndUnsafe, Detail: unsafe}
	case b.Goal != nil && s.best != nil && s.Feasible(s.best) && s.worth(s.best.Value) >= s.worth(*b.Goal):
		return &Closed{Why: EndGoal, Detail: fmt.Sprintf("trial %d reached the goal %v", s.best.Number, *b.Goal)}
	case s.goal != nil:
		return &Closed{Why: EndGoal, Detail: fmt.Sprintf("trial %d reached the goals", s.goal.Number)}
	case b.Trials > 0 && len(s.Order) >= b.Trials:
		detail := fmt.Sprintf("all %d trials are finished", len(s.Order))
		if len(s.Order) > b.Trials {
			detail += fmt.Sprintf(", and the budget is %d", b.Trials)
		}
		return &Closed{Why: EndTrials, Detail: detail}
	case b.Time > 0 && elapsed >= time.Duration(b.Time):
		return &Closed{Why: EndTime, Detail: fmt.Sprintf("the study has run for %v", b.Time)}
	case b.Patience > 0 && s.best != nil && s.sinceBest >= b.Patience:
		what := "no better trial"
		if s.Config.Several() {
			what = "no trial on the front"
		}
		return &Closed{Why: EndPatience, Detail: fmt.Sprintf("%s in %d", what, s.sinceBest)}
	}
	return s.guard()
}

// guard ends a study in which nothing has ever succeeded once the first trials
// of this session have all failed.
func (s *State) guard() *Closed {
	n := s.Config.Run.FailureGuard
	if n <= 0 || len(s.inSession) < n || s.best != nil {
		return nil
	}
	first, how := s.Trials[s.inSession[0]-1], ""
	for _, k := range s.inSession {
		t := s.Trials[k-1]
		if t.Status != optimizer.Failed || t.Failure == nil || first.Failure == nil {
			return nil
		}
		if !t.Failure.alike(first.Failure) {
			how = ", not all for the same reason"
		}
	}
	return &Closed{Why: EndGuard, Detail: fmt.Sprintf("the first %d trials all failed%s: %s", len(s.inSession), how, first.Failure.Text)}
}

// GapEnding ends a study that has less left to gain than the budget cares for, if that is
// certain: under a constant that a person has stated. By an estimated one every sixth study
// without noise ended too early, and every second with noise.
func (s *State) GapEnding(n optimizer.Note) *Closed {
	l := n.Lipschitz
	if s.Config.Budget.Gap <= 0 || s.best == nil || !s.Feasible(s.best) || l == nil || !l.Stated || l.Gap == nil {
		return nil
	}
	lead, begun := s.lead()
	left, also := *l.Gap+lead, ""
	if left > s.Config.Budget.Gap {
		return nil
	}
	if begun {
		also = ", and the results that it began with are its own"
	}
	return &Closed{Why: EndGap, Detail: fmt.Sprintf("at most %.3g is left to gain if the objective has no noise and the stated Lipschitz constant %v%s",
		left, s.Config.Optimizer.LipschitzConstant, also)}
}

// lead is by how much the best result of the same objective that the study began with is better
// than its own best: the optimizer compares with either. It also says whether there is one.
func (s *State) lead() (lead float64, begun bool) {
	for _, e := range s.Inherited() {
		if !e.Same {
			continue
		}
		for _, v := range e.Values {
			if begun = begun || !math.IsNaN(v); v-s.worth(s.best.Value) > lead {
				lead = v - s.worth(s.best.Value)
			}
		}
	}
	return lead, begun
}
