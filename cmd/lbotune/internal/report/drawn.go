package report

import (
	"cmp"
	"fmt"
	"slices"
)

// A page grows with the trials that are drawn, with the parameters, and fastest with both: each
// of the trials has all of its values beside it.
const (
	mostDrawn       = 2000   // trials
	mostDrawnValues = 30_000 // of their parameters
	leastDrawn      = 100    // trials, however many parameters they have
	mostDrawnParams = 20
	mostLines       = 300 // of a picture with a line for each trial
)

// choose finds the trials that count, the best first, and those that are drawn: of many the
// best, the last, and some of all others.
func (s *Study) choose() {
	s.ranked = slices.DeleteFunc(s.valued(), func(t *Trial) bool { return !t.Succeeded() })
	slices.SortFunc(s.ranked, s.compare)
	most := min(mostDrawn, max(mostDrawnValues/max(len(s.Params), 1), leastDrawn))
	best := s.ranked[:min(most/2, len(s.ranked))]
	last, every := len(s.Trials), 1
	if last > most {
		last, every = last-most/4, last/(most/4)+1 // which rarely changes while a study grows
	}
	for _, t := range best {
		t.shown = true
	}
	for _, t := range s.Trials {
		if t.shown = t.shown || t.Number > last || t.Number%every == 0; t.shown {
			s.shown = append(s.shown, t)
		}
	}
}

// compare puts the better of two trials first, or the earlier.
func (s *Study) compare(a, b *Trial) int {
	return cmp.Or(s.state.Compare(a.Trial, b.Trial), a.Number-b.Number)
}

// drawnParams are the places of the parameters that are drawn: of many those that matter most or,
// where that is not known, the first.
func (s *Study) drawnParams() []int {
	out := s.Model.order(len(s.Params))
	out = out[:min(mostDrawnParams, len(out))]
	slices.Sort(out)
	return out
}

// LeftOut says what of a large study is not on its page.
func (s *Study) LeftOut() []string {
	var out []string
	if n := len(s.Trials) - len(s.shown); n > 0 {
		out = append(out, fmt.Sprintf("%d of %d trials are drawn: the best, the last, and an even sample of the others. %d are left out; export has them all.", len(s.shown), len(s.Trials), n))
	}
	if n := len(s.shown); n > mostListed {
		out = append(out, fmt.Sprintf("The table lists %d of the %d trials that are drawn, the best first and those without a value last; a filter of the table finds only these.", mostListed, n))
	}
	if n := len(s.Params) - mostDrawnParams; n > 0 {
		which := "the first"
		if s.Unimportant() == nil {
			which = "those that matter most"
		}
		out = append(out, fmt.Sprintf("%d of %d parameters are drawn: %s. Each trial that is drawn has the values of all.", mostDrawnParams, len(s.Params), which))
	}
	return out
}
