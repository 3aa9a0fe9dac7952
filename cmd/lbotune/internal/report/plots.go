package report

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/optimizer"
)

// plot is one kind of picture of a study, several where there is one for each parameter, or a text.
type plot struct {
	name, title, note string
	is                kind
	draw              func(*Study) []string
}

type kind int

const (
	wide     kind = 1 << iota
	modelled      // it shows the model
	quick         // it is drawn with each record
	text          // it is on the page alone
)

// cards are all kinds, in the order of the page.
var cards = []plot{
	{"running", "Running", "", wide | quick | text, one((*Study).now)},
	{"history", "History", "each trial's value, and the best so far", wide | quick, one((*Study).history)},
	{"model", "In words", "", wide | modelled | text, one(func(s *Study) string { return render("words", s.words()) })},
	{"front", "Front", "of several objectives; green: trials that no other dominates", 0, (*Study).fronts},
	{"hypervolume", "Hypervolume", "of the front as the trials finished, with those that moved it; green: still on the front", 0, one((*Study).hypervolume)},
	{"importance", "What matters", "bars: shares of the variance over the whole space, pale with interactions; lines: 90 % intervals", modelled, (*Study).sensitivity},
	{"good", "What matters among the good", "shares of the variance in the best tenth of the space; lines: 90 % intervals", modelled, (*Study).amongGood},
	{"ablation", "Contribution to the gain", "what each parameter contributes on the way to the best trial (Shapley values); lines: 90 % intervals", modelled, (*Study).ablation},
	{"slice", "Parameters", "dots: trials; line and band: the model through the best trial and its 95 % interval; orange: ruled out by the Lipschitz bounds", wide | modelled, (*Study).slices},
	{"map", "The model", "dark is better, pale is uncertain, hatched is ruled out by the Lipschitz bounds; all other parameters as in the best trial", wide | modelled, (*Study).maps2D},
	{"parallel", "Parallel coordinates", "one line for each of the best 300 trials; the best tenth of these stands out", wide, one((*Study).parallel)},
	{"timeline", "Timeline", "what ran in which slot, and waiting before it", wide, one((*Study).timeline)},
	{"curves", "Learning curves", "readings of the objective while trials ran, of the last 300 trials and the best", 0, one((*Study).curves)},
	{"metrics", "Metrics beside each other", "", 0, (*Study).metricPairs},
	{"distribution", "Distribution of values", "the share of trials at least as good", 0, one((*Study).distribution)},
	{"lipschitz", "Lipschitz bounds", "as the data came in: the share of the space that they rule out, what they leave to gain if their constant is stated, and the constant in the model's units", wide, (*Study).lipschitz},
	{"predicted", "Calibration", "what the model predicted of each trial, and what came out: the same on the line", 0, one((*Study).predicted)},
	{"origins", "Proposal types", "the rule that made each trial", 0, one((*Study).origins)},
	{"failures", "Failures", "by their reason, each with the end of what the last one printed", wide | text, one(func(s *Study) string { return render("failures", s) })},
	{"all", "Trials", "the best first", wide | quick | text, one((*Study).list)},
}

var plots = slices.DeleteFunc(slices.Clone(cards), func(p plot) bool { return p.is&text != 0 })

// one makes a plot of a single picture.
func one(draw func(*Study) string) func(*Study) []string {
	return func(s *Study) []string { return []string{draw(s)} }
}

// pictures are those that have something to show.
func (p plot) pictures(s *Study) []string {
	return slices.DeleteFunc(p.draw(s), func(picture string) bool { return picture == "" })
}

// Plots lists the names of the plots.
func Plots() []string {
	return lists.Map(plots, func(p plot) string { return p.name })
}

func (s *Study) valueAxis() axis { return axisOf(s.Metric, s.values(), s.Direction) }

// objective is one of a study's: the values of trials, their axis, and what is believed of them.
type objective struct {
	Beliefs
	of   func(*Trial) float64
	axis axis
}

func (s *Study) objectives() (out []objective) {
	for k, o := range s.state.Config.Objectives() {
		one := objective{of: (*Trial).y, axis: s.valueAxis()}
		if k > 0 {
			one.of = func(t *Trial) float64 { return t.metric(o.Name) }
			_, up := s.each(func(t *Trial) (x, y float64) { return 0, one.of(t) })
			one.axis = axisOf(o.Name, up, o.Direction)
		}
		if m := s.Model; m != nil && k == 0 {
			one.Slices, one.Maps = m.Slices, m.Maps
		} else if m != nil && k <= len(m.Others) {
			one.Beliefs = m.Others[k-1]
		}
		one.Objective = o.Name
		out = append(out, one)
	}
	return out
}

// trialAxis holds still for a while when there are more trials than the budget says.
func (s *Study) trialAxis() axis {
	hi := max(float64(len(s.Trials)), 1)
	if step := math.Pow(10, math.Floor(math.Log10(hi))) / 4; step > 1 {
		hi = math.Ceil(hi/step) * step
	}
	return axis{lo: 0.5, hi: max(hi, float64(s.Budget)) + 0.5, label: "trial"}
}

// scatter is a picture of trials at two numbers each; none without a trial that has both.
func (s *Study) scatter(title string, width, height float64, x, y axis, at func(*Trial) (x, y float64), also func(*chart)) string {
	if across, _ := s.each(at); len(across) == 0 {
		return ""
	}
	c := s.chart(title, width, height, x, y)
	c.frame()
	if also != nil {
		also(c)
	}
	for _, t := range s.bestOnTop() {
		if u, v := at(t); finite(u) && finite(v) {
			c.dot(t, x.at(u), y.at(v), 3)
		}
	}
	return c.String()
}

// bestOnTop are the trials that are drawn, in an order in which no other hides the best.
func (s *Study) bestOnTop() []*Trial {
	below := slices.DeleteFunc(slices.Clone(s.shown), func(t *Trial) bool { return t.best })
	return append(below, slices.DeleteFunc(slices.Clone(s.shown), func(t *Trial) bool { return !t.best })...)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// history is every value and the best so far.
func (s *Study) history() string {
	if len(s.Trials) == 0 {
		return ""
	}
	c := s.chart("History of "+s.Metric, 900, 280, s.trialAxis(), s.valueAxis())
	c.frame()
	var numbers, values []float64
	var best *Trial
	upTo := func(number int) {
		if best != nil {
			numbers, values = append(numbers, float64(number)), append(values, best.y())
		}
	}
	for _, t := range s.Trials {
		if t.Succeeded() && (best == nil || s.state.Compare(t.Trial, best.Trial) < 0) {
			upTo(t.Number)
			best = t
			upTo(t.Number)
		}
	}
	upTo(len(s.Trials))
	c.path("bestline", c.series(numbers, values), values...)
	for _, t := range s.bestOnTop() {
		x := c.x.at(float64(t.Number))
		switch {
		case t.Value != nil:
			c.dot(t, x, c.y.at(*t.Value), 3.5)
		case t.Standing == string(optimizer.Failed):
			at, foot := c.px(x), c.py(0)-3
			c.trial(t.Number, func() {
				c.canvas.path("d failed", [][2]float64{{at - 3, foot - 6}, {at + 3, foot}, {math.NaN()}, {at + 3, foot - 6}, {at - 3, foot}})
			})
		}
	}
	return c.String()
}

// parallel has an axis for each parameter and one for the value.
func (s *Study) parallel() string {
	if len(s.ranked) == 0 || len(s.Params) == 0 {
		return ""
	}
	ranked := slices.DeleteFunc(slices.Clone(s.ranked[:min(len(s.ranked), mostLines)]), func(t *Trial) bool { return !t.shown })
	var axes []axis
	var places []func(*Trial) float64 // on them
	for _, i := range s.drawnParams() {
		axes, places = append(axes, s.axes[i]), append(places, func(t *Trial) float64 { return t.places[i] })
	}
	for _, o := range s.objectives() {
		axes, places = append(axes, o.axis), append(places, func(t *Trial) float64 { return o.axis.at(o.of(t)) })
	}
	c := s.chart("Parallel coordinates", 900, 300, bare, bare)
	if b, is := c.canvas.(*svg); is { // names stand shortened below the axes
		b.WriteString("<desc>" + html.EscapeString(strings.Join(lists.Map(axes, func(a axis) string { return clean(a.label, 200) }), "\n")) + "</desc>")
	}
	n := float64(len(axes) - 1)
	c.left, c.right, c.top, c.bottom = 40, 60, 14, 26
	most, rows := int(800/(n+1)/6.8), 1
	if most < 12 { // names stand in two rows
		most, rows, c.bottom = 2*most, 2, 38
	}
	for k, t := range slices.Backward(ranked) {
		class := "thread"
		switch tenth := k * 10 / len(ranked); {
		case tenth == 0:
			class = "thread top"
		case tenth > 4:
			class = "thread low"
		}
		var line [][2]float64
		for k, place := range places {
			line = append(line, [2]float64{float64(k) / n, place(t)})
		}
		c.trial(t.Number, func() {
			c.path(class, line)
			for _, bridge := range bridges(line) {
				c.path(class+" bridge", bridge)
			}
		})
	}
	for k, a := range axes {
		x := c.px(float64(k) / n)
		c.line("axis", x, c.py(0), x, c.py(1))
		name, below := []rune(a.label), float64(8+12*((k+1)%rows))
		if len(name) > most {
			name = slices.Concat(name[:most/2-1], []rune("…"), name[len(name)-most/2:])
		}
		c.text("label mid", x, c.height-below, string(name), most)
		if room := 860 / (n + 1); room > 52 {
			for _, t := range a.marks() {
				c.text("tick", x+4, c.py(t.at)+3, t.label, int(room/6.6)-1)
			}
		}
	}
	return c.String()
}

// bridges lead over what is missing of a line: the axes of parameters that a trial does not have.
func bridges(places [][2]float64) (out [][][2]float64) {
	last := -1
	for i, p := range places {
		if math.IsNaN(p[1]) {
			continue
		}
		if last >= 0 && i > last+1 {
			out = append(out, [][2]float64{places[last], p})
		}
		last = i
	}
	return out
}

// metricPairs has a picture for each other metric, with the objective.
func (s *Study) metricPairs() []string {
	var out []string
	for _, name := range s.Metrics {
		if name != s.Metric {
			at := func(t *Trial) (x, y float64) { return t.metric(name), t.y() }
			across, _ := s.each(at)
			out = append(out, s.scatter(name+" and "+s.Metric, 290, 220, axisOf(name, across, ""), s.valueAxis(), at, nil))
		}
	}
	return out
}

// each are the numbers of the trials that a scatter would draw.
func (s *Study) each(at func(*Trial) (x, y float64)) (across, up []float64) {
	for _, t := range s.shown {
		if x, y := at(t); finite(x) && finite(y) {
			across, up = append(across, x), append(up, y)
		}
	}
	return across, up
}

// distribution is the empirical distribution function of the values.
func (s *Study) distribution() string {
	values := s.values()
	if len(values) == 0 {
		return ""
	}
	c := s.chart("Distribution of values", 380, 240, s.valueAxis(), axis{hi: 1, label: "share of trials"})
	c.frame()
	slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(s.good(b), s.good(a)) })
	var steps, shares []float64
	for i := 0; i < len(values); i += 1 + len(values)/mostDrawn {
		n := float64(len(values))
		steps, shares = append(steps, values[i], values[i]), append(shares, float64(i)/n, float64(i+1)/n)
	}
	c.path("series", c.series(steps, shares))
	return c.String()
}

// origins has a row for each rule that made a trial.
func (s *Study) origins() string {
	var names []optimizer.Origin
	for _, t := range s.Trials {
		if !slices.Contains(names, t.Origin) {
			names = append(names, t.Origin)
		}
	}
	y := bare
	for i, name := range names {
		y.ticks = append(y.ticks, tick{1 - (float64(i)+0.5)/float64(len(names)), string(name)})
	}
	return s.scatter("Proposal types", 380, 240, s.trialAxis(), y, func(t *Trial) (x, at float64) {
		return float64(t.Number), y.ticks[slices.Index(names, t.Origin)].at
	}, nil)
}

// variable is a colour that the page sets, with that of a picture by itself.
var variable = pattern.Lazy(`var\(--\w+,(#\w+)\)`)

// legend says what stands for what in a picture by itself.
var legend = [][2]string{{"d best", "best"}, {"d", "trial"}, {"d spread", "initial or exploring"}, {"d pruned", "stopped early"}, {"d infeasible", "over a limit"},
	{"d failed", "failed"}, {"bestline", "best so far"}, {"mean", "model"}, {"band", "its interval of 95 %"}, {"ruled", "ruled out"}, {"share", "alone"},
	{"share pale", "with interactions"}, {"whisker", "interval of 90 %"}, {"thread top", "best tenth of these"}, {"bar waiting", "waiting"}, {"bar retried", "run again"}}

var titleRE = pattern.Lazy(`<title>([^<]*)</title>`)

// SVG returns a plot as one document, its pictures below each other, each with its title, and a
// legend. Its style has no variables, which some programs do not know.
func (s *Study) SVG(name string) (string, error) {
	pictures, err := s.draw(name)
	if err != nil {
		return "", err
	}
	return framed(s.Name+": ", pictures), nil
}

// framed is pictures below their titles, which begin with what they are of, and above a legend.
func framed(of string, pictures []string) string {
	var w, h float64
	_, err := fmt.Sscanf(pictures[0][strings.Index(pictures[0], "viewBox"):], `viewBox="0 0 %g %g"`, &w, &h)
	must(err) // they are ours
	const head, row = 26, 16.0
	var b svg
	x, y := 14.0, (h+head)*float64(len(pictures))+12
	for i, p := range pictures {
		fmt.Fprintf(&b, `<svg y="%g" width="%g" height="%g"%s`, (h+head)*float64(i)+head, w, h, strings.TrimPrefix(p, "<svg"))
		title := html.UnescapeString(titleRE().FindStringSubmatch(p)[1])
		b.text("title", 14, (h+head)*float64(i)+18, clean(of+title, int(w/7)))
	}
	has := func(class string) bool { return strings.Contains(strings.Join(pictures, ""), `class="`+class+`"`) }
	for _, l := range legend {
		class, text := l[0], l[1]
		if bar := "bar" + strings.TrimPrefix(class, "d"); !has(class) && has(bar) {
			class = bar
		} else if !has(class) {
			continue
		}
		if wide := 30 + 6.2*float64(len(text)); x > 14 && x+wide > w {
			x, y = 14, y+row
		}
		switch kind, rest, _ := strings.Cut(class, " "); {
		case rest == "failed" && kind == "d":
			b.path(class, [][2]float64{{x + 2, y - 3}, {x + 8, y + 3}, {math.NaN()}, {x + 8, y - 3}, {x + 2, y + 3}})
		case kind == "d":
			b.dot(class, x+5, y, 3.5)
		case slices.Contains([]string{"band", "ruled", "share", "bar"}, kind):
			b.rect(class, x, y-4, 10, 8)
		default:
			b.line(class, x, y, x+10, y)
		}
		b.text("label", x+15, y+3.5, text)
		x += 30 + 6.2*float64(len(text))
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" class="chart" width="%g" height="%g"><style>%s</style><rect width="100%%" height="100%%" fill="#fff"/>`,
		w, y+row, html.EscapeString(variable().ReplaceAllString(chartCSS, "$1"))) + b.String() + "\n"
}

func (s *Study) draw(name string) ([]string, error) {
	i := slices.Index(Plots(), name)
	if i < 0 {
		return nil, fmt.Errorf("there is no plot %q; there are %s", name, strings.Join(Plots(), ", "))
	}
	out := plots[i].pictures(s)
	if len(out) == 0 {
		why := "too little is known"
		if plots[i].is&modelled != 0 {
			why = cmp.Or(s.NoModel, why)
		}
		return nil, fmt.Errorf("there is nothing to draw for %s yet: %s", name, why)
	}
	return out, nil
}
