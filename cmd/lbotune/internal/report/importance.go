package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Importance says what the parameters do to the objective, judging by a model made for it.
type Importance struct {
	Objective string `json:"objective"`
	// From is where the ablation begins: "default" for today's values, else "first" for
	// the first trial that succeeded. It ends at Trial, the best.
	From  string `json:"from"`
	Trial int    `json:"trial"`
	// Start and End are the values there, the model's where no trial has been.
	Start  float64    `json:"start"`
	End    float64    `json:"end"`
	Log    bool       `json:"log"`    // the shares are of the logarithm of the objective
	Params []ParamRow `json:"params"` // in the order of the spec
}

// Importances are of the first objective of which it is known what matters, and of the others.
type Importances struct {
	Importance
	Others []Importance `json:"others,omitempty"`
}

// ParamRow is what one parameter does.
type ParamRow struct {
	Param string   `json:"param"`
	Gain  Interval `json:"gain"` // its Shapley value: its share of the way from Start to End
	// Main is the share of the variance over the whole space that is due to the parameter
	// alone, Total that in which it has a part: first-order and total Sobol indices.
	Main  Interval `json:"main"`
	Total Interval `json:"total"`
	Good  Interval `json:"good"`                   // the share that is left where the objective is good: see amongGood
	First float64  `json:"first"`                  // how likely it has the largest total of all
	Never bool     `json:"never_varied,omitempty"` // all trials that have it had one value of it, so that nothing is known of it

	drawn Interval // Total, without the doubt of the whole space
}

// Interval is an estimate, with the ends of the middle nine tenths of what functions drawn
// from the posterior say. Those of shares of the whole space are farther apart where the trials
// represent it badly: see doubt.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// order is that of what matters to the first objective of which that is known, or else that in
// which the n parameters come.
func (m *Model) order(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	if m != nil && m.Importance != nil {
		of := m.Importance.Params
		slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(of[b].Total.Value, of[a].Total.Value) })
	}
	return out
}

// Ranked are the parameters, that with the largest part in the variance first.
func (im *Importance) Ranked() []ParamRow {
	out := slices.Clone(im.Params)
	slices.SortStableFunc(out, func(a, b ParamRow) int { return cmp.Compare(b.Total.Value, a.Total.Value) })
	return out
}

// Importances are those of all objectives of which it is known what matters.
func (m *Model) Importances() []Importance {
	if m == nil || m.Importance == nil {
		return nil
	}
	return append([]Importance{m.Importance.Importance}, m.Importance.Others...)
}

// Variance says what the shares are of.
func (im *Importance) Variance() string {
	if im.Log {
		return fmt.Sprintf("the variance of log(%s)", im.Objective)
	}
	return "the variance of " + im.Objective
}

// remarks name the parameters that seem to change nothing: the length scales of the optimizer's model,
// which is the sharper one where there is no noise, are many ranges, and little is likely of their parts.
// The numbers were chosen on developing of truth_test.go.
func (s *Study) remarks(m *Model) (out []string) {
	if m.Importance == nil || s.state.Config.Several() || len(s.state.Config.AllLimits()) > 0 {
		return nil
	}
	for i, r := range m.Importance.Params {
		if !r.Never && r.drawn.High < 0.02 && r.Good.High < 0.1 && !slices.ContainsFunc(s.state.Search.Space.Coords(), func(c spaces.Coord) bool {
			return c.Param == i && m.Lengths[s.state.Search.Space.Offset(i)+c.Level] < 15
		}) {
			out = append(out, r.Param+" seems to change nothing, as far as the model can tell")
		}
	}
	return out
}

// said is in words which parameter matters most to an objective, how surely, and which hardly do among
// the good.
func (im *Importance) said(to string) []string {
	rows := im.Ranked()
	slices.SortStableFunc(rows, func(a, b ParamRow) int { return cmp.Compare(b.First, a.First) })
	what := fmt.Sprintf("it has a part in %s of %s", rows[0].Total.percent(), im.Variance())
	out := []string{fmt.Sprintf("%s matters most%s: %s.", rows[0].Param, to, what)}
	if first := rows[0].First; first < 0.9 && len(rows) > 1 {
		which := fmt.Sprintf("It is %s or %s that matters most", rows[0].Param, rows[1].Param)
		if first+rows[1].First < 0.9 {
			which = "It is open which parameter matters most"
		}
		out[0] = fmt.Sprintf("%s%s: %s %% likely %s, and then %s.", which, to, Percent(first), rows[0].Param, what)
	}
	var idle []string
	for _, r := range im.Params {
		if !r.Never && r.Good.High < 0.05 {
			idle = append(idle, r.Param)
		}
	}
	if len(idle) > 0 {
		out = append(out, fmt.Sprintf("In the best tenth of the space less than 5 %% of %s is left to %s: what the best trial has will do.", im.Variance(), strings.Join(idle, ", ")))
	}
	return out
}

// Share is a gain as a part of the whole way.
func (im *Importance) Share(g Interval) Interval {
	whole, n := 0.0, float64(len(im.Params)) // by which the sum remains a number
	for _, r := range im.Params {
		whole += r.Gain.Value / n
	}
	if whole == 0 {
		return Interval{}
	}
	low, high := g.Low/n/whole, g.High/n/whole
	return Interval{g.Value / n / whole, math.Min(low, high), math.Max(low, high)}
}

// Unimportant says why nothing is known of what matters, nil if something is.
func (s *Study) Unimportant() error {
	switch {
	case s.Model == nil:
		return errors.New(s.NoModel)
	case s.Model.Importance == nil:
		return errors.New(s.Model.Poor)
	}
	return nil
}

// importance says what matters to the objective of a model.
func (s *Study) importance(ctx context.Context, m *fitted) (*Importance, error) {
	d := len(s.Params)
	rng := rand.New(rand.NewPCG(17, 5))
	im := &Importance{Objective: m.objective.Name, From: "first", Trial: m.best.Number, Log: m.log}
	base := m.first.Point
	if t := s.state.Trials[0]; t.Origin == optimizer.OriginDefault && !t.Outside && !m.best.Values().Equal(t.Values()) {
		im.From, base = "default", t.Point
	}
	settings := m.settings(rng)
	var anywhere []spaces.Point
	for range min(max(16000/d, 800), 4000) {
		anywhere = append(anywhere, m.anywhere(rng))
	}
	doubt, rows := m.doubt(anywhere), lists.Map(anywhere, m.features)
	drawn := make([]struct{ gain, main, total, good []float64 }, d)
	first := make([]float64, d)
	for f := range m.draws {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		im.Start += f.of(m.features(base)) / functions
		im.End += f.of(m.features(m.best.Point)) / functions
		main, total := f.sobol(settings)
		first[floats.MaxIdx(total)] += 1.0 / functions
		gain, good := f.shapley(base, m.best.Point), f.amongGood(anywhere, rows, rng.Perm(len(rows))[:len(rows)/2])
		for i := range d {
			to := &drawn[i]
			to.gain, to.main = append(to.gain, gain[i]), append(to.main, main[i])
			to.total, to.good = append(to.total, total[i]), append(to.good, good[i])
		}
	}
	// The ends are what was measured there, as far as it was, and the gains add up to the way
	// between them.
	start, end := m.value(im.Start), m.value(im.End)
	im.Start, im.End = s.measured(base, m, start), s.measured(m.best.Point, m, end)
	factor := m.way(im.Start, im.End) / m.way(start, end)
	switch {
	case math.IsNaN(factor): // nothing was gained
		factor = 1
	case factor < 0 || math.IsInf(factor, 0): // the model sees it the other way round, or no way
		factor, im.Start, im.End = 1, start, end
	}
	for i, p := range s.Params {
		row := ParamRow{Param: p.Name, Never: m.bases[i].n == 0}
		if !row.Never {
			row.First = first[i]
			of := drawn[i]
			row.Gain, row.drawn, row.Good = interval(of.gain).times(factor, m.sd), interval(of.total), interval(of.good)
			row.Main, row.Total = interval(of.main).wider(doubt), row.drawn.wider(doubt)
		}
		im.Params = append(im.Params, row)
	}
	return im, nil
}

// neverVaried tells of each parameter whether all trials that the model knows, and that have it, had one
// value of it.
func (s *Study) neverVaried() []bool {
	never, first := slices.Repeat([]bool{true}, len(s.Params)), make([]spaces.Value, len(s.Params))
	for k := 0; k < len(s.ranked) && slices.Contains(never, true); k++ {
		values := s.ranked[k].Values()
		for i, p := range s.Params {
			v, has := values.Get(p.Name)
			if has && !first[i].IsValid() {
				first[i] = v
			}
			never[i] = never[i] && (!has || v == first[i])
		}
	}
	return never
}

// interval is the mean of what the functions that were drawn say, and the ends of the middle
// nine tenths of them. A mean beyond these, as of a few large ones, is an end.
func interval(numbers []float64) Interval {
	sorted := slices.Sorted(slices.Values(numbers))
	mean := stat.Mean(sorted, nil)
	return Interval{mean, math.Min(mean, stat.Quantile(0.05, stat.Empirical, sorted, nil)), math.Max(mean, stat.Quantile(0.95, stat.Empirical, sorted, nil))}
}

// times is the interval in other units, as far as there are numbers.
func (v Interval) times(factor, sd float64) Interval {
	in := func(x float64) float64 { return math.Min(math.Max(x*factor*sd, -math.MaxFloat64), math.MaxFloat64) }
	return Interval{in(v.Value), in(v.Low), in(v.High)}
}

// wider is the interval of a share with ends that are so many times as far from its value, in logits: it
// remains one of a share.
func (v Interval) wider(times float64) Interval {
	if !(v.Value > 0 && v.Value < 1) {
		return v // as all ends are
	}
	logit := func(p float64) float64 { return math.Log(p / math.Max(1-p, 0)) }
	end := func(p float64) float64 { return 1 / (1 + math.Exp((times-1)*logit(v.Value)-times*logit(p))) }
	return Interval{v.Value, math.Min(v.Value, end(v.Low)), math.Max(v.Value, end(v.High))}
}
