package main

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"math"

	"github.com/lbotune/lbotune/examples/robot-push/push"
)

// The film's paints, and how many shades lie between a paint and the table's
// colour.
const (
	table = iota
	object
	hand
	target
	paints

	shades = 9
)

// film draws a push as an animated GIF, in half the speed of the real thing.
func film(p push.Push, goal push.Vector) ([]byte, error) {
	const wide, every, rest = 360, 4, 150
	s := record(p, goal, every)
	var g gif.GIF
	for _, f := range s.frames {
		g.Image = append(g.Image, s.picture(f, wide))
		g.Delay = append(g.Delay, 2*every)
	}
	g.Delay[len(g.Delay)-1] = rest
	var b bytes.Buffer
	err := gif.EncodeAll(&b, &g)
	return b.Bytes(), err
}

// picture draws one frame; each pixel averages 3×3 points, which smooths edges.
func (s scene) picture(f push.Frame, wide int) *image.Paletted {
	const fine = 3
	unit := s.width / float64(wide)
	high := int(s.height / unit)
	m := image.NewPaletted(image.Rect(0, 0, wide, high), palette())
	for py := range high {
		for px := range wide {
			var count [paints]int
			for k := range fine * fine {
				x := float64(px) + (float64(k%fine)+0.5)/fine
				y := float64(py) + (float64(k/fine)+0.5)/fine
				count[s.paint(f, push.Vector{X: s.left + x*unit, Y: s.bottom + s.height - y*unit})]++
			}
			best := object
			for c := object; c < paints; c++ {
				if count[c] > count[best] {
					best = c
				}
			}
			m.SetColorIndex(px, py, uint8(best*(shades+1)+count[best]*shades/(fine*fine)))
		}
	}
	return m
}

func (s scene) paint(f push.Frame, v push.Vector) int {
	g := push.Vector{X: v.X - s.goal.X, Y: v.Y - s.goal.Y}
	across, along := math.Abs(g.X-g.Y), math.Abs(g.X+g.Y)
	r := v.Distance(f.Object)
	switch {
	case max(across, along) < 0.5 && min(across, along) < 0.14: // a cross
		return target
	case onHand(f, v):
		return hand
	case r > push.ObjectRadius:
		return table
	case r < push.ObjectRadius-0.1 && math.Abs(math.Sin(math.Atan2(v.Y-f.Object.Y, v.X-f.Object.X)-f.ObjectAngle))*r < 0.05:
		return table // a line on the object shows how it turns
	}
	return object
}

func palette() color.Palette {
	rgb := [paints][3]int{
		table:  {0xfb, 0xfa, 0xf7},
		object: {0xd9, 0x82, 0x2b},
		hand:   {0x3b, 0x6e, 0xa5},
		target: {0xb3, 0x26, 0x1e},
	}
	var p color.Palette
	for c := range rgb {
		for s := range shades + 1 {
			mix := func(i int) uint8 { return uint8((rgb[c][i]*s + rgb[table][i]*(shades-s)) / shades) }
			p = append(p, color.RGBA{mix(0), mix(1), mix(2), 0xff})
		}
	}
	return p
}
