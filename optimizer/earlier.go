package optimizer

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/lbotune/lbotune/optimizer/internal/gp"
	"github.com/lbotune/lbotune/optimizer/internal/maximize"
	"github.com/lbotune/lbotune/optimizer/internal/quadratic"
	"github.com/lbotune/lbotune/optimizer/internal/sobol"
	"github.com/lbotune/lbotune/spaces"
)

// Earlier is what an earlier study has found.
type Earlier struct {
	Points []spaces.Point
	// Values are those of the objective at the points, to be maximized; NaN where a trial
	// failed.
	Values []float64
	// Same says that the objective is the same: what was found are observations. Else it is
	// a related one.
	Same bool
}

// What is known of related objectives is used three times, see docs/lbo.md: a portfolio of their
// best points begins the initial design, after the centre (Wistuba, Schilling and Schmidt-Thieme
// 2015); a blend of their models' means, each moved a little, is the prior mean of this study's model
// (in the spirit of RGPE; Feurer, Letham and Bakshy 2018); and the curvature at their best points,
// which stays the same where an objective is moved, completes that of this study's quadratic.

// kin is the model of one earlier study, on its own warped and standardized values.
type kin struct {
	mean   *gp.Draw
	at     []float64 // its values at this study's successes, as far as they were asked for
	best   []spaces.Point
	shape  *quadratic.Model // around the best point; nil if there is none
	agreed bool             // with another one
}

const (
	kinLimit = 250 // results that an earlier study's model knows at most
	kinBest  = 10  // points of each that may join the portfolio
	leastKin = 3   // successes that a model needs
	kinFocus = 4.0 // power of the agreement: the most similar study has most of the weight
	kinDoubt = 2.0 // standard deviations of an agreement by chance
	kinNone  = 0.3 // agreement of one more study, which expects the same everywhere
	kinRidge = 1.0 // successes that speak for a scale of 0
	kinMoves = 0.1 // standard deviation of how far a mean is moved, in the cube

	kinSample   = 256   // points that tell whether earlier studies agree
	kinChance   = 0.008 // probability at most that any of them agree by chance
	kinSure     = 4.0   // standard deviations by chance that make one count although they do not
	kinTogether = 0.1   // mean rank correlation from which on those that agree count
	kinEarly    = 3     // initial designs of successes that tell of that
	kinMisses   = 5     // steps in a row that did not improve, after which its curvature is not believed
)

// inherit takes over what earlier studies have found. Results of the same objective are
// told under negative numbers.
func (l *lbo) inherit(ctx context.Context, earlier []Earlier) error {
	l.earlier = earlier
	for i, e := range earlier {
		if len(e.Points) != len(e.Values) {
			return fmt.Errorf("earlier study %d: %d points but %d values", i+1, len(e.Points), len(e.Values))
		}
		for k, p := range e.Points {
			if err := checkPoint(l.past.space, p); err != nil {
				return fmt.Errorf("earlier study %d, result %d: %w", i+1, k+1, err)
			}
			if math.IsInf(e.Values[k], 0) {
				return fmt.Errorf("earlier study %d, result %d: the value is %v", i+1, k+1, e.Values[k])
			}
		}
		if err := l.inheritOne(ctx, i, e); err != nil {
			return fmt.Errorf("earlier study %d: %w", i+1, err)
		}
	}
	l.compare()
	if copy(l.first[1:], portfolio(l.related(0), len(l.first)/2)) > 0 { // the centre stays
		l.walk = nil
	}
	return nil
}

// compare finds the studies that another one agrees with: on average, the models of two put
// more than 1 − ε of the space below each other's best result, which by chance happens with a
// probability of 2ε²: times the number of pairs, kinChance. A single study has none to disagree.
func (l *lbo) compare() {
	below := make([][]float64, len(l.kin)) // the share that study i puts below the best of study j
	us := sobol.Scrambled(l.past.space.Len(), l.past.seed).Points(0, kinSample)
	for i, k := range l.kin {
		values := mapped(us, func(u []float64) float64 { return k.mean.Value(l.past.space.FromUniform(u)) })
		slices.Sort(values)
		for _, o := range l.kin {
			rank := 0
			if len(o.best) > 0 {
				rank, _ = slices.BinarySearch(values, k.mean.Value(o.best[0]))
			}
			below[i] = append(below[i], float64(rank)/kinSample)
		}
	}
	pairs := float64(len(l.kin)*(len(l.kin)-1)) / 2
	agree := 1 - math.Sqrt(kinChance/(2*pairs))
	for i, k := range l.kin {
		k.agreed = len(l.kin) == 1
		for j := range l.kin {
			k.agreed = k.agreed || i != j && below[i][j]+below[j][i] > 2*agree
		}
	}
}

// related returns the studies that may have a say after n successes: those that agree with
// each other, until they rank the successes otherwise on average, or else those that rank the
// first of them as they turned out. Later ones lie close to each other, where ranks say less.
func (l *lbo) related(n int) []*kin {
	var together, alone []*kin
	sum, early := 0.0, min(n, kinEarly*l.set.DesignSize)
	for _, k := range l.kin {
		for i := len(k.at); i < n; i++ {
			k.at = append(k.at, k.mean.Value(l.past.x[i]))
		}
		if tau, sd := kendall(k.at[:early], l.past.y[:early]); tau > kinSure*sd {
			alone = append(alone, k)
		}
		if k.agreed {
			tau, _ := kendall(k.at[:n], l.past.y[:n])
			together, sum = append(together, k), sum+tau
		}
	}
	if n < l.set.DesignSize || sum > kinTogether*float64(len(together)) {
		return together
	}
	return alone
}

func (l *lbo) inheritOne(ctx context.Context, number int, e Earlier) error {
	if !e.Same {
		k, err := l.newKin(ctx, number, e)
		l.kin = append(l.kin, k)
		return err
	}
	for i, p := range e.Points {
		o := Observation{Trial: -len(l.past.told) - 1, Proposal: Proposal{Point: p, Origin: OriginGiven}, Status: Failed}
		if v := e.Values[i]; !math.IsNaN(v) {
			o.Status, o.Values = Succeeded, []float64{v}
		}
		if err := l.Tell(o); err != nil {
			return err
		}
	}
	return nil
}

func (e Earlier) successes() (x [][]float64, y []float64) {
	for i, v := range e.Values {
		if !math.IsNaN(v) {
			x, y = append(x, e.Points[i]), append(y, v)
		}
	}
	return x, y
}

// alone is an optimizer that knows nothing but the successes of one earlier study, and its model.
func (l *lbo) alone(ctx context.Context, number int, x [][]float64, y []float64) (*lbo, *surrogate, error) {
	if len(y) < leastKin {
		return nil, nil, fmt.Errorf("%d results are too few for a model; want at least %d", len(y), leastKin)
	}
	set := l.set
	set.Lipschitz, set.Hyperparameters, set.Noise = off, "map", Settings{}.Noise
	part := newLBO(newHistory(l.past.space, mix(l.past.seed^uint64(number+1))), set)
	for _, i := range gp.Subset(x, y, kinLimit, nil) {
		o := Observation{Trial: i + 1, Proposal: Proposal{Point: x[i], Origin: OriginGiven}, Status: Succeeded, Values: y[i : i+1]}
		if err := part.Tell(o); err != nil {
			return nil, nil, err
		}
	}
	s, err := part.surrogate(ctx)
	return part, s, err
}

func (l *lbo) newKin(ctx context.Context, number int, e Earlier) (*kin, error) {
	x, y := e.successes()
	part, s, err := l.alone(ctx, number, x, y)
	if err != nil {
		return nil, err
	}
	k := &kin{mean: s.model.Mean()}
	a, err := part.newAsk(ctx, Query{})
	if err != nil {
		return nil, err
	}
	a.view = &view{surrogate: s}
	if local := a.neighbourhood(s.bestRow); local != nil {
		if k.shape, err = quadratic.Fit(local.x, local.y, local.centre); err != nil {
			k.shape = nil // too few points
		}
	}
	for _, i := range orderBy(len(y), func(i int) float64 { return -y[i] }) {
		if p := l.past.space.Snap(x[i]); len(k.best) < kinBest && l.past.space.Allows(p) {
			k.best = append(k.best, p)
		}
	}
	return k, nil
}

func portfolio(of []*kin, n int) []spaces.Point {
	var out []spaces.Point
	candidates := slices.Concat(mapped(of, func(k *kin) []spaces.Point { return k.best })...)
	worth := make([][]float64, len(of)) // of each candidate, by study
	reached := slices.Repeat([]float64{math.Inf(-1)}, len(of))
	for s, k := range of {
		worth[s] = mapped(candidates, func(p spaces.Point) float64 { return k.mean.Value(p) })
		reached[s] = slices.Min(worth[s])
	}
	for len(out) < min(n, len(candidates)) {
		order := orderBy(len(candidates), func(i int) float64 {
			gain := 0.0
			for s := range worth {
				gain -= math.Max(worth[s][i]-reached[s], 0)
			}
			return gain
		})
		best := order[0]
		for s := range worth {
			reached[s] = math.Max(reached[s], worth[s][best])
		}
		out = append(out, candidates[best])
	}
	return out
}

// blend is a weighted sum of earlier studies' means, each moved: a prior mean.
type blend struct {
	of      []*gp.Draw
	by      [][]float64
	weights []float64
	shapes  []*quadratic.Model // that there are
}

// shapes are the quadratics in d coordinates of the earlier studies in the prior mean, unless
// steps in the basin have not improved for a while.
func (a *ask) shapes(b basin, d int) []*quadratic.Model {
	mean, ok := a.view.surrogate.prior.(*blend)
	if !ok || b.misses >= kinMisses {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(mean.shapes), func(s *quadratic.Model) bool { return len(s.Center) != d })
}

// priorMean is the prior mean of the model of the first successes, whose values in model
// units are z; nil if no earlier study speaks for it.
func (l *lbo) priorMean(ctx context.Context, z []float64) gp.Function {
	b, total, f := &blend{}, 0.0, make([]float64, len(z))
	if len(z) < leastKin {
		return nil
	}
	for _, k := range l.related(len(z)) {
		by := l.align(ctx, k.mean, z)
		at := make([]float64, len(z))
		for i := range at {
			at[i] = k.mean.Value(floats.SubTo(make([]float64, len(by)), l.past.x[i], by))
		}
		if w := math.Pow(agreement(at, z), kinFocus); w > 0 {
			b.of, b.by, b.weights, total = append(b.of, k.mean), append(b.by, by), append(b.weights, w), total+w
			if k.shape != nil {
				b.shapes = append(b.shapes, k.shape)
			}
			floats.AddScaled(f, w, at)
		}
	}
	if total == 0 {
		return nil
	}
	floats.Scale(1/total, f)
	n := float64(len(z) - 1)
	scale := n * stat.Covariance(f, z, nil) / (n*stat.Variance(f, nil) + kinRidge) // least squares
	if !(scale > 0) {
		return nil
	}
	floats.Scale(scale/(total+math.Pow(kinNone, kinFocus)), b.weights)
	return b
}

// align returns how far f is to be moved, such that its values at the successes go with z:
// the maximum of −n/2 ln(1 − r²), the likelihood of a linear relation with correlation r,
// and of a normal prior.
func (l *lbo) align(ctx context.Context, f *gp.Draw, z []float64) []float64 {
	n, d := float64(len(z)), l.past.space.Dim()
	far := slices.Repeat([]float64{2 * kinMoves}, d)
	near := slices.Repeat([]float64{-2 * kinMoves}, d)
	for j, c := range l.past.space.Coords() {
		if !gradual(c) {
			near[j], far[j] = 0, 0
		}
	}
	zc := slices.Clone(z)
	floats.AddConst(-stat.Mean(z, nil), zc)
	at, grads, x := make([]float64, len(z)), make([][]float64, len(z)), make([]float64, d)
	for i := range grads {
		grads[i] = make([]float64, d)
	}
	end := maximize.New(near, far, maximize.Settings{MaxIterations: 30, GainTol: 1e-4, FirstStep: kinMoves / 2}).
		Maximize(ctx, func(by, grad []float64) float64 {
			for i := range at {
				at[i] = f.ValueGrad(floats.SubTo(x, l.past.x[i], by), grads[i])
			}
			floats.AddConst(-stat.Mean(at, nil), at)
			ff, zz := floats.Dot(at, at)+1e-9, floats.Dot(zc, zc)+1e-9
			r := floats.Dot(at, zc) / math.Sqrt(ff*zz)
			left := 1 - r*math.Abs(r) + 0.01 // values have noise
			value := -n / 2 * math.Log(left)
			clear(grad)
			for i, g := range grads {
				floats.AddScaled(grad, -n*math.Abs(r)/left*(zc[i]/math.Sqrt(ff*zz)-r*at[i]/ff), g)
			}
			for j, v := range by {
				value -= v * v / (2 * kinMoves * kinMoves)
				grad[j] -= v / (kinMoves * kinMoves)
			}
			return value
		}, make([]float64, d))
	return slices.Clone(end.X)
}

// agreement is the rank correlation of a and b less kinDoubt standard deviations that
// it has by chance, 0 if that is more.
func agreement(a, b []float64) float64 {
	tau, sd := kendall(a, b)
	return math.Max(0, tau-kinDoubt*sd)
}

// kendall returns Kendall's rank correlation of a and b, and its standard deviation by chance.
func kendall(a, b []float64) (tau, sd float64) {
	n := float64(len(a))
	for i := range a {
		for j := range i {
			if p := (a[i] - a[j]) * (b[i] - b[j]); p != 0 {
				tau += math.Copysign(2/(n*(n-1)), p)
			}
		}
	}
	return tau, math.Sqrt(2 * (2*n + 5) / (9 * n * (n - 1)))
}

// Value implements gp.Function.
func (b *blend) Value(x []float64) float64 { return b.ValueGrad(x, nil) }

// ValueGrad implements gp.Function.
func (b *blend) ValueGrad(x, grad []float64) float64 {
	sum, at, own := 0.0, make([]float64, len(x)), make([]float64, len(x))
	clear(grad)
	for s, f := range b.of {
		floats.SubTo(at, x, b.by[s])
		if grad == nil {
			sum += b.weights[s] * f.Value(at)
			continue
		}
		sum += b.weights[s] * f.ValueGrad(at, own)
		floats.AddScaled(grad, b.weights[s], own)
	}
	return sum
}

// beyond returns what values z at points x are above a mean, which may be nil.
func beyond(mean gp.Function, x [][]float64, z []float64) []float64 {
	if mean == nil {
		return z
	}
	out := slices.Clone(z)
	for i, p := range x {
		out[i] -= mean.Value(p)
	}
	return out
}
