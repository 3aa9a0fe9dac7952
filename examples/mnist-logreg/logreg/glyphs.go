package logreg

import "math"

// glyphs lists the ways in which each digit is written.
func glyphs() [Classes][]glyph {
	return [Classes][]glyph{
		0: {
			{oval(0.5, 0.5, 0.28, 0.44)},
			{oval(0.5, 0.5, 0.36, 0.40)},
		},
		1: {
			{line(0.5, 0.06, 0.5, 0.94)},
			{line(0.3, 0.28, 0.52, 0.06, 0.52, 0.94)},
			{line(0.3, 0.25, 0.5, 0.06, 0.5, 0.94), line(0.28, 0.94, 0.72, 0.94)},
		},
		2: {
			{append(arc(0.5, 0.32, 0.27, 0.25, 190, 400), line(0.22, 0.93, 0.80, 0.93)...)},
			{append(arc(0.48, 0.30, 0.27, 0.23, 200, 420), append(arc(0.33, 0.80, 0.12, 0.12, 20, 330), line(0.84, 0.92)...)...)},
		},
		3: {
			{arc(0.46, 0.28, 0.25, 0.21, 200, 450), arc(0.46, 0.71, 0.29, 0.22, 270, 510)},
			{line(0.22, 0.08, 0.74, 0.08, 0.46, 0.42), arc(0.46, 0.68, 0.28, 0.26, 270, 510)},
		},
		4: {
			{line(0.30, 0.06, 0.22, 0.56, 0.82, 0.56), line(0.64, 0.28, 0.62, 0.95)},
			{line(0.62, 0.95, 0.62, 0.06, 0.18, 0.64, 0.84, 0.64)},
		},
		5: {
			{append(line(0.76, 0.07, 0.32, 0.07, 0.28, 0.46), arc(0.46, 0.67, 0.28, 0.25, 235, 500)...)},
			{arc(0.46, 0.67, 0.28, 0.25, 215, 500), line(0.30, 0.52, 0.34, 0.08), line(0.34, 0.08, 0.76, 0.12)},
		},
		6: {
			{append(line(0.66, 0.06, 0.42, 0.26, 0.28, 0.56), arc(0.5, 0.70, 0.22, 0.22, 180, 540)...)},
			{line(0.40, 0.05, 0.27, 0.66), oval(0.5, 0.71, 0.24, 0.21)},
		},
		7: {
			{line(0.20, 0.08, 0.80, 0.08, 0.42, 0.95)},
			{line(0.22, 0.10, 0.78, 0.08, 0.46, 0.95), line(0.36, 0.50, 0.74, 0.48)},
		},
		8: {
			{oval(0.5, 0.28, 0.20, 0.21), oval(0.5, 0.71, 0.26, 0.23)},
			{append(line(0.74, 0.12), append(arc(0.46, 0.28, 0.20, 0.19, 300, 90), arc(0.5, 0.71, 0.24, 0.22, 270, 630)...)...), line(0.52, 0.48, 0.74, 0.12)},
		},
		9: {
			{oval(0.48, 0.30, 0.23, 0.23), line(0.71, 0.30, 0.66, 0.95)},
			{oval(0.48, 0.30, 0.24, 0.22), append(line(0.72, 0.30), arc(0.46, 0.66, 0.25, 0.27, 0, 130)...)},
		},
	}
}

// line joins points given as x, y, x, y ...
func line(xy ...float64) []point {
	var s []point
	for i := 0; i < len(xy); i += 2 {
		s = append(s, point{xy[i], xy[i+1]})
	}
	return s
}

// arc follows an ellipse from one angle to another, in degrees clockwise from
// the right, as seen with y pointing down.
func arc(cx, cy, rx, ry, from, to float64) []point {
	const pieces = 14
	var s []point
	for i := range pieces + 1 {
		sin, cos := math.Sincos((from + (to-from)*float64(i)/pieces) * math.Pi / 180)
		s = append(s, point{cx + rx*cos, cy + ry*sin})
	}
	return s
}

func oval(cx, cy, rx, ry float64) []point { return arc(cx, cy, rx, ry, 0, 360) }
