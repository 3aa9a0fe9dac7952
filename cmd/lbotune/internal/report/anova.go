package report

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lbotune/lbotune/internal/lists"
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

// anova is the model's form for a space: what does not depend on the trials.
type anova struct {
	space *spaces.Space
	bases []basis
	// switches are, of each parameter, those that decide whether it exists, and those that
	// decide over these; decides says which are one.
	switches [][]int
	decides  []bool
}

// newANOVA leaves out the parameters of which nothing can be known.
func newANOVA(space *spaces.Space, without []bool) *anova {
	params, d := space.Params(), len(without)
	a := &anova{space: space, switches: make([][]int, d), decides: make([]bool, d)}
	for i, p := range params {
		b := basisOf(p)
		if without[i] {
			b.n = 0
		}
		a.bases = append(a.bases, b)
		if p.When == "" {
			continue
		}
		r, err := spaces.ParseRelation(p.When, params[:i])
		must(err) // which the space has parsed, too
		for j := range i {
			if slices.Contains(r.Params, params[j].Name) {
				a.switches[i] = append(append(a.switches[i], a.switches[j]...), j)
				a.decides[j] = true
			}
		}
		slices.Sort(a.switches[i])
		a.switches[i] = slices.Compact(a.switches[i])
	}
	return a
}

// exists reports of each parameter whether it does at a point.
func (a *anova) exists(p spaces.Point) []bool {
	if !slices.Contains(a.decides, true) {
		return slices.Repeat([]bool{true}, len(a.bases))
	}
	v := a.space.Decode(p)
	return lists.Map(a.space.Params(), func(par spaces.Param) bool { _, ok := v.Get(par.Name); return ok })
}

// zeros has one for each function of each parameter.
func (a *anova) zeros() [][]float64 {
	return lists.Map(a.bases, func(b basis) []float64 { return make([]float64, b.n) })
}

func (a *anova) anywhere(rng *rand.Rand) spaces.Point {
	u := make([]float64, len(a.bases))
	for i := range u {
		u[i] = rng.Float64()
	}
	return a.space.FromUniform(u)
}

// features are the φ_ik at a point.
func (a *anova) features(p spaces.Point) [][]float64 {
	out := a.zeros()
	for i, on := range a.exists(p) {
		if on {
			out[i] = a.bases[i].at(place(a.space, i, p))
		}
	}
	return out
}

// evidence is what the model is told: features of the places, also by parameter and function,
// and their values with a mean of 0 and a variance of 1.
type evidence struct {
	rows [][][]float64 // [place][parameter][function]
	phi  [][][]float64 // [parameter][function][place]
	y    []float64

	parts [][]float64 // of K by parameter, up to the diagonal, where the next one is made
}

func (a *anova) tell(points []spaces.Point, y []float64) *evidence {
	e := &evidence{y: y, phi: make([][][]float64, len(a.bases)), parts: make([][]float64, len(a.bases))}
	for i := range e.phi {
		e.phi[i], e.parts[i] = make([][]float64, a.bases[i].n), make([]float64, len(y)*(len(y)+1)/2)
	}
	for _, p := range points {
		row := a.features(p)
		e.rows = append(e.rows, row)
		for i := range row {
			for k, v := range row[i] {
				e.phi[i][k] = append(e.phi[i][k], v)
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
// its gradient, the variances w_i² λ_ik, and K⁻¹y and K⁻¹.
type state struct {
	w       weights
	lp      float64
	grad    []float64
	lambda  [][]float64
	alpha   []float64
	inverse *mat.SymDense
}

// at evaluates the posterior at w. ok is false where K is not positive definite.
//
// K = c + A + q² P + σ², A = Σ_i A_i, A_i = w_i² Σ_k λ_ik φ_ik φ_ikᵀ, and P = ½ (A∘A − Σ A_i∘A_i)
// are the pairs. Of M = ½ (αα' − K⁻¹) and M_i = M∘(1 + q² (A − A_i)), the derivative by b of
// A_i is Σ M_i∘∂A_i.
func (a *anova) at(e *evidence, w weights) (s state, ok bool) {
	n, d := len(e.y), len(a.bases)
	row := func(triangle []float64, t int) []float64 { return triangle[t*(t+1)/2:][:t+1] }
	s = state{w: w, grad: make([]float64, len(w)), lambda: make([][]float64, d)}
	s.lp = w.prior(s.grad)
	q2 := w.pair() * w.pair()
	parts, sum, squares := e.parts, make([]float64, len(e.parts[0])), make([]float64, len(e.parts[0]))
	slopes := make([][]float64, d)
	for i := range d {
		s.lambda[i], slopes[i] = a.bases[i].shares(w.decay(i))
		floats.Scale(w.scale(i)*w.scale(i), s.lambda[i])
		clear(parts[i])
		for k, phi := range e.phi[i] {
			for t, v := range phi {
				floats.AddScaled(row(parts[i], t), v*s.lambda[i][k], phi[:t+1])
			}
		}
		floats.Add(sum, parts[i])
		for u, v := range parts[i] {
			squares[u] += v * v
		}
	}
	k := mat.NewSymDense(n, nil)
	sigma2 := w.noise()*w.noise() + leastNoise
	for t := range n {
		squares := row(squares, t)
		for u, v := range row(sum, t) {
			v = constantVariance + v + q2/2*(v*v-squares[u])
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
	m, mi := make([]float64, len(sum)), make([]float64, len(sum))
	pairs, trace := 0.0, 0.0
	for t := range n {
		m, squares := row(m, t), row(squares, t)
		for u, sum := range row(sum, t) {
			v := s.alpha[t]*s.alpha[u] - s.inverse.At(t, u)
			if t == u {
				v /= 2
				trace += v
			}
			m[u] = v
			pairs += v * (sum*sum - squares[u]) / 2
		}
	}
	s.grad[2*d] += 2 * q2 * pairs
	s.grad[2*d+1] += 2 * w.noise() * w.noise() * trace
	for i := range d {
		w2 := w.scale(i) * w.scale(i)
		for u, v := range m {
			mi[u] = v * (1 + q2*(sum[u]-parts[i][u]))
		}
		for f, phi := range e.phi[i] {
			form := 0.0
			for t, v := range phi {
				form += v * floats.Dot(row(mi, t), phi[:t+1])
			}
			s.grad[i] += 2 * s.lambda[i][f] * form
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
	functions = chains * kept // that are drawn
)

// sample draws weights from their posterior by Hamiltonian Monte Carlo (Neal 2011), with a
// step that is adapted while it warms up (Hoffman and Gelman 2014, section 3.2).
func (a *anova) sample(ctx context.Context, e *evidence, rng *rand.Rand) ([]state, error) {
	var out []state
	d := len(a.bases)
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
	out, far := []int{}, slices.Repeat([]float64{math.Inf(1)}, len(points))
	next := 0
	for len(out) < min(mostPlaces, len(points)) && far[next] > near*math.Sqrt(float64(len(points[0]))) {
		out = append(out, next)
		for i, p := range points {
			far[i] = math.Min(far[i], spaces.Distance(p, points[next]))
		}
		next = floats.MaxIdx(far)
	}
	for i := range points {
		if len(out) < few && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out
}
