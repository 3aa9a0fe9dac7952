package report

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lbotune/lbotune/optimizer"
)

// plot is one kind of picture of a study: several where there is one for each parameter.
type plot struct {
	name, title, note string
	wide              bool
	draw              func(*Study) []string
}

// plots are all kinds, in the order of the page.
var plots = []plot{
	{"history", "History", "each trial's value, and the best so far", true, one((*Study).history)},
	{"front", "Front", "of several objectives; green: trials that no other dominates", false, (*Study).fronts},
	{"importance", "What matters", "bars: shares of the model's variance, pale with interactions; lines: the middle nine tenths of what the model deems possible", false, one((*Study).sensitivity)},
	{"ablation", "From there to here", "what each parameter contributes on the way to the best trial (Shapley values)", false, one((*Study).ablation)},
	{"slice", "Parameters", "dots: trials; line and band: the model through the best trial and its 95 % interval; orange: ruled out by the Lipschitz bounds", true, (*Study).slices},
	{"map", "The model", "dark is better, pale is uncertain, hatched is ruled out by the Lipschitz bounds; all other parameters as in the best trial", true, (*Study).maps2D},
	{"parallel", "Parallel coordinates", "one line for each trial; the best tenth stands out", true, one((*Study).parallel)},
	{"timeline", "Timeline", "what ran in which slot, and waiting before it", true, one((*Study).timeline)},
	{"curves", "Learning curves", "readings of the objective while trials ran", false, one((*Study).curves)},
	{"metrics", "Metrics beside each other", "", false, (*Study).metricPairs},
	{"distribution", "Distribution of values", "the share of trials at least as good", false, one((*Study).distribution)},
	{"lipschitz", "Lipschitz bounds", "as the data came in: the share of the space that they rule out, what they leave to gain, and the constant in the model's units", true, (*Study).lipschitz},
	{"predicted", "Predicted and found", "trials on the line had just the value that the model expected", false, one((*Study).predicted)},
	{"origins", "Where proposals came from", "the rule that made each trial", false, one((*Study).origins)},
}

// one makes a plot of a single picture.
func one(draw func(*Study) string) func(*Study) []string {
	return func(s *Study) []string {
		if svg := draw(s); svg != "" {
			return []string{svg}
		}
		return nil
	}
}

// Plots lists the names of the plots.
func Plots() []string {
	var out []string
	for _, p := range plots {
		out = append(out, p.name)
	}
	return out
}

func (s *Study) valueAxis() axis { return axisOf(s.Metric, s.values(), s.worse) }

func (s *Study) trialAxis() axis {
	return axis{lo: 0.5, hi: float64(max(len(s.Trials), s.Budget, 1)) + 0.5, label: "trial"}
}

// scatter is a picture of trials at two numbers each; none without a trial that has both.
func (s *Study) scatter(title string, width, height float64, x, y axis, at func(*Trial) (x, y float64, ok bool), also func(*chart)) string {
	c := s.chart(title, width, height, x, y)
	c.frame()
	if also != nil {
		also(c)
	}
	drawn := false
	for _, t := range s.shown {
		if u, v, ok := at(t); ok && finite(u) && finite(v) {
			c.dot(t, x.at(u), y.at(v), 3)
			drawn = true
		}
	}
	if !drawn {
		return ""
	}
	return c.String()
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// history is every value and the best so far.
func (s *Study) history() string {
	if len(s.Trials) == 0 {
		return ""
	}
	c := s.chart("History of "+s.Metric, 900, 280, s.trialAxis(), s.valueAxis())
	c.frame()
	var steps [][2]float64
	var best *Trial
	for _, t := range s.Trials {
		if !t.Succeeded() || best != nil && s.state.Compare(t.Trial, best.Trial) >= 0 {
			continue
		}
		x := c.x.at(float64(t.Number))
		if best != nil {
			steps = append(steps, [2]float64{x, c.y.at(best.y())})
		}
		steps = append(steps, [2]float64{x, c.y.at(t.y())})
		best = t
	}
	if n := len(s.Trials); best != nil {
		steps = append(steps, [2]float64{c.x.at(float64(n)), c.y.at(best.y())})
	}
	c.path("bestline", steps)
	for _, t := range s.shown {
		x := c.x.at(float64(t.Number))
		switch {
		case t.Value != nil:
			c.dot(t, x, c.y.at(*t.Value), 3.5)
		case t.Standing == string(optimizer.Failed):
			if c.cells != nil {
				c.cells.dot("d failed", c.px(x), c.py(0)-4)
				continue
			}
			c.trial(t.Number, func() {
				fmt.Fprintf(&c.b, `<path class="d failed" d="M%.1f %.1fl6 6m0 -6l-6 6"/>`, c.px(x)-3, c.py(0)-9)
			})
		}
	}
	return c.String()
}

// slices has a picture for each parameter: trials and, if there is one, the model.
func (s *Study) slices() []string {
	var out []string
	for i, p := range s.Params {
		at := func(t *Trial) (x, y float64, ok bool) { return t.places[i], t.y(), true }
		out = append(out, s.scatter("Values along "+p.Name, 290, 200, s.axes[i], s.valueAxis(), at, func(c *chart) {
			if s.Model != nil {
				c.slice(s.Model.Slices[i])
			}
		}))
	}
	return drawn(out)
}

// drawn are the pictures that have something to show.
func drawn(svgs []string) []string {
	return slices.DeleteFunc(svgs, func(svg string) bool { return svg == "" })
}

// slice draws the model's band and mean, and the places that are ruled out.
func (c *chart) slice(sl Slice) {
	var mean, outline [][2]float64
	for k, x := range sl.Places {
		mean = append(mean, [2]float64{x, c.y.at(sl.Mean[k])})
		outline = append(outline, [2]float64{x, c.y.at(sl.High[k])})
	}
	for k := len(sl.Places) - 1; k >= 0; k-- {
		outline = append(outline, [2]float64{sl.Places[k], c.y.at(sl.Low[k])})
	}
	c.path("band", outline)
	c.path("mean", mean)
	for k := 0; k < len(sl.Ruled); k++ {
		if from := k; sl.Ruled[k] {
			for k+1 < len(sl.Ruled) && sl.Ruled[k+1] {
				k++
			}
			c.rect("ruled", c.px(sl.Places[from]), c.py(0)-4, c.px(sl.Places[k])-c.px(sl.Places[from])+1, 4)
		}
	}
}

// maps2D has a picture for each pair of the parameters that matter most.
func (s *Study) maps2D() []string {
	if s.Model == nil {
		return nil
	}
	var out []string
	for _, m := range s.Model.Maps {
		at := func(t *Trial) (x, y float64, ok bool) { return t.places[m.x], t.places[m.y], t.Value != nil }
		out = append(out, s.scatter(fmt.Sprintf("The model over %s and %s", m.X, m.Y), 290, 260, s.axes[m.x], s.axes[m.y], at, func(c *chart) {
			if c.cells != nil {
				c.cells.heat(s, c, m)
				return
			}
			fmt.Fprintf(&c.b, `<image x="%.1f" y="%.1f" width="%.1f" height="%.1f" preserveAspectRatio="none" href="data:image/png;base64,%s"/>`,
				c.px(0), c.py(1), c.px(1)-c.px(0), c.py(0)-c.py(1), s.heat(m))
		}))
	}
	return drawn(out)
}

// parallel has an axis for each parameter and one for the value.
func (s *Study) parallel() string {
	ranked := s.ranked
	if len(ranked) == 0 || len(s.Params) == 0 {
		return ""
	}
	ranked = ranked[:min(len(ranked), 300)]
	value := s.valueAxis()
	c := s.chart("Parallel coordinates", 900, 300, axis{hi: 1, ticks: []tick{}}, axis{hi: 1, ticks: []tick{}})
	c.left, c.right, c.top, c.bottom = 40, 60, 14, 26
	n := float64(len(s.Params))
	for k, t := range slices.Backward(ranked) {
		class := "thread"
		switch tenth := k * 10 / len(ranked); {
		case tenth == 0:
			class = "thread top"
		case tenth > 4:
			class = "thread low"
		}
		var places [][2]float64
		for i, at := range t.places {
			places = append(places, [2]float64{float64(i) / n, at})
		}
		places = append(places, [2]float64{1, value.at(*t.Value)})
		c.trial(t.Number, func() { c.path(class, places) })
	}
	for i, a := range append(slices.Clone(s.axes), value) {
		x := c.px(float64(i) / n)
		c.line("axis", x, c.py(0), x, c.py(1))
		c.text("label mid", x, c.height-8, a.label, max(int(800/(n+1)/6.2), 3))
		if room := 860 / (n + 1); room > 48 {
			for _, t := range a.marks() {
				c.text("tick", x+4, c.py(t.at)+3, t.label, int(room/6)-1)
			}
		}
	}
	return c.String()
}

// timeline has a bar for each attempt that is known to have run.
func (s *Study) timeline() string {
	end, slots := s.Updated, 0
	for _, t := range s.Trials {
		for _, a := range t.Attempts {
			slots = max(slots, a.Slot+1)
		}
	}
	total := end.Sub(s.Began).Seconds()
	if slots == 0 || !(total > 0) {
		return ""
	}
	unit, name := 1.0, "seconds"
	if total > 7200 {
		unit, name = 3600, "hours"
	} else if total > 180 {
		unit, name = 60, "minutes"
	}
	y := axis{hi: 1, ticks: []tick{}}
	for k := range slots {
		if slots <= 16 || k%(slots/8) == 0 {
			y.ticks = append(y.ticks, tick{1 - (float64(k)+0.5)/float64(slots), "slot " + strconv.Itoa(k)})
		}
	}
	c := s.chart("Timeline", 900, 50+math.Min(24*float64(slots), 300), axis{hi: total / unit, label: name + " since the study began"}, y)
	c.frame()
	row := (c.py(0) - c.py(1)) / float64(slots)
	at := func(t time.Time) float64 { return c.px(c.x.at(t.Sub(s.Began).Seconds() / unit)) }
	for _, t := range s.shown {
		for i, a := range t.Attempts {
			if a.Started.IsZero() {
				continue
			}
			class, stop := "retried", a.Ended
			if i == len(t.Attempts)-1 {
				class = strings.TrimPrefix(t.class(), "d ")
			}
			if stop.IsZero() {
				stop = end
			}
			top := c.py(1) + float64(a.Slot)*row + 1
			c.trial(t.Number, func() {
				if wait := at(a.Started) - at(a.Queued); wait > 1 {
					c.rect("bar waiting", at(a.Queued), top+row/2-1, wait, 2)
				}
				c.rect("bar "+class, at(a.Started), top, math.Max(at(stop)-at(a.Started)-0.5, 1), math.Max(row-2, 1))
			})
		}
	}
	return c.String()
}

// curves are the readings of trials, those of running ones included.
func (s *Study) curves() string {
	var steps, values []float64
	var with []*Trial
	for _, t := range s.shown {
		for _, m := range t.Measurements {
			if v, ok := m.Metrics.Get(s.Metric); ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
				steps, values = append(steps, m.Step), append(values, v)
			}
		}
		if len(t.Measurements) > 0 {
			with = append(with, t)
		}
	}
	if len(values) == 0 {
		return ""
	}
	x := axis{lo: slices.Min(steps), hi: slices.Max(steps), label: "step"}
	if x.lo == x.hi {
		x.hi++
	}
	c := s.chart("Learning curves", 440, 260, x, axisOf(s.Metric, values, s.worse))
	c.frame()
	slices.SortStableFunc(with, func(a, b *Trial) int { // the best on top
		return cmp.Compare(map[bool]int{true: 1}[a.best], map[bool]int{true: 1}[b.best])
	})
	for _, t := range with[max(len(with)-300, 0):] {
		var places [][2]float64
		for _, m := range t.Measurements {
			v, ok := m.Metrics.Get(s.Metric)
			if !ok {
				v = math.NaN()
			}
			places = append(places, [2]float64{c.x.at(m.Step), c.y.at(v)})
		}
		c.trial(t.Number, func() { c.path("curve "+strings.TrimPrefix(t.class(), "d "), places) })
	}
	return c.String()
}

// metricPairs has a picture for each other metric, with the objective.
func (s *Study) metricPairs() []string {
	var out []string
	for _, name := range s.Metrics {
		at := func(t *Trial) (x, y float64, ok bool) {
			v, ok := t.Metrics.Get(name)
			return v, t.y(), ok && name != s.Metric
		}
		out = append(out, s.scatter(name+" and "+s.Metric, 290, 220, axisOf(name, s.each(at), nil), s.valueAxis(), at, nil))
	}
	return drawn(out)
}

// each are the first numbers of the trials that a scatter would draw.
func (s *Study) each(at func(*Trial) (x, y float64, ok bool)) []float64 {
	var out []float64
	for _, t := range s.shown {
		if x, y, ok := at(t); ok && finite(x) && finite(y) {
			out = append(out, x)
		}
	}
	return out
}

// distribution is the empirical distribution function of the values.
func (s *Study) distribution() string {
	values := s.values()
	if len(values) == 0 {
		return ""
	}
	c := s.chart("Distribution of values", 440, 260, s.valueAxis(), axis{hi: 1, label: "share of trials"})
	c.frame()
	slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(s.good(b), s.good(a)) })
	var steps [][2]float64
	for i := 0; i < len(values); i += 1 + len(values)/mostDrawn {
		v, n := values[i], float64(len(values))
		steps = append(steps, [2]float64{c.x.at(v), c.y.at(float64(i) / n)}, [2]float64{c.x.at(v), c.y.at(float64(i+1) / n)})
	}
	c.path("series", steps)
	return c.String()
}

// lipschitz has three pictures of the bounds over the trials.
func (s *Study) lipschitz() []string {
	var out []string
	for i, label := range []string{"share ruled out", "left to gain", "constant L"} {
		at := func(t *Trial) (x, y float64, ok bool) {
			l := t.Lipschitz
			if l == nil || i == 1 && l.Gap == nil {
				return 0, 0, false
			}
			return float64(t.Number), []float64{l.Excluded, *cmp.Or(l.Gap, new(float64)), l.Constant}[i], true
		}
		y := axisOf(label, s.each(func(t *Trial) (x, y float64, ok bool) { y, x, ok = at(t); return x, y, ok }), nil)
		if i == 0 {
			y = axis{hi: 1, label: label}
		}
		out = append(out, s.scatter("Lipschitz bounds: "+label, 290, 200, s.trialAxis(), y, at, func(c *chart) {
			var places [][2]float64
			for _, t := range s.shown {
				if u, v, ok := at(t); ok {
					places = append(places, [2]float64{c.x.at(u), c.y.at(v)})
				}
			}
			c.path("orange", places)
		}))
	}
	return drawn(out)
}

// predicted compares what the model expected of its proposals with what came out.
func (s *Study) predicted() string {
	at := func(t *Trial) (x, y float64, ok bool) {
		if t.Expected == nil {
			return 0, 0, false
		}
		return *t.Expected, t.y(), true
	}
	y := s.valueAxis()
	x := y
	x.label, y.label = "predicted", "found"
	return s.scatter("Predicted and found", 440, 260, x, y, at, func(c *chart) { c.path("diagonal", [][2]float64{{0, 0}, {1, 1}}) })
}

// origins has a row for each rule that made a trial.
func (s *Study) origins() string {
	var names []optimizer.Origin
	for _, t := range s.Trials {
		if !slices.Contains(names, t.Origin) {
			names = append(names, t.Origin)
		}
	}
	y := axis{hi: 1, ticks: []tick{}}
	for i, name := range names {
		y.ticks = append(y.ticks, tick{1 - (float64(i)+0.5)/float64(len(names)), string(name)})
	}
	return s.scatter("Where proposals came from", 440, 260, s.trialAxis(), y, func(t *Trial) (x, y0 float64, ok bool) {
		return float64(t.Number), y.ticks[slices.Index(names, t.Origin)].at, true
	}, nil)
}

// sensitivity has bars of the shares of the variance, the largest on top.
func (s *Study) sensitivity() string {
	return s.bars("What matters", "share of the variance", func(r ParamRow) (Interval, float64) { return r.Total, r.Main.Value })
}

// ablation has bars of what each parameter contributes on the way to the best trial.
func (s *Study) ablation() string {
	if s.Model == nil || s.Model.Importance == nil {
		return ""
	}
	im := s.Model.Importance
	return s.bars("From there to here", fmt.Sprintf("share of the way from %s (%s) to %s (the best)", num(im.Start), im.From, num(im.End)),
		func(r ParamRow) (Interval, float64) { g := im.Share(r.Gain); return g, g.Value })
}

// bars draws a pale bar and its interval, and a full one in it, for each parameter.
func (s *Study) bars(title, label string, of func(ParamRow) (Interval, float64)) string {
	if s.Model == nil || s.Model.Importance == nil {
		return ""
	}
	rows := slices.Clone(s.Model.Importance.Params)
	value := func(r ParamRow) float64 { v, _ := of(r); return v.Value }
	slices.SortStableFunc(rows, func(a, b ParamRow) int { return cmp.Compare(value(b), value(a)) })
	rows = rows[:min(len(rows), 15)]
	x := axis{hi: 1, label: label}
	for _, r := range rows {
		v, _ := of(r)
		x.lo, x.hi = math.Min(x.lo, math.Max(math.Min(v.Low, v.Value), -1)), math.Max(x.hi, math.Min(v.High, 1.5))
	}
	c := s.chart(title, 440, 50+20*float64(len(rows)), x, axis{hi: 1, ticks: []tick{}})
	c.left = 120
	c.frame()
	zero := c.px(x.at(0))
	for i, r := range rows {
		v, inner := of(r)
		top := c.top + 20*float64(i)
		c.text("name end", c.left-6, top+13, r.Param, 17)
		c.rect("share pale", math.Min(zero, c.px(x.at(v.Value))), top+3, math.Abs(c.px(x.at(v.Value))-zero), 13)
		c.rect("share", math.Min(zero, c.px(x.at(inner))), top+3, math.Abs(c.px(x.at(inner))-zero), 13)
		c.line("whisker", c.px(x.at(v.Low)), top+9.5, c.px(x.at(v.High)), top+9.5)
	}
	c.line("axis", zero, c.py(0), zero, c.py(1))
	return c.String()
}

// SVG returns the pictures of a plot, each a document of its own.
func (s *Study) SVG(name string) ([]string, error) {
	out, err := s.draw(name)
	for i := range out {
		out[i] = strings.Replace(out[i], "<title>", "<style>"+html.EscapeString(chartCSS)+"</style><title>", 1)
	}
	return out, err
}

func (s *Study) draw(name string) ([]string, error) {
	for _, p := range plots {
		if p.name != name {
			continue
		}
		out := p.draw(s)
		if len(out) == 0 {
			return nil, fmt.Errorf("there is nothing to draw for %s yet: %s", name, cmp.Or(s.NoModel, "too little is known"))
		}
		return out, nil
	}
	return nil, fmt.Errorf("there is no plot %q; there are %s", name, strings.Join(Plots(), ", "))
}
