package main

import (
	"math"

	"github.com/lbotune/lbotune/examples/robot-push/push"
)

// scene is a push as it is drawn: some of its frames, and the part of the table
// that shows them all.
type scene struct {
	frames []push.Frame
	goal   push.Vector
	end    push.Vector

	left, bottom, width, height float64 // m
}

// record keeps every n-th frame until the object rests, and the last one.
func record(p push.Push, goal push.Vector, n int) scene {
	s := scene{goal: goal}
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
	s.frameAll()
	return s
}

func (s *scene) frameAll() {
	low, high := s.goal, s.goal
	cover := func(v push.Vector, margin float64) {
		low.X, low.Y = min(low.X, v.X-margin), min(low.Y, v.Y-margin)
		high.X, high.Y = max(high.X, v.X+margin), max(high.Y, v.Y+margin)
	}
	cover(s.goal, 0.6)
	for _, f := range s.frames {
		cover(f.Hand, math.Hypot(push.HandWidth, push.HandHeight)+0.3)
		cover(f.Object, push.ObjectRadius+0.3)
	}
	s.left, s.width = low.X, high.X-low.X
	s.bottom, s.height = low.Y, high.Y-low.Y
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

// onHand reports whether a point of the table lies under the hand.
func onHand(f push.Frame, v push.Vector) bool {
	sin, cos := math.Sincos(f.HandAngle)
	x, y := v.X-f.Hand.X, v.Y-f.Hand.Y
	return math.Abs(cos*x+sin*y) <= push.HandWidth && math.Abs(cos*y-sin*x) <= push.HandHeight
}
