package images_test

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// least is what regrets below 1e-4 are drawn as: few programs show more digits.
const least = 1e-4

// regretLines are the optimizers of the picture: lbotune, and the four peers that its page names as
// the best after 50 evaluations.
var regretLines = []struct {
	key, name   string
	color       color.NRGBA
	width, dash float64
}{
	{"botorch_logei", "BoTorch", orange, 1.2, 0},
	{"optuna_gp_det", "Optuna's GP", gray, 1.2, 0},
	{"dlib", "dlib", black, 1.2, 2},
	{"turbo1", "TuRBO-1", orange, 1.2, 3},
	{"lbotune", "lbotune", blue, 2.2, 0},
}

// drawRegret draws the medians of a page's first evaluations, a panel for each function.
func drawRegret(file, page, section string) error {
	tables, err := readTables(page, section)
	if err != nil {
		return err
	}
	var panels []*plot.Plot
	for _, f := range tables[firstOf("lbotune")].names {
		p := panel(f)
		p.X.Label.Text, p.Y.Label.Text = "", ""
		p.X.Min, p.X.Max = 3, 52
		p.X.Tick.Marker = plot.ConstantTicks{{Value: 10, Label: "10"}, {Value: 25, Label: "25"}, {Value: 50, Label: "50"}}
		lo, hi := math.Inf(1), math.Inf(-1)
		var curves []plotter.XYs
		for _, l := range regretLines {
			var curve plotter.XYs
			for n := 5; n <= 50; n += 5 {
				median, err := tables[firstOf(l.key)].median(f, strconv.Itoa(n))
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
	const roomy = 7 // the panel with room for the legend
	for i, p := range panels {
		if i != roomy {
			p.Legend = plot.NewLegend()
		}
	}
	panels[roomy].Legend.Top, panels[roomy].Legend.Left = false, true
	return save(file, panels, 3, 720, 760)
}

// firstOf is the heading of an optimizer's table.
func firstOf(optimizer string) string { return "First evaluations of " + optimizer }

// decades are ticks at up to six powers of ten.
func decades(lo, hi int) plot.ConstantTicks {
	step := 1 + (hi-lo)/6
	var out plot.ConstantTicks
	for e := lo; e <= hi; e += step {
		label := fmt.Sprintf("1e%d", e)
		if math.Pow10(e) <= least {
			label = "<" + label
		}
		out = append(out, plot.Tick{Value: float64(e), Label: label})
	}
	return out
}
