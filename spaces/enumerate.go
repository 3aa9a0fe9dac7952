package spaces

// Size returns the number of different configurations, and false when a float
// makes the space infinite or the count exceeds limit.
func (s *Space) Size(limit int) (int, bool) {
	n := 0
	complete := s.enumerate(nil, 0, func(Values) bool {
		n++
		return n <= limit
	})
	return n, complete
}

// Enumerate calls yield with every configuration of a finite space, in
// lexicographic order, until yield returns false. It returns false if the
// space is infinite or yield stopped it.
func (s *Space) Enumerate(yield func(Values) bool) bool {
	return s.enumerate(nil, 0, func(v Values) bool { return yield(append(Values(nil), v...)) })
}

func (s *Space) enumerate(prefix Values, i int, yield func(Values) bool) bool {
	if i == len(s.params) {
		return yield(prefix)
	}
	p := s.params[i]
	if p.When != nil && !p.When.Holds(prefix.Get) {
		return s.enumerate(prefix, i+1, yield)
	}
	with := func(v Value) bool {
		return s.enumerate(append(prefix, Assignment{p.Name, v}), i+1, yield)
	}
	switch p.Kind {
	case KindInt:
		for n := p.Min; n <= p.Max; n++ {
			if !with(Int(int64(n))) {
				return false
			}
		}
	case KindBool:
		return with(Bool(false)) && with(Bool(true))
	case KindChoice:
		for _, c := range p.Choices {
			if !with(c) {
				return false
			}
		}
	default:
		return false
	}
	return true
}
