package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/study"
)

// clean makes text of unknown origin safe to show: one line, without control characters,
// not endless. It is not escaped yet.
func clean(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '�'
	}, s)
}

// mark is the number of one of the marks on a range so wide, in as many digits as tell it from the others.
func mark(v, wide float64) string {
	digits := math.Floor(math.Log10(math.Abs(v))) - math.Floor(math.Log10(wide/10)) + 1
	switch {
	case !(digits > 4 && digits < 16): // also if one of both is 0
		digits = 4
	case v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', int(digits), 64)
}

// tick is a mark on an axis, between 0 and 1.
type tick struct {
	at    float64
	label string
}

// axis maps values to places between 0 and 1.
type axis struct {
	lo, hi float64
	log    bool
	label  string
	scale  string          // that is not linear, after the label
	better study.Direction // if some values are better than others
	room   float64         // beyond its end
	ticks  []tick          // set for an axis of a parameter, whose values are places already
}

// bare is an axis without marks.
var bare = axis{hi: 1, ticks: []tick{}}

// at is the place of a value; what lies beyond the ends is drawn at them.
func (a axis) at(v float64) float64 {
	lo, hi := a.lo, a.hi
	if a.log {
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(math.Max(v, lo))
	}
	return math.Min(math.Max((v/2-lo/2)/(hi/2-lo/2), 0), 1) // hi-lo may be no number
}

func (a axis) marks() []tick {
	if a.ticks != nil {
		return a.ticks
	}
	return lists.Map(niceTicks(a.lo, a.hi, a.log), func(v float64) tick { return tick{a.at(v), mark(v, a.hi-a.lo)} })
}

// longest is how long the labels of numbers are.
func (a axis) longest() (n int) {
	for _, t := range a.marks() {
		if _, err := strconv.ParseFloat(t.label, 64); err == nil {
			n = max(n, len(t.label))
		}
	}
	return n
}

// niceTicks are round numbers between lo and hi: 1, 2 or 5 times a power of ten apart,
// and powers of ten where a logarithmic axis has at least two of them, with what is between two.
func niceTicks(lo, hi float64, log bool) []float64 {
	var out []float64
	if log && math.Floor(math.Log10(hi))-math.Ceil(math.Log10(lo)) >= 1 {
		first, last := math.Ceil(math.Log10(lo)-1e-9), math.Floor(math.Log10(hi)+1e-9)
		step := math.Ceil((last - first + 1) / 6)
		between := []float64{1}
		if last-first < 2 {
			between = []float64{1, 2, 5}
		}
		for e := first - step; e <= last; e += step {
			for _, k := range between {
				if v := k * math.Pow(10, e); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
					out = append(out, v)
				}
			}
		}
		return out
	}
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/4)))
	for _, k := range []float64{1, 2, 5, 10} {
		if (hi-lo)/(step*k) <= 6 {
			step *= k
			break
		}
	}
	if !(step > 0) || math.IsInf(step, 0) {
		return nil
	}
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+step*1e-9 && len(out) < 10; k++ {
		out = append(out, k*step+0) // no -0
	}
	return out
}

// axisOf is an axis for values of which those of the best trials count most. It is
// logarithmic when all are positive and spread over more than two powers of ten. Else
// the worst quarter is cut off where it would squeeze the others into a third.
func axisOf(label string, values []float64, better study.Direction) axis {
	a := axis{label: label, hi: 1, better: better}
	sorted := slices.DeleteFunc(slices.Sorted(slices.Values(values)), func(v float64) bool { return !finite(v) })
	if len(sorted) == 0 {
		a.ticks = []tick{}
		return a
	}
	a.lo, a.hi = sorted[0], sorted[len(sorted)-1]
	if a.lo > 0 && a.hi/a.lo > 100 {
		a.log, a.scale = true, logScale
		a.lo, a.hi = a.lo/1.2, math.Min(a.hi*1.2, math.MaxFloat64)
		return a
	}
	if n := len(sorted); n >= 10 {
		low, high := sorted[n/4], sorted[n-1-n/4]
		switch {
		case better == study.Minimize && a.hi-a.lo > 3*(high-a.lo) && high > a.lo:
			a.hi = a.lo + coarse((high-a.lo)*1.25)
		case better == study.Maximize && a.hi-a.lo > 3*(a.hi-low) && a.hi > low:
			a.lo = a.hi - coarse((a.hi-low)*1.25)
		}
	}
	pad := (a.hi - a.lo) * 0.05
	if a.hi == a.lo {
		pad = math.Max(math.Abs(a.lo)*0.1, 1e-9)
	}
	if pad > 0 && !math.IsInf(pad, 0) {
		a.lo, a.hi = a.lo-pad, a.hi+pad
	}
	return a
}

const logScale = " (logarithmic)"

// coarse rounds a range up, so that it holds still while values come in.
func coarse(x float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(x))) / 5
	return math.Ceil(x/step) * step
}

// canvas is what a chart is drawn on, with places from the top left. How things look follows
// from their class, by chart.css.
type canvas interface {
	line(class string, x1, y1, x2, y2 float64)
	rect(class string, x, y, w, h float64)
	text(class string, x, y float64, s string)
	// path is in parts where places are not a number; the values are those of another scale.
	path(class string, places [][2]float64, values ...float64)
	dot(class string, x, y, r float64)
	heat(a axis, m Map, x, y, w, h float64)
	link(to string, draw func())
	String() string
}

// chart is a picture with two axes.
type chart struct {
	canvas
	width, height            float64
	left, right, top, bottom float64
	x, y                     axis
	key                      string // of the study, before the numbers of trials
}

// chart begins a picture, which says in words what it shows.
func (s *Study) chart(title string, width, height float64, x, y axis) *chart {
	longest := y.longest()
	c := &chart{width: width, height: height, left: max(58, 14+6.2*float64(longest)), right: 12 + x.room, top: 10, bottom: 36, x: x, y: y, key: s.Key}
	if s.cells != nil {
		rows := 3 + int(math.Ceil(height/cellHeight))
		c.canvas = &cells{*s.cells, make([]cell, rows*s.cells.Columns)}
		c.width, c.height, c.left, c.top = float64(s.cells.Columns)*cellWidth, float64(rows)*cellHeight, float64(max(11, longest+2))*cellWidth, 2.5*cellHeight
		c.canvas.text("title", 0, 4, clean(title, s.cells.Columns))
		c.canvas.text("label", 0, cellHeight+4, clean(y.label+y.scale, s.cells.Columns))
		return c
	}
	b, scale := &svg{}, ""
	if y.ticks == nil && y.label == s.Metric { // so that the page can draw it on another scale
		scale = fmt.Sprintf(` data-y="%g %g %d %g %g"`, y.lo, y.hi, map[bool]int{true: 1}[y.log], c.py(1), c.py(0))
	}
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 %g %g" role="img"%s><title>%s</title>`,
		width, height, scale, html.EscapeString(clean(title, 200)))
	c.canvas = b
	return c
}

func (c *chart) px(place float64) float64 { return c.left + place*(c.width-c.left-c.right) }
func (c *chart) py(place float64) float64 {
	return c.height - c.bottom - place*(c.height-c.top-c.bottom)
}

// frame draws the axes, their ticks and labels.
func (c *chart) frame() {
	most := max(9, c.y.longest())
	for _, t := range c.y.marks() {
		y := c.py(t.at)
		c.line("grid", c.px(0), y, c.px(1), y)
		c.text("tick end", c.left-6, y+3.5, t.label, most)
	}
	marks := c.x.marks()
	room, free := max(int((c.width-c.left-c.right)/float64(max(len(marks), 1))/6.2), 3), 0.0
	for i, t := range marks {
		x, class, begin, end := c.px(t.at), "tick mid", 0.5, 0.5
		if t.at > 0.98 && i > 0 {
			class, begin, end = "tick end", 1, 0
		}
		c.line("grid", x, c.py(0), x, c.py(0)+4)
		if _, err := strconv.ParseFloat(t.label, 64); err == nil { // rather none than half of a number
			width := 6.2 * float64(len(t.label))
			if x-begin*width < free {
				continue
			}
			free, room = x+end*width+3, len(t.label)
		}
		c.text(class, x, c.py(0)+16, t.label, room)
	}
	c.line("axis", c.px(0), c.py(0), c.px(1), c.py(0))
	c.text("label mid", c.px(0.5), c.height-4, c.x.label+c.x.scale, int((c.width-c.left)/6))
	if c.y.label != "" {
		c.text("label mid"+upwards, 11, c.py(0.5), c.y.label+c.y.scale, int((c.height-c.top)/6))
	}
}

// upwards is the end of the class of text along an upright axis.
const upwards = " up"

func (c *chart) text(class string, x, y float64, s string, most int) {
	c.canvas.text(class, x, y, clean(s, most))
}

// trial encloses what stands for a trial: the page marks all of it at once, and a click
// leads to the trial.
func (c *chart) trial(n int, draw func()) { c.link(fmt.Sprintf("t%s%d", c.key, n), draw) }

// dot draws a trial at places of the two axes.
func (c *chart) dot(t *Trial, x, y, r float64) {
	c.trial(t.Number, func() { c.canvas.dot(t.class(), c.px(x), c.py(y), r) })
}

// series are the places of values of the two axes.
func (c *chart) series(xs, ys []float64) (out [][2]float64) {
	for k, x := range xs {
		out = append(out, [2]float64{c.x.at(x), c.y.at(ys[k])})
	}
	return out
}

// path draws lines between places of the two axes.
func (c *chart) path(class string, places [][2]float64, values ...float64) {
	c.canvas.path(class, lists.Map(places, func(p [2]float64) [2]float64 { return [2]float64{c.px(p[0]), c.py(p[1])} }), values...)
}

type svg struct{ strings.Builder }

func (b *svg) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(b, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

func (b *svg) rect(class string, x, y, w, h float64) {
	fmt.Fprintf(b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, x, y, math.Max(w, 0), h)
}

func (b *svg) text(class string, x, y float64, s string) {
	at := fmt.Sprintf(`x="%.1f" y="%.1f"`, x, y)
	class, up := strings.CutSuffix(class, upwards)
	if up {
		at = fmt.Sprintf(`transform="translate(%g %.1f) rotate(-90)"`, x, y)
	}
	fmt.Fprintf(b, `<text class="%s" %s>%s</text>`, class, at, html.EscapeString(s))
}

func (b *svg) path(class string, places [][2]float64, values ...float64) {
	fmt.Fprintf(b, `<path class="%s" d="`, class)
	pen, exact := "M", ""
	for i, p := range places {
		if math.IsNaN(p[0] + p[1]) {
			pen = "M"
			continue
		}
		fmt.Fprintf(b, "%s%.1f %.1f", pen, p[0], p[1])
		pen = "L"
		if len(values) > 0 && finite(values[i]) {
			exact += " " + strconv.FormatFloat(values[i], 'g', -1, 64)
		} else if len(values) > 0 {
			exact += " 1e308"
		}
	}
	if exact != "" {
		exact = `" data-v="` + exact[1:]
	}
	b.WriteString(exact + `"/>`)
}

func (b *svg) dot(class string, x, y, r float64) {
	fmt.Fprintf(b, `<circle class="%s" cx="%.1f" cy="%.1f" r="%g"/>`, class, x, y, r)
}

// heat draws a map, and beside it which value has which color: a band of values has one, the
// dark end of which is good; the more uncertain, the paler. What is ruled out is hatched.
func (b *svg) heat(a axis, m Map, x, y, w, h float64) {
	palette := color.Palette{color.NRGBA{0xd5, 0x5e, 0x00, 0xff}}
	for band := range heatBands {
		for pale := range heatPales {
			f := float64(band) / (heatBands - 1)
			// From light sand to deep blue, and towards white also where the page is dark.
			mix := func(a, b float64) uint8 { return uint8(0xff + (a+(b-a)*f-0xff)*(1-0.19*float64(pale))) }
			palette = append(palette, color.NRGBA{mix(0xf3, 0x0b), mix(0xea, 0x3c), mix(0xd8, 0x78), 0xff})
		}
	}
	doubt := slices.Max(m.SD)
	side := m.Size * heatScale
	img, bar := image.NewPaletted(image.Rect(0, 0, side, side), palette), image.NewPaletted(image.Rect(0, 0, 1, int(h)), palette)
	for i := range img.Pix {
		u, v := i%side, i/side
		k, pale := (m.Size-1-v/heatScale)*m.Size+u/heatScale, 0.0
		if doubt > 0 {
			pale = math.Min(m.SD[k]/doubt*heatPales, heatPales-1)
		}
		if img.Pix[i] = shade(a.turned(a.at(m.Mean[k])), int(pale)); m.Ruled[k] && (u+v)%8 == 0 {
			img.Pix[i] = 0
		}
	}
	for i := range bar.Pix {
		bar.Pix[i] = shade(a.turned(1-float64(i)/float64(len(bar.Pix))), 0)
	}
	b.image(img, x, y, w, h)
	b.image(bar, x+w+8, y, 8, h)
	for _, t := range a.marks() {
		b.text("tick", x+w+19, y+(1-t.at)*h+3.5, t.label)
	}
}

func (b *svg) image(img image.Image, x, y, w, h float64) {
	var picture bytes.Buffer
	must(png.Encode(&picture, img)) // of some colors
	fmt.Fprintf(b, `<image x="%.1f" y="%.1f" width="%.1f" height="%.1f" preserveAspectRatio="none" href="data:image/png;base64,%s"/>`,
		x, y, w, h, base64.StdEncoding.EncodeToString(picture.Bytes()))
}

// shade is the color of a value that is so good, 1 at best, by how uncertain it is.
func shade(good float64, pale int) uint8 {
	return uint8(1 + int(math.Min(good*heatBands, heatBands-1))*heatPales + pale)
}

const (
	heatBands = 12 // of values
	heatPales = 5  // of certainty
	heatScale = 4  // pixels a place
)

// turned is a place, or how far it is from the other end: so that the better end is 1.
func (a axis) turned(place float64) float64 {
	if a.better == study.Minimize {
		return 1 - place
	}
	return place
}

func (b *svg) link(to string, draw func()) {
	fmt.Fprintf(b, "\n<a href=\"#%s\">", to) // a line of its own: what changes is sent by lines
	draw()
	b.WriteString("</a>")
}

// String ends the picture.
func (b *svg) String() string { return b.Builder.String() + "</svg>" }
