package spaces

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Relation is a rule between parameters. Configurations that break it are never tried.
type Relation struct {
	// Text is the rule as people read it: "x + y <= 1".
	Text string
	// Params names the parameters that the rule looks at. It says nothing where one of
	// them does not exist. None means that it looks at whole configurations.
	Params []string
	// Holds reports whether the values obey the rule; they hold all of Params, at least.
	// The answer must depend on nothing else.
	Holds func(Values) bool
	// Never says why the rule holds nowhere, if one parameter's values tell: n > 9, where n is at
	// most 9.
	Never *RelationError

	literals []Value // that stand in Text
	last     int     // the parameter from which on it can be asked
}

// EmptyError says that relations leave nothing of a space.
type EmptyError struct {
	// Relation is the index of one that nothing obeys, -1 if it takes several.
	Relation int
	// Tried is how many configurations were, of which All says that there are no others.
	Tried int
	All   bool
}

func (e *EmptyError) Error() string {
	if e.All {
		return fmt.Sprintf("none of the %d configurations is allowed", e.Tried)
	}
	return fmt.Sprintf("none of %d random configurations is allowed", e.Tried)
}

// inside is what a space knows of the part that its relations leave: all of it, without any.
type inside struct {
	relations []Relation // in the order in which they can be asked
	first     int        // so many parameters they look at
	share     float64
	center    []float64
	some      [][]float64 // some that are allowed, uniform, with one number for each parameter
}

const (
	// surveyDraws random configurations tell how much is allowed. As long as they are
	// fewer than surveyLeast there are more, up to surveyMost.
	surveyDraws = 10_000
	surveyLeast = 32
	surveyMost  = 100_000
	kept        = 1000 // of those that are allowed, where they are in a random order
	// wideShare is the share from which allowed points are found by drawing until one is.
	wideShare = 0.01
	// walkSteps of a random walk separate a draw from one of those that are known.
	walkSteps = 48
	// listed is the number of configurations up to which a space is looked at whole, and
	// visited bounds how many beginnings of configurations are.
	listed  = 20_000
	visited = 4 << 20
)

// Where returns the space without the configurations that break a relation, or one that it had. It returns
// an *EmptyError if next to nothing is left: to have a + b = 1, let the command compute b.
func (s *Space) Where(relations ...Relation) (*Space, error) {
	if len(relations) == 0 {
		return s, nil
	}
	out := *s
	relations = slices.Concat(relations, s.inside.relations)
	out.inside = inside{}
	for _, r := range relations {
		for _, name := range r.Params {
			at, ok := s.index[name]
			if !ok {
				return nil, fmt.Errorf("relation %q: there is no parameter %s", r.Text, name)
			}
			r.last = max(r.last, at)
		}
		if len(r.Params) == 0 {
			r.last = len(s.params) - 1
		}
		if r.Holds == nil {
			return nil, fmt.Errorf("relation %q: there is no function", r.Text)
		}
		out.inside.relations = append(out.inside.relations, r)
		out.inside.first = max(out.inside.first, r.last+1)
	}
	slices.SortStableFunc(out.inside.relations, func(a, b Relation) int { return a.last - b.last })
	if err := out.survey(relations); err != nil {
		return nil, err
	}
	return &out, nil
}

// survey measures how much is allowed and finds a middle of it.
func (s *Space) survey(relations []Relation) error {
	in := &s.inside
	obeyed := make([]bool, len(relations))
	tried, allowed, all := 0, 0, false
	look := func(u []float64) {
		v := s.decode(s.spread(u), in.first)
		for i, r := range relations {
			obeyed[i] = obeyed[i] || r.obeyed(v)
		}
		if s.Broken(v) == nil {
			if allowed++; all || allowed <= kept {
				in.some = append(in.some, u)
			}
		}
	}
	whole := *s
	whole.inside.relations = nil
	if n, few := whole.Size(listed); few {
		tried, all = n, true
		whole.Enumerate(func(v Values) bool { look(s.uniformOf(s.pointOf(v))); return true })
	} else {
		rng := rand.New(rand.NewPCG(0, 0))
		for ; tried < surveyDraws || allowed < surveyLeast && tried < surveyMost; tried++ {
			look(s.random(rng))
		}
	}
	in.share = float64(allowed) / float64(tried)
	if len(in.some) == 0 {
		return &EmptyError{slices.Index(obeyed, false), tried, all}
	}
	in.center = whole.middle()
	if middle := in.center; !s.Allows(s.spread(middle)) {
		in.center = slices.MinFunc(in.some, func(a, b []float64) int { return cmp.Compare(Distance(a, middle), Distance(b, middle)) })
	}
	return nil
}

// obeyed reports whether the relation holds or says nothing.
func (r Relation) obeyed(v Values) bool { return !r.applies(v) || r.Holds(v) }

func (r Relation) brokenBy(v Values) error {
	return fmt.Errorf("%s is not allowed: it breaks %q", v, r.Text)
}

// applies reports whether all parameters that the relation names exist.
func (r Relation) applies(v Values) bool {
	return !slices.ContainsFunc(r.Params, func(name string) bool { _, ok := v.Get(name); return !ok })
}

// Broken returns a relation that the configuration breaks, nil if there is none.
func (s *Space) Broken(v Values) *Relation {
	for _, r := range s.inside.relations {
		if !r.obeyed(v) {
			return &r
		}
	}
	return nil
}

// Related reports whether there are relations.
func (s *Space) Related() bool { return len(s.inside.relations) > 0 }

// Allows reports whether the configuration at p breaks no relation.
func (s *Space) Allows(p Point) bool {
	return s.Broken(s.decode(p, s.inside.first)) == nil
}

// Share estimates which part of the space is allowed, with a standard error of about
// √(share/10000); of a small finite space it is exact.
func (s *Space) Share() float64 { return s.inside.share }

// Draw returns a snapped point that is allowed: each level of a parameter is equally
// likely, and floats are uniform on their scale. Where little is allowed it is the end of
// a random walk from a point that was drawn so: Metropolis with symmetric steps, which
// leaves the uniform distribution as it is.
func (s *Space) Draw(rng *rand.Rand) Point {
	tries := 1
	if s.inside.share >= wideShare {
		tries += int(10 / wideShare)
	}
	for range tries {
		if p := s.spread(s.random(rng)); s.Allows(p) {
			return s.Snap(p)
		}
	}
	u := s.inside.some[rng.IntN(len(s.inside.some))]
	for range walkSteps {
		if q := s.step(u, rng); s.Allows(s.spread(q)) {
			u = q
		}
	}
	return s.FromUniform(u)
}

// step moves u by a random length, half of the time in one parameter alone.
func (s *Space) step(u []float64, rng *rand.Rand) []float64 {
	q := slices.Clone(u)
	sd := math.Pow(10, -3*rng.Float64())
	alone := rng.IntN(2 * len(q))
	for i, x := range q {
		if alone >= len(q) || alone == i {
			x = math.Abs(math.Mod(x+sd*rng.NormFloat64(), 2)) // reflected at the ends
			q[i] = math.Min(x, 2-x)
		}
	}
	return q
}

func (s *Space) random(rng *rand.Rand) []float64 {
	u := make([]float64, len(s.params))
	for i := range u {
		u[i] = rng.Float64()
	}
	return u
}

// uniformOf inverts FromUniform.
func (s *Space) uniformOf(p Point) []float64 {
	u := make([]float64, len(s.params))
	for i, par := range s.params {
		c := p[s.offset[i]:]
		u[i] = c[0]
		if par.Kind == KindChoice {
			u[i] = (float64(par.place(par.decode(c))) + 0.5) / float64(len(par.Choices))
		}
	}
	return u
}

// nearby returns v if it is allowed, and else, of many random configurations that agree
// with v in the parameters of fixed, the allowed one nearest to it.
func (s *Space) nearby(v, fixed Values) (Values, error) {
	r := s.Broken(v)
	if r == nil {
		return v, nil
	}
	start := s.uniformOf(s.pointOf(v))
	var stay []int
	for i, par := range s.params {
		if _, ok := fixed.Get(par.Name); ok {
			stay = append(stay, i)
		}
	}
	rng := rand.New(rand.NewPCG(0, 1))
	var best Values
	least := math.Inf(1)
	for range surveyDraws {
		u := s.random(rng)
		for _, i := range stay {
			u[i] = start[i]
		}
		d, p := Distance(u, start), s.spread(u)
		if d >= least || !s.Allows(p) {
			continue
		}
		w := s.Decode(p)
		moved := func(a Assignment) bool {
			_, ok := fixed.Get(a.Name)
			return ok && !slices.Contains(w, a)
		}
		if !slices.ContainsFunc(v, moved) {
			best, least = w, d
		}
	}
	if best == nil {
		return nil, r.brokenBy(v)
	}
	return best, nil
}
