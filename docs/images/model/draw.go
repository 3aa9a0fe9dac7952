package main

import (
	"bufio"
	"fmt"
	"image/color"
	"math"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/lbotune/lbotune/optimizer/acquisition"
)

// Okabe and Ito's colors, which color-blind readers tell apart.
var (
	blue   = color.NRGBA{0x00, 0x72, 0xb2, 0xff}
	orange = color.NRGBA{0xd5, 0x5e, 0x00, 0xff}
	gray   = color.NRGBA{0x88, 0x88, 0x88, 0xff}
	black  = color.NRGBA{0x22, 0x22, 0x22, 0xff}
)

// grid is how finely curves are drawn.
const grid = 200

// drawSteps draws what is believed after each of some numbers of trials, and
// where the next trial goes.
func drawSteps(file string, s study, after []int) error {
	var panels []*plot.Plot
	for _, n := range after {
		m, err := fit(s.first(n))
		if err != nil {
			return err
		}
		p := panel(fmt.Sprintf("after %d trials; the next one: %s", n, s.origin[n]))
		low, high := curve(func(x float64) float64 { z, sd := m.at(x); return m.loss(z + 2*sd) }),
			curve(func(x float64) float64 { z, sd := m.at(x); return m.loss(z - 2*sd) })
		add(p, "", band(low, high, faint(blue, 0x33)))
		add(p, "the loss, unknown", line(curve(loss), gray, 1, 4))
		add(p, "what the model expects", line(curve(func(x float64) float64 { z, _ := m.at(x); return m.loss(z) }), blue, 1.5, 0))
		next := s.x[n][0]
		add(p, "the next trial", line(plotter.XYs{{X: next, Y: p.Y.Min}, {X: next, Y: p.Y.Max}}, orange, 1.2, 3))
		add(p, "trials", dots(s.first(n)))
		panels = append(panels, p)
	}
	panels[0].Legend.Top, panels[0].Legend.Left = false, true
	for _, p := range panels[1:] {
		p.Legend = plot.NewLegend()
	}
	return save(file, panels, 2, 720, 460)
}

// drawBounds draws where the Lipschitz bounds leave no room for a better trial,
// and what that does to the expected improvement.
func drawBounds(file string, s study, n int) error {
	s = s.first(n)
	m, err := fit(s)
	if err != nil {
		return err
	}
	floor := curve(func(x float64) float64 { _, up, _ := m.bounds.At([]float64{x}, nil, nil); return m.loss(up) })
	best := m.loss(m.best)
	top := panel(fmt.Sprintf("what %d trials say about the loss", n))
	const roof = 1.3
	top.Y.Max = 2.2 // leaves room for the legend
	var shut plotter.XYs
	for _, at := range floor {
		y := top.Y.Min
		if at.Y > best {
			y = roof
		}
		shut = append(shut, plotter.XY{X: at.X, Y: y})
	}
	base := plotter.XYs{{X: 0, Y: top.Y.Min}, {X: 1, Y: top.Y.Min}}
	add(top, "no better value can be here", band(base, shut, faint(orange, 0x22)))
	add(top, "the loss, unknown", line(curve(loss), gray, 1, 4))
	add(top, "what the model expects", line(curve(func(x float64) float64 { z, _ := m.at(x); return m.loss(z) }), blue, 1.5, 0))
	add(top, "no value is below this", line(clipped(floor, top.Y.Min), orange, 1.5, 0))
	add(top, "the best so far", line(plotter.XYs{{X: 0, Y: best}, {X: 1, Y: best}}, black, 0.8, 2))
	add(top, "trials", dots(s))

	bottom := panel("how much better a trial can be expected to be")
	bottom.Y.Label.Text = "expected improvement"
	plain := curve(func(x float64) float64 { z, sd := m.at(x); return m.sd * acquisition.EI(z, sd, m.best).F })
	cut := curve(func(x float64) float64 {
		z, sd := m.at(x)
		lo, up, _ := m.bounds.At([]float64{x}, nil, nil)
		return m.sd * acquisition.TEI(z, sd, m.best, lo, up).F
	})
	bottom.Y.Max = 0
	for _, at := range plain {
		bottom.Y.Max = max(bottom.Y.Max, 1.1*at.Y)
	}
	add(bottom, "without bounds", line(plain, blue, 1.5, 0))
	add(bottom, "with bounds", line(cut, orange, 1.5, 0))
	bottom.Legend.Left = true
	top.Legend.Left = true
	return save(file, []*plot.Plot{top, bottom}, 1, 560, 520)
}

// at is the posterior mean and standard deviation.
func (m model) at(x float64) (mean, sd float64) {
	mean, variance := m.predictor.Predict([]float64{x})
	return mean, math.Sqrt(variance)
}

func panel(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, "parameter", "loss"
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1.6
	p.Legend.Top, p.Legend.Padding = true, vg.Points(2)
	for _, f := range []*font.Font{&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font,
		&p.X.Tick.Label.Font, &p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font} {
		f.Typeface, f.Variant, f.Size = "Liberation", "Sans", vg.Points(10)
	}
	return p
}

func curve(f func(float64) float64) plotter.XYs {
	var out plotter.XYs
	for i := range grid + 1 {
		x := float64(i) / grid
		out = append(out, plotter.XY{X: x, Y: f(x)})
	}
	return out
}

func clipped(c plotter.XYs, least float64) plotter.XYs {
	for i := range c {
		c[i].Y = max(c[i].Y, least)
	}
	return c
}

func line(points plotter.XYs, c color.Color, width, dash float64) *plotter.Line {
	l := &plotter.Line{XYs: points}
	l.Color, l.Width = c, vg.Points(width)
	if dash > 0 {
		l.Dashes = []vg.Length{vg.Points(dash), vg.Points(dash)}
	}
	return l
}

func band(low, high plotter.XYs, c color.Color) *plotter.Polygon {
	outline := append(plotter.XYs{}, high...)
	for i := len(low) - 1; i >= 0; i-- {
		outline = append(outline, low[i])
	}
	return &plotter.Polygon{XYs: []plotter.XYs{outline}, Color: c}
}

func dots(s study) *plotter.Scatter {
	var points plotter.XYs
	for i, x := range s.x {
		points = append(points, plotter.XY{X: x[0], Y: s.y[i]})
	}
	return &plotter.Scatter{XYs: points, GlyphStyle: draw.GlyphStyle{Color: black, Radius: vg.Points(3.5), Shape: draw.CircleGlyph{}}}
}

func faint(c color.NRGBA, alpha uint8) color.NRGBA { c.A = alpha; return c }

// add draws something within the axes as they are.
func add(p *plot.Plot, name string, what interface {
	plot.Plotter
	plot.Thumbnailer
}) {
	x, y := [2]float64{p.X.Min, p.X.Max}, [2]float64{p.Y.Min, p.Y.Max}
	p.Add(what)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = x[0], x[1], y[0], y[1]
	if name != "" {
		p.Legend.Add(name, what)
	}
}

// save draws panels in columns, on white, so that dark pages show them too.
func save(file string, panels []*plot.Plot, columns int, width, height float64) error {
	canvas := vgsvg.New(vg.Points(width), vg.Points(height))
	edge := vg.Points(8)
	tiles := draw.Tiles{Rows: (len(panels) + columns - 1) / columns, Cols: columns,
		PadX: 2 * edge, PadY: 2 * edge, PadTop: edge, PadBottom: edge, PadLeft: edge, PadRight: 2 * edge}
	page := draw.New(canvas)
	page.FillPolygon(color.White, []vg.Point{page.Min, {X: page.Max.X, Y: page.Min.Y}, page.Max, {X: page.Min.X, Y: page.Max.Y}})
	for i, p := range panels {
		p.Draw(tiles.At(page, i%columns, i/columns))
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	if _, err := canvas.WriteTo(w); err != nil {
		out.Close()
		return err
	}
	if err := w.Flush(); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
