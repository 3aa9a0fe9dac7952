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
	for k, o := range s.state.Config.Objectives() {
		for _, i := range s.drawnParams() {
			title, of := "Values along "+s.Params[i].Name, s.objectiveOf(k)
			if k > 0 {
				title = o.Name + " along " + s.Params[i].Name
			}
			at := func(t *Trial) (x, y float64, ok bool) { return t.places[i], of(t), true }
			out = append(out, s.scatter(title, 290, 200, s.axes[i], s.objectiveAxis(k), at, func(c *chart) {
				if b := s.beliefs(k); b != nil {
					c.slice(b.Slices[i])
				}
			}))
		}
	}
	return out
}

// slice draws the model's band and mean, and the places that are ruled out.
func (c *chart) slice(sl Slice) {
	var mean, outline [][2]float64
	for k, x := range sl.Places {
		y := c.y.at(sl.Mean[k])
		if sl.Mean[k] < c.y.lo || sl.Mean[k] > c.y.hi {
			y = math.NaN() // a line along the edge would be taken for the model
		}
		mean = append(mean, [2]float64{x, y})
		outline = append(outline, [2]float64{x, c.y.at(sl.High[k])})
	}
	for k := len(sl.Places) - 1; k >= 0; k-- {
		outline = append(outline, [2]float64{sl.Places[k], c.y.at(sl.Low[k])})
	}
	low := slices.Clone(sl.Low)
	slices.Reverse(low)
	c.path("band", outline, append(slices.Clone(sl.High), low...)...)
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
	if s.Model == nil {
		return nil
	}
	var out []string
	for k, o := range s.state.Config.Objectives() {
		b := s.beliefs(k)
		if b == nil {
			continue
		}
		for _, m := range b.Maps {
			title := fmt.Sprintf("The model over %s and %s", m.X, m.Y)
			if s.state.Config.Several() {
				title = fmt.Sprintf("The model of %s over %s and %s", o.Name, m.X, m.Y)
			}
			at := func(t *Trial) (x, y float64, ok bool) { return t.places[m.x], t.places[m.y], t.Value != nil }
			x := s.axes[m.x]
			x.room = 48
			if s.state.Config.Several() {
				x.scale += ": " + o.Name
			}
			out = append(out, s.scatter(title, 320, 250, x, s.axes[m.y], at, func(c *chart) {
				c.heat(s.as(k), m, c.px(0), c.py(1), c.px(1)-c.px(0), c.py(0)-c.py(1))
			}))
		}
	}
	return out
}

// beliefs are those of one of several objectives, nil if there are none.
func (s *Study) beliefs(k int) *Beliefs {
	switch {
	case s.Model == nil || k > len(s.Model.Others):
		return nil
	case k == 0:
		return &Beliefs{Slices: s.Model.Slices, Maps: s.Model.Maps}
	}
	return &s.Model.Others[k-1]
}

// lipschitz has three pictures of the bounds over the trials.
func (s *Study) lipschitz() []string {
	var out []string
	for i, label := range []string{"share ruled out", "left to gain", "constant L"} {
		at := func(t *Trial) (x, y float64, ok bool) {
			l := t.Lipschitz
			gain := leftToGain(l)
			if l == nil || i == 1 && gain == nil {
				return 0, 0, false
			}
			return float64(t.Number), []float64{l.Excluded, *cmp.Or(gain, new(float64)), l.Constant}[i], true
		}
		_, up := s.each(at)
		y := axisOf(label, up, nil)
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
	return out
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
	return s.scatter("Calibration", 380, 240, x, y, at, func(c *chart) { c.path("diagonal", [][2]float64{{0, 0}, {1, 1}}) })
}

// sensitivity has bars of the shares of the variance, the largest on top.
func (s *Study) sensitivity() []string {
	return s.bars("What matters", func(im *Importance) string { return "share of the variance" + im.scale() },
		func(_ *Importance, r ParamRow) (Interval, float64) { return r.Total, r.Main.Value })
}

// amongGood has bars of the shares that are left where the objective is good.
func (s *Study) amongGood() []string {
	return s.bars("What matters among the good", func(im *Importance) string { return "share of the variance in the best tenth" + im.scale() },
		func(_ *Importance, r ParamRow) (Interval, float64) { return r.Good, r.Good.Value })
}

// ablation has bars of what each parameter contributes on the way to the best trial.
func (s *Study) ablation() []string {
	return s.bars("Contribution to the gain", func(im *Importance) string {
		return fmt.Sprintf("share of the way from %s (%s) to %s", num(im.Start), im.From, num(im.End))
	}, func(im *Importance, r ParamRow) (Interval, float64) { g := im.Share(r.Gain); return g, g.Value })
}

// bars draws, for each objective of which it is known, a pale bar and its interval, and a full
// one in it, for each parameter.
func (s *Study) bars(title string, label func(*Importance) string, of func(*Importance, ParamRow) (Interval, float64)) (out []string) {
	if s.Model == nil {
		return nil
	}
	for _, im := range s.Model.Importances() {
		name, text := title, label(&im)
		if s.state.Config.Several() {
			name, text = name+" to "+im.Objective, im.Objective+": "+text
		}
		out = append(out, s.barsOf(name, text, im.Params, func(r ParamRow) (Interval, float64) { return of(&im, r) }))
	}
	return out
}

func (s *Study) barsOf(title, label string, params []ParamRow, of func(ParamRow) (Interval, float64)) string {
	rows := slices.DeleteFunc(slices.Clone(params), func(r ParamRow) bool { return r.Never })
	value := func(r ParamRow) float64 { v, _ := of(r); return v.Value }
	slices.SortStableFunc(rows, func(a, b ParamRow) int { return cmp.Compare(value(b), value(a)) })
	rows = rows[:min(len(rows), 15)]
	x := axis{hi: 1, label: label}
	for _, r := range rows {
		v, _ := of(r)
		x.lo, x.hi = math.Min(x.lo, math.Max(math.Min(v.Low, v.Value), -1)), math.Max(x.hi, math.Min(v.High, 1.5))
	}
	c := s.chart(title, 380, 50+20*float64(len(rows)), x, axis{hi: 1, ticks: []tick{}})
	c.left = 110
	c.frame()
	zero := c.px(x.at(0))
	for i, r := range rows {
		v, inner := of(r)
		top := c.top + 20*float64(i)
		c.text("name end", c.left-6, top+13, r.Param, 16)
		c.rect("share pale", math.Min(zero, c.px(x.at(v.Value))), top+3, math.Abs(c.px(x.at(v.Value))-zero), 13)
		c.rect("share", math.Min(zero, c.px(x.at(inner))), top+3, math.Abs(c.px(x.at(inner))-zero), 13)
		c.line("whisker", c.px(x.at(v.Low)), top+9.5, c.px(x.at(v.High)), top+9.5)
	}
	c.line("axis", zero, c.py(0), zero, c.py(1))
	return c.String()
}
