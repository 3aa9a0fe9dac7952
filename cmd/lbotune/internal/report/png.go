package report

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// density is how many pixels there are to each unit of a chart.
const density = 2

// PNG writes a plot in pixels, its pictures below each other.
func (s *Study) PNG(w io.Writer, name string) error {
	drawn := *s
	drawn.pixels = &album{styles: map[string]style{}}
	if _, err := drawn.draw(name); err != nil {
		return err
	}
	var size image.Point
	for _, p := range drawn.pixels.pictures {
		size = image.Pt(max(size.X, p.Bounds().Dx()), size.Y+p.Bounds().Dy())
	}
	all := gg.NewContextForRGBA(image.NewRGBA(image.Rectangle{Max: size}))
	y := 0
	for _, p := range drawn.pixels.pictures {
		all.DrawImage(p, 0, y)
		y += p.Bounds().Dy()
	}
	return png.Encode(w, all.Image())
}

// album holds the pictures of a plot in pixels, and the styles of classes.
type album struct {
	pictures []image.Image
	styles   map[string]style
}

// pixels is a canvas of those.
type pixels struct {
	*gg.Context
	*album
	around string // classes that come with where something is drawn
}

func (a *album) picture(width, height float64) *pixels {
	p := &pixels{gg.NewContext(int(density*width), int(density*height)), a, "chart "}
	font, err := opentype.Parse(goregular.TTF)
	if err != nil {
		panic("report: " + err.Error()) // the font is part of the program
	}
	face, err := opentype.NewFace(font, &opentype.FaceOptions{Size: 10 * density, DPI: 72})
	if err != nil {
		panic("report: " + err.Error())
	}
	p.SetFontFace(face)
	p.SetColor(color.White)
	p.Clear()
	p.Scale(density, density)
	return p
}

// paint fills and strokes what has been drawn.
func (p *pixels) paint(class string) {
	s := p.style(p.around + class)
	if p.pick(s, "fill") {
		p.FillPreserve()
	}
	if p.pick(s, "stroke") {
		p.SetLineWidth(density * s.number("stroke-width"))
		p.StrokePreserve()
	}
	p.ClearPath()
}

func (p *pixels) line(class string, x1, y1, x2, y2 float64) {
	p.DrawLine(x1, y1, x2, y2)
	p.paint(class)
}

func (p *pixels) rect(class string, x, y, w, h float64) {
	p.DrawRectangle(x, y, math.Max(w, 0), h)
	p.paint(class)
}

func (p *pixels) dot(class string, x, y, r float64) {
	p.DrawCircle(x, y, r)
	p.paint(class)
}

func (p *pixels) path(class string, places [][2]float64) {
	for _, at := range places {
		if math.IsNaN(at[0] + at[1]) {
			p.NewSubPath()
		} else {
			p.LineTo(at[0], at[1])
		}
	}
	p.paint(class)
}

func (p *pixels) text(class string, x, y float64, s string) {
	style := p.style(p.around + class)
	p.pick(style, "fill")
	x, y = p.TransformPoint(x, y)
	p.Push()
	p.Identity() // scaled letters would be blurred
	if strings.HasSuffix(class, upwards) {
		p.RotateAbout(gg.Radians(-90), x, y)
	}
	p.DrawStringAnchored(s, x, y, map[string]float64{"middle": 0.5, "end": 1}[style["text-anchor"]], 0)
	p.Pop()
}

func (p *pixels) heat(s *Study, m Map, x, y, w, h float64) {
	img := s.heat(m)
	p.Push()
	p.Translate(x, y)
	p.Scale(w/float64(img.Bounds().Dx()), h/float64(img.Bounds().Dy()))
	p.DrawImage(img, 0, 0)
	p.Pop()
	p.around += "on-image "
}

func (p *pixels) link(_ string, draw func()) { draw() }

// String ends the picture. What it returns says only that there is one.
func (p *pixels) String() string {
	p.pictures = append(p.pictures, p.Image())
	return "drawn"
}

// style is what the rules of a style sheet say together.
type style map[string]string

// style is that of something of those classes. Special rules follow the general ones.
func (a *album) style(classes string) style {
	if s := a.styles[classes]; s != nil {
		return s
	}
	out, has := style{}, strings.Fields(classes)
	for block := range strings.SplitSeq(strings.ReplaceAll(variable.ReplaceAllString(chartCSS, "$1"), "image~a ", ".on-image"), "}") {
		selectors, body, _ := strings.Cut(block, "{")
		for selector := range strings.SplitSeq(selectors, ",") {
			if slices.ContainsFunc(strings.Split(strings.TrimSpace(selector), ".")[1:], func(c string) bool { return !slices.Contains(has, c) }) {
				continue
			}
			for line := range strings.SplitSeq(body, ";") {
				name, value, _ := strings.Cut(line, ":")
				out[name] = value
			}
		}
	}
	a.styles[classes] = out
	return out
}

// pick takes the colour of a fill or of a stroke, if there is one.
func (p *pixels) pick(s style, what string) bool {
	var c color.NRGBA
	if _, err := fmt.Sscanf(s[what], "#%02x%02x%02x", &c.R, &c.G, &c.B); err != nil {
		return false
	}
	c.A = uint8(255*s.number(what+"-opacity") + 0.5)
	p.SetColor(c)
	return true
}

// number is the value of a property, 1 where no rule sets it.
func (s style) number(name string) float64 {
	x, err := strconv.ParseFloat(cmp.Or(s[name], "1"), 64)
	if err != nil {
		panic("report: chart.css: " + name + ": " + err.Error())
	}
	return x
}
