package study

import (
	"math"
	"slices"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
)

// bounded reports whether the study may end for what the model leaves to gain.
func (b Budget) bounded() bool { return b.Regret > 0 || b.RegretShare > 0 }

// progress is how much better the best value is than that of a typical configuration: the median of
// those that were not chosen for their values.
func (s *State) progress() float64 {
	unchosen := s.those(func(t *Trial) bool {
		return t.Succeeded() && (t.Origin == optimizer.OriginInitial || t.Origin == optimizer.OriginExplore)
	})
	typical := lists.Map(unchosen, func(t *Trial) float64 { return s.worth(t.Value) })
	if len(typical) == 0 || s.best == nil {
		return 0
	}
	slices.Sort(typical)
	return math.Max(s.worth(s.best.Value)-typical[len(typical)/2], 0)
}

// How much by the model must agree before it ends a study; chosen with the constants of
// optimizer/regret.go.
const (
	agreeing  = 3 // proposals in a row, each after another result, that leave no more than is tolerated
	exploring = 2 // trials that have ignored the model before it is asked; and at least one for each parameter
)

// tolerated is how much may be left to gain, 0 as long as nobody asks.
func (s *State) tolerated() float64 {
	b := s.Config.Budget
	if !b.bounded() {
		return 0
	}
	explored := s.those(func(t *Trial) bool { return t.Done() && t.Origin == optimizer.OriginExplore })
	progress := s.progress()
	switch {
	case len(explored) < max(exploring, len(s.Config.Params)) || progress <= 0: // all are equal
		return 0
	case b.RegretShare > 0:
		return b.RegretShare * progress
	}
	return b.Regret
}

// agreed is the most that a note and those of the last proposals leave to gain, if all of them
// leave no more than is tolerated.
func (s *State) agreed(n optimizer.Note) (most float64, ok bool) {
	told, count, enough := -1, 0, s.tolerated()
	if enough == 0 {
		return 0, false
	}
	for _, t := range slices.Backward(append(slices.Clip(s.Trials), &Trial{Note: n, Told: len(s.Order)})) {
		switch {
		case t.with || t.Told == told || t.Origin == optimizer.OriginGiven || t.Origin == optimizer.OriginDefault:
			continue
		case t.Note.Left == nil || *t.Note.Left > enough || t.Number > 0 && !s.Holds(t):
			return 0, false
		}
		told, most, count = t.Told, math.Max(most, *t.Note.Left), count+1
		if count == agreeing {
			return most, true
		}
	}
	return 0, false
}

// leftOver says that more may be left to gain than is tolerated, where the study has ended so.
func (s *State) leftOver() string {
	if s.Closed == nil || s.Closed.Why == endRegret || !s.Config.Budget.bounded() {
		return ""
	}
	return "by the model more may be left to gain than regret of [budget] allows"
}
