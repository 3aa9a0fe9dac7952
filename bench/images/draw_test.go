package images_test

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

	"github.com/lbotune/lbotune/optimizer"
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

// at is the i-th place of the grid.
func at(i int) float64 { return float64(i) / grid }

// drawSteps draws what is believed after each of some numbers of trials, and
// where the next trial goes.
func drawSteps(file string, s study, after []int) error {
	var panels []*plot.Plot
	for _, n := range after {
		e, err := explain(s.first(n), optimizer.Settings{})
		if err != nil {
			return err
		}
		next := s.trials[n].Proposal
		p := panel(fmt.Sprintf("after %d trials; the next one: %s", n, next.Origin))
		add(p, "", band(beliefs(e, func(b optimizer.Belief) float64 { return b.High }),
			beliefs(e, func(b optimizer.Belief) float64 { return b.Low }), faint(blue, 0x33)))
		add(p, "the loss, unknown", line(truth(), gray, 1, 4))
		add(p, "what the model expects", line(beliefs(e, mean), blue, 1.5, 0))
		add(p, "the next trial", line(plotter.XYs{{X: next.Point[0], Y: p.Y.Min}, {X: next.Point[0], Y: p.Y.Max}}, orange, 1.2, 3))
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
	e, err := explain(s, optimizer.Settings{})
	if err != nil {
		return err
	}
	without, err := explain(s, optimizer.Settings{Lipschitz: "off"})
	if err != nil {
		return err
	}
	floor := beliefs(e, func(b optimizer.Belief) float64 { return b.Upper })
	best := -e.Best
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
	add(top, "the loss, unknown", line(truth(), gray, 1, 4))
	add(top, "what the model expects", line(beliefs(e, mean), blue, 1.5, 0))
	add(top, "no value is below this", line(clipped(floor, top.Y.Min), orange, 1.5, 0))
	add(top, "the best so far", line(plotter.XYs{{X: 0, Y: best}, {X: 1, Y: best}}, black, 0.8, 2))
	add(top, "trials", dots(s))

	bottom := panel("how much better a trial can be expected to be")
	bottom.Y.Label.Text = "expected improvement"
	plain, cut := improvement(without), improvement(e)
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

func mean(b optimizer.Belief) float64 { return b.Mean }

// beliefs is a curve of losses, which are the negated values.
func beliefs(e optimizer.Explanation, f func(optimizer.Belief) float64) plotter.XYs {
	var out plotter.XYs
	for i, b := range e.Beliefs {
		out = append(out, plotter.XY{X: at(i), Y: -f(b)})
	}
	return out
}

// improvement is the expected one, in the model's units.
func improvement(e optimizer.Explanation) plotter.XYs {
	var out plotter.XYs
	for i, b := range e.Beliefs {
		out = append(out, plotter.XY{X: at(i), Y: math.Exp(b.Acquisition)})
	}
	return out
}

func truth() plotter.XYs {
	var out plotter.XYs
	for i := range grid + 1 {
		out = append(out, plotter.XY{X: at(i), Y: loss(at(i))})
	}
	return out
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
	for _, o := range s.trials {
		points = append(points, plotter.XY{X: o.Proposal.Point[0], Y: -o.Value()})
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
