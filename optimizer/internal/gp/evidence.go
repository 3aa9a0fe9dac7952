package gp

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// evidence computes the log marginal likelihood of fixed data for many
// hyper-parameters without allocating.
type evidence struct {
	n, d   int
	y      []float64
	gaps   [][]float64 // by dimension, the squared differences of all pairs of inputs
	shrink []float64   // 1/ℓ_j²
	kernel []float64   // of all pairs
	slopes []float64   // of the kernel; nil without gradients
	l      []float64   // n×n, L below the diagonal
	u      []float64   // n×n, L⁻ᵀ above the diagonal; nil without gradients
	rows   [][]float64 // rows of l
	ones   []float64   // L⁻¹ 1
	alpha  []float64   // L⁻¹ (y − c) or K⁻¹ (y − c)
	row    []float64
	diag   float64 // σn² + jitter
	fit    float64 // (y−c)ᵀ K⁻¹ (y−c)
}

func newEvidence(x [][]float64, y []float64, gradients bool) *evidence {
	n, d := len(x), len(x[0])
	pairs := n * (n - 1) / 2
	w := &evidence{
		n: n, d: d, y: y,
		gaps:   make([][]float64, d),
		shrink: make([]float64, d),
		kernel: make([]float64, pairs),
		l:      make([]float64, n*n),
		ones:   make([]float64, n),
		alpha:  make([]float64, n),
		row:    make([]float64, n),
	}
	for j := range w.gaps {
		w.gaps[j] = make([]float64, 0, pairs)
		for i, p := range x {
			for _, q := range x[:i] {
				w.gaps[j] = append(w.gaps[j], (p[j]-q[j])*(p[j]-q[j]))
			}
		}
	}
	if gradients {
		w.slopes, w.u = make([]float64, pairs), make([]float64, n*n)
	}
	w.rows = factorRows(w.l, n)
	return w
}

// before returns what v, with an entry for each pair of inputs, has for those of input i
// and the ones before it.
func before(v []float64, i int) []float64 { return v[i*(i-1)/2:][:i] }

// factorise computes L for the given hyper-parameters and reports success.
func (w *evidence) factorise(logLengths []float64, signal, noise float64) bool {
	clear(w.kernel)
	for j, l := range logLengths {
		w.shrink[j] = math.Exp(-2 * l)
		floats.AddScaled(w.kernel, w.shrink[j], w.gaps[j])
	}
	if w.slopes != nil {
		matern52(w.kernel, w.slopes, w.kernel, signal)
	} else {
		matern52Value(w.kernel, w.kernel, signal)
	}
	for jitter := 0.0; jitter <= maxJitter; jitter = nextJitter(jitter) {
		w.diag = noise + jitter*signal
		for i, row := range w.rows {
			copy(row, before(w.kernel, i))
			row[i] = signal + w.diag
		}
		if cholesky(w.l, w.n, w.row) {
			return true
		}
	}
	return false
}

// logLikelihood returns the log marginal likelihood for the mean c, without
// setting alpha.
func (w *evidence) logLikelihood(c float64) float64 {
	for i, v := range w.y {
		w.alpha[i] = v - c
	}
	forward(w.rows, w.alpha)
	return w.value()
}

// solveProfiled chooses the mean that maximizes likelihood × N(c; 0, sd²),
//
//	c = 1ᵀK⁻¹y / (1ᵀK⁻¹1 + 1/sd²)
//
// sets alpha for it and returns c and the log marginal likelihood at it. An
// infinite sd gives the generalised least squares mean.
func (w *evidence) solveProfiled(sd float64) (c, logLikelihood float64) {
	copy(w.alpha, w.y)
	forward(w.rows, w.alpha)
	for i := range w.ones {
		w.ones[i] = 1
	}
	forward(w.rows, w.ones)
	c = floats.Dot(w.ones, w.alpha) / (floats.Dot(w.ones, w.ones) + 1/(sd*sd))
	floats.AddScaled(w.alpha, -c, w.ones)
	logLikelihood = w.value()
	backward(w.rows, w.alpha)
	return c, logLikelihood
}

// value is the log marginal likelihood when alpha is L⁻¹(y − c).
func (w *evidence) value() float64 {
	w.fit = floats.Dot(w.alpha, w.alpha)
	sum := -0.5 * (w.fit + float64(w.n)*math.Log(2*math.Pi))
	for i, row := range w.rows {
		sum -= math.Log(row[i])
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
	inverseTranspose(w.u, w.rows, w.row)
	trace := 0.0
	for i, a := range w.alpha {
		inverse := w.row[:i+1]
		inverseRow(inverse, w.u, n, i)
		trace += inverse[i]
		slopes := before(w.slopes, i)
		for k, s := range slopes {
			slopes[k] = (a*w.alpha[k] - inverse[k]) * s
		}
	}
	for j, gaps := range w.gaps {
		grad[j] = w.shrink[j] * floats.Dot(w.slopes, gaps)
	}
	norm := floats.Dot(w.alpha, w.alpha)
	grad[w.d] = 0.5 * (w.fit - w.diag*norm - float64(n) + w.diag*trace)
	grad[w.d+1] = 0.5 * noise * (norm - trace)
}
