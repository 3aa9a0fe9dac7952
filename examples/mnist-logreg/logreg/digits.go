package logreg

import (
	"math"
	"math/rand/v2"
)

const side = 28 // pixels, as in MNIST

// Drawn makes a set of n digits, each drawn with a pen along a glyph's strokes
// after a random affine map and a wobble, then smudged by noise. Image i is
// always the same, whatever n is.
func Drawn(n int) *Set {
	set := newSet(n)
	glyphs := glyphs()
	for i := range n {
		r := rand.New(rand.NewPCG(0xd161, uint64(i)))
		digit := r.IntN(Classes)
		styles := glyphs[digit]
		set.add(draw(styles[r.IntN(len(styles))], r), uint8(digit))
	}
	return set
}

type point struct{ x, y float64 }

// A glyph is a list of strokes, each a polyline in the unit square with y
// pointing down.
type glyph [][]point

// hand is how one image deviates from its glyph.
type hand struct {
	ax, bx, cx, ay, by, cy float64 // the affine map to pixels
	waveX, waveY           float64 // amplitude of the wobble, in pixels
	freqX, freqY           float64 // its frequency per unit of the glyph
	phaseX, phaseY         float64
}

func newHand(r *rand.Rand) hand {
	angle := 0.19 * r.NormFloat64()
	shear := 0.2 * r.NormFloat64()
	wide := 17 * math.Exp(0.15*r.NormFloat64())
	high := 21 * math.Exp(0.1*r.NormFloat64())
	sin, cos := math.Sincos(angle)
	return hand{
		ax: wide * cos, bx: wide*shear - high*sin, cx: side/2 + 0.9*r.NormFloat64(),
		ay: wide * sin, by: high * cos, cy: side/2 + 0.9*r.NormFloat64(),
		waveX: 1.1 * r.NormFloat64(), waveY: 1.1 * r.NormFloat64(),
		freqX: 3 + 4*r.Float64(), freqY: 3 + 4*r.Float64(),
		phaseX: 2 * math.Pi * r.Float64(), phaseY: 2 * math.Pi * r.Float64(),
	}
}

// place maps a point of the unit square to pixels.
func (h hand) place(p point) point {
	x, y := p.x-0.5, p.y-0.5
	return point{
		x: h.ax*x + h.bx*y + h.cx + h.waveX*math.Sin(h.freqX*p.y+h.phaseX),
		y: h.ay*x + h.by*y + h.cy + h.waveY*math.Sin(h.freqY*p.x+h.phaseY),
	}
}

func draw(g glyph, r *rand.Rand) []byte {
	h := newHand(r)
	pen := 0.8 + 0.9*r.Float64()   // half the width of a stroke
	ink := 0.55 + 0.45*r.Float64() // its darkness
	var image [side * side]float64
	for _, stroke := range g {
		for i := range len(stroke) - 1 {
			segment(&image, h.place(stroke[i]), h.place(stroke[i+1]), pen)
		}
	}
	out := make([]byte, side*side)
	for i, v := range image {
		if v > 0 {
			v = ink*v + 0.12*r.NormFloat64()
		}
		if r.Float64() < 0.05 { // a speck of dirt
			v += 0.8 * r.Float64()
		}
		out[i] = byte(255 * min(max(v, 0), 1))
	}
	return out
}

// segment darkens the pixels near the line from a to b; the pen's edge is one
// pixel wide.
func segment(image *[side * side]float64, a, b point, pen float64) {
	reach := pen + 0.5
	x0 := max(int(math.Floor(min(a.x, b.x)-reach)), 0)
	x1 := min(int(math.Ceil(max(a.x, b.x)+reach)), side-1)
	y0 := max(int(math.Floor(min(a.y, b.y)-reach)), 0)
	y1 := min(int(math.Ceil(max(a.y, b.y)+reach)), side-1)
	dx, dy := b.x-a.x, b.y-a.y
	length2 := dx*dx + dy*dy
	for y := y0; y <= y1; y++ {
		for x := x0; x <= x1; x++ {
			px, py := float64(x)-a.x, float64(y)-a.y
			t := 0.0
			if length2 > 0 {
				t = min(max((px*dx+py*dy)/length2, 0), 1)
			}
			v := min(reach-math.Hypot(px-t*dx, py-t*dy), 1)
			if p := &image[y*side+x]; v > *p {
				*p = v
			}
		}
	}
}
