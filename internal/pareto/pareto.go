// Package pareto holds the geometry of several objectives, all of which are maximized:
// which points no other dominates, the volume that points dominate above a reference
// point, and boxes that tile what they leave undominated.
//
// In up to three dimensions all is a sweep, and quick for thousands of points. From four on the
// volume is found by slicing along the last coordinate: between two neighbouring values of it the
// points that reach above bound a region of one dimension less, O(n^(m-3)) slices for n points in m.
package pareto

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Dominates reports whether a is nowhere worse than b, and somewhere better. Points of
// different dimensions, or with a NaN, do not compare.
func Dominates(a, b []float64) bool {
	return len(a) == len(b) && Covers(a, b) && !Covers(b, a)
}

// Front returns the indices of the points without NaN that no other dominates, in order. Of
// equal ones the first stands for all.
func Front(points [][]float64) []int {
	var order, out []int
	flat := true // in up to three dimensions
	for i, p := range points {
		if flat = flat && len(p) == len(points[0]) && len(p) > 0 && len(p) <= 3; !slices.ContainsFunc(p, math.IsNaN) {
			order = append(order, i)
		}
	}
	// The largest come first, so that only those before a point can be as good.
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(slices.Compare(points[b], points[a]), a-b) })
	var before staircase
	for _, i := range order {
		p := points[i]
		if flat {
			x, y := p[min(1, len(p)-1)], p[len(p)-1]
			if before.covers(x, y) {
				continue
			}
			before.add(x, y)
		} else if slices.ContainsFunc(out, func(k int) bool { return len(points[k]) == len(p) && Covers(points[k], p) }) {
			continue
		}
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

// Volume is that of what the points dominate above ref: of all y with ref ≤ y ≤ p for
// some point p. It is NaN, for there is no such volume, if ref or a point has a NaN, or another
// number of coordinates than the other ones, or none.
func Volume(points [][]float64, ref []float64) float64 {
	if !sameKind(points, ref) {
		return math.NaN()
	}
	return volume(points, ref)
}

// sameKind reports whether all points and ref have as many coordinates, and no NaN.
func sameKind(points [][]float64, ref []float64) bool {
	return !slices.ContainsFunc(append(points[:len(points):len(points)], ref), func(v []float64) bool {
		return len(v) == 0 || len(v) != len(ref) || slices.ContainsFunc(v, math.IsNaN)
	})
}

func volume(points [][]float64, ref []float64) float64 {
	return new(staircase).volume(above(points, ref), ref)
}

// volume is that of points above ref, which it sorts, with the room of an earlier staircase.
func (s *staircase) volume(points [][]float64, ref []float64) float64 {
	last := len(ref) - 1
	if last == 0 {
		top := ref[0]
		for _, p := range points {
			top = math.Max(top, p[0])
		}
		return top - ref[0]
	}
	if last > 1 {
		slices.SortFunc(points, fallingLast)
	}
	*s = staircase{ref[0], ref[1], s.xs[:0], s.ys[:0]}
	sum, slice := 0.0, 0.0
	for i, p := range points { // the slice that the points so far bound, down to the next one
		if last > 2 {
			slice = volume(cut(points[:i+1]), ref[:last])
		} else if !s.covers(p[0], p[1]) {
			slice += s.add(p[0], p[1])
		}
		switch {
		case last == 1:
			sum = slice
		case i+1 < len(points):
			sum += (p[last] - points[i+1][last]) * slice
		default:
			sum += (p[last] - ref[last]) * slice
		}
	}
	return sum
}

// Growth is the Volume after each of the points; nil where that is NaN.
func Growth(points [][]float64, ref []float64) []float64 {
	if !sameKind(points, ref) {
		return nil
	}
	out, sum := make([]float64, len(points)), 0.0
	var front, clipped [][]float64
	var room []float64
	var scratch staircase
	below := staircase{x: ref[0], y: ref[len(ref)-1]}
	for i, p := range points {
		switch {
		case !reaches(p, ref):
		case len(ref) == 2:
			if !below.covers(p[0], p[1]) {
				sum += below.add(p[0], p[1])
			}
		case !slices.ContainsFunc(front, func(q []float64) bool { return Covers(q, p) }):
			alone := 1.0
			clipped, room = clipped[:0], slices.Grow(room[:0], len(front)*len(p))
			for _, q := range front {
				for j := range q {
					room = append(room, min(q[j], p[j]))
				}
				clipped = append(clipped, room[len(room)-len(p):])
			}
			for j := range p {
				alone *= p[j] - ref[j]
			}
			sum += max(alone-scratch.volume(clipped, ref), 0)
			front = slices.DeleteFunc(front, func(q []float64) bool { return Covers(p, q) })
			k, _ := slices.BinarySearchFunc(front, p, fallingLast) // so that there is little to sort next time
			front = slices.Insert(front, k, p)
		}
		out[i] = sum
	}
	return out
}

// fallingLast orders points by their last coordinates, the largest first.
func fallingLast(a, b []float64) int { return cmp.Compare(b[len(b)-1], a[len(a)-1]) }

// Covers reports whether q is nowhere worse than p, which is never so of NaN.
func Covers(q, p []float64) bool {
	for j := range p {
		if !(q[j] >= p[j]) {
			return false
		}
	}
	return true
}

// staircase is a front in the plane, above the point (x, y): xs fall and ys rise.
type staircase struct {
	x, y   float64
	xs, ys []float64
}

// covers reports whether a point of the front is nowhere worse than (x, y).
func (s *staircase) covers(x, y float64) bool {
	i := sort.Search(len(s.xs), func(i int) bool { return s.xs[i] < x })
	return i > 0 && s.ys[i-1] >= y
}

// add has (x, y), which is not covered, join the front, and returns the area that it gains.
func (s *staircase) add(x, y float64) float64 {
	from := sort.Search(len(s.xs), func(i int) bool { return s.xs[i] <= x })
	area, low, left := 0.0, s.y, s.x
	if from > 0 {
		low = s.ys[from-1]
	}
	to := from
	for ; to < len(s.xs) && s.ys[to] <= y; to++ { // which it covers
		area += (s.ys[to] - low) * (x - s.xs[to])
		low = s.ys[to]
	}
	if to < len(s.xs) {
		left = s.xs[to]
	}
	area += (y - low) * (x - left)
	s.xs, s.ys = slices.Replace(s.xs, from, to, x), slices.Replace(s.ys, from, to, y)
	return area
}

// Box is an axis-parallel box, open above where Up is +∞.
type Box struct{ Low, Up []float64 }

// Undominated tiles what lies above ref and no point dominates, in two or three dimensions: the
// boxes do not overlap, and each has its lower corner on the boundary. A point y adds to the volume
// of the points what it dominates of the boxes, Σ Π max(0, min(y, up) − low).
//
// It is a sweep from above along the third coordinate: each step of the staircase of the points so
// far bounds one box, until a point is added there. In the plane the last steps are all.
func Undominated(points [][]float64, ref []float64) []Box {
	inf, last := math.Inf(1), len(ref)-1
	points = above(points, ref)
	stairs := staircase{x: ref[0], y: ref[1]}
	room := make([]float64, 0, 2*len(ref)*(2*len(points)+1))
	box := func(xLow, yLow, xUp, yUp float64, up []float64) Box {
		from := len(room)
		room = append(append(append(append(room, xLow, yLow), ref[2:]...), xUp, yUp), up...)
		return Box{slices.Clip(room[from:][:len(ref)]), slices.Clip(room[from+len(ref):])}
	}
	// Above the steps, and the one above them all.
	open := []Box{box(ref[0], ref[1], inf, inf, slices.Repeat([]float64{inf}, last-1))}
	var out, news []Box
	slices.SortStableFunc(points, fallingLast)
	for _, p := range points {
		x, y := p[0], p[1]
		if stairs.covers(x, y) {
			continue
		}
		from := sort.Search(len(stairs.xs), func(i int) bool { return stairs.xs[i] <= x })
		to := from
		for to < len(stairs.xs) && stairs.ys[to] <= y {
			to++
		}
		news = append(news[:0], box(x, open[from].Low[1], inf, y, p[2:]))
		if open[to].Low[1] < y {
			news = append(news, box(open[to].Low[0], y, inf, open[to].Up[1], p[2:]))
		} else { // nothing of it is taken
			to--
		}
		for _, b := range open[from : to+1] {
			if copy(b.Low[2:], p[2:]); last == 2 && b.Up[2] > p[2] {
				out = append(out, b)
			}
		}
		open = slices.Replace(open, from, to+1, news...)
		stairs.add(x, y)
	}
	out = append(out, open...)
	slices.SortFunc(out, func(a, b Box) int { // as slices from below would come
		return cmp.Or(cmp.Compare(a.Low[last], b.Low[last]), cmp.Compare(a.Low[1], b.Low[1]))
	})
	return out
}

// Gain is what a point adds to the volume of those that the boxes of Undominated leave so.
func Gain(boxes []Box, y []float64) float64 {
	sum, last := 0.0, len(y)-1
beyond:
	for _, b := range boxes {
		product, low, up := 1.0, b.Low[:len(y)], b.Up[:len(y)]
		if low[last] >= y[last] { // as in all that follow
			break
		}
		for j, v := range y {
			if v > up[j] {
				v = up[j]
			}
			side := v - low[j]
			if !(side > 0) { // then nothing is gained, even where another side is infinite
				continue beyond
			}
			product *= side
		}
		sum += product
	}
	return sum
}

// above returns the points that dominate something above ref.
func above(points [][]float64, ref []float64) [][]float64 {
	return slices.DeleteFunc(slices.Clone(points), func(p []float64) bool { return !reaches(p, ref) })
}

// reaches reports whether a point dominates something above ref.
func reaches(p, ref []float64) bool {
	for j, r := range ref {
		if !(p[j] > r) {
			return false
		}
	}
	return true
}

// cut returns the points without their last coordinate.
func cut(points [][]float64) [][]float64 {
	out := make([][]float64, len(points))
	for i, p := range points {
		out[i] = p[:len(p)-1]
	}
	return out
}
