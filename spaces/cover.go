package spaces

import (
	"maps"
	"slices"
)

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
		wanted := map[string]Value{}
		for _, a := range left {
			if more := maps.Clone(wanted); s.want(more, a) {
				wanted = more
			}
		}
		n := len(left)
		vs, err := s.nearby(s.complete(wanted), func(name string) bool { _, ok := wanted[name]; return ok })
		if err != nil && len(wanted) > 1 { // not all at once
			wanted = map[string]Value{}
			s.want(wanted, first)
			vs, err = s.nearby(s.complete(wanted), func(name string) bool { _, ok := wanted[name]; return ok })
		}
		if cover(vs); err != nil || len(left) == n { // no configuration has it
			left = slices.DeleteFunc(left, func(a Assignment) bool { return a == first })
			continue
		}
		out = append(out, vs)
	}
	return out
}

// levels lists the values of a choice or a bool.
func (p Param) levels() []Value {
	switch p.Kind {
	case KindChoice, KindOrdered:
		return p.Choices
	case KindBool:
		return []Value{Bool(false), Bool(true)}
	}
	return nil
}

// complete returns the configuration with the wanted values, and those of the middle
// of the space for the rest.
func (s *Space) complete(wanted map[string]Value) Values {
	center := s.FromUniform(s.middle())
	var out Values
	for i, p := range s.params {
		if !s.Exists(i, out) {
			continue
		}
		v, ok := wanted[p.Name]
		if !ok {
			v = p.decode(center[s.offset[i]:])
		}
		out = append(out, Assignment{p.Name, v})
	}
	return out
}

// want adds a value to those that are wanted, and others that its condition needs.
// It returns false if that contradicts what is wanted already.
func (s *Space) want(wanted map[string]Value, a Assignment) bool {
	if v, ok := wanted[a.Name]; ok {
		return v == a.Value
	}
	wanted[a.Name] = a.Value
	c := s.when[s.index[a.Name]]
	return c == nil || s.satisfy(wanted, c, nil)
}

// satisfy wants values with which the condition holds. It chooses those of the
// parameters that the condition names one by one.
func (s *Space) satisfy(wanted map[string]Value, c *condition, chosen Values) bool {
	if len(chosen) == len(c.Params) {
		return c.Holds(chosen)
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
		more := maps.Clone(wanted)
		if s.want(more, Assignment{name, v}) && s.satisfy(more, c, append(chosen, Assignment{name, v})) {
			maps.Copy(wanted, more)
			return true
		}
	}
	return false
}
