package report

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Model is what is believed of the objective after the last trial, in the objective's units
// as the program prints it. Warp, Noise, Lengths, Lipschitz and what is ruled out are the
// optimizer's, Lipschitz at its last proposal; the rest is of a model made to be shown, see anova.go.
type Model struct {
	Told      int                      `json:"told"` // how many trials the latter knows: of many, those that represent the space
	Warp      string                   `json:"warp"`
	Noise     float64                  `json:"noise"`
	Lengths   []float64                `json:"lengths"` // one for each coordinate of the cube
	Lipschitz *optimizer.LipschitzNote `json:"lipschitz,omitempty"`
	// Rank is the rank correlation (Spearman's) of values with what a model predicts that
	// does not know them, one after the other. Within is the share of values within the 95 %
	// interval predicted.
	Rank   float64 `json:"rank,omitempty"`
	Within float64 `json:"within,omitempty"`
	Poor   string  `json:"poor,omitempty"` // why nothing should be concluded from the model; empty if it is good enough
	// Slices lead through the best trial, one for each parameter but a resource, of which the model
	// counts the rungs. Maps are of pairs.
	Slices     []Slice      `json:"slices,omitempty"`
	Maps       []Map        `json:"maps,omitempty"`
	Importance *Importances `json:"importance,omitempty"`

	Others []Beliefs `json:"others,omitempty"` // of several objectives, what is believed of the second and those after it

	values  int       // that counted
	at      time.Time // when it was made
	params  []spaces.Param
	remarks []string
}

// Beliefs are those of one of several objectives, with nothing of what is ruled out.
type Beliefs struct {
	Objective string  `json:"objective"`
	Slices    []Slice `json:"slices"`
	Maps      []Map   `json:"maps,omitempty"`
	poor      string  // as in Model
}

// Slice is what is believed where one parameter varies and the others are as in the best
// trial.
type Slice struct {
	Param  string    `json:"param"`
	Places []float64 `json:"places"` // along the axis, from 0 to 1
	Mean   Numbers   `json:"mean"`
	Low    Numbers   `json:"low"` // of a 95 % interval of the objective without noise
	High   Numbers   `json:"high"`
	Ruled  []bool    `json:"ruled_out"` // by the Lipschitz bounds
}

// Map is what is believed where two parameters vary: rows of Size places, from below.
type Map struct {
	X     string  `json:"x"`
	Y     string  `json:"y"`
	Size  int     `json:"size"`
	Mean  Numbers `json:"mean"`
	SD    Numbers `json:"sd"`
	Ruled []bool  `json:"ruled_out"`
	free  []int   // the parameters that vary
}

// picture is what is believed where the parameters free vary, and the others are as in the best trial.
type picture struct {
	free                []int
	n                   int
	at                  func(k int) spaces.Point // the first of n, and so on: together they take much room
	mean, sd, low, high Numbers
}

const (
	mostTold    = 300 // a fit takes time that grows as the cube of it
	sliceSteps  = 48
	mapSize     = 40
	leastRank   = 0.3
	leastForAny = 8
)

// known are the observations that a model is told, and the query after them.
func (s *Study) known() ([]optimizer.Observation, optimizer.Query) {
	st := s.state
	next := len(st.Trials) + 1
	q := optimizer.Query{Trial: next, Pending: st.Query(next).Pending}
	var out []optimizer.Observation
	best := lists.Map(s.ranked[:min(mostTold/3, len(s.ranked))], func(t *Trial) int { return t.Number })
	every := (len(st.Order)-1)/mostTold + 1
	for i, n := range st.Order {
		if t := st.Trials[n-1]; t.Teaches() && (every == 1 || slices.Contains(best, n) || i%(2*every) == 0) {
			o := st.Observation(t)
			o.Values = o.Values[:min(len(o.Values), 1)] // of several objectives the first
			out = append(out, o)
		}
	}
	return out, q
}

// told is an optimizer that knows the observations.
func (s *Study) told(observations []optimizer.Observation) (optimizer.Explainer, error) {
	opt, err := optimizer.New(s.state.Search.Space, s.state.Config.Seed, s.state.Search.Model, s.state.Inherited()...)
	if err != nil {
		return nil, err
	}
	model, ok := opt.(optimizer.Explainer)
	if !ok {
		return nil, errors.New("the optimizer has no model")
	}
	for _, o := range observations {
		if err := opt.Tell(o); err != nil {
			return nil, err
		}
	}
	return model, nil
}

// caught turns a panic of the optimizer into an error: the records are worth more than a
// picture of a model.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the model failed: %v", p)
	}
}

// believe asks a model of all that is shown of it.
func (s *Study) believe(ctx context.Context) (m *Model, err error) {
	defer caught(&err)
	best := s.figures.Best
	if best == nil || len(s.ranked) < 2 {
		return nil, errors.New("too few trials have succeeded for a model")
	}
	observations, q := s.known()
	model, err := s.told(observations)
	if err != nil {
		return nil, err
	}
	var fits []*fitted
	var known []Importance
	for k := range s.state.Config.Objectives() {
		f, err := s.fit(ctx, k)
		if err != nil {
			return nil, err
		}
		if fits = append(fits, f); f.poor != "" {
			continue
		}
		im, err := s.importance(ctx, f)
		if err != nil {
			return nil, err
		}
		known = append(known, *im)
	}
	m = &Model{values: len(s.ranked), at: time.Now(), params: s.Params, Told: len(fits[0].places), Lipschitz: s.figures.Bounds,
		Rank: fits[0].rank, Within: fits[0].within, Poor: fits[0].poor}
	if len(known) > 0 {
		m.Importance = &Importances{known[0], known[1:]}
	}
	isResource := func(i int) bool { return s.Params[i].Name == s.state.Config.Resource() }
	order := slices.DeleteFunc(m.order(len(s.Params)), isResource)
	order = order[:min(3, len(order))] // of them there are maps, by pairs

	// What is drawn: one picture along each parameter, and one for each pair, through the best trial.
	var pictures []picture
	space, places := s.state.Search.Space, make([]float64, sliceSteps+1)
	for k := range places {
		places[k] = float64(k) / sliceSteps
	}
	for i := range s.Params {
		if isResource(i) {
			continue
		}
		at := func(k int) spaces.Point { return moved(space, best.Point, i, places[k]) }
		pictures = append(pictures, picture{free: []int{i}, n: len(places), at: at})
	}
	for i, x := range order {
		for _, y := range order[i+1:] {
			at := func(k int) spaces.Point {
				q := moved(space, best.Point, x, (float64(k%mapSize)+0.5)/mapSize)
				return moved(space, q, y, (float64(k/mapSize)+0.5)/mapSize)
			}
			pictures = append(pictures, picture{free: []int{x, y}, n: mapSize * mapSize, at: at})
		}
	}
	e, err := model.Explain(ctx, q, func(yield func(spaces.Point) bool) {
		for _, p := range pictures {
			for k := range p.n {
				if !yield(p.at(k)) {
					return
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	m.Warp, m.Noise, m.Lengths = e.Warp, e.Noise, e.Lengths
	var all []Beliefs
	for k, f := range fits {
		of, bounds := Beliefs{Objective: f.objective.Name, poor: f.poor}, e.Beliefs
		for _, p := range f.beliefs(best.Point, pictures...) {
			ruled := lists.Map(bounds[:len(p.mean)], func(b optimizer.Belief) bool {
				return k == 0 && b.Upper < e.Best && s.state.Refuted == ""
			})
			bounds = bounds[len(p.mean):]
			name := func(i int) string { return s.Params[p.free[i]].Name }
			if len(p.free) == 2 {
				of.Maps = append(of.Maps, Map{name(0), name(1), mapSize, p.mean, p.sd, ruled, p.free})
				continue
			}
			if k > 0 {
				ruled = []bool{} // nothing is known of it
			}
			of.Slices = append(of.Slices, Slice{name(0), places, p.mean, p.low, p.high, ruled})
		}
		all = append(all, of)
	}
	m.Slices, m.Maps, m.Others = all[0].Slices, all[0].Maps, all[1:]
	return m, nil
}

// ranks are the ranks of values; those that are equal share the middle one of theirs.
func ranks(values []float64) []float64 {
	sorted := slices.Sorted(slices.Values(values))
	return lists.Map(values, func(v float64) float64 {
		first, _ := slices.BinarySearch(sorted, v)
		next, _ := slices.BinarySearch(sorted, math.Nextafter(v, math.Inf(1)))
		return float64(first+next-1) / 2
	})
}
