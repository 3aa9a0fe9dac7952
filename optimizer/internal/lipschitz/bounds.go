package lipschitz

import (
	"container/heap"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/optimizer/internal/vector"
)

// Bounds are the upper and lower bound that a Lipschitz constant and observations
// imply for a function,
//
//	up(x) = min_i (y_i + Delta + L ‖x - x_i‖),
//	lo(x) = max_i (y_i - Delta - L ‖x - x_i‖).
//
// Delta widens them for noise (two standard deviations, say), without which noisy
// bounds cross. If L is too small they may cross all the same; where they do, they
// say nothing. A Bounds is immutable and may be shared.
type Bounds struct {
	l, delta float64
	scale    []float64
	z        [][]float64 // scaled points
	cols     [][]float64 // the same by coordinate
	y        []float64
}

// NewBounds returns the bounds of the observations, whose coordinates are copied,
// in the metric given by scale (nil: 1). Without observations, or for l <= 0 or not
// finite, they are -Inf and +Inf everywhere.
func NewBounds(points [][]float64, values []float64, scale []float64, l, delta float64) *Bounds {
	b := &Bounds{delta: delta, scale: scale}
	for i, x := range points {
		b.add(scaled(x, scale), values[i])
	}
	return b.WithL(l)
}

// Bounds returns the bounds of the estimator's observations, those at one point
// being averaged.
func (e *Estimator) Bounds(l, delta float64) *Bounds {
	b := &Bounds{delta: delta, scale: e.scale}
	for _, c := range e.cells {
		b.add(c.z, c.y)
	}
	return b.WithL(l)
}

func (b *Bounds) add(z []float64, y float64) {
	if b.cols == nil {
		b.cols = make([][]float64, len(z))
	}
	for j, v := range z {
		b.cols[j] = append(b.cols[j], v)
	}
	b.z, b.y = append(b.z, z), append(b.y, y)
}

// WithL returns the bounds of the same observations for another constant.
func (b *Bounds) WithL(l float64) *Bounds {
	c := *b
	c.l = l
	if !(l > 0) || math.IsInf(l, 1) {
		c.l = 0
	}
	return &c
}

// L returns the constant in use, 0 if there is none.
func (b *Bounds) L() float64 { return b.l }

// Lower returns lo(x), without the test for crossing.
func (b *Bounds) Lower(x []float64) float64 {
	lo, _, _, _ := b.cones(x)
	return lo
}

// Upper returns up(x), without the test for crossing.
func (b *Bounds) Upper(x []float64) float64 {
	_, up, _, _ := b.cones(x)
	return up
}

// At returns both bounds and writes their gradients into gradLo and gradUp where
// those are not nil: L times the unit vector away from the observation that
// binds, or towards it, and 0 at that observation itself. Where the bounds cross, L is known to be
// too small, and At returns -Inf, +Inf and false.
func (b *Bounds) At(x, gradLo, gradUp []float64) (lo, up float64, valid bool) {
	lo, up, kLo, kUp := b.cones(x)
	if lo > up {
		// Bounds that touch may cross by rounding.
		if lo-up > 1e-12*math.Max(1, math.Abs(up)) {
			clear(gradLo)
			clear(gradUp)
			return math.Inf(-1), math.Inf(1), false
		}
		lo = up
	}
	b.gradient(x, kLo, -b.l, gradLo)
	b.gradient(x, kUp, b.l, gradUp)
	return lo, up, true
}

// cones returns both bounds and the observations that bind, -1 for none.
func (b *Bounds) cones(x []float64) (lo, up float64, kLo, kUp int) {
	lo, up, kLo, kUp = math.Inf(-1), math.Inf(1), -1, -1
	if b.l == 0 {
		return lo, up, kLo, kUp
	}
	var buf [32]float64 // keeps the usual case off the heap
	at := append(buf[:0], x...)
	for j, s := range b.scale {
		at[j] /= s
	}
	var store [64]float64
	for from := 0; from < len(b.y); from += len(store) {
		ys := b.y[from:min(from+len(store), len(b.y))]
		d2 := store[:len(ys)]
		clear(d2)
		for j, col := range b.cols {
			vector.AddSquares(d2, col[from:], at[j])
		}
		for i, y := range ys {
			r := b.l*math.Sqrt(d2[i]) + b.delta
			if y+r < up {
				up, kUp = y+r, from+i
			}
			if y-r > lo {
				lo, kLo = y-r, from+i
			}
		}
	}
	return lo, up, kLo, kUp
}

// ExcludedBelow returns the constant below which up(x) would be less than best, so that x
// could not reach it: max_i (best − Delta − y_i) / ‖x − x_i‖, at least 0.
func (b *Bounds) ExcludedBelow(x []float64, best float64) float64 {
	at, most := scaled(x, b.scale), 0.0
	for i, y := range b.y {
		if r := math.Sqrt(distance2(b.z[i], at)); r > 0 {
			most = math.Max(most, (best-b.delta-y)/r)
		}
	}
	return most
}

// gradient writes slope times the gradient of the distance from observation k.
func (b *Bounds) gradient(x []float64, k int, slope float64, grad []float64) {
	if grad == nil {
		return
	}
	clear(grad)
	if k < 0 {
		return
	}
	sum := 0.0
	for j, v := range b.z[k] {
		s := 1.0
		if b.scale != nil {
			s = b.scale[j]
		}
		d := x[j]/s - v
		sum += d * d
		grad[j] = d / s
	}
	if sum == 0 {
		clear(grad)
		return
	}
	floats.Scale(slope/math.Sqrt(sum), grad)
}

// Uppers returns up at each of the points, +Inf where the bounds cross.
func (b *Bounds) Uppers(points [][]float64) []float64 {
	ups := make([]float64, len(points))
	for i, x := range points {
		_, ups[i], _ = b.At(x, nil, nil)
	}
	return ups
}

// Excluded returns the share of points that cannot reach best, given their upper bounds.
func Excluded(ups []float64, best float64) float64 {
	n := 0
	for _, up := range ups {
		if up < best {
			n++
		}
	}
	return float64(n) / float64(max(len(ups), 1))
}

// Loosen doubles L until at least the given share of the sample points can reach
// best: bounds that exclude almost everything are a sign that L is too small. It
// returns the bounds, and the upper ones at the sample.
func (b *Bounds) Loosen(samples [][]float64, best, share float64) (*Bounds, []float64) {
	ups := b.Uppers(samples)
	for k := 0; k < 20 && b.l > 0 && 1-Excluded(ups, best) < share; k++ {
		b = b.WithL(2 * b.l)
		ups = b.Uppers(samples)
	}
	return b, ups
}

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
