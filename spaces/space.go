// Package spaces describes what a study varies: parameters, their ranges and
// scales, and the cube in which an optimizer sees them.
//
// An optimizer works on points of [0,1]^D. A float or an int has one
// coordinate, linear or logarithmic in its range; an ordered parameter has one, with
// its levels equally far apart; a bool has one coordinate, 0 or 1; a choice of k levels has k coordinates, of which one is 1/√2 and the
// others 0. So two configurations that differ in one choice, or in one bool,
// or by the whole range of a float, lie one unit apart, and a Lipschitz
// constant has one meaning for all kinds.
package spaces

import (
	"errors"
	"math"
	"slices"
)

// Point is a configuration in the encoded cube: Space.Dim coordinates.
type Point []float64

// Coord says what one coordinate of a Point stands for.
type Coord struct {
	Param int  // index into Space.Params
	Kind  Kind // kind of that parameter
	Level int  // which level of a choice this coordinate marks; 0 for others
	// Cells is the number of different values along this coordinate: 0 for a
	// continuous one, the number of values for an int, for a float with a step and for
	// an ordered parameter, 2 for bool and choice.
	Cells float64
}

// Space is an ordered set of parameters. It is immutable.
type Space struct {
	params []Param
	when   []*Relation // of each parameter, nil for none
	index  map[string]int
	offset []int // first coordinate of each parameter
	coords []Coord
	inside inside
}

// New returns the space of the given parameters, whose order is kept. The
// error joins one Problem for everything that is wrong.
func New(params ...Param) (*Space, error) {
	s := &Space{params: slices.Clone(params), when: make([]*Relation, len(params)), index: map[string]int{}}
	var errs []error
	earlier := map[string]Param{}
	for i, p := range params {
		for _, prob := range p.Check() {
			errs = append(errs, prob)
		}
		if _, dup := s.index[p.Name]; dup {
			errs = append(errs, Problem{Param: p.Name, Field: "name", Message: "there are two parameters of this name"})
		}
		if p.When != "" {
			condition, err := parse(p.When, earlier, true)
			var wrong *RelationError
			if s.when[i] = &condition; errors.As(err, &wrong) {
				errs = append(errs, Problem{p.Name, "when", wrong.Message, wrong})
			}
		}
		earlier[p.Name] = p
		s.index[p.Name] = i
		s.offset = append(s.offset, len(s.coords))
		cells, finite := p.Levels()
		switch {
		case p.Kind == KindChoice:
			for l := range p.Choices {
				s.coords = append(s.coords, Coord{Param: i, Kind: p.Kind, Level: l, Cells: 2})
			}
			continue
		case !finite:
			cells = 0
		}
		s.coords = append(s.coords, Coord{Param: i, Kind: p.Kind, Cells: cells})
	}
	if len(params) == 0 {
		errs = append(errs, errors.New("a study needs at least one parameter"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s.inside = inside{share: 1, center: s.middle()}
	return s, nil
}

// Params returns the parameters in order. Callers must not change them.
func (s *Space) Params() []Param { return s.params }

// Len returns the number of parameters.
func (s *Space) Len() int { return len(s.params) }

// Dim returns the number of coordinates of a Point.
func (s *Space) Dim() int { return len(s.coords) }

// Coords describes every coordinate. Callers must not change the slice.
func (s *Space) Coords() []Coord { return s.coords }

// Offset returns the first coordinate of parameter i.
func (s *Space) Offset(i int) int { return s.offset[i] }

// Exists reports whether parameter i exists beside the values of those before it.
func (s *Space) Exists(i int, earlier Values) bool {
	c := s.when[i]
	return c == nil || c.applies(earlier) && c.Holds(earlier)
}

// Lookup returns the named parameter.
func (s *Space) Lookup(name string) (Param, bool) {
	i, ok := s.index[name]
	if !ok {
		return Param{}, false
	}
	return s.params[i], true
}

// Distance is the Euclidean distance of two points of one space.
func Distance(a, b Point) float64 {
	sum := 0.0
	for i := range a {
		d := a[i] - b[i]
		sum += d * d
	}
	return math.Sqrt(sum)
}
