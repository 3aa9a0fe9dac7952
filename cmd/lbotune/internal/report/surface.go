package report

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// surface is one function: its coefficients b.
type surface struct {
	a    *anova
	c    float64
	main [][]float64   // [i][k]
	pair [][][]float64 // [i][j], i < j, function k of i and l of j at k·n_j + l
}

// draw draws a function from what is believed with these weights: one from the prior, mended
// by what it and the noise lack of the values (Matheron's rule; Wilson et al. 2021, eq. 9).
// It takes the place of f, if there is one.
func (a *anova) draw(e *evidence, s state, rng *rand.Rand, f *surface) *surface {
	n, d := len(e.y), len(a.bases)
	if f == nil {
		f = &surface{a: a, main: make([][]float64, d), pair: make([][][]float64, d)}
	}
	f.c = math.Sqrt(constantVariance) * rng.NormFloat64()
	for i := range d {
		f.main[i] = f.main[i][:0]
		for _, l := range s.lambda[i] {
			f.main[i] = append(f.main[i], math.Sqrt(l)*rng.NormFloat64())
		}
	}
	q := s.w.pair()
	for i := range d {
		if f.pair[i] == nil {
			f.pair[i] = make([][]float64, d)
		}
		for j := i + 1; j < d; j++ {
			f.pair[i][j] = slices.Grow(f.pair[i][j][:0], len(s.lambda[i])*len(s.lambda[j]))
			for _, l := range s.lambda[i] {
				for _, m := range s.lambda[j] {
					f.pair[i][j] = append(f.pair[i][j], q*math.Sqrt(l*m)*rng.NormFloat64())
				}
			}
		}
	}
	lack := make([]float64, n)
	for t, row := range e.rows {
		lack[t] = -f.of(row) - math.Sqrt(s.w.noise()*s.w.noise()+leastNoise)*rng.NormFloat64()
	}
	var mend mat.VecDense
	mend.MulVec(s.inverse, mat.NewVecDense(n, lack))
	v := mend.RawVector().Data
	for t := range v {
		v[t] += s.alpha[t]
		f.c += constantVariance * v[t]
	}
	with := make([]float64, n)
	for i := range d {
		for k, phi := range e.phi[i] {
			for t := range with {
				with[t] = v[t] * phi[t]
				f.main[i][k] += s.lambda[i][k] * with[t]
			}
			for j := i + 1; j < d; j++ {
				to := f.pair[i][j][k*a.bases[j].n:]
				for l, other := range e.phi[j] {
					to[l] += q * q * s.lambda[i][k] * s.lambda[j][l] * floats.Dot(with, other)
				}
			}
		}
	}
	return f
}

// of is the function's value where the parameters have these features.
func (f *surface) of(row [][]float64) float64 {
	v := f.c
	var sums []float64 // side by side, which takes half the time
	for i, main := range f.main {
		if !slices.ContainsFunc(row[i], func(x float64) bool { return x != 0 }) {
			continue
		}
		sums = append(sums[:0], main...)
		for j := i + 1; j < len(row); j++ {
			pair, n := f.pair[i][j], len(row[j])
			for l, x := range row[j] {
				for k := range sums {
					sums[k] += pair[k*n+l] * x
				}
			}
		}
		for k, x := range row[i] {
			v += x * sums[k]
		}
	}
	return v
}

// fixed is f where all parameters but the free ones, in their order, have these features: a
// function of the free ones' alone.
func (f *surface) fixed(row [][]float64, free []int) *surface {
	rest := slices.Clone(row)
	for _, i := range free {
		rest[i] = make([]float64, len(row[i]))
	}
	g := &surface{c: f.of(rest), pair: make([][][]float64, len(free))}
	for n, i := range free {
		g.main = append(g.main, f.along(i, rest))
		for _, j := range free {
			g.pair[n] = append(g.pair[n], f.pair[i][j])
		}
	}
	return g
}

// along are the coefficients of parameter i's functions where the others have these
// features: what the function is along i, but for a constant.
func (f *surface) along(i int, row [][]float64) []float64 {
	out := slices.Clone(f.main[i])
	n := len(out)
	for j, b := range row {
		for l, x := range b {
			switch {
			case j < i && x != 0:
				for k, c := range f.pair[j][i][l*n : (l+1)*n] {
					out[k] += x * c
				}
			case j > i && x != 0:
				for k := range out {
					out[k] += x * f.pair[i][j][k*len(b)+l]
				}
			}
		}
	}
	return out
}
