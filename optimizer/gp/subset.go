package gp

import (
	"cmp"
	"math"
	"slices"
)

// Limits bound the cost of a model as observations grow. A limit of 0 is none.
type Limits struct {
	Fit   int // observations that decide the hyper-parameters
	Model int // observations that the model is conditioned on
}

// DefaultLimits keep a warm fit and a factorisation near 100 ms together,
// whatever the number of observations.
func DefaultLimits() Limits { return Limits{Fit: 250, Model: 800} }

// FitModel fits hyper-parameters and conditions a model, both on at most as
// many observations as the limits allow, chosen by Subset. Up to the limits it
// is Fit and New. The observations of the model, as indices into x, come third.
func FitModel(x [][]float64, y []float64, start *Hyper, s Settings, limits Limits) (*Model, FitResult, []int, error) {
	if _, err := checkData(x, y); err != nil {
		return nil, FitResult{}, nil, err
	}
	var scale []float64
	if start != nil {
		scale = start.Lengths()
	}
	fx, fy := pick(x, y, Subset(x, y, limits.Fit, scale))
	r, err := Fit(fx, fy, start, s)
	if err != nil {
		return nil, FitResult{}, nil, err
	}
	chosen := Subset(x, y, limits.Model, r.Hyper.Lengths())
	mx, my := pick(x, y, chosen)
	m, err := New(mx, my, r.Hyper)
	if err != nil {
		return nil, FitResult{}, nil, err
	}
	return m, r, chosen, nil
}

// Subset chooses m of the points for a model of bounded size and returns their
// indices in increasing order: a quarter with the largest values, a quarter
// nearest to the best point, and the rest one by one, each the farthest from
// all chosen before, so that no region is forgotten (Gonzalez, 1985). Distances
// are ‖(a−b)/scale‖; nil means the unit cube's own. When no more than m points
// are given, or m ≤ 0, all are returned. Ties go to the earlier observation.
// O(n m d).
func Subset(x [][]float64, y []float64, m int, scale []float64) []int {
	n := len(x)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if n <= m || m <= 0 {
		return order
	}
	gap := make([]float64, n) // squared distance to the nearest chosen point
	for i := range gap {
		gap[i] = math.Inf(1)
	}
	chosen := make([]int, 0, m)
	taken := make([]bool, n)
	take := func(i int) {
		chosen = append(chosen, i)
		taken[i] = true
		for k := range gap {
			if gap[k] > 0 {
				gap[k] = math.Min(gap[k], scaledDistance(x[i], x[k], scale))
			}
		}
	}

	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(y[b], y[a]) })
	best := order[0]
	for _, i := range order[:max(1, m/4)] {
		take(i)
	}
	near := make([]float64, n)
	for i := range near {
		near[i] = scaledDistance(x[best], x[i], scale)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(near[a], near[b]), cmp.Compare(a, b))
	})
	for _, i := range order {
		if len(chosen) >= m/2 {
			break
		}
		if !taken[i] {
			take(i)
		}
	}
	for len(chosen) < m {
		far := -1
		for i := range gap {
			if !taken[i] && (far < 0 || gap[i] > gap[far]) {
				far = i
			}
		}
		take(far)
	}
	slices.Sort(chosen)
	return chosen
}

func scaledDistance(a, b, scale []float64) float64 {
	sum := 0.0
	for j, v := range a {
		t := v - b[j]
		if scale != nil {
			t /= scale[j]
		}
		sum += t * t
	}
	return sum
}

func pick(x [][]float64, y []float64, index []int) ([][]float64, []float64) {
	px, py := make([][]float64, len(index)), make([]float64, len(index))
	for k, i := range index {
		px[k], py[k] = x[i], y[i]
	}
	return px, py
}
