package lipschitz

import (
	"container/heap"
	"math"
	"slices"
)

// MaxUpper maximizes up(x) over the box [lo, hi] by branch and bound. No point of a
// rectangle R lies farther from an observation than its farthest corner, so that
//
//	max_{x in R} up(x) ≤ min_i (y_i + Delta + L max_{x in R} ‖x − x_i‖).
//
// The rectangle with the largest such bound is halved along its longest side until the
// bound is within tol of the largest value seen, or splits rectangles were halved.
// It returns that bound, which up exceeds nowhere in the box, and the value seen. Where
// Delta and L are true of a function, the bound holds for the function: a certificate.
// If the observations themselves refute L, both results are +Inf. O(splits · n d).
func (b *Bounds) MaxUpper(lo, hi []float64, tol float64, splits int) (bound, seen float64) {
	if b.l == 0 || b.refuted() {
		return math.Inf(1), math.Inf(1)
	}
	s := &splitter{b: b, seen: math.Inf(-1)}
	s.push(rectangle{lo: scaled(lo, b.scale), hi: scaled(hi, b.scale)})
	for range splits {
		if s.open[0].bound <= s.seen+tol {
			break
		}
		r := heap.Pop(&s.open).(rectangle)
		left, right := r.halve()
		s.push(left)
		s.push(right)
	}
	return math.Max(s.open[0].bound, s.seen), s.seen
}

// refuted reports whether two observations differ by more than L and Delta allow.
func (b *Bounds) refuted() bool {
	for i, y := range b.y {
		for k := range i {
			r := b.l*math.Sqrt(distance2(b.z[i], b.z[k])) + 2*b.delta
			if math.Abs(y-b.y[k]) > r*(1+1e-12) {
				return true
			}
		}
	}
	return false
}

// rectangle is a part of the box, in scaled coordinates.
type rectangle struct {
	lo, hi []float64
	bound  float64
}

// halve divides a rectangle along its longest side.
func (r rectangle) halve() (left, right rectangle) {
	j := 0
	for k := range r.lo {
		if r.hi[k]-r.lo[k] > r.hi[j]-r.lo[j] {
			j = k
		}
	}
	middle := (r.lo[j] + r.hi[j]) / 2
	left, right = rectangle{lo: r.lo, hi: slices.Clone(r.hi)}, rectangle{lo: slices.Clone(r.lo), hi: r.hi}
	left.hi[j], right.lo[j] = middle, middle
	return left, right
}

type splitter struct {
	b    *Bounds
	open queue
	seen float64
}

// push adds a rectangle with its bound, and looks at its centre. One whose bound does
// not exceed what was seen stays: the largest bound must remain known.
func (s *splitter) push(r rectangle) {
	r.bound = math.Inf(1)
	centre := math.Inf(1)
	for i, y := range s.b.y {
		far, mid := 0.0, 0.0
		for j, v := range s.b.z[i] {
			d := math.Max(v-r.lo[j], r.hi[j]-v)
			far += d * d
			m := (r.lo[j]+r.hi[j])/2 - v
			mid += m * m
		}
		r.bound = math.Min(r.bound, y+s.b.delta+s.b.l*math.Sqrt(far))
		centre = math.Min(centre, y+s.b.delta+s.b.l*math.Sqrt(mid))
	}
	s.seen = math.Max(s.seen, centre)
	heap.Push(&s.open, r)
}

// queue is a heap of rectangles, that with the largest bound first.
type queue []rectangle

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].bound > q[j].bound }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(r any)        { *q = append(*q, r.(rectangle)) }
func (q *queue) Pop() any {
	r := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return r
}
