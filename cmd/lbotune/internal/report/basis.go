package report

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/spaces"
)

// basis are the functions φ_k of one parameter: bends made orthonormal over the range of a
// float, or under the probabilities of levels.
type basis struct {
	n      int
	ranked bool        // neighbours are alike
	levels []float64   // their places along the parameter's axis; none of a float
	odds   []float64   // the probability of each level
	table  [][]float64 // the functions at each level
}

// basisOf is that of parameter i, whose levels it finds by walking along its range.
func basisOf(p spaces.Param) basis {
	own := alone(p)
	b := basis{n: mostFunctions, ranked: p.Kind != spaces.KindChoice}
	const walk = 4096
	for k := range walk {
		at := place(own, 0, own.FromUniform([]float64{(float64(k) + 0.5) / walk}))
		if n := len(b.levels); n > 0 && b.levels[n-1] == at {
			b.odds[n-1] += 1.0 / walk
			continue
		}
		if len(b.levels) == levelsUpTo && b.ranked {
			return smooth()
		}
		b.levels, b.odds = append(b.levels, at), append(b.odds, 1.0/walk)
	}
	if m := len(b.levels) - 1; !b.ranked || m < b.n {
		b.n = m
	}
	b.tabulate(b.levels)
	return b
}

// bends are, after a constant, u, u², cos(πu), cos(2πu), ...: cosines alone are level at the ends of
// a range.
func bends(u float64, n int) []float64 {
	out := []float64{1, u, u * u}
	for k := range n {
		out = append(out, math.Cos(math.Pi*float64(k+1)*u))
	}
	return out[:n+1]
}

// grid is how finely the functions of a float are known.
const grid = 1024

var smooth = sync.OnceValue(func() basis {
	b := basis{n: mostFunctions, ranked: true}
	var at []float64
	at, b.odds = b.places(grid)
	b.tabulate(at)
	return b
})

// tabulate makes the functions orthonormal as Gram and Schmidt do, and leaves the constant out. One of
// which nothing is left becomes 0.
func (b *basis) tabulate(at []float64) {
	b.table = lists.Map(at, func(u float64) []float64 { return bends(u, b.n) })
	inner := func(k, j int) (sum float64) {
		for l, row := range b.table {
			sum += b.odds[l] * row[k] * row[j]
		}
		return sum
	}
	for k := 1; k <= b.n; k++ {
		for j := range k {
			in := inner(k, j)
			for _, row := range b.table {
				row[k] -= in * row[j]
			}
		}
		norm := math.Sqrt(inner(k, k))
		for _, row := range b.table {
			if norm > 1e-6 {
				row[k] /= norm
			} else {
				row[k] = 0
			}
		}
	}
	for l, row := range b.table {
		b.table[l] = row[1:]
	}
}

// at are the functions at a place along the parameter's axis.
func (b *basis) at(u float64) []float64 {
	if b.levels == nil {
		return b.table[min(max(int(u*grid), 0), grid-1)][:b.n]
	}
	return b.table[floats.NearestIdx(b.levels, u)][:b.n]
}

// shares are λ_k, the functions' parts in the prior variance for the decay s, and their
// derivatives by s. Levels that have no order are all alike.
func (b *basis) shares(s float64) (lambda, slope []float64) {
	lambda, slope = make([]float64, b.n), make([]float64, b.n)
	sum, logs := 0.0, 0.0
	for k := range lambda {
		lambda[k] = 1
		if b.ranked {
			lambda[k] = math.Pow(float64(k+1), -s)
		}
		sum += lambda[k]
		logs += lambda[k] * math.Log(float64(k+1))
	}
	for k := range lambda {
		lambda[k] /= sum
		if b.ranked {
			slope[k] = lambda[k] * (logs/sum - math.Log(float64(k+1)))
		}
	}
	return lambda, slope
}
