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
		if p.When != nil && !p.When.Holds(out.Get) {
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
	p, _ := s.Lookup(a.Name)
	if p.When == nil {
		return true
	}
	for _, name := range p.When.Params() {
		if !s.satisfy(wanted, p.When, name) {
			return false
		}
	}
	return true
}

// satisfy wants a value of the named parameter with which the condition's
// comparisons of it hold.
func (s *Space) satisfy(wanted map[string]Value, c *Condition, name string) bool {
	p, _ := s.Lookup(name)
	candidates := slices.Concat(p.levels(), []Value{p.decode(s.Center()[s.Offset(s.index[name]):])})
	for _, cmp := range c.all {
		for _, v := range cmp.args {
			candidates = append(candidates, v)
			if x, ok := v.Number(); ok {
				candidates = append(candidates, Float(x-1), Float(x+1), Float((p.Min+x)/2), Float((x+p.Max)/2))
			}
		}
	}
	for _, v := range candidates {
		v, err := p.Normalize(v)
		holds := func(cmp comparison) bool { return cmp.param != name || cmp.holds(v) }
		if err != nil || slices.ContainsFunc(c.all, func(cmp comparison) bool { return !holds(cmp) }) {
			continue
		}
		if more := maps.Clone(wanted); s.want(more, Assignment{name, v}) {
			maps.Copy(wanted, more)
			return true
		}
	}
	return false
}
