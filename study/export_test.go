package study

// EqualBest are the trials that share the best value.
func EqualBest(s *State) []*Trial { return s.equalBest() }
