package images_test

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// least is what regrets below 1e-9, which the table doesn't tell apart, are drawn as.
const least = 1e-9

// regretLines are the optimizers of the picture: lbotune and the four that the mean ranks
// of the table after 100 evaluations put behind it, where values below 1e-3 are equal.
var regretLines = []struct {
	key, name   string
	color       color.NRGBA
	width, dash float64
}{
	{"bobyqa", "BOBYQA", orange, 1.2, 0},
	{"gp", "Optuna's GP", gray, 1.2, 0},
	{"neldermead", "Nelder-Mead", black, 1.2, 2},
	{"lbfgs", "L-BFGS-B", orange, 1.2, 3},
	{"lbotune", "lbotune", blue, 2.2, 0},
}

// drawRegret draws the medians of a suite's table over the evaluations, a panel for each function.
func drawRegret(file, page, section string) error {
	tables, err := readTables(page, section)
	if err != nil {
		return err
	}
	var panels []*plot.Plot
	for _, f := range tables["After 25 evaluations"].names {
		p := panel(strings.TrimSuffix(f, "-shifted"))
		p.X.Label.Text, p.Y.Label.Text = "", ""
		p.X.Min, p.X.Max = 20, 105
		p.X.Tick.Marker = plot.ConstantTicks{{Value: 25, Label: "25"}, {Value: 50, Label: "50"}, {Value: 100, Label: "100"}}
		lo, hi := math.Inf(1), math.Inf(-1)
		var curves []plotter.XYs
		for _, l := range regretLines {
			var curve plotter.XYs
			for _, n := range []int{25, 50, 100} {
				median, err := tables[fmt.Sprintf("After %d evaluations", n)].median(f, l.key)
				if err != nil {
					return fmt.Errorf("%s after %d evaluations: %w", page, n, err)
				}
				y := math.Log10(median)
				lo, hi = min(lo, y), max(hi, y)
				curve = append(curve, plotter.XY{X: float64(n), Y: y})
			}
			curves = append(curves, curve)
		}
		p.Y.Min, p.Y.Max = math.Floor(lo)-0.1, math.Ceil(hi)+0.1
		p.Y.Tick.Marker = decades(int(math.Floor(lo)), int(math.Ceil(hi)))
		for i, l := range regretLines {
			add(p, l.name, line(curves[i], l.color, l.width, l.dash))
		}
		panels = append(panels, p)
	}
	const roomy = 2 // the panel with room for the legend
	for i, p := range panels {
		if i != roomy {
			p.Legend = plot.NewLegend()
		}
	}
	panels[roomy].Legend.YOffs = vg.Points(-28)
	return save(file, panels, 3, 720, 760)
}

// decades are ticks at up to six powers of ten.
func decades(lo, hi int) plot.ConstantTicks {
	step := 1 + (hi-lo)/6
	var out plot.ConstantTicks
	for e := lo; e <= hi; e += step {
		label := fmt.Sprintf("1e%d", e)
		if e == -9 {
			label = "<1e-9"
		}
		out = append(out, plot.Tick{Value: float64(e), Label: label})
	}
	return out
}
