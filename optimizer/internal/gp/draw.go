package gp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/optimizer/internal/vector"
)

// Numbers of random features: that of pathwise draws, where they stand for the
// prior alone, and that of weight-space draws in the code that the Lipschitz
// papers built on (pybo).
const (
	PathFeatures   = 1024
	WeightFeatures = 100
)

// Draw is one function drawn from the posterior, or its mean. It may be shared by
// goroutines.
type Draw struct {
	m       *Model
	freq    []float64 // frequencies ω_j in the unit cube, feature by feature: F×d
	phase   []float64
	weights []float64 // of the features, amplitude √(2σ0²/F) included
	beta    []float64 // of the kernel at the observations; nil without
}

// Value returns the drawn function at x. O(F d), plus O(n d) for a path.
func (f *Draw) Value(x []float64) float64 {
	d := len(f.m.inv)
	sum := f.m.centre(x)
	for j, w := range f.weights {
		sum += w * math.Cos(f.phase[j]+floats.Dot(f.freq[j*d:(j+1)*d], x))
	}
	for i, b := range f.beta {
		s := f.m.far(x, i)
		sum += b * f.m.signal * (1 + s + s*s/3) * math.Exp(-s)
	}
	return sum
}

// far is √5 times the scaled distance of x from observation i.
func (m *Model) far(x []float64, i int) float64 {
	r2 := 0.0
	for j, inv := range m.inv {
		t := x[j]*inv - m.cols[j][i]
		r2 += t * t
	}
	return math.Sqrt(5 * r2)
}

// ValueGrad returns the drawn function at x and sets grad to its gradient.
func (f *Draw) ValueGrad(x, grad []float64) float64 {
	d := len(f.m.inv)
	clear(grad)
	sum := f.m.centreGrad(x, grad)
	for j, w := range f.weights {
		freq := f.freq[j*d : (j+1)*d]
		sin, cos := math.Sincos(f.phase[j] + floats.Dot(freq, x))
		sum += w * cos
		floats.AddScaled(grad, -w*sin, freq)
	}
	for i, b := range f.beta {
		s := f.m.far(x, i)
		e := b * f.m.signal * math.Exp(-s)
		sum += e * (1 + s + s*s/3)
		slope := e * (5.0 / 3) * (1 + s)
		for j, inv := range f.m.inv {
			grad[j] -= slope * (x[j]*inv - f.m.cols[j][i]) * inv
		}
	}
	return sum
}

// Mean returns the posterior mean μ.
func (m *Model) Mean() *Draw { return &Draw{m: m, beta: m.alpha} }

// DrawPath draws a function by pathwise conditioning (Wilson et al., 2020,
// equation 13; Matheron's rule): a draw g from the prior, made of F random
// features, corrected by the exact kernel at the observations,
//
//	f(x) = c + m(x) + g(x) + k(x,X) K⁻¹ (y − c − m(X) − g(X) − ε),  ε ~ N(0, σn² I).
//
// Only the prior part is approximate: the draw meets the observations to within
// the noise for any F. O(n F d + n²).
func (m *Model) DrawPath(features int, rng *rand.Rand) (*Draw, error) {
	f, err := m.prepareDraw(features, rng)
	if err != nil {
		return nil, err
	}
	f.beta = f.residual(f.featureMatrix(), rng)
	forward(m.rows, f.beta)
	backward(m.rows, f.beta)
	return f, nil
}

// DrawWeights draws a function from the Bayesian linear model on F random
// features φ, whose kernel φ(x)ᵀφ(x′) approximates k (Rahimi and Recht, 2007), exactly by
// Matheron's rule, w = w0 + Φᵀ(ΦΦᵀ + σn² I)⁻¹(y − c − m(X) − Φw0 − ε). With few features it no
// longer follows many observations. O(n² F + n³/6).
func (m *Model) DrawWeights(features int, rng *rand.Rand) (*Draw, error) {
	f, err := m.prepareDraw(features, rng)
	if err != nil {
		return nil, err
	}
	n := m.Len()
	phi := f.featureMatrix()
	r := f.residual(phi, rng)
	u, ld := newSquare(n), padded(n)
	if !jittered(u, n, func(jitter float64) {
		for i := range n {
			for k := i; k < n; k++ {
				u[i*ld+k] = floats.Dot(phi[i], phi[k])
			}
			u[i*ld+i] += m.noise + jitter*m.signal
		}
	}) {
		return nil, ErrNotPositiveDefinite
	}
	rows := lower(u, n)
	forward(rows, r)
	backward(rows, r)
	// phi carries the amplitude and so do f.weights.
	amplitude := f.amplitude()
	for i, v := range r {
		floats.AddScaled(f.weights, v*amplitude, phi[i])
	}
	return f, nil
}

// prepareDraw draws the features and, for the prior, their weights. The
// spectral density of Matérn-5/2 is a Student distribution with 5 degrees of
// freedom: ω = z/(ℓ√g), z ~ N(0, I), g ~ Gamma(5/2, scale 2/5), and
// φ(x) = √(2σ0²/F) cos(ωᵀx + b), b ~ U(0, 2π).
func (m *Model) prepareDraw(features int, rng *rand.Rand) (*Draw, error) {
	if features < 1 {
		return nil, fmt.Errorf("gp: a draw of %d features", features)
	}
	d := m.Dim()
	f := &Draw{m: m, freq: make([]float64, features*d), phase: make([]float64, features), weights: make([]float64, features)}
	amplitude := f.amplitude()
	for j := range features {
		// 5g is χ² with 5 degrees of freedom.
		chi2 := 0.0
		for range 5 {
			z := rng.NormFloat64()
			chi2 += z * z
		}
		g := chi2 / 5
		for k, inv := range m.inv {
			f.freq[j*d+k] = rng.NormFloat64() * inv / math.Sqrt(g)
		}
		f.phase[j] = 2 * math.Pi * rng.Float64()
		f.weights[j] = amplitude * rng.NormFloat64()
	}
	return f, nil
}

func (f *Draw) amplitude() float64 {
	return math.Sqrt(2 * f.m.signal / float64(len(f.phase)))
}

// featureMatrix returns φ(x_i) for every observation i, amplitude included.
func (f *Draw) featureMatrix() [][]float64 {
	d, count, amplitude := len(f.m.inv), len(f.phase), f.amplitude()
	phi := slices.Collect(slices.Chunk(make([]float64, f.m.Len()*count), count))
	x := make([]float64, d)
	for i := range phi {
		for j, inv := range f.m.inv {
			x[j] = f.m.cols[j][i] / inv
		}
		for j := range phi[i] {
			phi[i][j] = amplitude * math.Cos(f.phase[j]+floats.Dot(f.freq[j*d:(j+1)*d], x))
		}
	}
	return phi
}

// residual returns y − c − g(X) − ε for the prior draw g.
func (f *Draw) residual(phi [][]float64, rng *rand.Rand) []float64 {
	m := f.m
	r := make([]float64, m.Len())
	deviation := math.Sqrt(m.noise)
	inverse := 1 / f.amplitude()
	for i, y := range m.y {
		r[i] = y - m.centres[i] - inverse*floats.Dot(phi[i], f.weights) - deviation*rng.NormFloat64()
	}
	return r
}

// Joint returns the posterior covariances of the latent values at points,
// k(x,x') − k(x,X) K⁻¹ k(X,x') (Rasmussen and Williams 2006, equation 2.26). O(n² b + n b²) for b points.
func (m *Model) Joint(points [][]float64) [][]float64 {
	p := m.Predictor()
	whitened := make([][]float64, len(points)) // L⁻¹ k(X,x)
	for i, x := range points {
		p.kernel(x, nil)
		forward(m.rows, p.k)
		whitened[i] = slices.Clone(p.k)
	}
	cols := scaledColumns(points, m.inv)
	joint := make([][]float64, len(points))
	for i, x := range points {
		row := newVector(len(points))
		sqdist(row, cols, x, m.inv)
		vector.Matern52(row, nil, row, m.signal)
		for k := range row {
			row[k] -= floats.Dot(whitened[i], whitened[k])
		}
		row[i] = m.latent(row[i])
		joint[i] = row
	}
	return joint
}

// DrawJoint draws n functions from the posterior of the latent values, each known at the points.
func (m *Model) DrawJoint(points [][]float64, n int, rng *rand.Rand) [][]float64 {
	rows := m.Joint(points) // becomes U with UᵀU = Joint, row by row
	for i, row := range rows {
		floats.Scale(1/math.Sqrt(m.latent(row[i])), row[i:])
		for k := i + 1; k < len(rows); k++ {
			floats.AddScaled(rows[k][k:], -row[k], row[k:])
		}
	}
	mean, out := make([]float64, len(points)), make([][]float64, n)
	m.Predictor().Batch(points, mean, make([]float64, len(points)))
	for k := range out {
		out[k] = slices.Clone(mean)
		for i, row := range rows {
			floats.AddScaled(out[k][i:], rng.NormFloat64(), row[i:])
		}
	}
	return out
}
