package maximize

import (
	"cmp"
	"context"
	"math"
	"slices"
)

const (
	leastGain    = 1e-4 // that a rectangle must promise to be divided, relative to |f|
	shortestSide = 1e-9 // below it rectangles are not divided
)

// Direct maximizes f over the unit cube by dividing rectangles (Jones, Perttunen
// and Stuckman 1993, Lipschitzian optimization without the Lipschitz constant), in
// the locally biased variant (DIRECT-L, Gablonsky and Kelley 2001), which measures a
// rectangle by its longest side and divides one rectangle of a size at a time. It
// needs no gradient and no random numbers.
//
// It ends after so many evaluations, those of a division under way included, or returns
// what it has when ctx ends.
//
// Minus infinity and NaN mark infeasible points. Where rectangles are compared they
// count as twice as far below the best value as the worst finite one, so that they
// are divided late, but not never.
func Direct(ctx context.Context, f func(x []float64) float64, dims, evaluations int) Result {
	d := &direct{f: f, bestF: math.Inf(-1), worst: math.Inf(1)}
	half := slices.Repeat([]float64{0.5}, dims)
	d.add(half, make([]uint8, dims), d.eval(half))
	iterations := 0
	for d.evals < evaluations && ctx.Err() == nil {
		chosen := d.potentiallyOptimal()
		if len(chosen) == 0 {
			break
		}
		iterations++
		for _, k := range chosen {
			if d.evals >= evaluations {
				break
			}
			d.divide(k)
		}
	}
	return Result{X: d.bestX, F: d.bestF, Iterations: iterations, Evaluations: d.evals}
}

// direct is the state of one search. A side of level k is 3^-k long.
type direct struct {
	f       func(x []float64) float64
	evals   int
	bestX   []float64
	bestF   float64
	worst   float64 // the worst finite value
	rects   []rect
	classes [][]int // the rectangles of each size, the largest first: the best first, the older of equal ones first
}

type rect struct {
	center []float64
	levels []uint8
	f      float64
}

func (d *direct) eval(x []float64) float64 {
	d.evals++
	f := d.f(x)
	if math.IsNaN(f) {
		f = math.Inf(-1)
	}
	if f > d.bestF || d.bestX == nil {
		d.bestF, d.bestX = f, x
	}
	if !math.IsInf(f, -1) {
		d.worst = math.Min(d.worst, f)
	}
	return f
}

func (d *direct) add(center []float64, levels []uint8, f float64) {
	d.rects = append(d.rects, rect{center, levels, f})
	d.push(len(d.rects) - 1)
}

// push files a rectangle under the size of its longest side.
func (d *direct) push(k int) {
	least := slices.Min(d.rects[k].levels)
	for len(d.classes) <= int(least) {
		d.classes = append(d.classes, nil)
	}
	at, _ := slices.BinarySearchFunc(d.classes[least], k, func(a, b int) int {
		return cmp.Or(cmp.Compare(d.rects[b].f, d.rects[a].f), a-b)
	})
	d.classes[least] = slices.Insert(d.classes[least], at, k)
}

func side(level int) float64 { return math.Pow(3, -float64(level)) }

// value returns a rectangle's value for comparison, which is finite.
func (d *direct) value(k int) float64 {
	f := d.rects[k].f
	switch {
	case !math.IsInf(f, -1):
		return f
	case math.IsInf(d.bestF, -1):
		return 0
	}
	return d.worst - math.Max(d.bestF-d.worst, 1)
}

// potentiallyOptimal takes out of the classes those rectangles that hold the best
// value for some Lipschitz constant K and could, with it, improve on the best value
// by leastGain: the upper right hull of the points (size, best value of that size).
// The largest come first.
func (d *direct) potentiallyOptimal() []int {
	type corner struct {
		class   int
		size, f float64
	}
	var hull []corner
	for c, rects := range d.classes {
		if len(rects) == 0 || side(c) < shortestSide {
			continue
		}
		// Sizes fall along the hull, so values must rise, ever less steeply.
		p := corner{c, 0.5 * side(c), d.value(rects[0])}
		if len(hull) > 0 && p.f <= hull[len(hull)-1].f {
			continue
		}
		for len(hull) > 1 {
			a, b := hull[len(hull)-2], hull[len(hull)-1]
			if (b.f-a.f)*(b.size-p.size) > (p.f-b.f)*(a.size-b.size) {
				break
			}
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, p)
	}
	var chosen []int
	for i, p := range hull {
		if i > 0 {
			larger := hull[i-1]
			k := (p.f - larger.f) / (larger.size - p.size)
			if p.f+k*p.size < d.bestF+leastGain*math.Abs(d.bestF) {
				continue
			}
		}
		chosen = append(chosen, d.classes[p.class][0])
		d.classes[p.class] = slices.Delete(d.classes[p.class], 0, 1)
	}
	return chosen
}

// divide samples a rectangle on both sides of its centre along each of its longest
// sides and trisects it, along the side with the best sample first, so that the
// best samples get the largest rectangles.
func (d *direct) divide(k int) {
	center, levels := d.rects[k].center, d.rects[k].levels
	least := slices.Min(levels)
	step := side(int(least)) / 3
	type arm struct {
		dim    int
		f      [2]float64
		center [2][]float64
	}
	var arms []arm
	for i, l := range levels {
		if l != least {
			continue
		}
		a := arm{dim: i}
		for s, sign := range [2]float64{-1, 1} {
			u := slices.Clone(center)
			u[i] += sign * step
			a.center[s], a.f[s] = u, d.eval(u)
		}
		arms = append(arms, a)
	}
	slices.SortStableFunc(arms, func(a, b arm) int {
		return cmp.Compare(math.Max(b.f[0], b.f[1]), math.Max(a.f[0], a.f[1]))
	})
	for _, a := range arms {
		levels[a.dim]++
		for s := range a.f {
			d.add(a.center[s], slices.Clone(levels), a.f[s])
		}
	}
	d.push(k)
}
