package report

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
)

const (
	heatBands = 12 // of values
	heatPales = 5  // of certainty
	heatScale = 4  // pixels a place
)

// heat is a map as a picture: a band of values has one color, the dark end of
// which is good; the more uncertain, the paler. What is ruled out is hatched.
func (s *Study) heat(m Map) image.Image {
	palette := color.Palette{color.NRGBA{0xd5, 0x5e, 0x00, 0xff}}
	for band := range heatBands {
		for pale := range heatPales {
			f := float64(band) / (heatBands - 1)
			// From light sand to deep blue, and towards white also where the page is dark.
			mix := func(a, b float64) uint8 { return uint8(0xff + (a+(b-a)*f-0xff)*(1-0.19*float64(pale))) }
			palette = append(palette, color.NRGBA{mix(0xf3, 0x0b), mix(0xea, 0x3c), mix(0xd8, 0x78), 0xff})
		}
	}
	a := axisOf("", m.Mean, s.worse)
	doubt := slices.Max(m.SD)
	side := m.Size * heatScale
	img := image.NewPaletted(image.Rect(0, 0, side, side), palette)
	for y := range side {
		for x := range side {
			k := (m.Size-1-y/heatScale)*m.Size + x/heatScale
			f := a.at(m.Mean[k])
			if s.good(1) < 0 {
				f = 1 - f
			}
			pale := 0
			if doubt > 0 {
				pale = int(math.Min(m.SD[k]/doubt*heatPales, heatPales-1))
			}
			img.SetColorIndex(x, y, uint8(1+int(math.Min(f*heatBands, heatBands-1))*heatPales+pale))
			if m.Ruled[k] && (x+y)%8 == 0 {
				img.SetColorIndex(x, y, 0)
			}
		}
	}
	return img
}

func encoded(img image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic("report: a picture of some colors can't be encoded: " + err.Error())
	}
	return b.Bytes()
}
