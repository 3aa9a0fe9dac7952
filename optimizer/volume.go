package optimizer

import (
	"math"
	"slices"

	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
	"github.com/lbotune/lbotune/optimizer/internal/gp"
	"github.com/lbotune/lbotune/optimizer/internal/pareto"
	"github.com/lbotune/lbotune/optimizer/internal/warp"
)

// volumeScore is the only part of a score: the logarithm of the expected hypervolume improvement of independent
// posteriors, exact: over the boxes [l, u] of what the front leaves undominated
//
//	EHVI(x) = Σ Π_j E[max(0, min(f_j, u_j) − l_j)]
//
// (Emmerich, Deutz and Klinkenberg 2011; logarithms after Ament et al. 2023), where each
// factor is a clipped expected improvement.
type volumeScore struct {
	views []*view
	warps []warp.Warp
	parts []*gp.Predictor
	ref   []float64
	boxes []pareto.Box
	sides [][]side // of each box: by objective

	logs []float64
	kept []int                 // the boxes that count
	each [][]acquisition.Value // of each box: by objective
	dmu  [][]float64
	dsd  [][]float64
}

// tile cuts up what lies above the reference point and no point dominates.
func (f *volumeScore) tile(points [][]float64) {
	f.boxes = pareto.Undominated(points, f.ref)
	best := slices.Clone(f.ref)
	for _, p := range points {
		for j, v := range p {
			best[j] = math.Max(best[j], v)
		}
	}
	for _, b := range f.boxes {
		sides := make([]side, len(best))
		for j := range best {
			s := side{low: b.Low[j], worth: math.Inf(-1), pieces: secants(&f.warps[j], b.Low[j], b.Up[j], best[j])}
			for _, p := range s.pieces {
				s.worth = math.Max(s.worth, p.slope)
			}
			sides[j] = s
		}
		f.sides = append(f.sides, sides)
	}
}

// side is one of a box: where it begins, and the logarithm of what a model unit is worth at most.
type side struct {
	low, worth float64
	pieces     []piece
}

// piece is a part of a box's side, and the logarithm of what a model unit is worth there.
type piece struct{ low, up, slope float64 }

// secants cuts the side [low, up] of a box into pieces on each of which the inverse of a
// warp is nearly straight. A deviation above the best value it goes on as its tangent.
func secants(w *warp.Warp, low, up, best float64) (out []piece) {
	const longest = 0.25 // in deviations of the values
	end := up
	if math.IsInf(up, 1) {
		end = best + 1
	}
	if w.Kind != warp.Identity && end > low {
		n := math.Ceil((end - low) / longest)
		for k := 0.0; k < n; k++ {
			a, b := low+(end-low)*k/n, low+(end-low)*(k+1)/n
			slope := math.Log((w.Inverse(b) - w.Inverse(a)) / (b - a))
			if math.IsInf(slope, 0) || math.IsNaN(slope) { // too short for the difference
				slope = -w.LogJacobian(w.Inverse(a))
			}
			out = append(out, piece{a, b, slope})
		}
		low = end
	}
	if low < up {
		out = append(out, piece{low, up, -w.LogJacobian(w.Inverse(low))})
	}
	return out
}

// gain is the logarithm of the expected gain of side j of box k, and its derivatives.
func (f *volumeScore) gain(k, j int, mu, sigma float64) (sum acquisition.Value) {
	for i, p := range f.sides[k][j].pieces {
		v := acquisition.LogCEI(mu, sigma, p.low, math.Inf(-1), p.up)
		if v.F += p.slope; i == 0 {
			sum = v
			continue
		}
		top := math.Max(sum.F, v.F)
		total := top + math.Log(math.Exp(sum.F-top)+math.Exp(v.F-top))
		a, b := math.Exp(sum.F-total), math.Exp(v.F-total)
		sum = acquisition.Value{F: total, Mu: a*sum.Mu + b*v.Mu, Sigma: a*sum.Sigma + b*v.Sigma}
	}
	return sum
}

// nothing is by how much less, in logarithms, a box's gain is than another's that it does not
// change in their sum: e^-50 is 2e-22.
const nothing = 50

// most fills logs with upper bounds of the logarithms of the boxes' expected gains, cheaply: with
// z = (μ−l)/σ, E[max(0, min(f, u) − l)] ≤ σ (φ(z) + z Φ(z)) ≤ σ φ(z) below zero, and σ (z + 0.4)
// above it. It returns the box with the largest one.
func (f *volumeScore) most(mu, sigma []float64) (first int) {
	units := 0.0
	for _, s := range sigma {
		units += math.Log(math.Max(s, acquisition.MinSigma))
	}
	for k, sides := range f.sides {
		sum := units
		for j, side := range sides {
			sum += side.worth
			if z := (mu[j] - side.low) / math.Max(sigma[j], acquisition.MinSigma); z < 0 {
				sum -= z * z / 2 // and log φ(0) < 0
			} else {
				_, e := math.Frexp(z + 0.4) // which is below 2^e
				sum += float64(e) * math.Ln2
			}
		}
		if f.logs[k] = sum; sum > f.logs[first] {
			first = k
		}
	}
	return first
}

func (f *volumeScore) at(x, grad []float64) float64 {
	m := len(f.parts)
	if f.each == nil {
		f.logs = make([]float64, len(f.boxes))
		for range f.boxes {
			f.each = append(f.each, make([]acquisition.Value, m))
		}
		for range m {
			f.dmu, f.dsd = append(f.dmu, make([]float64, len(x))), append(f.dsd, make([]float64, len(x)))
		}
	}
	mu, sigma := make([]float64, m), make([]float64, m)
	for j, p := range f.parts {
		var variance float64
		if grad == nil {
			mu[j], variance = p.Predict(x)
		} else {
			mu[j], variance = p.PredictGrad(x, f.dmu[j], f.dsd[j])
		}
		sigma[j] = math.Sqrt(variance)
		for k := range f.dsd[j] {
			f.dsd[j][k] /= 2 * sigma[j]
		}
	}
	return f.value(mu, sigma, grad)
}

// value is the score of a posterior; the gradients of the means and deviations are in dmu
// and dsd.
func (f *volumeScore) value(mu, sigma, grad []float64) float64 {
	first, top := f.most(mu, sigma), math.Inf(-1)
	exact := func(k int) {
		f.logs[k] = 0
		for j := range mu {
			f.each[k][j] = f.gain(k, j, mu[j], sigma[j])
			f.logs[k] += f.each[k][j].F
		}
		top = math.Max(top, f.logs[k])
	}
	exact(first)
	f.kept = f.kept[:0]
	for k, most := range f.logs {
		if k != first && !(most > top-nothing) {
			continue
		}
		if f.kept = append(f.kept, k); k != first {
			exact(k)
		}
	}
	sum := 0.0
	for _, k := range f.kept {
		f.logs[k] = math.Exp(f.logs[k] - top)
		sum += f.logs[k]
	}
	if grad != nil {
		clear(grad)
		for j := range mu {
			var dMu, dSigma float64
			for _, k := range f.kept {
				w := f.logs[k]
				dMu += w / sum * f.each[k][j].Mu
				dSigma += w / sum * f.each[k][j].Sigma
			}
			for i := range grad {
				grad[i] += dMu*f.dmu[j][i] + dSigma*f.dsd[j][i]
			}
		}
	}
	return top + math.Log(sum)
}

func (f *volumeScore) batch(xs [][]float64, out []float64) {
	for i, x := range xs {
		out[i] = f.at(x, nil)
	}
}
