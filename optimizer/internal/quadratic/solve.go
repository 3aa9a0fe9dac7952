package quadratic

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lbotune/lbotune/optimizer/internal/maximize"
)

// Maximize returns the maximizer of Q in the intersection of the box [lo, up] with
// the cube of the given radius (in the infinity norm) around Center, and the gain
// Q(x) - Value that it predicts, at least 0.
//
// Where Q is concave the result is exact up to rounding. Else the problem is
// NP-hard, and the best of several local searches is returned, as far as these had come
// when ctx ended.
func (m *Model) Maximize(ctx context.Context, radius float64, lo, up []float64) (x []float64, gain float64) {
	d := len(m.Center)
	b := box{m: m, lo: make([]float64, d), up: make([]float64, d)}
	for i, c := range m.Center {
		b.lo[i] = math.Min(math.Max(lo[i]-c, -radius), 0) / m.Far
		b.up[i] = math.Max(math.Min(up[i]-c, radius), 0) / m.Far
		b.unit = math.Max(b.unit, b.up[i]-b.lo[i])
	}
	x = append(x, m.Center...)
	best := b.search(ctx)
	if best == nil {
		return x, 0
	}
	for i, t := range best {
		switch {
		case b.lo[i] == b.up[i]:
		case t == b.lo[i]:
			x[i] = math.Max(lo[i], m.Center[i]-radius)
		case t == b.up[i]:
			x[i] = math.Min(up[i], m.Center[i]+radius)
		default:
			x[i] = math.Min(math.Max(m.Center[i]+t*m.Far, lo[i]), up[i])
		}
	}
	return x, math.Max(m.gain(best, nil), 0) * m.Unit
}

// box is a problem max gain(s), lo <= s <= up, that contains s = 0.
type box struct {
	m      *Model
	lo, up []float64
	unit   float64 // the longest side
}

// search returns the best point found, or nil if none is better than 0.
func (b *box) search(ctx context.Context) []float64 {
	// Values are made of order 1 too, for the tolerances of the search.
	size := 0.0
	for i, g := range b.m.g {
		size += math.Abs(g) * b.unit
		for j := range b.m.g {
			size += 0.5 * math.Abs(b.m.h.At(i, j)) * b.unit * b.unit
		}
	}
	if !(size > 0) {
		return nil
	}
	scale := slices.Repeat([]float64{b.unit}, len(b.lo))
	local := maximize.New(b.lo, b.up, maximize.Settings{
		MaxIterations: 200, GradTol: 1e-12, ValueTol: 1e-16, FirstStep: 1, Scale: scale,
	})
	f := func(s, grad []float64) float64 {
		v := b.m.gain(s, grad) / size
		for i := range grad {
			grad[i] /= size
		}
		return v
	}
	var best []float64
	most := 0.0
	for _, start := range b.starts() {
		s := local.Maximize(ctx, f, start).X
		b.polish(s)
		if v := b.m.gain(s, nil); v > most {
			best, most = s, v
		}
	}
	return best
}

// starts returns the centre, the corner along the gradient, the box's ends along
// the eigenvectors of the Hessian with the two largest eigenvalues, and some
// scattered points.
func (b *box) starts() [][]float64 {
	d := len(b.lo)
	starts := [][]float64{make([]float64, d), b.corner(b.m.g)}
	var eig mat.EigenSym
	if eig.Factorize(b.m.h, true) {
		var vectors mat.Dense
		eig.VectorsTo(&vectors)
		values := eig.Values(nil)
		for k := d - 1; k >= max(0, d-2) && values[k] > 0; k-- {
			v := mat.Col(nil, k, &vectors)
			ahead := b.corner(v)
			floats.Scale(-1, v)
			starts = append(starts, ahead, b.corner(v))
		}
		if values[d-1] <= 0 {
			return starts[:2] // concave: one maximum
		}
	}
	for k := 1; k <= 4; k++ {
		s := make([]float64, d)
		for i := range s {
			// multiples of the square roots of 2, 3, 4 + 1/2, ... fill the cube
			_, u := math.Modf(float64(k) * math.Sqrt(float64(i)+2.5))
			s[i] = b.lo[i] + u*(b.up[i]-b.lo[i])
		}
		starts = append(starts, s)
	}
	return starts
}

// corner returns the farthest point of the box along the signs of v.
func (b *box) corner(v []float64) []float64 {
	s := make([]float64, len(v))
	for i, vi := range v {
		switch {
		case vi > 0:
			s[i] = b.up[i]
		case vi < 0:
			s[i] = b.lo[i]
		}
	}
	return s
}

// polish takes Newton's step in the coordinates of s that lie strictly inside the
// box, if Q is strictly concave in them and the step stays inside and gains.
func (b *box) polish(s []float64) {
	var free []int
	for i, v := range s {
		if v > b.lo[i] && v < b.up[i] {
			free = append(free, i)
		}
	}
	if len(free) == 0 {
		return
	}
	grad := make([]float64, len(s))
	before := b.m.gain(s, grad)
	h := mat.NewSymDense(len(free), nil)
	g := mat.NewVecDense(len(free), nil)
	for i, fi := range free {
		g.SetVec(i, grad[fi])
		for j, fj := range free[:i+1] {
			h.SetSym(i, j, -b.m.h.At(fi, fj))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return
	}
	step := mat.NewVecDense(len(free), nil)
	if chol.SolveVecTo(step, g) != nil { // also when badly conditioned
		return
	}
	next := slices.Clone(s)
	for i, fi := range free {
		next[fi] += step.AtVec(i)
		if !(next[fi] > b.lo[fi] && next[fi] < b.up[fi]) {
			return
		}
	}
	if b.m.gain(next, nil) >= before {
		copy(s, next)
	}
}

// Limits of the trust region's radius, in the unit cube.
const (
	FirstRadius = 0.1  // the radius starts here, or at 0.95 times the farthest point if that is less
	MaxRadius   = 1    // and grows to here, where the region is the whole cube
	MinRadius   = 1e-7 // below it the region has collapsed
)

// Region is the trust region's state between proposals. It holds all that the
// rules need, so that replaying the same outcomes gives the same region. The zero
// value has no radius yet and gets one by Start.
type Region struct {
	Radius float64 // in the infinity norm; 0 means not started
}

// Start gives a region that has none a radius for a model whose farthest point
// lies far away.
func (r Region) Start(far float64) Region {
	if r.Radius == 0 {
		r.Radius = math.Min(0.95*far, FirstRadius)
	}
	return r
}

// Judged returns the region after a step for which the model predicted a gain: twice as
// large if it gained more than 3/4 of that, and half if it gained less than 1/4. The gain is
// NaN or -Inf if the trial failed.
func (r Region) Judged(predicted, gain float64) Region {
	switch ratio := gain / predicted; {
	case ratio > 0.75:
		r.Radius = math.Min(2*r.Radius, MaxRadius)
	case !(ratio >= 0.25):
		r.Radius /= 2
	}
	return r
}

// Moved returns the region after something else found a better point at that distance from
// the centre, in the infinity norm: outside of it, the region starts anew there.
func (r Region) Moved(distance float64) Region {
	if distance > r.Radius {
		return Region{}
	}
	return r
}

// Collapsed reports whether the radius has become too small to go on.
func (r Region) Collapsed() bool { return r.Radius > 0 && r.Radius < MinRadius }
