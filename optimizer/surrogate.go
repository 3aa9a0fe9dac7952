package optimizer

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/optimizer/internal/gp"
	"github.com/lbotune/lbotune/optimizer/internal/warp"
)

// surrogate is the model of the objective after the told trials: a Gaussian
// process on warped, standardized values. "Model units" are the units of those: values are
// tamed, divided by their unit, and warped. newFit chooses the warp and the hyper-parameters,
// condition builds a model of the successes that they were fitted to, and, more often than
// either, extend adds those that were told since.
type surrogate struct {
	fit   modelFit
	unit  float64 // values are divided by it before they are warped: 1, but for huge ones
	warp  warp.Warp
	told  int       // successes when the model was last extended
	rows  []int     // those of them that it knows, in order: of those at the fit at most exactLimit, and all since
	z     []float64 // all n successes in model units
	model *gp.Model
	prior gp.Function // the mean that it stands around; nil without one
	// samples are models under sampled hyper-parameters, where those are averaged over; otherwise
	// there is one. The last is model.
	samples []*gp.Model
	noise   float64 // standard deviation of a measurement's noise, in model units
	exact   bool    // what looks like noise is ruggedness
	best    float64 // incumbent: the value to improve upon, in model units
	bestRow int     // the success that holds it
	bounds  *bounds // Lipschitz bounds, nil where they are off
	limits  *limits // nil without constraints
	holds   bool    // the incumbent holds every limit
}

const (
	exactLimit = 400  // successes up to which the model knows all
	fitLimit   = 250  // successes that hyper-parameters are fitted to at most
	noisySD    = 0.05 // noise above it makes the incumbent a posterior mean
)

// refitEvery is how many successes may go by before the hyper-parameters are
// fitted again: a fit costs n³ and changes ever less.
func refitEvery(n int) int { return min(max(1, n/40), 64) }

// reselectEvery is the same for the choice of the warp.
func reselectEvery(n int) int { return max(3, n/8) }

// surrogate returns the model of what was told. It depends on nothing else, so
// it is kept until more is told, and then extended as long as its fit is the
// current one: the same arithmetic as making it anew.
func (l *lbo) surrogate(ctx context.Context) (*surrogate, error) {
	if l.model != nil && l.modelAt == len(l.past.told) {
		return l.model, nil
	}
	fit, err := l.currentFit(ctx)
	if err != nil {
		return nil, err
	}
	s := l.model
	if s == nil || !reflect.DeepEqual(s.fit, fit) {
		if s, err = l.build(ctx, fit); err != nil {
			return nil, err
		}
	}
	if s, err = l.extend(ctx, s); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil { // what stopped early must not be kept
		return nil, err
	}
	l.model, l.modelAt = s, len(l.past.told)
	return s, nil
}

// winsor bounds the bad tail of the values that the model sees, in deviations
// (MAD) from their median: a trial that diverged to 1e100 is bad, and how bad
// says nothing about the rest.
const winsor = 20

// warpOptions are those of every warp. A warp that was chosen by name is left
// as it is in the literature.
func (l *lbo) warpOptions() warp.Options {
	if l.set.Warp == auto {
		return warp.Options{Winsor: winsor}
	}
	return warp.Options{Raw: l.printed != nil && l.printed.raw}
}

// currentFit returns the fit to use. One is due whenever the number of successes, of which there must
// be one, is a multiple of refitEvery; if the newest fit that had been told by then is less than a
// step old, it stays. Each is a function of those successes and of that fit, from which it starts:
// the same in every optimizer that was told the same, however late the notes come back.
func (l *lbo) currentFit(ctx context.Context) (modelFit, error) {
	n := len(l.past.y)
	step := refitEvery(n)
	due := n - n%step
	base := l.fits[due-1]
	switch {
	case l.fit != nil && l.fit.N == due:
		return *l.fit, nil
	case base != nil && due-base.N < step: // made for a number that was due under a smaller step
		return *base, nil
	case l.made != nil && l.made.N == due:
		return *l.made, nil
	}
	fit, err := l.newFit(ctx, due, base)
	if err == nil {
		l.made = &fit
	}
	return fit, err
}

// newFit fits the model to the first n successes, starting from base, which may
// be nil.
func (l *lbo) newFit(ctx context.Context, n int, base *modelFit) (modelFit, error) {
	y, _ := tamed(l.past.raw[:n]) // past.y is tamed by values that came later, too
	unit := unitOf(y)
	values := scaled(y, unit)
	fit, kinds := modelFit{N: n, WarpN: n}, l.warpKinds(values)
	reselect := base == nil || n-base.WarpN >= reselectEvery(n)
	if !reselect {
		fit.WarpN, kinds = base.WarpN, []warp.Kind{warp.Kind(base.Warp)}
	}
	rows := gp.Subset(l.past.x[:n], l.past.ranked(values), fitLimit, nil)
	x := pick(l.past.x, rows)
	// What is fitted is how far the values lie above what earlier studies expect of them.
	residuals := func(z []float64) []float64 { return beyond(l.priorMean(ctx, z), x, pick(z, rows)) }
	var start *gp.Hyper
	if base != nil {
		start = &base.Hyper
	}
	fitter, slice := gp.NewFitter(x), l.set.Hyperparameters == "slice"
	w, hyper, err := warp.Choose(kinds, values, l.warpOptions(), func(w warp.Warp, z []float64) (gp.Hyper, float64, error) {
		if slice && len(kinds) == 1 { // there is no choice, and the sampler needs no fit
			return gp.Hyper{}, 0, nil
		}
		settings := l.gpSettings(w, values, unit)
		if !reselect {
			settings.Starts = 0 // from start alone: the optimum has moved little
		}
		r, err := fitter.Fit(ctx, residuals(z), start, settings)
		// Choose adds the Jacobian of every value, so that the density of a
		// subset has to stand for all.
		return r.Hyper, r.LeaveOneOut * float64(n) / float64(len(rows)), err
	})
	if err == nil {
		err = ctx.Err() // the choice may have passed over warps whose fit was broken off
	}
	if err != nil {
		return modelFit{}, fmt.Errorf("fitting the model to %d values: %w", n, err)
	}
	fit.Warp, fit.Hyper = string(w.Kind), hyper
	if slice {
		return l.sample(ctx, fit, base, x, residuals(w.ApplyAll(values)), l.gpSettings(w, values, unit))
	}
	return fit, nil
}

// warpKinds are the warps of which one is chosen for the values.
func (l *lbo) warpKinds(values []float64) []warp.Kind {
	m := warp.Median(values)
	switch {
	case l.set.Warp != auto:
		return []warp.Kind{warp.Kind(l.set.Warp)}
	case !l.tailsOnly:
		return warp.Kinds()
	case m-slices.Min(values) > longTail*(slices.Max(values)-m):
		return []warp.Kind{warp.Identity, warp.Log, warp.Asinh}
	}
	return []warp.Kind{warp.Identity}
}

// longTail: one of several objectives may be warped if its worst value lies that many times as far
// from the median as its best, as with sizes and times, and not with accuracies. Without a warp a
// model of such values believes in some far better than the best.
const longTail = 30

// sample replaces the hyper-parameters of a fit by draws from their posterior.
// The chain goes on from base.
func (l *lbo) sample(ctx context.Context, fit modelFit, base *modelFit, x [][]float64, z []float64, set gp.Settings) (modelFit, error) {
	settings := gp.NewSampleSettings(l.set.Preset == presetPaper)
	settings.FixedNoise = set.FixedNoise
	start := gp.SampleStart(l.past.space.Dim())
	if base != nil && len(base.Samples) > 0 {
		start, settings.BurnIn = base.Hyper, 0
	}
	samples, err := gp.SampleHyper(ctx, x, z, start, settings, stream(l.past.seed, fit.N, "slice"))
	if err != nil {
		return modelFit{}, fmt.Errorf("sampling hyper-parameters: %w", err)
	}
	fit.Samples, fit.Hyper = samples, samples[len(samples)-1]
	return fit, nil
}

func (l *lbo) gpSettings(w warp.Warp, values []float64, unit float64) gp.Settings {
	s := gp.NewSettings(l.past.space.Len())
	s.Seed = mix(l.past.seed + uint64(len(values)))
	if sd, ok := l.set.Noise.number(); ok {
		// A small error of the value is one of the warped value times the slope.
		z := sd / unit * math.Exp(w.LogJacobian(warp.Median(values)))
		s.FixedNoise = math.Min(math.Max(z*z, gp.DeterministicNoise), gp.MostNoise)
	}
	return s
}

// build makes the models of a fit on the successes that it was fitted to; extend completes them,
// also where there is nothing to add.
func (l *lbo) build(ctx context.Context, fit modelFit) (*surrogate, error) {
	y, _ := tamed(l.past.raw[:fit.N])
	s := &surrogate{fit: fit, told: fit.N, unit: unitOf(y), noise: math.Sqrt(fit.Hyper.Noise())}
	s.rows = gp.Subset(l.past.x[:fit.N], l.past.ranked(y), exactLimit, fit.Hyper.Lengths())
	values := scaled(y, s.unit)
	w, err := warp.Fit(warp.Kind(fit.Warp), values, l.warpOptions())
	if err != nil {
		return nil, err
	}
	s.warp, s.z = w, w.ApplyAll(values)
	hypers := fit.Samples
	if len(hypers) == 0 {
		hypers = []gp.Hyper{fit.Hyper}
	}
	s.prior = l.priorMean(ctx, s.z)
	for _, h := range hypers {
		m, err := gp.New(s.prior, pick(l.past.x, s.rows), pick(s.z, s.rows), h)
		if err != nil {
			return nil, fmt.Errorf("building the model of %d values: %w", len(s.rows), err)
		}
		s.samples = append(s.samples, m)
	}
	return s, nil
}

// extend returns the surrogate with what was told since.
func (l *lbo) extend(ctx context.Context, old *surrogate) (*surrogate, error) {
	s := *old
	s.samples = slices.Clone(old.samples)
	s.rows, s.z = slices.Clip(old.rows), slices.Clip(old.z)
	for i := s.told; i < len(l.past.y); i++ {
		y, _ := tamed(l.past.raw[:i+1]) // as it looked when it was told: what came later must not change z
		z := s.warp.Apply(y[i] / s.unit)
		for k, m := range s.samples {
			next, err := m.Append(l.past.x[i], z)
			if err != nil {
				return nil, fmt.Errorf("extending the model: %w", err)
			}
			s.samples[k] = next
		}
		s.rows, s.z = append(s.rows, i), append(s.z, z)
	}
	s.told = len(l.past.y)
	s.model = s.samples[len(s.samples)-1]
	s.exact = l.printed != nil || // the paper knows no noise
		len(l.past.twins) >= twinsWant && s.agree(l.past.twins)
	var err error
	if s.limits, err = l.constraintModels(ctx); err != nil {
		return nil, err
	}
	s.chooseBest()
	if !l.tailsOnly { // which seldom needs them
		s.bounds = l.newBounds(&s)
	}
	return &s, nil
}

// chooseBest sets the incumbent: the largest value, or under noise the largest
// posterior mean of a success, among those that hold every limit if there are any.
func (s *surrogate) chooseBest() {
	values := s.values()
	k := floats.MaxIdx(s.limits.rank(values, s.rows))
	s.best, s.bestRow = values[k], s.rows[k]
	s.holds = s.limits.hold(s.bestRow)
}

// values are those of the rows in model units, under noise their posterior means.
func (s *surrogate) values() []float64 {
	if s.noisy() {
		return s.model.Fitted()
	}
	return pick(s.z, s.rows)
}

func (s *surrogate) noisy() bool { return s.noise > noisySD && !s.exact }

// value returns a value in model units in the objective's.
func (s *surrogate) value(z float64) float64 { return s.warp.Inverse(z) * s.unit }

// slope is the derivative of value at z: a small error of a value in model units,
// times the slope, is one in the objective's.
func (s *surrogate) slope(z float64) float64 {
	return s.unit / math.Exp(s.warp.LogJacobian(s.warp.Inverse(z)))
}
