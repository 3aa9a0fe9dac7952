package study

import "slices"

// Update is what an observer sees of one event: the record and copies of what
// it changed.
type Update struct {
	Record   Record
	Past     bool  // the record was there before; then nothing else is known
	Trial    Trial // that the record is about, if any
	Best     Trial // the best so far; Number is 0 while there is none
	Better   bool  // the last trial to finish is the best so far, or on the front
	Finished int
	Proposed int
}

// Update is what an observer is shown of a record that is part of the state.
func (s *State) Update(r Record) Update {
	u := Update{Record: r, Finished: len(s.Order), Proposed: len(s.Trials), Better: s.best != nil && s.sinceBest == 0}
	if e, ok := r.Event.(ofTrial); ok && e.trial() > 0 && e.trial() <= len(s.Trials) {
		u.Trial = *s.Trials[e.trial()-1]
		u.Trial.Attempts = slices.Clone(u.Trial.Attempts) // which the next event may change
	}
	if b := s.best; b != nil { // the best value: means come last
		u.Best = *b
	}
	return u
}
