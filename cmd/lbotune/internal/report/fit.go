package report

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// fitted is the ANOVA model of one objective, and functions drawn from it.
type fitted struct {
	*anova
	k         int // which objective
	objective study.Metric
	best      *study.Trial
	first     *study.Trial
	log       bool // it is of the logarithm of the objective
	mean, sd  float64
	draws     iter.Seq[*surface] // the same each time, each in the place of the one before
	places    []spaces.Point     // of the trials that it is told
	values    []float64          // there, with a mean of 0 and a variance of 1
	rank      float64            // see foresight
	within    float64
	poor      string // why nothing should be concluded from it
}

func (s *Study) fit(ctx context.Context, k int) (*fitted, error) {
	m := &fitted{k: k, objective: s.state.Config.Objectives()[k]}
	ranked := slices.Clone(s.ranked)
	m.best = s.figures.Best
	m.first = slices.MinFunc(ranked, func(a, b *Trial) int { return cmp.Compare(a.Number, b.Number) }).Trial
	if k > 0 {
		holds := func(t *Trial) bool { return s.state.Feasible(t.Trial) }
		breaking := slices.DeleteFunc(slices.Clone(ranked), holds) // the least violating first, as they are
		ranked = slices.DeleteFunc(ranked, func(t *Trial) bool { return !holds(t) })
		values := map[*Trial]float64{} // which take longer to find than to sort
		for _, t := range ranked {
			values[t] = s.objective(t, k)
		}
		slices.SortStableFunc(ranked, func(a, b *Trial) int { return cmp.Compare(values[b], values[a]) })
		ranked = append(ranked, breaking...)
		m.best = ranked[0].Trial
	}
	var points []spaces.Point
	var given []float64
	all := lists.Map(ranked, func(t *Trial) spaces.Point { return t.Point })
	for _, i := range spread(all) {
		points, given = append(points, all[i]), append(given, m.objective.Direction.Maximized(s.objective(ranked[i], k)))
	}
	m.places = points
	m.anova = newANOVA(s.state.Search.Space, s.neverVaried())
	source := rand.NewPCG(17, 4)
	rng := rand.New(source)
	var e *evidence
	var states []state
	for _, log := range []bool{false, true} {
		if log && !logarithmic(given) {
			continue
		}
		values := make([]float64, len(given))
		for i, v := range given {
			if log {
				v = math.Log(v)
			}
			values[i] = m.objective.Direction.Maximized(v)
		}
		_, size := math.Frexp(floats.Norm(values, math.Inf(1)))
		for i := range values {
			values[i] = math.Ldexp(values[i], -size) // else their squares may be no numbers
		}
		mean, sd := stat.PopMeanStdDev(values, nil)
		if slices.Max(values)-slices.Min(values) <= 0x1p-50 { // they were rounded in other ways
			m.poor, sd = "all values are equal", math.Ldexp(1, -size)
		}
		for i := range values {
			values[i] = (values[i] - mean) / sd
		}
		mean, sd = math.Ldexp(mean, size), math.Ldexp(sd, size)
		told := m.tell(points, values)
		drawn, err := m.sample(ctx, told, rng)
		if err != nil {
			return nil, err
		}
		told.parts = nil // they are large
		if r, within := foresight(told, drawn); e == nil || r > m.rank {
			m.rank, m.within, m.log, e, states, m.mean, m.sd, m.values = r, within, log, told, drawn, mean, sd, values
		}
	}
	switch {
	case m.poor != "":
	case len(ranked) < leastForAny:
		m.poor = fmt.Sprintf("there are only %d values", len(ranked))
	case !(m.rank >= leastRank):
		m.poor = fmt.Sprintf("the model ranks values that it was not told with a correlation of only %.2f", m.rank)
	}
	m.draws = func(yield func(*surface) bool) { // of many parameters a function is large: there is one at a time
		again := *source
		rng := rand.New(&again)
		var f *surface
		for _, s := range states {
			if f = m.draw(e, s, rng, f); !yield(f) {
				return
			}
		}
	}
	return m, nil
}

// doubt is how many times larger the standard error of the mean over the space is, as the trials know it,
// than if as many represented the space. Each speaks for the part w of the space that it is nearest to,
// and √(n Σw² V) compares the error of a weighted mean (Kish 1965), V being the variance of the weighted
// values, with that of n alike. After a search a few trials away from the optimum speak for most of it.
func (m *fitted) doubt(anywhere []spaces.Point) float64 {
	part, apart := make([]float64, len(m.places)), 0.0
	for i, p := range m.places {
		if !slices.ContainsFunc(m.places[:i], func(q spaces.Point) bool { return slices.Equal(p, q) }) {
			apart++
		}
	}
	for k, p := range anywhere {
		nearest, far := 0, math.Inf(1)
		for i := range m.places {
			i = (i + k) % len(m.places) // of those that are as near, as choices are, one and then another
			if d := spaces.Distance(p, m.places[i]); d < far {
				nearest, far = i, d
			}
		}
		part[nearest] += 1 / float64(len(anywhere))
	}
	_, variance := stat.PopMeanVariance(m.values, part)
	return math.Max(1, math.Sqrt(apart*floats.Dot(part, part)*variance))
}

// value is what a number of the model's is in the objective's units, as far as there are numbers.
func (m *fitted) value(f float64) float64 {
	v := m.objective.Direction.Maximized(m.mean + m.sd*f)
	if m.log {
		v = math.Exp(v)
	}
	return math.Min(math.Max(v, -math.MaxFloat64), math.MaxFloat64)
}

// way is how much better the value to is than from, where the model is additive: of logarithms
// if it is of these.
func (m *fitted) way(from, to float64) float64 {
	if m.log {
		from, to = math.Log(from), math.Log(to)
	}
	return m.objective.Direction.Maximized(to) - m.objective.Direction.Maximized(from)
}

// measured is the mean of the values of trials at a point, or what is believed where there is
// none.
func (s *Study) measured(p spaces.Point, m *fitted, believed float64) float64 {
	for _, c := range s.state.Confirmations() {
		if m.k == 0 && slices.Equal(c.Trial.Point, p) {
			return c.Mean // which is no luck
		}
	}
	var found []float64
	for _, t := range s.ranked {
		if slices.Equal(t.Point, p) {
			found = append(found, m.objective.Direction.Maximized(s.objective(t, m.k)))
		}
	}
	if len(found) == 0 {
		return believed
	}
	return stat.Mean(found, nil)
}

// beliefs are pictures with what is believed at their points, which differ from p in the free parameters
// alone, of the objective without noise.
func (m *fitted) beliefs(p spaces.Point, pictures ...picture) []picture {
	base := m.features(p)
	type drawing struct {
		picture
		free   []int         // all parameters where those of the picture decide over others
		rows   [][][]float64 // the features of the free ones at each point
		values [][]float64   // of the functions there
	}
	drawings := lists.Map(pictures, func(p picture) drawing {
		d := drawing{picture: p, free: slices.Sorted(slices.Values(p.free)), values: make([][]float64, p.n)}
		if slices.ContainsFunc(d.free, func(i int) bool { return m.decides[i] }) {
			d.free = (*Model)(nil).order(len(m.bases))
		}
		for k := range p.n {
			row := m.features(p.at(k))
			d.rows = append(d.rows, lists.Map(d.free, func(i int) []float64 { return row[i] }))
		}
		return d
	})
	for f := range m.draws {
		for _, d := range drawings {
			g := f.fixed(base, d.free)
			for i, row := range d.rows {
				d.values[i] = append(d.values[i], g.of(row))
			}
		}
	}
	return lists.Map(drawings, func(d drawing) picture {
		out := d.picture
		for _, all := range d.values {
			slices.Sort(all)
			mean, sd := stat.PopMeanStdDev(all, nil)
			low, high := m.value(stat.Quantile(0.025, stat.LinInterp, all, nil)), m.value(stat.Quantile(0.975, stat.LinInterp, all, nil))
			out.mean, out.sd = append(out.mean, m.value(mean)), append(out.sd, math.Abs(m.value(mean+sd)/2-m.value(mean-sd)/2))
			out.low, out.high = append(out.low, math.Min(low, high)), append(out.high, math.Max(low, high))
		}
		return out
	})
}

// objective is objective k of a trial, turned so that larger is better.
func (s *Study) objective(t *Trial, k int) float64 { return s.state.Observation(t.Trial).Values[k] }

// logarithmic reports whether values may be better looked at in logarithms: they are
// positive, and the middle half of the first of them, those farthest apart, spreads over
// more than a factor of 10.
func logarithmic(values []float64) bool {
	first := slices.Sorted(slices.Values(values[:min(25, len(values))]))
	return slices.Min(values) > 0 && stat.Quantile(0.75, stat.Empirical, first, nil) > 10*stat.Quantile(0.25, stat.Empirical, first, nil)
}
