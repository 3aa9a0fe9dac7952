package optimizer

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/optimizer/internal/lipschitz"
	"github.com/lbotune/lbotune/optimizer/internal/warp"
)

// bounds are Lipschitz bounds of the objective, in model units. Those of a known constant, which
// is in the objective's own, are carried through the warp, which is increasing.
type bounds struct {
	cones    *lipschitz.Bounds
	slope    float64    // the estimate before the schedule; 0 for a known constant
	through  *warp.Warp // nil: the bounds are in model units
	printed  bool       // bounds that cross stay as they are
	excluded float64    // share of the cube where no improvement is possible
	largest  float64    // for a known constant: at least the largest upper bound
}

const (
	boundSamples = 256  // points at which the excluded share is measured
	leastOpen    = 0.01 // of them must be open, else the constant is doubled
	widening     = 2.0  // standard deviations of noise by which bounds are widened
	certainty    = 1e-3 // distance to which the largest bound of a known constant is located
	splits       = 3000 // at which its search gives up: the bound is then true, but larger
)

// newBounds computes the bounds of what the surrogate knows; nil where the
// settings switch them off.
func (l *lbo) newBounds(s *surrogate) *bounds {
	if l.set.Lipschitz == off {
		return nil
	}
	x, z := pick(l.past.x, s.rows), pick(s.z, s.rows)
	b := &bounds{printed: l.printed != nil}
	if known := l.set.LipschitzConstant; known > 0 {
		values := scaled(pick(l.past.y, s.rows), s.unit)
		noise := s.noise / math.Exp(s.warp.LogJacobian(warp.Median(values)))
		b.through = &s.warp
		b.cones = lipschitz.NewBounds(x, values, nil, known/s.unit, widening*noise)
	} else {
		l.estimate(b, s, x, z)
	}
	l.survey(b, s)
	return b
}

// estimate sets the slope and the bounds that follow from it.
func (l *lbo) estimate(b *bounds, s *surrogate, x [][]float64, z []float64) {
	var scale []float64
	if l.set.Metric == "ard" {
		scale = s.fit.Hyper.Lengths()
	}
	noise := s.noise
	if l.set.Estimator == "slope" {
		noise = 0
	}
	e := lipschitz.NewEstimator(scale, noise)
	for i, p := range x {
		e.Add(p, z[i])
	}
	b.slope = e.Slope()
	if l.set.Estimator == "gradient" {
		points := append(l.cubeSample(len(l.past.told), boundSamples), x...)
		b.slope = math.Max(b.slope, s.model.Predictor().GradientBound(points, scale))
	}
	factor := lipschitz.Multiplier(l.set.Schedule, l.set.Kappa, len(l.past.y), l.past.space.Len())
	if l.printed != nil && l.printed.twice {
		factor /= s.slope(s.best)
	}
	b.cones = e.Bounds(factor*b.slope, widening*noise)
}

// survey measures how much of the cube the bounds exclude. An estimate that
// excludes nearly everything is too small and is doubled.
func (l *lbo) survey(b *bounds, s *surrogate) {
	if b.printed {
		return
	}
	sample := l.cubeSample(len(l.past.told), boundSamples)
	if b.through != nil {
		b.excluded = lipschitz.Excluded(b.cones.Uppers(sample), s.warp.Inverse(s.best))
		box := l.dom.box()
		largest, _ := b.cones.MaxUpper(box.lo, box.up, certainty*b.cones.L(), splits)
		b.largest = b.carry(largest, nil)
		return
	}
	var ups []float64
	b.cones, ups = b.cones.Loosen(sample, s.best, leastOpen)
	b.excluded = lipschitz.Excluded(ups, s.best)
}

// cubeSample draws n uniform points for what was told at that time.
func (l *lbo) cubeSample(told, n int) [][]float64 {
	rng := stream(l.past.seed, told, "cube sample")
	sample := make([][]float64, n)
	for i := range sample {
		sample[i] = l.dom.uniform(rng)
	}
	return sample
}

// at returns the lower and upper bound at x, −∞ and +∞ where bounds are off, and writes their
// gradients where those are wanted; it leaves them alone where bounds are off.
func (b *bounds) at(x, dlo, dup []float64) (lo, up float64) {
	if b == nil {
		return math.Inf(-1), math.Inf(1)
	}
	lo, up = b.own(x, dlo, dup)
	return b.carry(lo, dlo), b.carry(up, dup)
}

// own is at in the units of the values that the bounds were made of.
func (b *bounds) own(x, dlo, dup []float64) (lo, up float64) {
	if b.printed { // whatever is maximized then takes no gradients
		return b.cones.Lower(x), b.cones.Upper(x)
	}
	lo, up, _ = b.cones.At(x, dlo, dup)
	return lo, up
}

// carry returns a bound in model units, and carries its gradient.
func (b *bounds) carry(y float64, grad []float64) float64 {
	if b.through == nil || math.IsInf(y, 0) {
		return y
	}
	if grad != nil {
		floats.Scale(math.Exp(b.through.LogJacobian(y)), grad)
	}
	return b.through.Apply(y)
}

func (b *bounds) note(s *surrogate, best float64) *LipschitzNote {
	n := &LipschitzNote{Slope: b.slope, Constant: b.cones.L(), Excluded: b.excluded, Stated: b.through != nil}
	if gap := s.value(b.largest) - best; n.Stated && !math.IsInf(gap, 0) && !math.IsNaN(gap) {
		gap = math.Max(gap, 0)
		n.Gap = &gap
	}
	return n
}
