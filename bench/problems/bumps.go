package problems

import "math"

// hills is a set of Gaussian bumps on the unit cube.
type hills struct {
	centre [][]float64
	height []float64
	width  []float64 // standard deviations
}

// drawHills makes n bumps; one has the height 1, the others between 0.3 and
// 0.9, so that a search can settle on many of them and be wrong.
func drawHills(d, n int, seed uint64) hills {
	r := stream(seed, 0xb0)
	var h hills
	for i := range n {
		h.centre = append(h.centre, randomPoint(r, d, 0.05, 0.95))
		h.width = append(h.width, (0.06+0.06*r.Float64())*math.Sqrt(float64(d)))
		height := 0.3 + 0.6*r.Float64()
		if i == 0 {
			height = 1
		}
		h.height = append(h.height, height)
	}
	return h
}

func (h hills) bump(i int, x []float64) float64 {
	return h.height[i] * math.Exp(-distance2(x, h.centre[i])/(2*h.width[i]*h.width[i]))
}

// BumpMaximum is the negative of the highest of ten Gaussian bumps. Its minimum
// is −1, at the centre of the highest. It is a new surface for each seed.
func BumpMaximum(d int, seed uint64) Problem {
	h := drawHills(d, 10, seed)
	p := onCube("bumpmax", d, 0, 1, h.centre[0], func(x []float64) float64 {
		top := 0.0
		for i := range h.height {
			top = max(top, h.bump(i, x))
		}
		return -top
	})
	p.Min = -1
	return p
}

// BumpSum is the negative of the sum of ten Gaussian bumps, a new surface for
// each seed. Its minimum is found by mean shift from every centre (Fukunaga and
// Hostetler, IEEE Transactions on Information Theory 21, 1975; for a mixture of
// Gaussians: Carreira-Perpiñán, IEEE PAMI 29, 2007).
func BumpSum(d int, seed uint64) Problem {
	h := drawHills(d, 10, seed)
	p := onCube("bumpsum", d, 0, 1, nil, func(x []float64) float64 {
		sum := 0.0
		for i := range h.height {
			sum -= h.bump(i, x)
		}
		return sum
	})
	p.Min = math.Inf(1)
	for _, c := range h.centre {
		at := h.climb(c)
		if f := p.Eval(at); f < p.Min {
			p.Min, p.Minimizers = f, [][]float64{at}
		}
	}
	return p
}

// climb follows the mean shift x ← Σ aᵢcᵢ/Σ aᵢ, aᵢ = bumpᵢ(x)/σᵢ², which never
// descends and never leaves the hull of the centres.
func (h hills) climb(x []float64) []float64 {
	for range 1000 {
		next := make([]float64, len(x))
		total := 0.0
		for i, c := range h.centre {
			a := h.bump(i, x) / (h.width[i] * h.width[i])
			total += a
			for j := range next {
				next[j] += a * c[j]
			}
		}
		for j := range next {
			next[j] /= total
		}
		moved := distance2(next, x)
		x = next
		if moved < 1e-24 {
			break
		}
	}
	return x
}
