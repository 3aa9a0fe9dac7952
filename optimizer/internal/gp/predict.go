package gp

import (
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
	v     []float64 // L⁻¹ k
	w     []float64 // for K⁻¹ k
	// Made on first use, for Batch: Lᵀ, and k(X,·) and scaled coordinates of so many points;
	// for PredictGrad: L⁻¹.
	upper, block, inverse []float64
	cols                  [][]float64
}

// batch is the number of points that Batch solves for at once.
const batch = 32

// Predictor returns a new Predictor for m.
func (m *Model) Predictor() *Predictor {
	n := m.Len()
	return &Predictor{m: m, k: newVector(n), slope: make([]float64, n), v: newVector(n), w: newVector(n)}
}

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
	floats.Mul(p.slope, p.m.alpha)
	p.m.gradient(dmean, p.slope, x, -1)
	return p.m.centreGrad(x, dmean) + mu
}

// gradient sets dst_j = factor · Σ_i w_i (z_j − z_ij) / ℓ_j.
func (m *Model) gradient(dst, w, x []float64, factor float64) {
	for j, inv := range m.inv {
		z := x[j] * inv
		col := m.cols[j][:len(w)]
		sum := 0.0
		for i, c := range col {
			sum += w[i] * (z - c)
		}
		dst[j] = factor * sum * inv
	}
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
	m := p.m
	p.kernel(x, p.slope)
	mu := floats.Dot(p.k, m.alpha)
	p.solve()
	variance = m.latent(m.signal - floats.Dot(p.v, p.v))
	a, b := p.v[:len(p.slope)], p.k[:len(p.slope)]
	for i, s := range p.slope {
		a[i] = s * m.alpha[i]
		b[i] *= s
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

// solve sets v to L⁻¹k and then k to K⁻¹k, by L⁻¹: in two products of a matrix and a vector
// no number waits for the last, as they do in two substitutions. Both are made in one pass over
// the matrix, which does not fit into a cache.
func (p *Predictor) solve() {
	n := p.m.Len()
	if p.inverse == nil {
		p.inverse = newSquare(n)
		inverse(p.inverse, upper(p.m.rows), n)
	}
	bothTimes(p.w, p.v, p.inverse, p.k)
	p.k, p.w = p.w, p.k
}

// Batch is Predict for many points: mean[i], variance[i] of xs[i]. Solving for
// 32 points at once makes it several times as fast as single calls.
func (p *Predictor) Batch(xs [][]float64, mean, variance []float64) {
	m, n := p.m, p.m.Len()
	if p.block == nil {
		p.block, p.upper, p.cols = make([]float64, batch*padded(n)), upper(m.rows), make([][]float64, m.Dim())
		for j := range p.cols {
			p.cols[j] = make([]float64, batch)
		}
	}
	for len(xs) > 0 {
		b := min(batch, len(xs))
		for j, inv := range m.inv {
			for c, x := range xs[:b] {
				p.cols[j][c] = x[j] * inv
			}
		}
		for i := range n {
			k := p.block[i*batch:][:batch]
			clear(k)
			for j, col := range m.cols {
				vector.AddSquares(k, p.cols[j], col[i])
			}
		}
		vector.Matern52(p.block[:n*batch], nil, p.block[:n*batch], m.signal)
		for c, x := range xs[:b] { // in the order of Mean, to its last digit
			for i := range p.k {
				p.k[i] = p.block[i*batch+c]
			}
			mean[c] = m.centre(x) + floats.Dot(p.k, m.alpha)
		}
		substitute(p.block, batch, p.upper, n, false)
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
