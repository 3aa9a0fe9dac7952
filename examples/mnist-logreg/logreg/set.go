// Package logreg is multinomial logistic regression trained by stochastic
// gradient descent, together with the two data sets it is trained on: the
// MNIST files, and drawn digits of the same shape for when those are absent.
//
// With three hyperparameters (the strength of the ℓ2 penalty, the learning rate
// and the number of passes) it is the training task of Ahmed, Vaswani and
// Schmidt, "Combining Bayesian Optimization and Lipschitz Optimization"
// (Machine Learning, 2020).
package logreg

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Classes is the number of labels, the digits 0 to 9.
const Classes = 10

// Set holds labelled images.
type Set struct{ images []image }

type image struct {
	label  int // the digit that it shows
	packed []byte
	// Of its pixels those that are not empty, once it is one of a split: most of a digit's are, so
	// that skipping them makes a pass over the data several times faster.
	pixel []uint16  // their indices
	value []float64 // their values, in (0, 1]
}

// Len is the number of images.
func (s *Set) Len() int { return len(s.images) }

// add appends one image.
func (s *Set) add(pixels []byte, label int) {
	s.images = append(s.images, image{label: label, packed: pixels})
}

// unpacked is the image with its pixels; one of 255 has the value 1.
func (im image) unpacked() image {
	n := len(im.packed) - bytes.Count(im.packed, []byte{0})
	im.pixel, im.value = make([]uint16, 0, n), make([]float64, 0, n)
	for i, p := range im.packed {
		if p > 0 {
			im.pixel = append(im.pixel, uint16(i))
			im.value = append(im.value, float64(p)/255)
		}
	}
	return im
}

// Split shuffles the images and divides them: four fifths to train on and one
// fifth to test on. The division is the same in every run, so that trials
// differ by their hyperparameters alone. With 0 < n < Len only n images are
// used.
func (s *Set) Split(n int) (train, test *Set) {
	order := rand.New(rand.NewPCG(0x5eed, 80)).Perm(s.Len())
	if n > 0 && n < len(order) {
		order = order[:n]
	}
	pick := func(indices []int) *Set {
		var p Set
		for _, i := range indices {
			p.images = append(p.images, s.images[i].unpacked())
		}
		return &p
	}
	cut := len(order) * 4 / 5
	return pick(order[:cut]), pick(order[cut:])
}

// DrawnData stands in place of a directory for digits that are drawn.
const DrawnData = "drawn"

// Load reads the four packed files of MNIST, or of a set like it, from a directory, or draws n
// digits. All images go into one set, because the published task splits the whole of it anew.
func Load(data string, n int) (*Set, error) {
	if data == DrawnData {
		if n == 0 {
			n = DefaultDrawn
		}
		return Drawn(n), nil
	}
	set := &Set{}
	for _, half := range []string{"train", "t10k"} {
		images, err := readIDX(filepath.Join(data, half+"-images-idx3-ubyte.gz"), side, side)
		if err != nil {
			return nil, err
		}
		labels, err := readIDX(filepath.Join(data, half+"-labels-idx1-ubyte.gz"))
		if err != nil {
			return nil, err
		}
		if n := len(images) / (side * side); n != len(labels) {
			return nil, fmt.Errorf("%s has %d %s images but %d labels", data, n, half, len(labels))
		}
		for i, label := range labels {
			if label >= Classes {
				return nil, fmt.Errorf("%s: label %d of image %d (%s) is none of %d", data, label, i, half, Classes)
			}
			set.add(images[i*side*side:(i+1)*side*side], int(label))
		}
	}
	return set, nil
}

// readIDX reads a packed file of items with the given dimensions: two zero bytes, 8 for unsigned bytes,
// the number of dimensions, each of these as a big-endian uint32, and the data.
func readIDX(path string, item ...uint32) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", path, err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(make([]byte, 0, 5*info.Size())) // room for MNIST, which else is moved a dozen times
	if _, err := b.ReadFrom(unpacked); err != nil {
		return nil, fmt.Errorf("unpack %s: %w", path, err)
	}
	all := b.Bytes()
	head := 4 * (2 + len(item))
	if len(all) < head || binary.BigEndian.Uint32(all) != 0x801+uint32(len(item)) {
		return nil, fmt.Errorf("%s does not begin as IDX data of %d dimensions does", path, 1+len(item))
	}
	size := uint64(binary.BigEndian.Uint32(all[4:]))
	for i, want := range item {
		if found := binary.BigEndian.Uint32(all[8+4*i:]); found != want {
			return nil, fmt.Errorf("%s: found %d as a dimension of an image, want %d", path, found, want)
		}
		size *= uint64(want)
	}
	if found := uint64(len(all) - head); found != size {
		return nil, fmt.Errorf("%s has %d bytes of data where its head promises %d", path, found, size)
	}
	return all[head:], nil
}

const side = 28 // pixels, as in MNIST

// Drawn makes a set of n digits, each drawn with a pen along a glyph's strokes
// after a random affine map and a wobble, then smudged by noise. Image i is
// always the same, whatever n is.
func Drawn(n int) *Set {
	set := &Set{}
	glyphs := glyphs()
	for i := range n {
		r := rand.New(rand.NewPCG(0xd161, uint64(i)))
		digit := r.IntN(Classes)
		styles := glyphs[digit]
		set.add(draw(styles[r.IntN(len(styles))], r), digit)
	}
	return set
}

type point struct{ x, y float64 }

// A glyph is a list of strokes, polylines in the unit square with y pointing down.
type glyph [][]point

// hand is how one image deviates from its glyph: it maps a point of the unit square to pixels.
func hand(r *rand.Rand) func(point) point {
	angle := 0.19 * r.NormFloat64()
	shear := 0.2 * r.NormFloat64()
	wide := 17 * math.Exp(0.15*r.NormFloat64())
	high := 21 * math.Exp(0.1*r.NormFloat64())
	sin, cos := math.Sincos(angle)
	cx, cy := side/2+0.9*r.NormFloat64(), side/2+0.9*r.NormFloat64()
	waveX, waveY := 1.1*r.NormFloat64(), 1.1*r.NormFloat64() // amplitude of the wobble, in pixels
	freqX, freqY := 3+4*r.Float64(), 3+4*r.Float64()         // its frequency per unit of the glyph
	phaseX, phaseY := 2*math.Pi*r.Float64(), 2*math.Pi*r.Float64()
	return func(p point) point {
		x, y := p.x-0.5, p.y-0.5
		return point{
			x: wide*cos*x + (wide*shear-high*sin)*y + cx + waveX*math.Sin(freqX*p.y+phaseX),
			y: wide*sin*x + high*cos*y + cy + waveY*math.Sin(freqY*p.x+phaseY),
		}
	}
}

func draw(g glyph, r *rand.Rand) []byte {
	place := hand(r)
	pen := 0.8 + 0.9*r.Float64()   // half the width of a stroke
	ink := 0.55 + 0.45*r.Float64() // its darkness
	var image [side * side]float64
	for _, stroke := range g {
		for i := range len(stroke) - 1 {
			segment(&image, place(stroke[i]), place(stroke[i+1]), pen)
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

// segment darkens the pixels near the line from a to b; the pen's edge is a pixel wide.
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

// arc follows an ellipse between two angles, in degrees clockwise from the right.
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
