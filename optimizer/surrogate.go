package optimizer

import (
	"fmt"
	"math"

	"github.com/lbotune/lbotune/optimizer/gp"
	"github.com/lbotune/lbotune/optimizer/warp"
)

// surrogate is the model of the objective after the told trials: a Gaussian
// process on warped, standardised values. "Model units" are the units of those.
type surrogate struct {
	fit   Fit
	unit  float64 // values are divided by it before they are warped
	warp  warp.Warp
	rows  []int     // the successes that the model knows, in order
	z     []float64 // all n successes in model units
	model *gp.Model
	// samples are models under sampled hyper-parameters, where those are
	// averaged over; otherwise model alone.
	samples []*gp.Model
	noise   float64 // standard deviation of a measured value
	best    float64 // incumbent: the value to improve upon
	bestRow int     // the success that holds it
	bounds  *bounds // Lipschitz bounds, nil where they are off
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
// it is kept until more is told.
func (l *lbo) surrogate() (*surrogate, error) {
	if l.model != nil && l.modelAt == len(l.told) {
		return l.model, nil
	}
	fit, err := l.currentFit()
	if err != nil {
		return nil, err
	}
	s, err := l.condition(fit)
	if err != nil {
		return nil, err
	}
	l.model, l.modelAt = s, len(l.told)
	return s, nil
}

// currentFit returns the last told fit, or a new one when it is due.
func (l *lbo) currentFit() (Fit, error) {
	n := len(l.y)
	if l.fit != nil && n-l.fit.N < refitEvery(n) {
		return *l.fit, nil
	}
	unit := unitOf(l.y)
	values := scaled(l.y, unit)
	kinds := []warp.Kind{warp.Kind(l.set.Warp)}
	if l.set.Warp == auto {
		kinds = warp.Kinds()
	}
	reselect := l.fit == nil || n-l.fit.WarpN >= reselectEvery(n)
	fit := Fit{N: n, WarpN: n}
	if !reselect {
		fit.WarpN = l.fit.WarpN
		kinds = []warp.Kind{warp.Kind(l.fit.Warp)}
	}
	rows := gp.Subset(l.x, values, fitLimit, nil)
	x := pick(l.x, rows)
	hypers := map[warp.Kind]gp.Hyper{}
	w, err := warp.Choose(kinds, values, warp.Options{}, func(w warp.Warp, z []float64) (float64, error) {
		zs := pickFloats(z, rows)
		settings := l.gpSettings(w, values, unit)
		if !reselect {
			settings.Starts = 0
		}
		var start *gp.Hyper
		if l.fit != nil {
			start = &l.fit.Hyper
		}
		r, err := gp.Fit(x, zs, start, settings)
		if err != nil {
			return 0, err
		}
		hypers[w.Kind] = r.Hyper
		if len(kinds) == 1 {
			return 0, nil
		}
		m, err := gp.New(x, zs, r.Hyper)
		if err != nil {
			return 0, err
		}
		// Choose adds the Jacobian of every value, so that the density of a
		// subset has to stand for all.
		return m.LeaveOneOutLogDensity() * float64(n) / float64(len(rows)), nil
	})
	if err != nil {
		return Fit{}, fmt.Errorf("fitting the model to %d values: %w", n, err)
	}
	fit.Warp, fit.Hyper = string(w.Kind), hypers[w.Kind]
	if l.set.Hyperparameters == "slice" {
		return l.sample(fit, x, pickFloats(w.ApplyAll(values), rows), l.gpSettings(w, values, unit))
	}
	return fit, nil
}

// sample replaces the hyper-parameters of a fit by draws from their posterior.
// The chain goes on from the last told fit.
func (l *lbo) sample(fit Fit, x [][]float64, z []float64, set gp.Settings) (Fit, error) {
	settings := gp.NewSampleSettings()
	settings.FixedNoise = set.FixedNoise
	start := gp.SampleStart(l.space.Dim())
	if l.fit != nil && len(l.fit.Samples) > 0 {
		start, settings.BurnIn = l.fit.Hyper, 0
	}
	samples, err := gp.SampleHyper(x, z, start, settings, stream(l.seed, len(l.y), "slice"))
	if err != nil {
		return Fit{}, fmt.Errorf("sampling hyper-parameters: %w", err)
	}
	fit.Samples, fit.Hyper = samples, samples[len(samples)-1]
	return fit, nil
}

// sampled returns the models that the acquisition is averaged over: s.model
// alone, or one for each sample of the hyper-parameters.
func (l *lbo) sampled(s *surrogate, fit Fit) ([]*gp.Model, error) {
	if len(fit.Samples) == 0 {
		return []*gp.Model{s.model}, nil
	}
	models := make([]*gp.Model, len(fit.Samples))
	for k, h := range fit.Samples {
		m, err := gp.New(pick(l.x, s.rows), pickFloats(s.z, s.rows), h)
		if err != nil {
			return nil, fmt.Errorf("building the model of a sample: %w", err)
		}
		models[k] = m
	}
	return models, nil
}

func (l *lbo) gpSettings(w warp.Warp, values []float64, unit float64) gp.Settings {
	s := gp.NewSettings(l.space.Dim())
	s.Prior = gp.DefaultPrior(l.space.Len())
	s.Seed = mix(l.seed + uint64(len(l.y)))
	if sd, ok := l.set.Noise.Number(); ok {
		// A small error of the value is one of the warped value times the slope.
		z := sd / unit * math.Exp(w.LogJacobian(median(values)))
		s.FixedNoise = math.Min(math.Max(z*z, gp.DeterministicNoise), s.Bounds.Noise.High)
	}
	return s
}

// condition builds the model of a fit: first on the successes that it was
// fitted to, then one by one on those told since.
func (l *lbo) condition(fit Fit) (*surrogate, error) {
	s := &surrogate{fit: fit, unit: unitOf(l.y[:fit.N])}
	s.rows = gp.Subset(l.x[:fit.N], l.y[:fit.N], exactLimit, fit.Hyper.Lengths())
	w, err := warp.Fit(warp.Kind(fit.Warp), scaled(l.y[:fit.N], s.unit), warp.Options{})
	if err != nil {
		return nil, err
	}
	s.warp = w
	s.z = w.ApplyAll(scaled(l.y, s.unit))
	s.model, err = gp.New(pick(l.x, s.rows), pickFloats(s.z, s.rows), fit.Hyper)
	if err != nil {
		return nil, fmt.Errorf("building the model of %d values: %w", len(s.rows), err)
	}
	for i := fit.N; i < len(l.y); i++ {
		if s.model, err = s.model.Append(l.x[i], s.z[i]); err != nil {
			return nil, err
		}
		s.rows = append(s.rows, i)
	}
	if s.samples, err = l.sampled(s, fit); err != nil {
		return nil, err
	}
	s.noise = math.Sqrt(fit.Hyper.Noise())
	s.chooseBest()
	if s.bounds, err = l.newBounds(s); err != nil {
		return nil, err
	}
	return s, nil
}

// chooseBest sets the incumbent: the largest value, or under noise the largest
// posterior mean of a success.
func (s *surrogate) chooseBest() {
	values := pickFloats(s.z, s.rows)
	if s.noisy() {
		s.model.Fitted(values)
	}
	k := 0
	for i, v := range values {
		if v > values[k] {
			k = i
		}
	}
	s.best, s.bestRow = values[k], s.rows[k]
}

func (s *surrogate) noisy() bool { return s.noise > noisySD }

// value returns a value in model units in the objective's.
func (s *surrogate) value(z float64) float64 { return s.warp.Inverse(z) * s.unit }
