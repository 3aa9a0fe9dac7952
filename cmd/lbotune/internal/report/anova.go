package report

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lbotune/lbotune/spaces"
)

// What matters comes from a model made for that question, not from the one that searches:
// a Gaussian process on the functional ANOVA decomposition up to pairs (Sobol 1993; Durrande
// et al. 2013),
//
//	f(x) = c + Σ_i Σ_k b_ik φ_ik(x) + Σ_{i<j} Σ_kl b_ikjl φ_ik(x) φ_jl(x),
//
// with functions φ_ik of parameter i that are orthonormal over its range, and 0 where the
// parameter does not exist. The b are normal with the variances
//
//	Var b_ik = w_i² λ_ik,   Var b_ikjl = q² w_i² w_j² λ_ik λ_jl,   λ_ik ∝ k^−s_i,  Σ_k λ_ik = 1,
//
// so that a parameter's weight w_i is its share before anything is known. Shares of the
// variance are sums of squares of the b, and their intervals hold what is not known of the
// weights, too: those are drawn, not fitted.

const (
	mostFunctions = 8   // of one parameter
	mostPlaces    = 120 // that the model is told: its time grows with the cube
	levelsUpTo    = 32  // a parameter with more is like a float
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
func basisOf(p spaces.Param) (basis, error) {
	p.When, p.Default, p.Inactive, p.Sure = "", spaces.Value{}, spaces.Value{}, ""
	alone, err := spaces.New(p)
	if err != nil {
		return basis{}, err
	}
	b := basis{n: mostFunctions, ranked: p.Kind != spaces.KindChoice}
	const walk = 4096
	for k := range walk {
		at := place(alone, 0, alone.FromUniform([]float64{(float64(k) + 0.5) / walk}))
		if n := len(b.levels); n > 0 && b.levels[n-1] == at {
			b.odds[n-1] += 1.0 / walk
			continue
		}
		if len(b.levels) == levelsUpTo && b.ranked {
			return smooth(), nil
		}
		b.levels, b.odds = append(b.levels, at), append(b.odds, 1.0/walk)
	}
	if m := len(b.levels) - 1; !b.ranked || m < b.n {
		b.n = m
	}
	b.table = make([][]float64, len(b.levels))
	for l, u := range b.levels {
		if !b.ranked {
			u = (float64(l) + 0.5) / float64(len(b.levels))
		}
		b.table[l] = bends(u, b.n)
	}
	b.orthonormalize()
	return b, nil
}

// bends are u, u², cos(πu), cos(2πu), ...: cosines alone are level at the ends of a range.
func bends(u float64, n int) []float64 {
	out := []float64{u, u * u}
	for k := range n {
		out = append(out, math.Cos(math.Pi*float64(k+1)*u))
	}
	return out[:n]
}

// grid is how finely the functions of a float are known.
const grid = 1024

var smooth = sync.OnceValue(func() basis {
	b := basis{n: mostFunctions, ranked: true}
	for g := range grid {
		b.table = append(b.table, bends((float64(g)+0.5)/grid, b.n))
		b.odds = append(b.odds, 1.0/grid)
	}
	b.orthonormalize()
	return b
})

// orthonormalize is Gram and Schmidt's, with the constant as the first function. A function
// of which nothing is left becomes 0.
func (b *basis) orthonormalize() {
	inner := func(k, j int) (sum float64) {
		for l, row := range b.table {
			if j < 0 {
				sum += b.odds[l] * row[k]
			} else {
				sum += b.odds[l] * row[k] * row[j]
			}
		}
		return sum
	}
	for k := range b.n {
		for j := -1; j < k; j++ {
			in := inner(k, j)
			for _, row := range b.table {
				if j < 0 {
					row[k] -= in
				} else {
					row[k] -= in * row[j]
				}
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
}

// at are the functions at a place along the parameter's axis.
func (b *basis) at(u float64) []float64 {
	if b.levels == nil {
		return b.table[min(max(int(u*grid), 0), grid-1)][:b.n]
	}
	nearest := 0
	for l, v := range b.levels {
		if math.Abs(v-u) < math.Abs(b.levels[nearest]-u) {
			nearest = l
		}
	}
	return b.table[nearest][:b.n]
}

// shares are λ_k, the functions' parts in the prior variance for the decay s, and their
// derivatives by s. Levels that have no order are all alike.
func (b *basis) shares(s float64) (lambda, slope []float64) {
	lambda, slope = make([]float64, b.n), make([]float64, b.n)
	sum, logs := 0.0, 0.0
	for k := range lambda {
		if !b.ranked {
			lambda[k] = 1 / float64(b.n)
			continue
		}
		lambda[k] = math.Pow(float64(k+1), -s)
		sum += lambda[k]
		logs += lambda[k] * math.Log(float64(k+1))
	}
	for k := range lambda {
		if b.ranked {
			lambda[k] /= sum
			slope[k] = lambda[k] * (logs/sum - math.Log(float64(k+1)))
		}
	}
	return lambda, slope
}

// anova is the model's form for a space: what does not depend on the trials.
type anova struct {
	params []spaces.Param
	space  *spaces.Space
	bases  []basis
	// switches are, of each parameter, those that decide whether it exists, and those that
	// decide over these.
	switches [][]int
}

// newANOVA leaves out the parameters of which nothing can be known.
func newANOVA(space *spaces.Space, params []spaces.Param, without []bool) (*anova, error) {
	a := &anova{params: params, space: space, switches: make([][]int, len(params))}
	for i, p := range params {
		b, err := basisOf(p)
		if err != nil {
			return nil, err
		}
		if without[i] {
			b.n = 0
		}
		a.bases = append(a.bases, b)
		if p.When == "" {
			continue
		}
		r, err := spaces.ParseRelation(p.When, params[:i])
		if err != nil {
			return nil, err
		}
		for j := range i {
			if slices.Contains(r.Params, params[j].Name) {
				a.switches[i] = append(append(a.switches[i], a.switches[j]...), j)
			}
		}
		slices.Sort(a.switches[i])
		a.switches[i] = slices.Compact(a.switches[i])
	}
	return a, nil
}

// exists reports of each parameter whether it does at a point.
func (a *anova) exists(p spaces.Point) []bool {
	out := make([]bool, len(a.params))
	v := a.space.Decode(p)
	for i, par := range a.params {
		_, out[i] = v.Get(par.Name)
	}
	return out
}

// features are the φ_ik at a point.
func (a *anova) features(p spaces.Point) [][]float64 {
	out := make([][]float64, len(a.params))
	on := a.exists(p)
	for i := range out {
		if on[i] {
			out[i] = a.bases[i].at(place(a.space, i, p))
		} else {
			out[i] = make([]float64, a.bases[i].n)
		}
	}
	return out
}

// evidence is what the model is told: features of the places, by parameter and function,
// and their values with a mean of 0 and a variance of 1.
type evidence struct {
	phi [][][]float64 // [parameter][function][place]
	y   []float64
}

func (a *anova) tell(points []spaces.Point, y []float64) *evidence {
	e := &evidence{y: y, phi: make([][][]float64, len(a.params))}
	for i := range e.phi {
		e.phi[i] = make([][]float64, a.bases[i].n)
		for k := range e.phi[i] {
			e.phi[i][k] = make([]float64, len(points))
		}
	}
	for t, p := range points {
		for i, row := range a.features(p) {
			for k, v := range row {
				e.phi[i][k][t] = v
			}
		}
	}
	return e
}

// weights are what a fit would look for: ln w_i, s_i, and ln q and ln σ, one after the other.
type weights []float64

func (w weights) d() int              { return len(w)/2 - 1 }
func (w weights) scale(i int) float64 { return math.Exp(w[i]) }
func (w weights) decay(i int) float64 { return w[w.d()+i] }
func (w weights) pair() float64       { return math.Exp(w[2*w.d()]) }
func (w weights) noise() float64      { return math.Exp(w[2*w.d()+1]) }

// The prior of the weights: w_i half-Cauchy, as one of few is large (Carvalho et al. 2010),
// the others normal.
const (
	usualWeight              = 0.3
	decayMean, decaySD       = 2.5, 0.75
	logPairMean, logPairSD   = -0.5, 1
	logNoiseMean, logNoiseSD = -3, 1.2
	constantVariance         = 4
	leastNoise               = 1e-5 // a variance that keeps the matrix positive definite
)

// prior is the logarithm of the prior density, and its gradient is added to g.
func (w weights) prior(g []float64) (lp float64) {
	d := w.d()
	normal := func(i int, mean, sd float64) {
		z := (w[i] - mean) / sd
		lp -= z * z / 2
		g[i] -= z / sd
	}
	for i := range d {
		r := math.Pow(w.scale(i)/usualWeight, 2)
		lp += w[i] - math.Log1p(r)
		g[i] += 1 - 2*r/(1+r)
		normal(d+i, decayMean, decaySD)
	}
	normal(2*d, logPairMean, logPairSD)
	normal(2*d+1, logNoiseMean, logNoiseSD)
	return lp
}

// state is one of the sampler: the logarithm of the density of w and of the values,
// its gradient, and K⁻¹y and K⁻¹.
type state struct {
	w       weights
	lp      float64
	grad    []float64
	alpha   []float64
	inverse *mat.SymDense
}

// at evaluates the posterior at w. ok is false where K is not positive definite.
//
// K = c + A + q² P + σ², A = Σ_i A_i, A_i = w_i² Σ_k λ_ik φ_ik φ_ikᵀ, and P = ½ (A∘A − Σ A_i∘A_i)
// are the pairs. Of M = ½ (αα' − K⁻¹) and M_i = M∘(1 + q² (A − A_i)), the derivative by b of
// A_i is Σ M_i∘∂A_i.
func (a *anova) at(e *evidence, w weights) (s state, ok bool) {
	n, d := len(e.y), len(a.params)
	s = state{w: w, grad: make([]float64, len(w))}
	s.lp = w.prior(s.grad)
	q2 := w.pair() * w.pair()
	parts, sum, squares := make([][]float64, d), make([]float64, n*n), make([]float64, n*n)
	lambdas, slopes := make([][]float64, d), make([][]float64, d)
	for i := range d {
		lambdas[i], slopes[i] = a.bases[i].shares(w.decay(i))
		part, w2 := make([]float64, n*n), w.scale(i)*w.scale(i)
		for k, phi := range e.phi[i] {
			l := w2 * lambdas[i][k]
			for t, v := range phi {
				floats.AddScaled(part[t*n:t*n+t+1], v*l, phi[:t+1])
			}
		}
		for t := range n {
			for u := t * n; u <= t*n+t; u++ {
				sum[u] += part[u]
				squares[u] += part[u] * part[u]
			}
		}
		parts[i] = part
	}
	k := mat.NewSymDense(n, nil)
	sigma2 := w.noise()*w.noise() + leastNoise
	for t := range n {
		for u := range t + 1 {
			v := sum[t*n+u]
			v = constantVariance + v + q2/2*(v*v-squares[t*n+u])
			if t == u {
				v += sigma2
			}
			k.SetSym(t, u, v)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		return s, false
	}
	alpha := mat.NewVecDense(n, nil)
	s.inverse = mat.NewSymDense(n, nil)
	if chol.SolveVecTo(alpha, mat.NewVecDense(n, e.y)) != nil || chol.InverseTo(s.inverse) != nil {
		return s, false
	}
	s.alpha = alpha.RawVector().Data
	s.lp -= chol.LogDet() / 2
	for t, v := range e.y {
		s.lp -= v * s.alpha[t] / 2
	}
	// Below the diagonal everything counts twice.
	m := make([]float64, n*n)
	pairs, trace := 0.0, 0.0
	for t := range n {
		for u := range t + 1 {
			v := s.alpha[t]*s.alpha[u] - s.inverse.At(t, u)
			if t == u {
				v /= 2
				trace += v
			}
			m[t*n+u] = v
			pairs += v * (sum[t*n+u]*sum[t*n+u] - squares[t*n+u]) / 2
		}
	}
	s.grad[2*d] += 2 * q2 * pairs
	s.grad[2*d+1] += 2 * w.noise() * w.noise() * trace
	mi := make([]float64, n*n)
	for i := range d {
		w2 := w.scale(i) * w.scale(i)
		for t := range n {
			for u := t * n; u <= t*n+t; u++ {
				mi[u] = m[u] * (1 + q2*(sum[u]-parts[i][u]))
			}
		}
		for f, phi := range e.phi[i] {
			form := 0.0
			for t, v := range phi {
				form += v * floats.Dot(mi[t*n:t*n+t+1], phi[:t+1])
			}
			s.grad[i] += 2 * w2 * lambdas[i][f] * form
			s.grad[d+i] += w2 * slopes[i][f] * form
		}
	}
	return s, !math.IsNaN(s.lp)
}

const (
	chains    = 2
	warmup    = 24
	kept      = 24 // of each chain
	leapfrogs = 6
)

// sample draws weights from their posterior by Hamiltonian Monte Carlo (Neal 2011), with a
// step that is adapted while it warms up (Hoffman and Gelman 2014, section 3.2).
func (a *anova) sample(ctx context.Context, e *evidence, rng *rand.Rand) ([]state, error) {
	var out []state
	d := len(a.params)
	for range chains {
		w := make(weights, 2*d+2)
		for i := range d {
			w[i] = math.Log(usualWeight) + 0.5*rng.NormFloat64()
			w[d+i] = decayMean + 0.3*rng.NormFloat64()
		}
		w[2*d], w[2*d+1] = logPairMean, math.Log(0.2)
		now, ok := a.at(e, w)
		if !ok {
			return nil, errors.New("the model has no beginning")
		}
		step, mean := 0.1, math.Log(0.5)
		average, slack := 0.0, 0.0
		for round := range warmup + kept {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			next, accepted := a.hop(e, now, step, rng)
			if rng.Float64() < accepted {
				now = next
			}
			if round < warmup {
				m := float64(round + 1)
				slack = (1-1/(m+4))*slack + (0.7-accepted)/(m+4)
				log := mean - math.Sqrt(m)/0.2*slack
				average = math.Pow(m, -0.75)*log + (1-math.Pow(m, -0.75))*average
				step = math.Exp(log)
				if round == warmup-1 {
					step = math.Exp(average)
				}
				continue
			}
			out = append(out, now)
		}
	}
	return out, nil
}

// hop goes along a path of constant energy, and says how probable it is that its end is
// accepted.
func (a *anova) hop(e *evidence, from state, step float64, rng *rand.Rand) (to state, accepted float64) {
	p := make([]float64, len(from.w))
	before := from.lp
	for i := range p {
		p[i] = rng.NormFloat64()
		before -= p[i] * p[i] / 2
	}
	to = from
	for range leapfrogs {
		w := slices.Clone(to.w)
		for i := range p {
			p[i] += step / 2 * to.grad[i]
			w[i] += step * p[i]
			if math.Abs(w[i]) > 30 {
				return from, 0
			}
		}
		var ok bool
		if to, ok = a.at(e, w); !ok {
			return from, 0
		}
		for i := range p {
			p[i] += step / 2 * to.grad[i]
		}
	}
	after := to.lp
	for _, v := range p {
		after -= v * v / 2
	}
	return to, math.Min(1, math.Exp(after-before))
}

// surface is one function: its coefficients b.
type surface struct {
	a    *anova
	c    float64
	main [][]float64   // [i][k]
	pair [][][]float64 // [i][j], i < j, function k of i and l of j at k·n_j + l
}

// draw draws a function from what is believed with these weights: one from the prior, mended
// by what it and the noise lack of the values (Matheron's rule; Wilson et al. 2021, eq. 9).
func (a *anova) draw(e *evidence, s state, rng *rand.Rand) *surface {
	n, d := len(e.y), len(a.params)
	f := &surface{a: a, c: math.Sqrt(constantVariance) * rng.NormFloat64(), main: make([][]float64, d), pair: make([][][]float64, d)}
	lambdas := make([][]float64, d)
	for i := range d {
		lambdas[i], _ = a.bases[i].shares(s.w.decay(i))
		for k := range lambdas[i] {
			lambdas[i][k] *= s.w.scale(i) * s.w.scale(i)
			f.main[i] = append(f.main[i], math.Sqrt(lambdas[i][k])*rng.NormFloat64())
		}
	}
	q := s.w.pair()
	for i := range d {
		f.pair[i] = make([][]float64, d)
		for j := i + 1; j < d; j++ {
			for _, l := range lambdas[i] {
				for _, m := range lambdas[j] {
					f.pair[i][j] = append(f.pair[i][j], q*math.Sqrt(l*m)*rng.NormFloat64())
				}
			}
		}
	}
	lack := make([]float64, n)
	row := make([][]float64, d)
	for t := range lack {
		for i := range row {
			row[i] = row[i][:0]
			for _, phi := range e.phi[i] {
				row[i] = append(row[i], phi[t])
			}
		}
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
				f.main[i][k] += lambdas[i][k] * with[t]
			}
			for j := i + 1; j < d; j++ {
				to := f.pair[i][j][k*a.bases[j].n:]
				for l, other := range e.phi[j] {
					to[l] += q * q * lambdas[i][k] * lambdas[j][l] * floats.Dot(with, other)
				}
			}
		}
	}
	return f
}

// of is the function's value where the parameters have these features.
func (f *surface) of(row [][]float64) float64 {
	v := f.c
	for i, a := range row {
		for k, x := range a {
			if x == 0 {
				continue
			}
			sum := f.main[i][k]
			for j := i + 1; j < len(row); j++ {
				b := row[j]
				for l, c := range f.pair[i][j][k*len(b) : (k+1)*len(b)] {
					sum += c * b[l]
				}
			}
			v += x * sum
		}
	}
	return v
}

// fixed is f where all parameters but the free ones have these features: a function of the
// free ones' alone.
func (f *surface) fixed(row [][]float64, free []int) *surface {
	rest := slices.Clone(row)
	for _, i := range free {
		rest[i] = make([]float64, len(row[i]))
	}
	g := &surface{a: f.a, c: f.of(rest), main: make([][]float64, len(row)), pair: make([][][]float64, len(row))}
	for i := range row {
		g.pair[i] = make([][]float64, len(row))
	}
	for _, i := range free {
		g.main[i] = f.along(i, rest)
		for _, j := range free {
			g.pair[i][j] = f.pair[i][j]
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

// foresight is how well values are predicted by the model that does not know them: the rank
// correlation of the values with leave-one-out means, y_t − α_t / (K⁻¹)_tt, averaged over the
// weights, and the share of values within 1.96 √(1 / (K⁻¹)_tt) of them (Rasmussen and Williams
// 2006, eq. 5.12).
func foresight(e *evidence, states []state) (rank, within float64) {
	guess := make([]float64, len(e.y))
	for _, s := range states {
		for t := range guess {
			variance := 1 / s.inverse.At(t, t)
			guess[t] += e.y[t] - s.alpha[t]*variance
			if math.Abs(s.alpha[t]*variance) <= 1.96*math.Sqrt(variance) {
				within += 1 / float64(len(states)*len(guess))
			}
		}
	}
	if rank = stat.Correlation(ranks(guess), ranks(e.y), nil); math.IsNaN(rank) {
		rank = 0 // there is but one value
	}
	return rank, within
}

// spread chooses places that represent the cube: the one farthest from those before it, until
// there are enough or all others are near one (Gonzalez 1985). A search that has ended has a
// crowd at its optimum, which would speak for the whole cube. Where that leaves few, as in a
// space of few configurations, it takes others as they come.
func spread(points []spaces.Point) []int {
	const near, few = 0.05, 30
	out, far := []int{}, make([]float64, len(points))
	for i := range far {
		far[i] = math.Inf(1)
	}
	next := 0
	for len(out) < min(mostPlaces, len(points)) && far[next] > near*math.Sqrt(float64(len(points[0]))) {
		out = append(out, next)
		for i, p := range points {
			far[i] = math.Min(far[i], spaces.Distance(p, points[next]))
		}
		for i := range far {
			if far[i] > far[next] {
				next = i
			}
		}
	}
	for i := range points {
		if len(out) < few && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out
}
