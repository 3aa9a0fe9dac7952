// Package pareto holds the geometry of several objectives, all of which are maximized:
// which points no other dominates, the volume that points dominate above a reference
// point, and boxes that tile what they leave undominated.
//
// Volume and boxes are exact, by slicing along the last coordinate: between two
// neighbouring values of it the points that reach above bound a region of one dimension
// less. For n points in m dimensions that is O(n^(m-1)) slices, meant for two or three
// objectives; measuring alone is still quick for a few dozen points in five.
package pareto

import (
	"context"
	"math"
	"slices"
)

// Dominates reports whether a is nowhere worse than b, and somewhere better. Points of
// different dimensions, or with a NaN, do not compare.
func Dominates(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	better := false
	for j := range a {
		if !(a[j] >= b[j]) {
			return false
		}
		better = better || a[j] > b[j]
	}
	return better
}

// Front returns the indices of the points without NaN that no other dominates, in order. Of
// equal ones the first stands for all.
func Front(points [][]float64) []int {
	var out []int
	for i, p := range points {
		if !slices.ContainsFunc(p, math.IsNaN) &&
			!slices.ContainsFunc(points, func(q []float64) bool { return Dominates(q, p) }) &&
			!slices.ContainsFunc(points[:i], func(q []float64) bool { return slices.Equal(p, q) }) {
			out = append(out, i)
		}
	}
	return out
}

// Volume is that of what the points dominate above ref: of all y with ref ≤ y ≤ p for
// some point p.
func Volume(points [][]float64, ref []float64) float64 {
	points = above(points, ref)
	last := len(ref) - 1
	if len(points) == 0 {
		return 0
	}
	if last == 0 {
		return highest(points, 0) - ref[0]
	}
	volume := 0.0
	levels := levelsOf(points, ref)
	for i, top := range levels[1:] {
		volume += (top - levels[i]) * Volume(cut(reaching(points, top)), ref[:last])
	}
	return volume
}

// Box is an axis-parallel box, open above where Up is +∞.
type Box struct{ Low, Up []float64 }

// Undominated tiles what lies above ref and no point dominates: the boxes do not
// overlap, and each has its lower corner on the boundary. A point y adds to the volume of
// the points what it dominates of the boxes, Σ Π max(0, min(y, up) − low). When ctx ends, the
// tiling is left unfinished.
func Undominated(ctx context.Context, points [][]float64, ref []float64) []Box {
	points = above(points, ref)
	last := len(ref) - 1
	if last == 0 {
		low := ref[0]
		if len(points) > 0 {
			low = highest(points, 0)
		}
		return []Box{{[]float64{low}, []float64{math.Inf(1)}}}
	}
	var out []Box
	var below []int // boxes that end at the present level
	levels := append(levelsOf(points, ref), math.Inf(1))
	for i, top := range levels[1:] {
		if ctx.Err() != nil {
			break
		}
		var now []int
		for _, b := range Undominated(ctx, cut(reaching(points, top)), ref[:last]) {
			k := slices.IndexFunc(below, func(k int) bool {
				return slices.Equal(out[k].Low[:last], b.Low) && slices.Equal(out[k].Up[:last], b.Up)
			})
			if k >= 0 { // the same box one slice lower: they are one
				out[below[k]].Up[last] = top
				now = append(now, below[k])
				continue
			}
			now = append(now, len(out))
			out = append(out, Box{append(b.Low, levels[i]), append(b.Up, top)})
		}
		below = now
	}
	return out
}

// Gain is what a point adds to the volume of those that the boxes leave undominated.
func Gain(boxes []Box, y []float64) float64 {
	sum := 0.0
	for _, b := range boxes {
		product := 1.0
		for j, v := range y {
			product *= math.Max(0, math.Min(v, b.Up[j])-b.Low[j])
		}
		sum += product
	}
	return sum
}

// above returns the points that dominate something above ref.
func above(points [][]float64, ref []float64) [][]float64 {
	return without(points, func(p []float64) bool {
		for j, r := range ref {
			if !(p[j] > r) {
				return true
			}
		}
		return false
	})
}

// reaching returns the points whose last coordinate is at least level.
func reaching(points [][]float64, level float64) [][]float64 {
	return without(points, func(p []float64) bool { return p[len(p)-1] < level })
}

func without(points [][]float64, drop func(p []float64) bool) [][]float64 {
	return slices.DeleteFunc(slices.Clone(points), drop)
}

// levelsOf returns the last coordinates of ref and of all points, ascending, each once.
func levelsOf(points [][]float64, ref []float64) []float64 {
	last := len(ref) - 1
	levels := []float64{ref[last]}
	for _, p := range points {
		levels = append(levels, p[last])
	}
	slices.Sort(levels)
	return slices.Compact(levels)
}

// cut returns the points without their last coordinate.
func cut(points [][]float64) [][]float64 {
	out := make([][]float64, len(points))
	for i, p := range points {
		out[i] = p[:len(p)-1]
	}
	return out
}

func highest(points [][]float64, j int) float64 {
	top := math.Inf(-1)
	for _, p := range points {
		top = math.Max(top, p[j])
	}
	return top
}
