package spaces

import "slices"

// Cover returns configurations in which every choice and both values of every bool
// are there at least once, as far as conditions allow, the middle of the space
// first. There are about as many as the parameter with the most values has.
func (s *Space) Cover() []Values {
	var left []Assignment
	for _, p := range s.params {
		for _, v := range p.levels() {
			left = append(left, Assignment{p.Name, v})
		}
	}
	out := []Values{s.Decode(s.Center())}
	cover := func(vs Values) {
		left = slices.DeleteFunc(left, func(a Assignment) bool { return slices.Contains(vs, a) })
	}
	cover(out[0])
	for len(left) > 0 {
		first := left[0]
		var wanted Values
		for _, a := range left {
			if more, ok := s.want(wanted, a); ok {
				wanted = more
			}
		}
		n := len(left)
		vs, err := s.complete(wanted, false)
		if err != nil && len(wanted) > 1 { // not all at once
			wanted, _ = s.want(nil, first)
			vs, err = s.complete(wanted, false)
		}
		if cover(vs); err == nil && len(left) < n {
			out = append(out, vs)
		} else { // no configuration has it
			left = slices.DeleteFunc(left, func(a Assignment) bool { return a == first })
		}
	}
	return out
}

// levels lists the values of a choice or a bool.
func (p Param) levels() []Value {
	switch p.Kind {
	case KindChoice, KindOrdered:
		return p.Choices
	case KindBool:
		return truths
	}
	return nil
}

var truths = []Value{Bool(false), Bool(true)}

// want adds a value to those that are wanted, and others that its condition needs.
// It returns false if that contradicts what is wanted already.
func (s *Space) want(wanted Values, a Assignment) (Values, bool) {
	if v, ok := wanted.Get(a.Name); ok {
		return wanted, v == a.Value
	}
	wanted = append(slices.Clip(wanted), a)
	c := s.when[s.index[a.Name]]
	if c == nil {
		return wanted, true
	}
	return s.satisfy(wanted, c, nil)
}

// satisfy wants values with which the condition holds. It chooses those of the
// parameters that the condition names one by one.
func (s *Space) satisfy(wanted Values, c *Relation, chosen Values) (Values, bool) {
	if len(chosen) == len(c.Params) {
		return wanted, c.Holds(chosen)
	}
	name := c.Params[len(chosen)]
	p, _ := s.Lookup(name)
	candidates := slices.Concat(p.levels(), []Value{p.decode(s.Center()[s.Offset(s.index[name]):])}, c.literals)
	for _, v := range c.literals {
		if x, ok := v.Number(); ok {
			candidates = append(candidates, Float(-x), Float(x-1), Float(x+1), Float((p.Min+x)/2), Float((x+p.Max)/2))
		}
	}
	for _, v := range candidates {
		v, err := p.Normalize(v)
		if err != nil {
			continue
		}
		a := Assignment{name, v}
		if more, ok := s.want(wanted, a); ok {
			if more, ok = s.satisfy(more, c, append(chosen, a)); ok {
				return more, true
			}
		}
	}
	return nil, false
}
