package main

import (
	"bytes"
	"fmt"
	"math"

	"github.com/lbotune/lbotune/examples/robot-push/push"
)

// still draws a push as SVG: the hand and the object three times a second,
// paler the longer ago, the object's path, the goal and the distance to it.
func still(p push.Push, goal push.Vector) []byte {
	const wide, caption = 640.0, 28.0
	s := record(p, goal, 30)
	unit := wide / s.width
	high := s.height*unit + caption
	at := func(v push.Vector) (x, y float64) {
		return (v.X - s.left) * unit, s.height*unit - (v.Y-s.bottom)*unit
	}
	var b bytes.Buffer
	out := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }

	out(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="sans-serif" font-size="14">`, wide, high, wide, high)
	out(`<rect width="100%%" height="100%%" fill="#fbfaf7"/>`)
	grid(out, s, at, wide, high)

	for i, f := range s.frames {
		paint := 0.12 + 0.3*float64(i)/float64(len(s.frames))
		if i == len(s.frames)-1 {
			paint = 1
		}
		x, y := at(f.Object)
		out(`<circle cx="%.1f" cy="%.1f" r="%.1f" fill="#d9822b" fill-opacity="%.2f" stroke="#8a4b0f" stroke-opacity="%.2f"/>`,
			x, y, push.ObjectRadius*unit, 0.6*paint, paint)
		points := ""
		for _, c := range corners(f) {
			x, y := at(c)
			points += fmt.Sprintf("%.1f,%.1f ", x, y)
		}
		out(`<polygon points="%s" fill="#3b6ea5" fill-opacity="%.2f" stroke="#1d3f66" stroke-opacity="%.2f"/>`, points[:len(points)-1], 0.7*paint, paint)
	}

	path := ""
	for _, f := range s.frames {
		x, y := at(f.Object)
		path += fmt.Sprintf("%.1f,%.1f ", x, y)
	}
	out(`<polyline points="%s" fill="none" stroke="#8a4b0f" stroke-width="1.5"/>`, path[:len(path)-1])
	x0, y0 := at(s.end)
	x, y := at(goal)
	out(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#555" stroke-dasharray="4 3"/>`, x0, y0, x, y)
	out(`<path d="M%.1f %.1fl12 12m0 -12l-12 12" stroke="#b3261e" stroke-width="3"/>`, x-6, y-6)
	out(`<text x="12" y="%.0f" fill="#333">distance to the goal %.3f m</text>`, high-10, s.end.Distance(goal))
	out(`</svg>`)
	return b.Bytes()
}

// grid draws a line for each metre of the table.
func grid(out func(string, ...any), s scene, at func(push.Vector) (float64, float64), wide, high float64) {
	for m := int(math.Ceil(s.left)); float64(m) < s.left+s.width; m++ {
		x, _ := at(push.Vector{X: float64(m)})
		out(`<path d="M%.1f 0V%.0f" stroke="#e4e0d6"/>`, x, high)
	}
	for m := int(math.Ceil(s.bottom)); float64(m) < s.bottom+s.height; m++ {
		_, y := at(push.Vector{Y: float64(m)})
		out(`<path d="M0 %.1fH%.0f" stroke="#e4e0d6"/>`, y, wide)
	}
}
