package optimizer

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/internal/pareto"
	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
	"github.com/lbotune/lbotune/optimizer/internal/gp"
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
	sides []piece // of all boxes: by objective, piece by piece
	ends  []int   // of the pieces, by box and objective

	order  []int // of the boxes, such that neighbours make blocks
	single peaks // of the boxes in that order
	blocks peaks // of each blockSize of them

	logs []float64
	kept []int               // the boxes that count
	each []acquisition.Value // of the boxes, by objective
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
	f.order = inBlocks(f.boxes)
	n, m := len(f.boxes), len(best)
	f.logs, f.each = make([]float64, n), make([]acquisition.Value, n*m)
	f.sides, f.ends = make([]piece, 0, n*m), make([]int, 1, n*m+1)
	worth := make([]float64, n)
	for k, b := range f.boxes {
		for j := range best {
			from := len(f.sides)
			f.sides = secants(f.sides, &f.warps[j], b.Low[j], b.Up[j], best[j])
			f.ends = append(f.ends, len(f.sides))
			worth[k] += slices.MaxFunc(f.sides[from:], func(p, q piece) int { return cmp.Compare(p.slope, q.slope) }).slope
		}
	}
	f.single.worth = pick(worth, f.order)
	f.blocks.worth = byBlock(f.single.worth, slices.Max)
	for j := range best {
		lows := mapped(f.order, func(k int) float64 { return f.boxes[k].Low[j] })
		f.single.lows, f.blocks.lows = append(f.single.lows, lows), append(f.blocks.lows, byBlock(lows, slices.Min))
	}
	f.single.logs, f.blocks.logs = make([]float64, len(worth)), make([]float64, len(f.blocks.worth))
}

// blockSize is how many neighbouring boxes are passed over at once where none of them counts.
const blockSize = 32

// inBlocks orders boxes such that so many that follow each other lie close together (Leutenegger,
// Lopez and Edgington 1997).
func inBlocks(boxes []pareto.Box) []int {
	order := orderBy(len(boxes), func(k int) float64 { return boxes[k].Low[0] })
	wide := blockSize * int(math.Ceil(math.Sqrt(float64(len(boxes))/blockSize)))
	for strip := range slices.Chunk(order, wide) {
		slices.SortFunc(strip, func(a, b int) int { return cmp.Compare(boxes[a].Low[1], boxes[b].Low[1]) })
	}
	return order
}

func byBlock(v []float64, of func([]float64) float64) (out []float64) {
	for block := range slices.Chunk(v, blockSize) {
		out = append(out, of(block))
	}
	return out
}

// piece is a part of a box's side, and the logarithm of what a model unit is worth there.
type piece struct{ low, up, slope float64 }

// secants cuts the side [low, up] of a box into pieces on each of which the inverse of a
// warp is nearly straight, and appends them; far below its end the lowest piece is as long as need be. A
// deviation above the best value, or at it where the warp ends before that, it goes on as its tangent.
func secants(out []piece, w *warp.Warp, low, up, best float64) []piece {
	const longest, most = 0.25, 400 // in deviations of the values; pieces
	end := up
	if math.IsInf(up, 1) {
		if end = best + 1; math.IsInf(w.Inverse(end), 0) {
			end = best
		}
	}
	if w.Kind != warp.Identity && end > low {
		from := math.Max(low, end-most*longest)
		n := math.Ceil((end - from) / longest)
		for k := 0.0; k < n; k++ {
			a, b := from+(end-from)*k/n, from+(end-from)*(k+1)/n
			if k == 0 {
				a = low
			}
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

// gain is the logarithm of the expected gain of a side, by box and objective, and its derivatives.
func (f *volumeScore) gain(side int, mu, sigma float64) (sum acquisition.Value) {
	for i, p := range f.sides[f.ends[side]:f.ends[side+1]] {
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

// peaks are upper bounds of the logarithms of expected gains, of boxes or of blocks of them.
type peaks struct {
	lows  [][]float64 // by objective: where the sides begin, of a block the first of them
	worth []float64   // the logarithm of what a model unit of every objective is worth at most
	logs  []float64   // the bounds
}

// bound sets the logs from one to another, cheaply, and returns which is the largest: with
// z = (μ−l)/σ, E[max(0, min(f, u) − l)] ≤ σ (φ(z) + z Φ(z)), which is below 0.4 σ e^(−z²/2) for
// z < 0, and below σ (0.4 + z) above. Units are the logarithms of the deviations together.
func (p *peaks) bound(from, to int, mu, sigma []float64, units float64) (largest int) {
	logs := p.logs[from:to]
	for k, w := range p.worth[from:to] {
		logs[k] = units + w
	}
	for j, lows := range p.lows {
		m, scale := mu[j], 1/sigma[j]
		for k, low := range lows[from:to] {
			z := (m - low) * scale
			below := min(z, 0)
			logs[k] += logBound(0.4+max(z, 0)) - below*below/2
		}
	}
	return from + floats.MaxIdx(logs)
}

// logBound is up to 0.06 above the logarithm of a positive number: between powers of two its bits
// are a straight line.
func logBound(t float64) float64 {
	return (float64(int64(math.Float64bits(t)))*0x1p-52 - 1022.913) * math.Ln2
}

func (f *volumeScore) at(x, grad []float64) float64 {
	m := len(f.parts)
	if f.dmu == nil {
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

func (f *volumeScore) ahead(xs [][]float64) {
	for _, p := range f.parts {
		p.Ahead(xs)
	}
}

// value is the score of a posterior; the gradients of the means and deviations are in dmu
// and dsd.
func (f *volumeScore) value(mu, sigma, grad []float64) float64 {
	units, wide := 0.0, mapped(sigma, func(s float64) float64 { return math.Max(s, acquisition.MinSigma) })
	for _, s := range wide {
		units += math.Log(s)
	}
	within := func(block int) (largest int) {
		from := block * blockSize
		return f.single.bound(from, min(from+blockSize, len(f.order)), mu, wide, units)
	}
	top := math.Inf(-1)
	exact := func(k int) {
		f.logs[k] = 0
		for j := range mu {
			side := k*len(mu) + j
			f.each[side] = f.gain(side, mu[j], sigma[j])
			f.logs[k] += f.each[side].F
		}
		top = math.Max(top, f.logs[k])
	}
	first := f.order[within(f.blocks.bound(0, len(f.blocks.logs), mu, wide, units))]
	exact(first)
	f.kept = append(f.kept[:0], first)
	for block, most := range f.blocks.logs {
		if !(most > top-nothing) {
			continue
		}
		within(block)
		for i := block * blockSize; i < min((block+1)*blockSize, len(f.order)); i++ {
			if k := f.order[i]; k != first && f.single.logs[i] > top-nothing {
				exact(k)
				f.kept = append(f.kept, k)
			}
		}
	}
	slices.Sort(f.kept) // so that the sum does not depend on the blocks
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
				v := &f.each[k*len(mu)+j]
				dMu += w / sum * v.Mu
				dSigma += w / sum * v.Sigma
			}
			for i := range grad {
				grad[i] += dMu*f.dmu[j][i] + dSigma*f.dsd[j][i]
			}
		}
	}
	return top + math.Log(sum)
}

func (f *volumeScore) batch(xs [][]float64, out []float64) {
	means, variances := make([][]float64, len(f.parts)), make([][]float64, len(f.parts))
	for j, p := range f.parts {
		means[j], variances[j] = make([]float64, len(xs)), make([]float64, len(xs))
		p.Batch(xs, means[j], variances[j])
	}
	mu, sigma := make([]float64, len(f.parts)), make([]float64, len(f.parts))
	for i := range xs {
		for j := range mu {
			mu[j], sigma[j] = means[j][i], math.Sqrt(variances[j][i])
		}
		out[i] = f.value(mu, sigma, nil)
	}
}
