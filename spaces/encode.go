package spaces

import (
	"errors"
	"fmt"
	"math"
)

// level is the coordinate of the chosen level of a choice: two one-hot vectors
// of this length are one unit apart.
const level = math.Sqrt2 / 2

// Decode returns the configuration at p. Coordinates outside [0,1] count as
// the nearer end. Parameters whose condition does not hold are absent.
func (s *Space) Decode(p Point) Values {
	out := make(Values, 0, len(s.params))
	for i, par := range s.params {
		if par.When == nil || par.When.Holds(out.Get) {
			out = append(out, Assignment{par.Name, par.decode(p[s.offset[i]:])})
		}
	}
	return out
}

// Encode returns the point of a configuration. Inactive parameters get the
// middle of their coordinates. A missing, superfluous, unknown or impossible
// value is an error. Decode(Encode(v)) equals v for every v that Decode
// returns.
func (s *Space) Encode(vs Values) (Point, error) {
	if err := s.checkNames(vs); err != nil {
		return nil, err
	}
	p := make(Point, len(s.coords))
	for i, par := range s.params {
		c := p[s.offset[i]:]
		v, given := vs.Get(par.Name)
		active := par.When == nil || par.When.Holds(vs.Get)
		switch {
		case active && !given:
			return nil, fmt.Errorf("parameter %s has no value", par.Name)
		case !active && given:
			return nil, fmt.Errorf("parameter %s has a value, but exists only when %s", par.Name, par.When)
		case !active:
			par.encodeMiddle(c)
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
	seen := map[string]bool{}
	for _, a := range vs {
		if _, ok := s.index[a.Name]; !ok {
			errs = append(errs, fmt.Errorf("there is no parameter %s", a.Name))
		}
		if seen[a.Name] {
			errs = append(errs, fmt.Errorf("parameter %s has two values", a.Name))
		}
		seen[a.Name] = true
	}
	return errors.Join(errs...)
}

// Snap returns the point of the configuration that would really be run at p:
// ints at the middle of their cell, one level per choice, inactive parameters
// in the middle.
func (s *Space) Snap(p Point) Point {
	q, err := s.Encode(s.Decode(p))
	if err != nil {
		// Decode returns active, in-range values only.
		panic("spaces: a decoded point does not encode: " + err.Error())
	}
	return q
}

// FromUniform maps u in [0,1]^Len, one number per parameter, to a snapped
// point, such that uniform u makes every level equally likely and floats
// uniform on their scale.
func (s *Space) FromUniform(u []float64) Point {
	p := make(Point, len(s.coords))
	for i, par := range s.params {
		c := p[s.offset[i]:]
		if par.Kind == KindChoice {
			c[cell(u[i], len(par.Choices))] = level
			continue
		}
		c[0] = u[i]
	}
	return s.Snap(p)
}

// Center returns the snapped middle of the space: the middle of every range on
// its scale, and the first level of every choice.
func (s *Space) Center() Point {
	u := make([]float64, len(s.params))
	for i, par := range s.params {
		if par.Kind == KindFloat || par.Kind == KindInt {
			u[i] = 0.5
		}
	}
	return s.FromUniform(u)
}

func cell(u float64, n int) int {
	return min(max(int(u*float64(n)), 0), n-1)
}

func (p Param) decode(c []float64) Value {
	switch p.Kind {
	case KindFloat:
		x := p.floatAt(c[0])
		if c[0] > 0 && c[0] < 1 {
			x = p.value(x)
		}
		return Float(x)
	case KindInt:
		return Int(p.intAt(c[0]))
	case KindBool:
		return Bool(c[0] >= 0.5)
	}
	best := 0
	for l := range p.Choices {
		if c[l] > c[best] {
			best = l
		}
	}
	return p.Choices[best]
}

func (p Param) encode(v Value, c []float64) {
	switch p.Kind {
	case KindFloat:
		c[0] = p.floatCoord(v.v.(float64))
	case KindInt:
		c[0] = p.intCoord(float64(v.v.(int64)))
	case KindBool:
		c[0] = 0
		if v.v.(bool) {
			c[0] = 1
		}
	default:
		for l, choice := range p.Choices {
			c[l] = 0
			if choice == v {
				c[l] = level
			}
		}
	}
}

func (p Param) encodeMiddle(c []float64) {
	if p.Kind != KindChoice {
		c[0] = 0.5
		return
	}
	for l := range p.Choices {
		c[l] = level / float64(len(p.Choices))
	}
}

// floatAt is min·(max/min)^u on a log scale and min + u·(max−min) on a linear
// one, with both ends exact.
func (p Param) floatAt(u float64) float64 {
	switch {
	case !(u > 0): // NaN too
		return p.Min
	case u >= 1:
		return p.Max
	case p.Scale == Log:
		a := math.Log(p.Min)
		return clamp(math.Exp(a+u*(math.Log(p.Max)-a)), p.Min, p.Max)
	}
	return clamp(p.Min+u*(p.Max-p.Min), p.Min, p.Max)
}

// floatCoord inverts floatAt. The closed form can be some rounding errors off,
// so that a bisection around it looks for a coordinate that gives x back
// exactly; a value that floatAt never returns gets the nearest coordinate, and
// value makes up for the difference.
func (p Param) floatCoord(x float64) float64 {
	switch {
	case x <= p.Min:
		return 0
	case x >= p.Max:
		return 1
	}
	u := (x - p.Min) / (p.Max - p.Min)
	if p.Scale == Log {
		a := math.Log(p.Min)
		u = clamp((math.Log(x)-a)/(math.Log(p.Max)-a), 0, 1)
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
			return mid
		}
	}
}

// intEnds are the ends of the coordinate in the parameter's own scale: half a
// unit beyond min and max, so that every integer owns a cell of its full width
// and the two ends are not proposed half as often as the others.
func (p Param) intEnds() (lo, hi float64) {
	lo, hi = p.Min-0.5, p.Max+0.5
	if p.Scale == Log {
		lo, hi = math.Log(lo), math.Log(hi)
	}
	return lo, hi
}

func (p Param) intAt(u float64) int64 {
	if math.IsNaN(u) {
		u = 0
	}
	lo, hi := p.intEnds()
	x := lo + clamp(u, 0, 1)*(hi-lo)
	if p.Scale == Log {
		x = math.Exp(x)
	}
	return int64(clamp(math.Floor(x+0.5), p.Min, p.Max))
}

func (p Param) intCoord(n float64) float64 {
	lo, hi := p.intEnds()
	if p.Scale == Log {
		n = math.Log(n)
	}
	return clamp((n-lo)/(hi-lo), 0, 1)
}

func clamp(x, lo, hi float64) float64 { return math.Min(math.Max(x, lo), hi) }
