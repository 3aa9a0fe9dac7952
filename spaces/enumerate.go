package spaces

import "slices"

// Size returns the number of different configurations that are allowed, and false when
// there is a float without a step, the count exceeds limit, or too many would have to
// be looked at.
func (s *Space) Size(limit int) (int, bool) {
	if slices.ContainsFunc(s.params, func(p Param) bool { return p.Kind == KindFloat && p.Step == 0 }) {
		return 0, false
	}
	n := 0
	complete := s.enumerate(new(int), nil, 0, func(Values) bool {
		n++
		return n <= limit
	})
	return n, complete
}

// Enumerate calls yield with every allowed configuration of a finite space, in
// lexicographic order, until yield returns false. A float with a format has the
// values that the format can write. It returns false if the space is infinite, yield
// stopped it, or relations had it look at millions in vain.
func (s *Space) Enumerate(yield func(Values) bool) bool {
	return s.enumerate(new(int), nil, 0, func(v Values) bool { return yield(slices.Clone(v)) })
}

func (s *Space) enumerate(looked *int, prefix Values, i int, yield func(Values) bool) bool {
	if s.Related() && i > 0 {
		if *looked++; *looked > visited {
			return false
		}
		breaks := func(r Relation) bool { return r.last == i-1 && !r.obeyed(prefix) }
		if slices.ContainsFunc(s.inside.relations, breaks) {
			return true
		}
	}
	if i == len(s.params) {
		return yield(prefix)
	}
	p := s.params[i]
	if !s.Exists(i, prefix) {
		return s.enumerate(looked, prefix, i+1, yield)
	}
	with := func(v Value) bool {
		return s.enumerate(looked, append(prefix, Assignment{p.Name, v}), i+1, yield)
	}
	if levels, finite := p.Levels(); finite {
		for k := 0; float64(k) < levels; k++ {
			if !with(p.valueAt(k)) {
				return false
			}
		}
		return true
	}
	if p.Format == "" {
		return false
	}
	for x, ok := p.Min, true; ok; x, ok = p.next(x) {
		if !with(Float(x)) {
			return false
		}
	}
	return true
}

// next returns the value that follows x, one of those that p's format can write,
// and false if x is the last one. It bisects for the place where the format
// changes its mind.
func (p Param) next(x float64) (float64, bool) {
	if x >= p.Max {
		return x, false
	}
	lo, hi := x, p.Max
	for mid := lo + (hi-lo)/2; mid > lo && mid < hi; mid = lo + (hi-lo)/2 {
		if p.value(mid) > x {
			hi = mid
		} else {
			lo = mid
		}
	}
	return p.value(hi), true
}
