package gp

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/optimizer/internal/vector"
)

// Predictor evaluates the posterior of one Model without allocating. It holds
// scratch space: one Predictor per goroutine. Points passed to it have the
// model's dimension.
type Predictor struct {
	m     *Model
	k     []float64 // k(X,x)
	slope []float64
	v     []float64
	ahead []solved  // at the points of Ahead
	room  []solved  // for more of them
	in    *inverted // L; made on first use
	// Made on first use, for Batch: k(X,·) of so many points, by observation and by point.
	block, rows []float64
}

// batch is the number of points that Batch solves for at once.
const batch = 32

// Predictor returns a new Predictor for m.
func (m *Model) Predictor() *Predictor {
	n := m.Len()
	return &Predictor{m: m, k: newVector(n), slope: make([]float64, n), v: make([]float64, n)}
}

// solved is what PredictGrad needs at x: k(X,x), the kernel's slopes, L⁻¹k and K⁻¹k.
type solved struct{ x, k, slope, half, whole []float64 }

// Model returns the model that p evaluates.
func (p *Predictor) Model() *Model { return p.m }

// kernel sets k to k(X,x), and slope, where it is not nil, to the kernel's slopes.
func (p *Predictor) kernel(x, slope []float64) {
	sqdist(p.k, p.m.cols, x, p.m.inv)
	vector.Matern52(p.k, slope, p.k, p.m.signal)
}

// Mean returns μ(x). O(n d).
func (p *Predictor) Mean(x []float64) float64 {
	p.kernel(x, nil)
	return p.m.centre(x) + floats.Dot(p.k, p.m.alpha)
}

// MeanGrad returns μ(x) and sets dmean = ∇μ(x). O(n d).
func (p *Predictor) MeanGrad(x, dmean []float64) float64 {
	p.kernel(x, p.slope)
	mu := floats.Dot(p.k, p.m.alpha)
	w := floats.MulTo(p.v, p.slope, p.m.alpha)
	for j, inv := range p.m.inv {
		z := x[j] * inv
		sum := 0.0
		for i, c := range p.m.cols[j][:len(w)] {
			sum += w[i] * (z - c)
		}
		dmean[j] = -sum * inv
	}
	return p.m.centreGrad(x, dmean) + mu
}

// Predict returns μ(x) and the latent variance σ²(x), at least 1e-12·σ0².
// O(n²/2).
func (p *Predictor) Predict(x []float64) (mean, variance float64) {
	mean = p.Mean(x)
	forward(p.m.rows, p.k)
	return mean, p.m.latent(p.m.signal - floats.Dot(p.k, p.k))
}

// PredictGrad is Predict with the gradients in x: dmean = ∇μ = ∇m + Jᵀα and
// dvariance = ∇σ² = −2 JᵀK⁻¹k(X,x), J_i· = ∂k(x,x_i)/∂x. O(n²), and O(n³/6) the first time.
func (p *Predictor) PredictGrad(x, dmean, dvariance []float64) (mean, variance float64) {
	m, i := p.m, slices.IndexFunc(p.ahead, func(s solved) bool { return slices.Equal(s.x, x) })
	if i < 0 {
		p.Ahead([][]float64{x})
		i = 0
	}
	at := p.ahead[i]
	mu := floats.Dot(at.k, m.alpha)
	variance = m.latent(m.signal - floats.Dot(at.half, at.half))
	a, b := p.v[:len(at.slope)], p.k[:len(at.slope)]
	for i, s := range at.slope {
		a[i] = s * m.alpha[i]
		b[i] = s * at.whole[i]
	}
	for j, inv := range m.inv {
		z := x[j] * inv
		col := m.cols[j][:len(a)]
		var sa, sb float64
		for i, c := range col {
			t := z - c
			sa += a[i] * t
			sb += b[i] * t
		}
		dmean[j] = -sa * inv
		dvariance[j] = 2 * sb * inv
	}
	return m.centreGrad(x, dmean) + mu, variance
}

// Ahead does what is long about PredictGrad at all of these points, which is then quick there. It
// solves by L⁻¹: in two products of a matrix and a vector no number waits for the last, as they do in
// two substitutions. All are made in one pass over the matrix, which does not fit into a cache.
func (p *Predictor) Ahead(xs [][]float64) {
	m, n := p.m, p.m.Len()
	p.invert()
	for len(p.room) < len(xs) {
		p.room = append(p.room, solved{nil, newVector(n), make([]float64, n), newVector(n), newVector(n)})
	}
	p.ahead = p.room[:len(xs)]
	for i, x := range xs {
		at := &p.ahead[i]
		at.x = append(at.x[:0], x...)
		sqdist(at.k, m.cols, x, m.inv)
		vector.Matern52(at.k, at.slope, at.k, m.signal)
	}
	bothTimes(p.ahead, p.in.w)
}

// invert inverts L, or what was added to it since a model before this one had to.
func (p *Predictor) invert() {
	if p.in == nil {
		p.in = invert(p.m.rows, p.m.last.Load())
		p.m.last.Store(p.in)
	}
}

// Batch is Predict for many points: mean[i], variance[i] of xs[i]. Solving for
// 32 points at once makes it several times as fast as single calls. The first time it
// takes O(n³/6) more, to invert L.
func (p *Predictor) Batch(xs [][]float64, mean, variance []float64) {
	m, n := p.m, p.m.Len()
	p.invert()
	if p.block == nil {
		p.block, p.rows = make([]float64, batch*padded(n)), make([]float64, batch*n)
	}
	for len(xs) > 0 {
		b := min(batch, len(xs))
		for c, x := range xs[:b] {
			mean[c] = p.Mean(x)
			copy(p.rows[c*n:], p.k)
		}
		for i := range n {
			at := p.block[i*batch:][:batch]
			for c := range at {
				at[c] = p.rows[c*n+i]
			}
		}
		substitute(p.block, batch, p.in.strips, n, 0, false)
		var square [batch]float64
		for i := range n {
			for c, v := range p.block[i*batch:][:batch] {
				square[c] += v * v
			}
		}
		for c := range b {
			variance[c] = m.latent(m.signal - square[c])
		}
		xs, mean, variance = xs[b:], mean[b:], variance[b:]
	}
}

// Distances are ‖(x−x′)/scale‖ here, where nil is the unit cube's own metric. In it the gradient
// of f is (scale_j ∂f/∂x_j)_j.

// Slope returns the norm of the posterior mean's gradient at x and the standard deviation
// of the derivative of f in that direction:
//
//	‖g‖,  √(uᵀ Cov[∇f] u),  g = (scale_j ∂μ/∂x_j)_j,  u = g/‖g‖
//
// O(n²/2). Derivatives of a Matérn-5/2 process are again Gaussian, with prior variance
// 5/3·σ0²/ℓ_j².
func (p *Predictor) Slope(x, scale []float64) (norm, sd float64) {
	m := p.m
	dir := make([]float64, m.Dim())
	p.MeanGrad(x, dir)
	for j := range dir {
		dir[j] *= scaleOf(scale, j)
	}
	norm = floats.Norm(dir, 2)
	if norm > 0 {
		floats.Scale(1/norm, dir)
	} else { // a stationary mean has no direction: take the roughest one
		m.roughest(dir, scale)
	}
	prior := 0.0
	for j, inv := range m.inv {
		dir[j] *= scaleOf(scale, j) * inv // direction in scaled inputs z
		prior += dir[j] * dir[j]
	}
	prior *= 5.0 / 3 * m.signal
	cov := p.v // Cov[derivative along dir at x, f(x_i)], up to its sign
	clear(cov)
	for j, inv := range m.inv {
		z := x[j] * inv
		for i, c := range m.cols[j] {
			cov[i] += dir[j] * (z - c)
		}
	}
	floats.Mul(cov, p.slope)
	forward(m.rows, cov)
	return norm, math.Sqrt(math.Max(prior-floats.Dot(cov, cov), 0))
}

// GradientBound returns the largest ‖∇μ‖ + 2 sd(∂f) among the points, see Slope; 0 if there
// are none.
func (p *Predictor) GradientBound(points [][]float64, scale []float64) float64 {
	largest := 0.0
	for _, x := range points {
		norm, sd := p.Slope(x, scale)
		largest = math.Max(largest, norm+2*sd)
	}
	return largest
}

// roughest sets dir to the coordinate direction of the largest prior derivative.
func (m *Model) roughest(dir, scale []float64) {
	best := 0
	for j, inv := range m.inv {
		dir[j] = 0
		if scaleOf(scale, j)*inv > scaleOf(scale, best)*m.inv[best] {
			best = j
		}
	}
	dir[best] = 1
}

func scaleOf(scale []float64, j int) float64 {
	if scale == nil {
		return 1
	}
	return scale[j]
}
