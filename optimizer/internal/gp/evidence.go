package gp

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/optimizer/internal/vector"
)

// evidence computes the log marginal likelihood of y at fixed inputs for many
// hyper-parameters without allocating.
type evidence struct {
	n, d   int
	y      []float64
	cols   [][]float64 // the inputs by dimension
	gaps   []float64   // of one dimension, see squares
	shrink []float64   // 1/ℓ_j²
	kernel []float64   // of all pairs
	slopes []float64   // of the kernel
	u      []float64   // U = Lᵀ above the diagonal
	strips []float64   // U in another order
	w      []float64   // L⁻¹
	strip  []float64   // four rows of −K⁻¹, or one vector
	ones   []float64   // L⁻¹ 1
	alpha  []float64   // L⁻¹ (y − c) or K⁻¹ (y − c)
	diag   float64     // σn² + jitter
	fit    float64     // (y−c)ᵀ K⁻¹ (y−c)
}

func newEvidence(x [][]float64) *evidence {
	n, d := len(x), len(x[0])
	pairs := n * (n - 1) / 2
	return &evidence{
		n: n, d: d,
		cols:   scaledColumns(x, slices.Repeat([]float64{1}, d)),
		gaps:   make([]float64, pairs),
		shrink: make([]float64, d),
		kernel: make([]float64, pairs),
		slopes: make([]float64, pairs),
		u:      newSquare(n),
		strips: newStrips(n),
		w:      newSquare(n),
		strip:  make([]float64, 4*padded(n)),
		ones:   newVector(n),
		alpha:  newVector(n),
	}
}

// after returns what v, with an entry for each pair of inputs, has for those of input i
// and the ones after it.
func (w *evidence) after(v []float64, i int) []float64 { return v[i*(2*w.n-i-1)/2:][:w.n-i-1] }

// squares are the squared differences in dimension j of all pairs of inputs. Those of all dimensions
// would take n²d/2 numbers.
func (w *evidence) squares(j int) []float64 {
	clear(w.gaps)
	for i, z := range w.cols[j] {
		vector.AddSquares(w.after(w.gaps, i), w.cols[j][i+1:], z)
	}
	return w.gaps
}

// solve replaces b by L⁻¹ b.
func (w *evidence) solve(b []float64) { lowerTimes(b, w.w, w.copied(b)) }

// copied returns a copy of b as of newVector.
func (w *evidence) copied(b []float64) []float64 {
	clear(w.strip[copy(w.strip, b):padded(w.n)])
	return w.strip[:w.n]
}

// factorise computes L⁻¹ for the given hyper-parameters and reports success.
func (w *evidence) factorise(logLengths []float64, signal, noise float64) bool {
	clear(w.kernel)
	for j, l := range logLengths {
		w.shrink[j] = math.Exp(-2 * l)
		floats.AddScaled(w.kernel, w.shrink[j], w.squares(j))
	}
	vector.Matern52(w.kernel, w.slopes, w.kernel, signal)
	if !jittered(w.u, w.n, func(jitter float64) {
		w.diag = noise + jitter*signal
		for i := range w.n {
			row := w.u[i*padded(w.n)+i:]
			row[0] = signal + w.diag
			copy(row[1:], w.after(w.kernel, i))
		}
	}) {
		return false
	}
	stripsOf(w.strips, w.u, w.n)
	inverse(w.w, w.strips, w.n, 0)
	return true
}

// logLikelihood returns the log marginal likelihood for the mean c, without
// setting alpha.
func (w *evidence) logLikelihood(c float64) float64 {
	for i, v := range w.y {
		w.alpha[i] = v - c
	}
	w.solve(w.alpha)
	return w.value()
}

// solveProfiled chooses the mean that maximizes likelihood × N(c; 0, 1),
//
//	c = 1ᵀK⁻¹y / (1ᵀK⁻¹1 + 1)
//
// sets alpha for it and returns c and the log marginal likelihood at it.
func (w *evidence) solveProfiled() (c, logLikelihood float64) {
	copy(w.alpha, w.y)
	w.solve(w.alpha)
	for i := range w.ones {
		w.ones[i] = 1
	}
	w.solve(w.ones)
	c = floats.Dot(w.ones, w.alpha) / (floats.Dot(w.ones, w.ones) + 1)
	floats.AddScaled(w.alpha, -c, w.ones)
	logLikelihood = w.value()
	upperTimes(w.alpha, w.w, w.copied(w.alpha))
	return c, logLikelihood
}

// value is the log marginal likelihood when alpha is L⁻¹(y − c).
func (w *evidence) value() float64 {
	w.fit = floats.Dot(w.alpha, w.alpha)
	sum := -0.5 * (w.fit + float64(w.n)*math.Log(2*math.Pi))
	for i := range w.n {
		sum -= math.Log(w.u[i*padded(w.n)+i])
	}
	return sum
}

// gradient sets grad to the derivatives of the log marginal likelihood by
// (ln ℓ_1 … ln ℓ_d, ln σ0², ln σn²) after factorise and solve:
//
//	½ tr[(ααᵀ − K⁻¹) ∂K/∂θ]
//
// (Rasmussen and Williams, equation 5.9). For the two variances the trace needs
// only tr K⁻¹, since k(X,X) = K − σn² I. Jitter counts as neither. It uses up the slopes.
func (w *evidence) gradient(grad []float64, noise float64) {
	n := w.n
	trace := 0.0
	for i, a := range w.alpha {
		if i%4 == 0 {
			inverseRows(w.strip, w.w, n, i)
		}
		negative := w.strip[i%4*padded(n)+i:]
		trace -= negative[0]
		negative, alpha := negative[1:], w.alpha[i+1:]
		slopes := w.after(w.slopes, i)
		for k, s := range slopes {
			slopes[k] = (a*alpha[k] + negative[k]) * s
		}
	}
	for j, shrink := range w.shrink {
		grad[j] = shrink * floats.Dot(w.slopes, w.squares(j))
	}
	norm := floats.Dot(w.alpha, w.alpha)
	grad[w.d] = 0.5 * (w.fit - w.diag*norm - float64(n) + w.diag*trace)
	grad[w.d+1] = 0.5 * noise * (norm - trace)
}

// leaveOneOut returns Σ_i ln p(y_i | all other observations), noise included, after
// factorise and solveProfiled: the mean and the variance of these densities are
//
//	y_i − α_i/[K⁻¹]_ii  and  1/[K⁻¹]_ii
//
// (Rasmussen and Williams, equations 5.11 and 5.12).
func (w *evidence) leaveOneOut() float64 {
	precision := w.strip[:w.n]
	clear(precision)
	for i := range w.n {
		for k, v := range w.w[i*padded(w.n):][:i+1] {
			precision[k] += v * v
		}
	}
	sum := 0.0
	for i, p := range precision {
		sum -= 0.5 * (math.Log(2*math.Pi/p) + w.alpha[i]*w.alpha[i]/p)
	}
	return sum
}
