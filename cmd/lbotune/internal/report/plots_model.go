package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// slices has a picture for each objective and parameter: trials and, if there is one, the model.
func (s *Study) slices() []string {
	var out []string
	for k, o := range s.objectives() {
		for _, i := range s.drawnParams() {
			title := "Values along " + s.Params[i].Name
			if k > 0 {
				title = o.Objective + " along " + s.Params[i].Name
			}
			at := func(t *Trial) (x, y float64) { return t.places[i], o.of(t) }
			out = append(out, s.scatter(title, 290, 200, s.axes[i], o.axis, at, func(c *chart) {
				for _, sl := range o.Slices {
					if sl.Param == s.Params[i].Name {
						c.slice(sl)
					}
				}
			}))
		}
	}
	return out
}

// slice draws the model's band and mean, and the places that are ruled out.
func (c *chart) slice(sl Slice) {
	mean := c.series(sl.Places, sl.Mean)
	for k, v := range sl.Mean {
		if v < c.y.lo || v > c.y.hi {
			mean[k][1] = math.NaN() // a line along the edge would be taken for the model
		}
	}
	back, low := slices.Clone(sl.Places), slices.Clone(sl.Low)
	slices.Reverse(back)
	slices.Reverse(low)
	ends := slices.Concat(sl.High, low)
	c.path("band", c.series(slices.Concat(sl.Places, back), ends), ends...)
	c.path("mean", mean, sl.Mean...)
	for k := 0; k < len(sl.Ruled); k++ {
		if from := k; sl.Ruled[k] {
			for k+1 < len(sl.Ruled) && sl.Ruled[k+1] {
				k++
			}
			c.rect("ruled", c.px(sl.Places[from]), c.py(0)-4, c.px(sl.Places[k])-c.px(sl.Places[from])+1, 4)
		}
	}
}

// maps2D has a picture for each objective and pair of the parameters that matter most.
func (s *Study) maps2D() []string {
	var out []string
	for _, o := range s.objectives() {
		for _, m := range o.Maps {
			x, title := s.axes[m.free[0]], fmt.Sprintf("The model over %s and %s", m.X, m.Y)
			scale := axisOf("", m.Mean, o.axis.better)
			x.room = max(48, 7+6.2*float64(scale.longest()))
			if s.state.Config.Several() {
				title = fmt.Sprintf("The model of %s over %s and %s", o.Objective, m.X, m.Y)
				x.scale += ": " + o.Objective
			}
			at := func(t *Trial) (x, y float64) { return t.ifValued(t.places[m.free[0]], t.places[m.free[1]]) }
			out = append(out, s.scatter(title, 320, 250, x, s.axes[m.free[1]], at, func(c *chart) {
				c.heat(scale, m, c.px(0), c.py(1), c.px(1)-c.px(0), c.py(0)-c.py(1))
			}))
		}
	}
	return out
}

// lipschitz has three pictures of the bounds over the trials.
func (s *Study) lipschitz() []string {
	var out []string
	for i, label := range []string{"share ruled out", "left to gain", "constant L"} {
		at := func(t *Trial) (x, y float64) {
			if t.Lipschitz == nil || i < 2 && s.state.Refuted != "" {
				return math.NaN(), math.NaN()
			}
			return float64(t.Number), []float64{t.Lipschitz.Excluded, orNaN(leftToGain(t.Lipschitz)), t.Lipschitz.Constant}[i]
		}
		across, up := s.each(at)
		y := axisOf(label, up, "")
		if i == 0 {
			y = axis{hi: 1, label: label}
		}
		out = append(out, s.scatter("Lipschitz bounds: "+label, 290, 200, s.trialAxis(), y, at, func(c *chart) {
			c.path("orange", c.series(across, up))
		}))
	}
	return out
}

// predicted compares what the model expected of its proposals with what came out.
func (s *Study) predicted() string {
	at := func(t *Trial) (x, y float64) { return orNaN(t.Expected), t.y() }
	y := s.valueAxis()
	x := y
	x.label, y.label = "predicted", "found"
	return s.scatter("Calibration", 380, 240, x, y, at, func(c *chart) { c.path("diagonal", [][2]float64{{0, 0}, {1, 1}}) })
}

// logarithm is what is said after the word variance where it is one's.
var logarithm = map[bool]string{true: " of the logarithm"}

// sensitivity has bars of the shares of the variance, the largest on top.
func (s *Study) sensitivity() []string {
	return s.bars("What matters", func(im *Importance) string { return "share of the variance" + logarithm[im.Log] },
		func(_ *Importance, r ParamRow) (Interval, float64) { return r.Total, r.Main.Value })
}

// amongGood has bars of the shares that are left where the objective is good.
func (s *Study) amongGood() []string {
	return s.bars("What matters among the good", func(im *Importance) string { return "share of the variance in the best tenth" + logarithm[im.Log] },
		func(_ *Importance, r ParamRow) (Interval, float64) { return r.Good, r.Good.Value })
}

// ablation has bars of what each parameter contributes on the way to the best trial.
func (s *Study) ablation() []string {
	return s.bars("Contribution to the gain", func(im *Importance) string {
		return fmt.Sprintf("share, from %s (%s) to %s", Short(im.Start), im.From, Short(im.End))
	}, func(im *Importance, r ParamRow) (Interval, float64) { g := im.Share(r.Gain); return g, g.Value })
}

// bars draws, for each objective of which it is known, a pale bar and its interval, and a full
// one in it, for each parameter.
func (s *Study) bars(title string, label func(*Importance) string, of func(*Importance, ParamRow) (Interval, float64)) (out []string) {
	for _, im := range s.Model.Importances() {
		name, x := title, axis{hi: 1, label: label(&im)}
		if s.state.Config.Several() {
			name, x.label = name+" to "+im.Objective, im.Objective+": "+x.label
		}
		whole := func(r ParamRow) Interval { v, _ := of(&im, r); return v }
		rows := slices.DeleteFunc(slices.Clone(im.Params), func(r ParamRow) bool { return r.Never })
		slices.SortStableFunc(rows, func(a, b ParamRow) int { return cmp.Compare(whole(b).Value, whole(a).Value) })
		rows = rows[:min(len(rows), mostDrawnParams)]
		if !slices.ContainsFunc(rows, func(r ParamRow) bool { return whole(r) != Interval{} }) { // nothing was gained
			continue
		}
		for _, r := range rows {
			v := whole(r)
			x.lo, x.hi = math.Min(x.lo, math.Max(math.Min(v.Low, v.Value), -1)), math.Max(x.hi, math.Min(v.High, 1.5))
		}
		c := s.chart(name, 380, 50+20*float64(len(rows)), x, bare)
		c.left = 110
		c.frame()
		at := func(v float64) float64 { return c.px(x.at(v)) }
		zero := at(0)
		for i, r := range rows {
			v, inner := of(&im, r)
			top := c.top + 20*float64(i)
			c.text("name end", c.left-6, top+13, r.Param, 16)
			c.rect("share pale", math.Min(zero, at(v.Value)), top+3, math.Abs(at(v.Value)-zero), 13)
			c.rect("share", math.Min(zero, at(inner)), top+3, math.Abs(at(inner)-zero), 13)
			c.line("whisker", at(v.Low), top+9.5, at(v.High), top+9.5)
		}
		c.line("axis", zero, c.py(0), zero, c.py(1))
		out = append(out, c.String())
	}
	return out
}
