package report

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Importance says what the parameters do to the objective, judging by the model.
type Importance struct {
	// From is where the ablation begins: "default" for today's values, else "median" for
	// the median trial. To is the best trial.
	From string `json:"from"`
	// Start and End are the model's values there.
	Start float64 `json:"start"`
	End   float64 `json:"end"`
	// Log says that the shares are of the logarithm of the objective.
	Log    bool       `json:"log"`
	Params []ParamRow `json:"params"` // in the order of the spec
}

// ParamRow is what one parameter does.
type ParamRow struct {
	Param string `json:"param"`
	// Gain is the parameter's Shapley value: its share of the way from Start to End.
	Gain Interval `json:"gain"`
	// Main is the share of the variance over the whole space that is due to the parameter
	// alone, Total that in which it has a part: first-order and total Sobol indices.
	Main  Interval `json:"main"`
	Total Interval `json:"total"`
	// Never says that all trials had one value of it, so that nothing is known of it.
	Never bool `json:"never_varied,omitempty"`
}

// Interval is an estimate, with the ends of what functions drawn from the posterior
// say, the outermost on each side aside: some nine tenths of them.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

const (
	exactUpTo    = 12 // parameters: 2^12 places
	permutations = 32 // beyond, each also backwards
	posterior    = 16 // functions drawn
)

// order lists the parameters by their total share, the largest first; without an
// importance in the order of the spec.
func (im *Importance) order(params int) []int {
	out := make([]int, params)
	for i := range out {
		out[i] = i
	}
	if im != nil {
		slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(im.Params[b].Total.Value, im.Params[a].Total.Value) })
	}
	return out
}

// Ranked are the parameters, that with the largest part in the variance first.
func (im *Importance) Ranked() []ParamRow {
	out := make([]ParamRow, len(im.Params))
	for k, i := range im.order(len(im.Params)) {
		out[k] = im.Params[i]
	}
	return out
}

// Share is a gain as a part of the whole way.
func (im *Importance) Share(g Interval) Interval {
	whole := 0.0
	for _, r := range im.Params {
		whole += r.Gain.Value
	}
	if whole == 0 {
		return Interval{}
	}
	low, high := g.Low/whole, g.High/whole
	return Interval{g.Value / whole, math.Min(low, high), math.Max(low, high)}
}

// Unimportant says why nothing is known of what matters, nil if something is.
func (s *Study) Unimportant() error {
	switch {
	case s.Model == nil:
		return errors.New(s.NoModel)
	case s.Model.Importance == nil:
		return errors.New("the model is too poor to tell: " + s.Model.Poor)
	}
	return nil
}

// importance asks the model. All places are asked at once: those of the coalitions, then
// those of the variance.
func (s *Study) importance(ctx context.Context, model optimizer.Drawer, q optimizer.Query) (*Importance, error) {
	space, d := s.state.Search.Space, len(s.Params)
	im := &Importance{From: "median", Log: axisOf("", s.values(), nil).log}
	best := s.state.Incumbent()
	ranked := s.ranked
	base := s.state.Trials[ranked[len(ranked)/2].Number-1].Point
	if v, ok := s.state.Search.Default(s.state.Space); ok {
		if p, err := s.state.Search.Encode(v); err == nil && !best.Values.Equal(v) {
			im.From, base = "default", p
		}
	}
	rng := rand.New(rand.NewPCG(17, 4))
	coalitions, terms := shapley(d, rng)
	var points []spaces.Point
	for _, in := range coalitions {
		p := slices.Clone(base)
		for i := range d {
			if in[i] {
				copyParam(space, i, p, best.Point)
			}
		}
		points = append(points, p)
	}
	n := min(max(2048/(d+2), 64), 256)
	points = append(points, pickFreeze(space, n, rng)...)
	never := s.neverVaried()
	for i := range d {
		if never[i] {
			for _, p := range points {
				copyParam(space, i, p, best.Point)
			}
		}
	}
	e, err := model.Explain(ctx, q, points)
	if err != nil {
		return nil, err
	}
	draws, err := model.Draws(ctx, q, points, posterior)
	if err != nil {
		return nil, err
	}
	mean := make([]float64, len(points))
	for i, b := range e.Beliefs {
		mean[i] = b.Mean
	}
	im.Start, im.End = s.good(mean[0]), s.good(mean[len(coalitions)-1])
	gains, mains, totals := make([][]float64, d), make([][]float64, d), make([][]float64, d)
	for _, f := range append([][]float64{mean}, draws...) {
		f = s.scaled(f, im.Log)
		for i, g := range sum(d, terms, f) {
			gains[i] = append(gains[i], g)
		}
		main, total := sobolIndices(f[len(coalitions):], n, d)
		for i := range d {
			mains[i], totals[i] = append(mains[i], main[i]), append(totals[i], total[i])
		}
	}
	for i, p := range s.Params {
		row := ParamRow{Param: p.Name, Never: never[i]}
		if !row.Never {
			row.Gain, row.Main, row.Total = interval(gains[i]), interval(mains[i]), interval(totals[i])
		}
		im.Params = append(im.Params, row)
	}
	return im, nil
}

// neverVaried tells of each parameter whether all trials that the model knows had one value
// of it.
func (s *Study) neverVaried() []bool {
	never := make([]bool, len(s.Params))
	for i, p := range s.Params {
		first, _ := s.ranked[0].Values.Get(p.Name)
		never[i] = !slices.ContainsFunc(s.ranked, func(t *Trial) bool {
			v, _ := t.Values.Get(p.Name)
			return v != first
		})
	}
	return never
}

// scaled is a function whose importance is looked at: in logarithms if the values ask for
// it, and then larger is still better.
func (s *Study) scaled(f []float64, log bool) []float64 {
	if !log {
		return f
	}
	least := math.Inf(1)
	for _, v := range s.values() {
		least = math.Min(least, v)
	}
	out := make([]float64, len(f))
	for i, v := range f {
		out[i] = s.good(math.Log(math.Max(s.good(v), least)))
	}
	return out
}

// interval has the first number, the mean's, as its value, and its ends from the others. A
// mean has lost what is uncertain, and may have a share beyond that of every draw: then its
// own is an end.
func interval(numbers []float64) Interval {
	sorted := slices.Sorted(slices.Values(numbers[1:]))
	n := len(sorted)
	return Interval{numbers[0], math.Min(numbers[0], sorted[1]), math.Max(numbers[0], sorted[n-2])}
}

// copyParam copies the coordinates of one parameter.
func copyParam(space *spaces.Space, i int, to, from spaces.Point) {
	end := space.Dim()
	if i+1 < space.Len() {
		end = space.Offset(i + 1)
	}
	copy(to[space.Offset(i):end], from[space.Offset(i):end])
}

// term is a part of a player's Shapley value: weight · (v(with) − v(without)).
type term struct {
	player, with, without int
	weight                float64
}

// shapley returns the coalitions at which a game of d players is to be evaluated, the
// empty one first and that of all last, and the terms of the Shapley values (1953)
//
//	φ_i = Σ_{S∌i} |S|! (d−|S|−1)! / d! · (v(S∪i) − v(S)).
//
// Of many players they are means over random orders and their reverses (Mitchell et al.
// 2022). In both ways the values add up to v(all) − v(none).
func shapley(d int, rng *rand.Rand) (coalitions [][]bool, terms []term) {
	at := func(in []bool) int {
		coalitions = append(coalitions, slices.Clone(in))
		return len(coalitions) - 1
	}
	if d <= exactUpTo {
		for mask := range 1 << d {
			in := make([]bool, d)
			for i := range d {
				in[i] = mask>>i&1 == 1
				if !in[i] {
					n := bits.OnesCount(uint(mask))
					terms = append(terms, term{i, mask | 1<<i, mask, 1 / (float64(d) * combin.GeneralizedBinomial(float64(d-1), float64(n)))})
				}
			}
			at(in)
		}
		return coalitions, terms
	}
	for range permutations {
		order := rng.Perm(d)
		for range 2 {
			in := make([]bool, d)
			before := at(in)
			for _, i := range order {
				in[i] = true
				after := at(in)
				terms = append(terms, term{i, after, before, 1.0 / (2 * permutations)})
				before = after
			}
			slices.Reverse(order)
		}
	}
	return coalitions, terms
}

// sum adds up the terms of each of d players in a game with these values.
func sum(d int, terms []term, v []float64) []float64 {
	out := make([]float64, d)
	for _, t := range terms {
		out[t.player] += t.weight * (v[t.with] - v[t.without])
	}
	return out
}

// pickFreeze returns the places from which sobolIndices are estimated: n random ones (A),
// n others (B), and for each parameter those of A with this parameter from B.
func pickFreeze(space *spaces.Space, n int, rng *rand.Rand) []spaces.Point {
	d := space.Len()
	u := make([]float64, d)
	points := make([]spaces.Point, 0, n*(d+2))
	for range 2 * n {
		for i := range u {
			u[i] = rng.Float64()
		}
		points = append(points, space.FromUniform(u))
	}
	for i := range d {
		for k := range n {
			p := slices.Clone(points[k])
			copyParam(space, i, p, points[n+k])
			points = append(points, p)
		}
	}
	return points
}

// sobolIndices estimates the first-order and the total indices of d parameters from the
// values at pickFreeze's places, after Saltelli et al. (2010) and Jansen (1999):
//
//	S_i = 1/n Σ f(B) (f(A_B^i) − f(A)) / V,   T_i = 1/2n Σ (f(A) − f(A_B^i))² / V,
//
// with f less its mean, and 0 ≤ S_i ≤ T_i ≤ 1, which estimates can miss.
func sobolIndices(f []float64, n, d int) (main, total []float64) {
	main, total = make([]float64, d), make([]float64, d)
	mean, variance := stat.MeanVariance(f[:2*n], nil)
	if !(variance > 0) {
		return main, total
	}
	for i := range d {
		for k, v := range f[(2+i)*n : (3+i)*n] {
			main[i] += (f[n+k] - mean) * (v - f[k]) / (float64(n) * variance)
			total[i] += (v - f[k]) * (v - f[k]) / (2 * float64(n) * variance)
		}
		total[i] = math.Min(total[i], 1)
		main[i] = math.Min(math.Max(main[i], 0), total[i])
	}
	return main, total
}
