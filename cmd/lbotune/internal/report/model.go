package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Model is what is believed of the objective after the last trial, in the objective's units
// as the program prints it. Warp, Noise, Lengths, Lipschitz and what is ruled out are the
// optimizer's, Lipschitz at its last proposal; the rest is of a model made to be shown, see anova.go.
type Model struct {
	// Told is how many trials the latter knows: of many, those that represent the space.
	Told      int                      `json:"told"`
	Warp      string                   `json:"warp"`
	Noise     float64                  `json:"noise"`
	Lengths   []float64                `json:"lengths"` // one for each coordinate of the cube
	Lipschitz *optimizer.LipschitzNote `json:"lipschitz,omitempty"`
	// Rank is the rank correlation (Spearman's) of values with what a model predicts that
	// does not know them, one after the other. Within is the share of values within the 95 %
	// interval predicted.
	Rank   float64 `json:"rank,omitempty"`
	Within float64 `json:"within,omitempty"`
	// Poor says why nothing should be concluded from the model; empty if it is good enough.
	Poor string `json:"poor,omitempty"`
	// Slices lead through the best trial, one for each parameter. Maps are of pairs.
	Slices     []Slice      `json:"slices,omitempty"`
	Maps       []Map        `json:"maps,omitempty"`
	Importance *Importances `json:"importance,omitempty"`

	// Others are, of several objectives, what is believed of the second and those after it.
	Others []Beliefs `json:"others,omitempty"`

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
	x, y  int
}

const (
	mostTold    = 300 // a fit takes time that grows as the cube of it
	sliceSteps  = 48
	mapSize     = 40
	mostMaps    = 3
	leastRank   = 0.3
	leastForAny = 8
)

// errFew means that there are too few values to look for a model.
var errFew = errors.New("too few trials have succeeded for a model")

// known are the observations that a model is told, and the query after them.
func (s *Study) known() ([]optimizer.Observation, optimizer.Query) {
	st := s.state
	q := optimizer.Query{Trial: len(st.Trials) + 1}
	for _, t := range st.Pending() {
		if !t.Outside {
			q.Pending = append(q.Pending, optimizer.Pending{Trial: t.Number, Point: t.Point})
		}
	}
	var out []optimizer.Observation
	best := map[int]bool{}
	for _, t := range s.ranked[:min(mostTold/3, len(s.ranked))] {
		best[t.Number] = true
	}
	every := (len(st.Order)-1)/mostTold + 1
	for i, n := range st.Order {
		if t := st.Trials[n-1]; t.Teaches() && (every == 1 || best[n] || i%(2*every) == 0) {
			o := st.Observation(t)
			o.Values = o.Values[:min(len(o.Values), 1)] // of several objectives the first
			out = append(out, o)
		}
	}
	return out, q
}

// told is an optimizer that knows the observations.
func (s *Study) told(observations []optimizer.Observation) (optimizer.Explainer, error) {
	search := s.state.Search
	settings := search.Settings
	if m := settings.Method; m != "" && m != optimizer.MethodLBO {
		settings = optimizer.Settings{} // a method without a model is looked at with that of one that has
	}
	opt, err := optimizer.New(search.Space, s.state.Config.Seed, settings, s.state.Inherited()...)
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
	best := s.state.Incumbent()
	if best == nil || len(s.ranked) < 2 {
		return nil, errFew
	}
	observations, q := s.known()
	model, err := s.told(observations)
	if err != nil {
		return nil, err
	}
	space := s.state.Search.Space
	var points []spaces.Point
	for i := range s.Params {
		for k := range sliceSteps + 1 {
			points = append(points, moved(space, best.Point, i, float64(k)/sliceSteps))
		}
	}
	e, err := model.Explain(ctx, q, points)
	if err != nil {
		return nil, err
	}
	f, err := s.fit(ctx, 0)
	if err != nil {
		return nil, err
	}
	m = &Model{values: len(s.ranked), at: time.Now(), params: s.Params, Told: f.told, Warp: e.Warp, Noise: e.Noise, Lengths: e.Lengths, Lipschitz: s.figures.Bounds,
		Rank: f.rank, Within: f.within, Poor: f.poor}
	for i, p := range s.Params {
		from, to := i*(sliceSteps+1), (i+1)*(sliceSteps+1)
		b := f.beliefs(best.Point, points[from:to], i)
		slice := Slice{Param: p.Name, Mean: b.mean, Low: b.low, High: b.high}
		for k, bound := range e.Beliefs[from:to] {
			slice.Places, slice.Ruled = append(slice.Places, float64(k)/sliceSteps), append(slice.Ruled, bound.Upper < e.Best)
		}
		m.Slices = append(m.Slices, slice)
	}
	fits := []*fitted{f}
	for k, o := range s.state.Config.Objectives() {
		of := f
		if k > 0 {
			if of, err = s.fit(ctx, k); err != nil {
				return nil, err
			}
			fits = append(fits, of)
			other := Beliefs{Objective: o.Name}
			for i, first := range m.Slices {
				b := of.beliefs(best.Point, points[i*(sliceSteps+1):(i+1)*(sliceSteps+1)], i)
				other.Slices = append(other.Slices, Slice{Param: first.Param, Places: first.Places, Mean: b.mean, Low: b.low, High: b.high, Ruled: []bool{}})
			}
			m.Others = append(m.Others, other)
		}
		if of.poor != "" {
			continue
		}
		im, err := s.importance(ctx, of)
		if err != nil {
			return nil, err
		}
		if m.Importance == nil {
			m.Importance = &Importances{Importance: *im}
		} else {
			m.Importance.Others = append(m.Importance.Others, *im)
		}
	}
	return m, s.maps(ctx, m, fits, model, q)
}

// maps adds maps of the parameters that matter most, by pairs, through the best trial.
func (s *Study) maps(ctx context.Context, m *Model, fits []*fitted, model optimizer.Explainer, q optimizer.Query) error {
	var order []int
	if m.Importance != nil {
		order = m.Importance.order()
	} else {
		for i := range s.Params {
			order = append(order, i)
		}
	}
	order = order[:min(3, len(order))]
	space, best := s.state.Search.Space, s.state.Incumbent()
	var points []spaces.Point
	for i, x := range order {
		for _, y := range order[i+1:] {
			if len(m.Maps) == mostMaps {
				break
			}
			m.Maps = append(m.Maps, Map{X: s.Params[x].Name, Y: s.Params[y].Name, Size: mapSize, x: x, y: y})
			for k := range mapSize * mapSize {
				p := moved(space, best.Point, x, (float64(k%mapSize)+0.5)/mapSize)
				points = append(points, moved(space, p, y, (float64(k/mapSize)+0.5)/mapSize))
			}
		}
	}
	e, err := model.Explain(ctx, q, points)
	if err != nil {
		return err
	}
	others := m.Others
	for k := range m.Maps {
		m, from, to := &m.Maps[k], k*mapSize*mapSize, (k+1)*mapSize*mapSize
		of := func(f *fitted) Map {
			b, out := f.beliefs(best.Point, points[from:to], m.x, m.y), *m
			out.Mean, out.SD, out.Ruled = b.mean, b.sd, make([]bool, to-from)
			return out
		}
		for i, f := range fits[1:] {
			others[i].Maps = append(others[i].Maps, of(f))
		}
		*m = of(fits[0])
		m.Ruled = nil
		for _, bound := range e.Beliefs[from:to] {
			m.Ruled = append(m.Ruled, bound.Upper < e.Best)
		}
	}
	return nil
}

// ranks are the ranks of values; those that are equal share the middle one of theirs.
func ranks(values []float64) []float64 {
	sorted, out := slices.Sorted(slices.Values(values)), make([]float64, len(values))
	for i, v := range values {
		first, _ := slices.BinarySearch(sorted, v)
		last := first
		for last+1 < len(sorted) && sorted[last+1] == v {
			last++
		}
		out[i] = float64(first+last) / 2
	}
	return out
}
