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
	raw    [][]float64 // inputs by dimension
	cols   [][]float64 // the same over ℓ
	l      []float64   // n×n, L below the diagonal
	slopes []float64   // n×n, slope of the kernel below the diagonal; nil without gradients
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
	unit := make([]float64, d)
	for j := range unit {
		unit[j] = 1
	}
	w := &evidence{
		n: n, d: d, y: y,
		raw:   scaledColumns(x, unit),
		cols:  scaledColumns(x, unit),
		l:     make([]float64, n*n),
		ones:  make([]float64, n),
		alpha: make([]float64, n),
		row:   make([]float64, n),
	}
	if gradients {
		w.slopes, w.u = make([]float64, n*n), make([]float64, n*n)
	}
	w.rows = factorRows(w.l, n)
	return w
}

// factorise computes L for the given hyper-parameters and reports success.
func (w *evidence) factorise(logLengths []float64, signal, noise float64) bool {
	for j, l := range logLengths {
		inv := math.Exp(-l)
		for i, v := range w.raw[j] {
			w.cols[j][i] = v * inv
		}
	}
	for jitter := 0.0; jitter <= maxJitter; jitter = nextJitter(jitter) {
		w.diag = noise + jitter*signal
		for i := range w.n {
			k := w.l[i*w.n : i*w.n+i]
			sqdistRow(k, w.cols, i)
			if w.slopes != nil {
				matern52(k, w.slopes[i*w.n:i*w.n+i], k, signal)
			} else {
				matern52Value(k, k, signal)
			}
			w.l[i*w.n+i] = signal + w.diag
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
// only tr K⁻¹, since k(X,X) = K − σn² I. Jitter counts as neither.
func (w *evidence) gradient(grad []float64, noise float64) {
	n := w.n
	inverseTranspose(w.u, w.rows, w.row)
	grad = grad[:w.d+2]
	clear(grad)
	trace := 0.0
	for i := range n {
		weights := w.row[:i+1]
		inverseRow(weights, w.u, n, i)
		trace += weights[i]
		weights = weights[:i]
		ai, slopes := w.alpha[i], w.slopes[i*n:i*n+i]
		for k, inv := range weights {
			weights[k] = (ai*w.alpha[k] - inv) * slopes[k]
		}
		for j, col := range w.cols {
			z, sum := col[i], 0.0
			for k, c := range col[:i] {
				t := z - c
				sum += weights[k] * t * t
			}
			grad[j] += sum
		}
	}
	norm := floats.Dot(w.alpha, w.alpha)
	grad[w.d] = 0.5 * (w.fit - w.diag*norm - float64(n) + w.diag*trace)
	grad[w.d+1] = 0.5 * noise * (norm - trace)
}
