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

// gainsLines are the columns of the table of the reproduction that show where a huge gain
// comes from.
var gainsLines = []struct {
	key, name   string
	color       color.NRGBA
	width, dash float64
}{
	{"random search", "random search", gray, 1.2, 3},
	{"no bounds", "no bounds", black, 1.2, 0},
	{"L-clip", "slope, clip", blue, 1.2, 0},
	{"twice-random", "twice, random", orange, 1.2, 3},
	{"twice-first", "twice, center", orange, 2.2, 0},
}

// drawGains draws the medians of the readings of the constant, a panel for each acquisition.
func drawGains(file, page string) error {
	tables, err := readTables(page, "reproduce/gains")
	if err != nil {
		return err
	}
	problems := []string{"rosenbrock3-cited", "rosenbrock4-cited", "rosenbrock5-cited", "rosenbrock3", "rosenbrock4", "rosenbrock5", "goldstein2", "michalewicz5"}
	short := strings.NewReplacer("rosenbrock", "R", "goldstein", "G", "michalewicz", "M", "-cited", " cited")
	var ticks plot.ConstantTicks
	for i, f := range problems {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: short.Replace(f)})
	}
	var panels []*plot.Plot
	for _, acquisition := range []string{"EI", "PI", "UCB", "TS"} {
		p := panel(acquisition)
		p.X.Label.Text, p.Y.Label.Text = "", ""
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.3, float64(len(problems))-0.7, -1, 7
		p.X.Tick.Marker, p.Y.Tick.Marker = ticks, decades(-1, 7)
		for _, l := range gainsLines {
			var curve plotter.XYs
			for i, f := range problems {
				median, err := tables[acquisition].median(f, l.key)
				if err != nil {
					return fmt.Errorf("%s: %s: %w", page, acquisition, err)
				}
				curve = append(curve, plotter.XY{X: float64(i), Y: math.Log10(median)})
			}
			add(p, l.name, line(curve, l.color, l.width, l.dash))
		}
		panels = append(panels, p)
	}
	for _, p := range panels[1:] {
		p.Legend = plot.NewLegend()
	}
	panels[0].Legend.Padding = vg.Points(1)
	return save(file, panels, 2, 860, 560)
}
