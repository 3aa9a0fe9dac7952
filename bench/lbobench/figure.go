package main

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// palette is Okabe and Ito's, which colour-blind readers tell apart.
var palette = []color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff}, {0x55, 0x55, 0x55, 0xff},
}

// band is a curve with the area between two others.
type band struct{ low, mid, high []float64 }

// drawFigures draws two figures for each problem, as the paper does: the mean
// of the absolute error with its standard deviation, and on a log scale the
// median with the 10th and 90th percentiles; a panel for each acquisition.
func drawFigures(dir string, s *store, jobs []job, evals int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("draw figures: %w", err)
	}
	curves := map[string]map[string][][]float64{}
	for _, j := range jobs {
		if curves[j.objective.Name] == nil {
			curves[j.objective.Name] = map[string][][]float64{}
		}
		var errs []float64
		for _, p := range s.runs[j.key()].points {
			errs = append(errs, math.Max(math.Abs(p.Best-j.objective.Min), floor))
		}
		curves[j.objective.Name][j.variant] = append(curves[j.objective.Name][j.variant], errs)
	}
	for name, variants := range curves {
		for _, log := range []bool{false, true} {
			file := filepath.Join(dir, name+".png")
			if log {
				file = filepath.Join(dir, name+"-log.png")
			}
			if err := drawProblem(file, name, variants, log, evals); err != nil {
				return fmt.Errorf("draw %s: %w", file, err)
			}
		}
	}
	return nil
}

func drawProblem(file, name string, variants map[string][][]float64, log bool, evals int) error {
	const columns = 2
	rows := (len(acquisitions) + columns - 1) / columns
	img := vgimg.New(vg.Points(720), vg.Points(480))
	canvas := draw.New(img)
	edge := vg.Points(6)
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: 3 * edge, PadY: 3 * edge, PadTop: edge, PadRight: 2 * edge}
	for i, acq := range acquisitions {
		p := panel(name, acq, log, evals)
		shown := []string{acq + "-" + plain, acq + "-" + estimated, acq + "-" + known, "lipschitz", "random"}
		for k, v := range shown {
			if runs := variants[v]; len(runs) > 0 {
				if err := addBand(p, v, summarize(runs, log), palette[k], firstShown(log, evals), evals); err != nil {
					return err
				}
			}
		}
		p.Draw(tiles.At(canvas, i%columns, i/columns))
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(out); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

func panel(name, acq string, log bool, evals int) *plot.Plot {
	p := plot.New()
	p.Title.Text = name + ", " + strings.ToUpper(acq)
	p.X.Label.Text, p.Y.Label.Text = "evaluations", "absolute error"
	p.X.Min, p.X.Max = float64(firstShown(log, evals)-1), float64(evals)
	p.Legend.Top, p.Legend.Padding = true, vg.Points(2)
	if log {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: 0}
	}
	return p
}

// firstShown is the first evaluation in a figure. On a linear scale the first
// few would dwarf all others.
func firstShown(log bool, evals int) int {
	if log {
		return 1
	}
	return min(11, evals)
}

// summarize gives the mean with one standard deviation, or the median with the
// 10th and 90th percentiles, at every evaluation.
func summarize(runs [][]float64, log bool) band {
	var b band
	for i := range runs[0] {
		var at []float64
		for _, r := range runs {
			at = append(at, r[min(i, len(r)-1)])
		}
		low, mid, high := quantile(at, 0.1), median(at), quantile(at, 0.9)
		if !log {
			var sd float64
			mid, sd = stat.PopMeanStdDev(at, nil)
			low, high = math.Max(mid-sd, 0), mid+sd
		}
		b.low, b.mid, b.high = append(b.low, low), append(b.mid, mid), append(b.high, high)
	}
	return b
}

// addBand draws a band from one evaluation to another. A run that ended before
// the first stays at its last value.
func addBand(p *plot.Plot, label string, b band, c color.NRGBA, first, last int) error {
	var line, outline plotter.XYs
	end := len(b.mid) - 1
	for e := first; e <= last; e++ {
		i := min(e-1, end)
		line = append(line, plotter.XY{X: float64(e), Y: b.mid[i]})
		outline = append(outline, plotter.XY{X: float64(e), Y: b.high[i]})
	}
	for e := last; e >= first; e-- {
		outline = append(outline, plotter.XY{X: float64(e), Y: b.low[min(e-1, end)]})
	}
	area, err := plotter.NewPolygon(outline)
	if err != nil {
		return err
	}
	shade := c
	shade.A = 0x22
	area.Color, area.LineStyle.Width = shade, 0
	l, err := plotter.NewLine(line)
	if err != nil {
		return err
	}
	l.Color, l.Width = c, vg.Points(1.5)
	p.Add(area, l)
	p.Legend.Add(label, l)
	return nil
}
