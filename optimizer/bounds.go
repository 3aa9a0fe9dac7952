package optimizer

import "math"

type bounds struct {
	scale []float64
	x     [][]float64
	z     []float64
	slope float64
	l     float64
	delta float64
}

func (b *bounds) dist(x, y []float64) float64 {
	s := 0.0
	for j := range x {
		d := (x[j] - y[j]) / b.scale[j]
		s += d * d
	}
	return math.Sqrt(s)
}

func newBounds(x [][]float64, z, scale []float64, noise, kappa float64) *bounds {
	b := &bounds{scale: scale, x: x, z: z, delta: 2 * noise}
	c := math.Max(3, math.Sqrt(4*math.Log(float64(len(x)))))
	for i := range x {
		for k := range i {
			d := b.dist(x[i], x[k])
			if d < 1e-6 {
				continue
			}
			b.slope = math.Max(b.slope, (math.Abs(z[i]-z[k])-c*math.Sqrt2*noise)/d)
		}
	}
	b.l = kappa * b.slope
	return b
}

func (b *bounds) at(x []float64) (lo, up float64) {
	lo, up = math.Inf(-1), math.Inf(1)
	for i, p := range b.x {
		d := b.l * b.dist(x, p)
		up = math.Min(up, b.z[i]+b.delta+d)
		lo = math.Max(lo, b.z[i]-b.delta-d)
	}
	if lo > up {
		return math.Inf(-1), math.Inf(1)
	}
	return lo, up
}

func (b *bounds) grad(x, dlo, dup []float64) (lo, up float64) {
	lo, up = math.Inf(-1), math.Inf(1)
	kl, ku := -1, -1
	for i, p := range b.x {
		d := b.l * b.dist(x, p)
		if v := b.z[i] + b.delta + d; v < up {
			up, ku = v, i
		}
		if v := b.z[i] - b.delta - d; v > lo {
			lo, kl = v, i
		}
	}
	clear(dlo)
	clear(dup)
	if lo > up {
		return math.Inf(-1), math.Inf(1)
	}
	for _, t := range []struct {
		k int
		g []float64
		s float64
	}{{kl, dlo, -1}, {ku, dup, 1}} {
		if t.k < 0 {
			continue
		}
		d := b.dist(x, b.x[t.k])
		if d == 0 {
			continue
		}
		for j := range t.g {
			t.g[j] = t.s * b.l * (x[j] - b.x[t.k][j]) / (b.scale[j] * b.scale[j] * d)
		}
	}
	return lo, up
}
