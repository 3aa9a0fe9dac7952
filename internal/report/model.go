package report

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Model is what the optimizer believes of the objective after the last trial, in the
// objective's units as the program prints it.
type Model struct {
	// Told is how many trials it knows; of very many, some are left out.
	Told      int                      `json:"told"`
	Warp      string                   `json:"warp"`
	Noise     float64                  `json:"noise"`
	Lengths   []float64                `json:"lengths"` // one for each coordinate of the cube
	Lipschitz *optimizer.LipschitzNote `json:"lipschitz,omitempty"`
	// Rank is the rank correlation (Spearman's) of values with what a model predicts that
	// does not know them: each fifth of the trials from the others. Within is the share of
	// values within the 95 % interval predicted.
	Rank   float64 `json:"rank,omitempty"`
	Within float64 `json:"within,omitempty"`
	// Poor says why nothing should be concluded from the model; empty if it is good enough.
	Poor string `json:"poor,omitempty"`
	// Slices lead through the best trial, one for each parameter. Maps are of pairs.
	Slices     []Slice     `json:"slices,omitempty"`
	Maps       []Map       `json:"maps,omitempty"`
	Importance *Importance `json:"importance,omitempty"`

	values int // that there were
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
func (s *Study) told(observations []optimizer.Observation) (optimizer.Drawer, error) {
	search := s.state.Search
	opt, err := optimizer.New(search.Space, s.state.Config.Seed, search.Settings, s.state.Inherited()...)
	if err != nil {
		return nil, err
	}
	model, ok := opt.(optimizer.Drawer)
	if !ok {
		return nil, fmt.Errorf("the method %s has no model", search.Settings.Method)
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
	m = &Model{values: len(s.valued()), Told: len(observations), Warp: e.Warp, Noise: e.Noise, Lengths: e.Lengths, Lipschitz: e.Lipschitz}
	for i, p := range s.Params {
		m.Slices = append(m.Slices, s.slice(p.Name, e, e.Beliefs[i*(sliceSteps+1):(i+1)*(sliceSteps+1)]))
	}
	if err := s.check(ctx, m, observations); err != nil {
		return nil, err
	}
	if m.Poor == "" {
		if m.Importance, err = s.importance(ctx, model, q); err != nil {
			return nil, err
		}
	}
	return m, s.maps(ctx, m, model, q)
}

// slice turns beliefs along an axis into the program's units.
func (s *Study) slice(name string, e optimizer.Explanation, beliefs []optimizer.Belief) Slice {
	out := Slice{Param: name}
	for k, b := range beliefs {
		low, high := s.good(b.Low), s.good(b.High)
		out.Places = append(out.Places, float64(k)/sliceSteps)
		out.Mean = append(out.Mean, s.good(b.Mean))
		out.Low, out.High = append(out.Low, math.Min(low, high)), append(out.High, math.Max(low, high))
		out.Ruled = append(out.Ruled, b.Upper < e.Best)
	}
	return out
}

// maps adds maps of the parameters that matter most, by pairs, through the best trial.
func (s *Study) maps(ctx context.Context, m *Model, model optimizer.Explainer, q optimizer.Query) error {
	order := m.Importance.order(len(s.Params))
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
	for k, b := range e.Beliefs {
		to := &m.Maps[k/(mapSize*mapSize)]
		to.Mean, to.SD = append(to.Mean, s.good(b.Mean)), append(to.SD, b.SD)
		to.Ruled = append(to.Ruled, b.Upper < e.Best)
	}
	return nil
}

// check predicts each fifth of the values from the others, and says whether that goes
// well enough to conclude something from the model.
func (s *Study) check(ctx context.Context, m *Model, observations []optimizer.Observation) error {
	var predicted, found []float64
	within := 0
	const folds = 5
	fold := rand.New(rand.NewPCG(1, 2)).Perm(len(observations))
	for f := range folds {
		var rest []optimizer.Observation
		var out []optimizer.Observation
		var points []spaces.Point
		for i, o := range observations {
			switch {
			case fold[i]%folds != f:
				o.Proposal.Note.State = nil // a fit that knows the others
				rest = append(rest, o)
			case o.Status == optimizer.Succeeded:
				out, points = append(out, o), append(points, o.Proposal.Point)
			}
		}
		model, err := s.told(rest)
		if err != nil {
			return err
		}
		e, err := model.Explain(ctx, optimizer.Query{Trial: len(s.Trials) + 1}, points)
		if errors.Is(err, optimizer.ErrNoModel) {
			continue
		}
		if err != nil {
			return err
		}
		for i, b := range e.Beliefs {
			predicted, found = append(predicted, b.Mean), append(found, out[i].Value())
			half := math.Max(b.High-b.Mean, b.Mean-b.Low)
			if math.Abs(out[i].Value()-b.Mean) <= math.Hypot(half, 1.96*e.Noise) {
				within++
			}
		}
	}
	if len(found) < leastForAny {
		m.Poor = fmt.Sprintf("there are only %d values", len(found))
		return nil
	}
	m.Within = float64(within) / float64(len(found))
	m.Rank = stat.Correlation(ranks(predicted), ranks(found), nil)
	if m.Rank < leastRank {
		m.Poor = fmt.Sprintf("it predicts values that it does not know with a rank correlation of only %.2f", m.Rank)
	}
	return nil
}

// ranks are the ranks of values, ties in the order of their places.
func ranks(values []float64) []float64 {
	order, out := make([]int, len(values)), make([]float64, len(values))
	floats.ArgsortStable(slices.Clone(values), order)
	for rank, i := range order {
		out[i] = float64(rank)
	}
	return out
}
