package spaces

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// level is the coordinate of the chosen level of a choice: two one-hot vectors
// of this length are one unit apart.
const level = math.Sqrt2 / 2

// Decode returns the configuration at p, which must have Dim coordinates, as in Snap and Allows.
// Those outside [0,1] count as the nearer end. Parameters whose condition does not hold are absent.
func (s *Space) Decode(p Point) Values { return s.decode(p, len(s.params)) }

func (s *Space) decode(p Point, n int) Values {
	out := make(Values, 0, n)
	for i, par := range s.params[:n] {
		if s.Exists(i, out) {
			out = append(out, Assignment{par.Name, par.decode(p[s.offset[i]:])})
		}
	}
	return out
}

// Encode returns the point of a configuration. Inactive parameters get the
// middle of their coordinates. A missing, superfluous, unknown or impossible
// value is an error, as are values that break a relation.
// Decode(Encode(v)) equals v for every v that Decode returns of an allowed point.
func (s *Space) Encode(vs Values) (Point, error) {
	if err := s.checkNames(vs); err != nil {
		return nil, err
	}
	p, err := s.encode(vs)
	if err != nil || !s.Related() {
		return p, err
	}
	v := s.Decode(p)
	if r := s.Broken(v); r != nil {
		return nil, r.brokenBy(v)
	}
	return p, nil
}

// encode is Encode whatever the relations, of values whose names are right.
func (s *Space) encode(vs Values) (Point, error) {
	p := make(Point, len(s.coords))
	next := 0 // among values that stand in the parameters' order, as a rule: there may be thousands
	for i, par := range s.params {
		c := p[s.offset[i]:]
		var v Value
		given := next < len(vs) && vs[next].Name == par.Name
		if given {
			v = vs[next].Value
			next++
		} else {
			v, given = vs.Get(par.Name)
		}
		active := s.Exists(i, vs)
		switch {
		case active && !given:
			return nil, fmt.Errorf("parameter %s has no value", par.Name)
		case !active && given:
			return nil, fmt.Errorf("parameter %s has a value, but exists only when %s", par.Name, par.When)
		case !active && par.Kind != KindChoice:
			c[0] = 0.5
		case !active:
			for l := range par.Choices {
				c[l] = level / float64(len(par.Choices))
			}
		default:
			v, err := par.Normalize(v)
			if err != nil {
				return nil, err
			}
			par.encode(v, c)
		}
	}
	return p, nil
}

func (s *Space) checkNames(vs Values) error {
	var errs []error
	for i, a := range vs {
		if _, ok := s.index[a.Name]; !ok {
			errs = append(errs, fmt.Errorf("there is no parameter %s", a.Name))
		}
		if _, twice := vs[:i].Get(a.Name); twice {
			errs = append(errs, fmt.Errorf("parameter %s has two values", a.Name))
		}
	}
	return errors.Join(errs...)
}

// Snap returns the point of the configuration that would really be run at p:
// ints, steps and ordered levels at the middle of their cell, one level per choice,
// inactive parameters in the middle.
func (s *Space) Snap(p Point) Point { return s.pointOf(s.Decode(p)) }

// pointOf encodes what Decode has returned: active, in-range values only.
func (s *Space) pointOf(v Values) Point {
	p, err := s.encode(v)
	if err != nil {
		panic("spaces: a decoded point does not encode: " + err.Error())
	}
	return p
}

// FromUniform maps u in [0,1]^Len, which must have one number per parameter, to a snapped
// point, such that uniform u makes every level equally likely and floats
// uniform on their scale.
func (s *Space) FromUniform(u []float64) Point { return s.Snap(s.spread(u)) }

// spread is FromUniform without the snapping, which changes no value.
func (s *Space) spread(u []float64) Point {
	p := make(Point, len(s.coords))
	for i, par := range s.params {
		c := p[s.offset[i]:]
		if par.Kind == KindChoice {
			c[cell(u[i], len(par.Choices))] = level
			continue
		}
		c[0] = u[i]
	}
	return p
}

// Center returns the snapped middle of the space: the middle of every range on
// its scale, and the first level of every choice. Where relations forbid that, it is
// an allowed point near it.
func (s *Space) Center() Point { return s.FromUniform(s.inside.center) }

func (s *Space) middle() []float64 {
	u := make([]float64, len(s.params))
	for i, par := range s.params {
		if par.numeric() || par.Kind == KindOrdered {
			u[i] = 0.5
		}
	}
	return u
}

// Default returns the configuration of today's values, with the middle of the space
// for parameters without one, and false if none has one. Those that break a relation
// are replaced by an allowed configuration near them.
func (s *Space) Default() (Values, bool) {
	if !slices.ContainsFunc(s.params, func(p Param) bool { return p.Default.IsValid() }) {
		return nil, false
	}
	v, err := s.Complete(nil)
	if err != nil { // where next to nothing is allowed
		v = s.Decode(s.Center())
	}
	return v, true
}

// Complete returns the configuration that has the values of vs, and for parameters
// that these do not name their default, or the middle of their range; where relations
// forbid that, values near it, of which the defaults stay as they are if they can.
func (s *Space) Complete(vs Values) (Values, error) {
	if err := s.checkNames(vs); err != nil {
		return nil, err
	}
	return s.complete(vs, true)
}

// complete is Complete of values whose names are right, with or without today's values.
func (s *Space) complete(vs Values, today bool) (Values, error) {
	middle := s.FromUniform(s.middle())
	out, defaults := slices.Clone(vs), slices.Clone(vs)
	for i, par := range s.params {
		_, given := vs.Get(par.Name)
		switch {
		case given || !s.Exists(i, out):
		case today && par.Default.IsValid():
			a := Assignment{par.Name, par.Default}
			out, defaults = append(out, a), append(defaults, a)
		default:
			out = append(out, Assignment{par.Name, par.decode(middle[s.offset[i]:])})
		}
	}
	p, err := s.encode(out)
	if err != nil {
		return nil, err
	}
	v := s.Decode(p)
	if kept, err := s.nearby(v, defaults); err == nil {
		return kept, nil
	}
	return s.nearby(v, vs)
}

func cell(u float64, n int) int {
	return min(max(int(clamp(u, 0, 1)*float64(n)), 0), n-1)
}

func (p Param) decode(c []float64) Value {
	switch {
	case p.step() > 0:
		u := c[0]
		if math.IsNaN(u) {
			u = 0
		}
		lo, hi := p.steppedEnds()
		return p.valueOf(p.stepped(p.unscaled(lo + clamp(u, 0, 1)*(hi-lo))))
	case p.numeric():
		x := p.floatAt(c[0])
		if c[0] > 0 && c[0] < 1 {
			x = p.value(x)
		}
		return Float(x)
	case p.Kind != KindChoice:
		levels := p.levels()
		return levels[cell(c[0], len(levels))]
	}
	best := 0
	for l := range p.Choices {
		if c[l] > c[best] {
			best = l
		}
	}
	return p.Choices[best]
}

// encode writes a value to its coordinates, which are 0.
func (p Param) encode(v Value, c []float64) {
	x, _ := v.Number()
	switch {
	case p.step() > 0:
		lo, hi := p.steppedEnds()
		c[0] = clamp((p.scaled(x)-lo)/(hi-lo), 0, 1)
	case p.numeric():
		c[0] = p.floatCoord(x)
	case p.Kind == KindOrdered:
		c[0] = (float64(p.place(v)) + 0.5) / float64(len(p.Choices))
	case p.Kind == KindBool:
		c[0] = float64(p.place(v))
	default:
		c[p.place(v)] = level
	}
}

// scaled is x in the parameter's own scale, where steps count as equal.
func (p Param) scaled(x float64) float64 {
	switch p.Scale {
	case Log:
		return math.Log(x)
	case Logit:
		return logit(x)
	}
	return x
}

func (p Param) unscaled(t float64) float64 {
	switch p.Scale {
	case Log:
		return math.Exp(t)
	case Logit:
		return 1 / (1 + math.Exp(-t))
	}
	return t
}

// floatAt is linear between the ends in the parameter's own scale, such as
// min·(max/min)^u on a log scale, with both ends exact.
func (p Param) floatAt(u float64) float64 {
	switch {
	case !(u > 0): // NaN too
		return p.Min
	case u >= 1:
		return p.Max
	}
	a := p.scaled(p.Min)
	return clamp(p.unscaled(a+u*(p.scaled(p.Max)-a)), p.Min, p.Max)
}

// floatCoord inverts floatAt. The closed form can be some rounding errors off: a bisection around
// it looks for a coordinate that gives x back exactly; for a value that floatAt never returns,
// value makes up for the difference.
func (p Param) floatCoord(x float64) float64 {
	switch {
	case x <= p.Min:
		return 0
	case x >= p.Max:
		return 1
	}
	a := p.scaled(p.Min)
	u := clamp((p.scaled(x)-a)/(p.scaled(p.Max)-a), 0, 1)
	if p.floatAt(u) == x {
		return u
	}
	lo, hi := u, u
	for width := 1e-15; width < 1 && (p.floatAt(lo) > x || p.floatAt(hi) < x || lo == hi); width *= 10 {
		lo, hi = math.Max(u-width, 0), math.Min(u+width, 1)
	}
	for mid := u; ; mid = lo + (hi-lo)/2 {
		switch v := p.floatAt(mid); {
		case v < x:
			lo = mid
		case v > x:
			hi = mid
		default:
			return mid
		}
		if next := lo + (hi-lo)/2; next <= lo || next >= hi {
			for _, end := range []float64{lo, hi} {
				if p.floatAt(end) == x {
					return end
				}
			}
			return mid
		}
	}
}

// steppedEnds are the ends of the coordinate of an int, or of a float with a step, in
// the parameter's own scale: half a step beyond min and max, so that every value owns a
// cell of its full width and the two ends are not proposed half as often as the others.
func (p Param) steppedEnds() (lo, hi float64) {
	half := p.step() / 2
	return p.scaled(p.Min - half), p.scaled(p.Max + half)
}

// stepped returns the value nearest to x, the larger of two.
func (p Param) stepped(x float64) float64 {
	k := clamp(math.Floor((x-p.Min)/p.step()+0.5), 0, p.steps())
	if k == p.steps() {
		return p.Max
	}
	return p.after(k)
}

// after is the value so many steps from Min.
func (p Param) after(k float64) float64 {
	at := p.Min + k*p.step()
	if p.Kind != KindFloat {
		return at
	}
	if round := p.rounded(at); math.Abs(round-at) < p.step()/10 {
		return round // 0.3, not 0.30000000000000004
	}
	return at // far from 0, where the digits of a step are uncertain
}

func logit(x float64) float64 { return math.Log(x) - math.Log1p(-x) }

func clamp(x, lo, hi float64) float64 { return math.Min(math.Max(x, lo), hi) }
