package report

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"
)

// A plot in pixels has the size, the colours and the words of its SVG.
func TestPNG(t *testing.T) {
	several := studies(t)["two objectives"]
	h := begin(t, float("x"), float("kind"))
	h.trial(0.1, 0.2)
	h.failure("exit code 1")
	h.trial(0.5, 0.4)
	s := h.of(false)
	s.Model = fixedModel()
	green, blue, paper := color.NRGBA{0, 0x9e, 0x73, 0xff}, color.NRGBA{0, 0x72, 0xb2, 0xff}, color.NRGBA{0xff, 0xff, 0xff, 0xff}
	for _, c := range []struct {
		plot          string
		of            *Study
		width, height int
		has           []color.NRGBA
		area          image.Rectangle // where there is something
	}{
		{"history", s, 1800, 560, []color.NRGBA{green, paper}, image.Rect(0, 20, 40, 540)}, // the axis's name, upwards
		{"slice", s, 580, 800, []color.NRGBA{green, blue}, image.Rect(120, 760, 560, 800)}, // the second parameter's name
		{"importance", s, 880, 180, []color.NRGBA{blue}, image.Rect(200, 20, 235, 50)},
		{"map", s, 580, 520, []color.NRGBA{green, paper}, image.Rect(400, 100, 401, 101)},
		{"timeline", s, 1800, 196, []color.NRGBA{green}, image.Rect(0, 0, 110, 100)},
		{"front", several, 880, 600, []color.NRGBA{green}, image.Rect(0, 0, 40, 600)},
	} {
		var b bytes.Buffer
		if err := c.of.PNG(&b, c.plot); err != nil {
			t.Errorf("%s: %v", c.plot, err)
			continue
		}
		img, err := png.Decode(&b)
		if err != nil || img.Bounds().Dx() != c.width || img.Bounds().Dy() != c.height {
			t.Errorf("%s: %v, %v; want %d × %d", c.plot, err, img.Bounds(), c.width, c.height)
			continue
		}
		found, marked := map[color.Color]bool{}, false
		for y := range c.height {
			for x := range c.width {
				at := color.NRGBAModel.Convert(img.At(x, y))
				found[at] = true
				marked = marked || at != paper && image.Pt(x, y).In(c.area)
			}
		}
		for _, want := range c.has {
			if !found[want] {
				t.Errorf("%s: nothing is %v", c.plot, want)
			}
		}
		if !marked {
			t.Errorf("%s: nothing stands in %v", c.plot, c.area)
		}
	}
	if err := s.PNG(&bytes.Buffer{}, "nothing"); err == nil {
		t.Error("there is a plot called nothing")
	}
}
