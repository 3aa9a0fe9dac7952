package images_test

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// regretTable is what the table of a suite says: medians[n][function][optimizer] after n evaluations.
type regretTable struct {
	functions []string
	medians   map[int]map[string]map[string]float64
}

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
	table, err := readRegrets(page, section)
	if err != nil {
		return err
	}
	var panels []*plot.Plot
	for _, f := range table.functions {
		p := panel(strings.TrimSuffix(f, "-shifted"))
		p.X.Label.Text, p.Y.Label.Text = "", ""
		p.X.Min, p.X.Max = 20, 105
		p.X.Tick.Marker = plot.ConstantTicks{{Value: 25, Label: "25"}, {Value: 50, Label: "50"}, {Value: 100, Label: "100"}}
		lo, hi := math.Inf(1), math.Inf(-1)
		var curves []plotter.XYs
		for _, l := range regretLines {
			var curve plotter.XYs
			for _, n := range []int{25, 50, 100} {
				median, ok := table.medians[n][f][l.key]
				if !ok {
					return fmt.Errorf("%s: no %s on %s after %d evaluations", page, l.key, f, n)
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

var afterEvaluations = regexp.MustCompile(`^### After (\d+) evaluations$`)

// readRegrets reads the medians between the marks of a section.
func readRegrets(page, section string) (regretTable, error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return regretTable{}, err
	}
	_, rest, ok := strings.Cut(string(text), "<!-- begin "+section+" -->")
	within, _, ended := strings.Cut(rest, "<!-- end "+section+" -->")
	if !ok || !ended {
		return regretTable{}, fmt.Errorf("%s: no section %s", page, section)
	}
	table := regretTable{medians: map[int]map[string]map[string]float64{}}
	n, head := 0, []string(nil)
	for row := range strings.Lines(within) {
		row = strings.TrimSpace(row)
		if m := afterEvaluations.FindStringSubmatch(row); m != nil {
			n, _ = strconv.Atoi(m[1])
			table.medians[n] = map[string]map[string]float64{}
			continue
		}
		if !strings.HasPrefix(row, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(row, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case cells[0] == "function":
			head = cells
		case cells[0] == "" || strings.HasPrefix(cells[0], "*") || strings.HasPrefix(cells[0], "-"):
		default:
			of := map[string]float64{}
			for i, c := range cells[1:] {
				v, err := strconv.ParseFloat(strings.TrimPrefix(c, "<"), 64)
				if err != nil {
					return regretTable{}, fmt.Errorf("%s: %s after %d evaluations: %w", page, cells[0], n, err)
				}
				of[head[i+1]] = max(v, least)
			}
			table.medians[n][cells[0]] = of
			if !slices.Contains(table.functions, cells[0]) {
				table.functions = append(table.functions, cells[0])
			}
		}
	}
	return table, nil
}
