package main

import (
	"bytes"
	"fmt"
	"math"

	"github.com/lbotune/lbotune/examples/robot-push/push"
)

// picture draws a push as SVG: the hand and the object three times a second,
// paler the longer ago, the object's path, the goal and the distance to it.
func picture(p push.Push, goal push.Vector) []byte {
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
	for x := math.Ceil(s.left); x < s.left+s.width; x++ { // a line for each metre of the table
		out(`<path d="M%.1f 0V%.0f" stroke="#e4e0d6"/>`, (x-s.left)*unit, high)
	}
	for y := math.Ceil(s.bottom); y < s.bottom+s.height; y++ {
		out(`<path d="M0 %.1fH%.0f" stroke="#e4e0d6"/>`, s.height*unit-(y-s.bottom)*unit, wide)
	}

	path := ""
	for i, f := range s.frames {
		paint := 0.12 + 0.3*float64(i)/float64(len(s.frames))
		if i == len(s.frames)-1 {
			paint = 1
		}
		x, y := at(f.Object)
		out(`<circle cx="%.1f" cy="%.1f" r="%.1f" fill="#d9822b" fill-opacity="%.2f" stroke="#8a4b0f" stroke-opacity="%.2f"/>`,
			x, y, push.ObjectRadius*unit, 0.6*paint, paint)
		path += fmt.Sprintf("%.1f,%.1f ", x, y)
		points := ""
		for _, c := range corners(f) {
			x, y := at(c)
			points += fmt.Sprintf("%.1f,%.1f ", x, y)
		}
		out(`<polygon points="%s" fill="#3b6ea5" fill-opacity="%.2f" stroke="#1d3f66" stroke-opacity="%.2f"/>`, points[:len(points)-1], 0.7*paint, paint)
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

// scene is some frames of a push, and the part of the table that shows them all.
type scene struct {
	frames []push.Frame
	end    push.Vector

	left, bottom, width, height float64 // m
}

// record keeps every n-th frame until the object rests, and the last one.
func record(p push.Push, goal push.Vector, n int) scene {
	var s scene
	var all []push.Frame
	s.end = p.Trace(func(f push.Frame) { all = append(all, f) })
	last := len(all) - 1
	for last > 0 && all[last-1] == all[last] {
		last--
	}
	for i := 0; i < last; i += n {
		s.frames = append(s.frames, all[i])
	}
	s.frames = append(s.frames, all[last])

	low, high := goal, goal
	cover := func(v push.Vector, margin float64) {
		low.X, low.Y = min(low.X, v.X-margin), min(low.Y, v.Y-margin)
		high.X, high.Y = max(high.X, v.X+margin), max(high.Y, v.Y+margin)
	}
	cover(goal, 0.6)
	for _, f := range s.frames {
		cover(f.Hand, math.Hypot(push.HandWidth, push.HandHeight)+0.3)
		cover(f.Object, push.ObjectRadius+0.3)
	}
	s.left, s.width = low.X, high.X-low.X
	s.bottom, s.height = low.Y, high.Y-low.Y
	return s
}

// corners of the hand, in order around it.
func corners(f push.Frame) [4]push.Vector {
	sin, cos := math.Sincos(f.HandAngle)
	var c [4]push.Vector
	for i, s := range [4][2]float64{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}} {
		x, y := s[0]*push.HandWidth, s[1]*push.HandHeight
		c[i] = push.Vector{X: f.Hand.X + cos*x - sin*y, Y: f.Hand.Y + sin*x + cos*y}
	}
	return c
}
