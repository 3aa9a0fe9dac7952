package gp

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lbotune/lbotune/optimizer/internal/maximize"
)

// Settings say how Fit looks for hyper-parameters. NewSettings returns the
// defaults.
type Settings struct {
	// Lengths is what is believed of the length scales.
	Lengths Lengths
	// LeastNoise is the least noise variance σn².
	LeastNoise float64
	// FixedNoise, if positive, is the noise variance σn², which is then not
	// fitted: DeterministicNoise for a declared deterministic objective, the
	// declared variance in units of the standardized values otherwise.
	FixedNoise float64
	// Starts is the number of starts beside the first: the prior's mode, if there is a warm start,
	// and random ones. A chain of warm starts alone can follow a poor local maximum through a
	// whole study; one other start prevents most of that.
	Starts int
	// Seed keys the random starts.
	Seed uint64
	// MaxEvaluations bounds the likelihoods computed from each start.
	MaxEvaluations int
	// A start is finished when no derivative of the log posterior by a log
	// parameter exceeds GradTolerance, or a step gains less than GainTolerance.
	GradTolerance, GainTolerance float64
}

// DeterministicNoise is the noise variance for objectives declared
// deterministic, in units of the standardized values.
const DeterministicNoise = 1e-6

// The bounds of the hyper-parameters, which keep the fit away from degenerate processes.
const (
	shortest, longest       = 0.02, 100
	leastSignal, mostSignal = 1e-3, 1e3
	defaultLeastNoise       = 1e-7
	// MostNoise is the largest noise variance.
	MostNoise = 1.0
)

// NewSettings returns the default settings for d parameters: length scales
// LogNormal(√2 + ln(d)/2, √3) as proposed by Hvarfner, Hellsten and Nardi (2024), learned noise
// and one start beside the first.
func NewSettings(d int) Settings {
	return Settings{
		Lengths:        Lengths{math.Sqrt2 + 0.5*math.Log(float64(d)), math.Sqrt(3)},
		LeastNoise:     defaultLeastNoise,
		Starts:         1,
		MaxEvaluations: 60,
		GradTolerance:  1e-2,
		GainTolerance:  1e-3,
	}
}

// FitResult is what Fit found.
type FitResult struct {
	Hyper        Hyper
	LogPosterior float64 // log likelihood + log prior, up to a constant
	Evaluations  int     // likelihoods computed, all starts together
	// LeaveOneOut is Σ_i ln p(y_i | all other observations), the pseudo-likelihood of
	// Rasmussen and Williams, equation 5.11, under Hyper.
	LeaveOneOut float64
}

// Fitter fits processes to several values at the same points: what depends on the points
// alone is computed once.
type Fitter struct {
	x [][]float64
	w *evidence
}

// NewFitter returns a Fitter for the points x, which must not change as long as it is used.
func NewFitter(x [][]float64) *Fitter { return &Fitter{x: x} }

// Fit maximizes the posterior density of the hyper-parameters (MAP, or type II
// maximum likelihood with priors) by L-BFGS in (ln ℓ, ln σ0², ln σn²), the mean
// profiled out in closed form. The first start is *start if it is not nil, else
// the mode of the prior. The result is a pure function of the arguments. An evaluation
// costs n³/2 multiplications. When ctx ends, at most one more line search is made.
func (f *Fitter) Fit(ctx context.Context, y []float64, start *Hyper, s Settings) (FitResult, error) {
	d, err := check(f.x, y, start)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return FitResult{}, err
	}
	low, high := s.box(d)
	if f.w == nil {
		f.w = newEvidence(f.x)
	}
	f.w.y = y
	p := posterior{f.w, s}
	starts, evals := s.starts(d, start), 0
	from := starts[0]
	if len(starts) > 1 { // a few steps from each, and the first of the best goes on
		few, top := climber(low, high, screenEvaluations, 0.1, 0.1), math.Inf(-1)
		for _, theta := range starts {
			end := few.Maximize(ctx, p.value, theta)
			evals += end.Evaluations
			if end.F > top {
				from, top = end.X, end.F
			}
		}
	}
	end := climber(low, high, s.MaxEvaluations, s.GradTolerance, s.GainTolerance).Maximize(ctx, p.value, from)
	if err := ctx.Err(); err != nil {
		return FitResult{}, err
	}
	if math.IsInf(end.F, -1) {
		return FitResult{}, ErrNotPositiveDefinite
	}
	h := p.hyper(end.X) // which leaves f.w as it is there
	return FitResult{Hyper: h, LogPosterior: end.F, Evaluations: evals + end.Evaluations, LeaveOneOut: f.w.leaveOneOut()}, nil
}

// climber ascends within the box of θ. The coordinates are logarithms, so that a
// first step of ½ is a factor of 1.6.
func climber(low, high []float64, evaluations int, gradTolerance, gainTolerance float64) *maximize.Maximizer {
	return maximize.New(low, high, maximize.Settings{MaxIterations: evaluations, MaxEvaluations: evaluations,
		GradTol: gradTolerance, GainTol: gainTolerance, FirstStep: 0.5, Memory: 10})
}

// starts lists where to begin: the warm start, the prior's mode, random points.
func (s Settings) starts(d int, start *Hyper) [][]float64 {
	var list [][]float64
	if start != nil {
		list = append(list, append(slices.Clone(start.LogLengths), start.LogSignal, start.LogNoise))
	}
	rng := rand.New(rand.NewPCG(s.Seed, 0x6770666974)) // its own stream: "gpfit"
	// With a noise variance of 1e-3 the noise finds its way both down and up.
	mode := append(slices.Repeat([]float64{s.Lengths.mode()}, d), 0, math.Log(1e-3))
	for k := 0; len(list) < s.Starts+1; k++ {
		theta := slices.Clone(mode)
		if k > 0 { // length scales within a factor of about three, noise log-uniform between 1e-6 and 1e-1
			for j := range d {
				theta[j] += rng.NormFloat64()
			}
			theta[d] += 0.5 * rng.NormFloat64()
			theta[d+1] = math.Log(1e-6) + rng.Float64()*math.Log(1e5)
		}
		list = append(list, theta)
	}
	return list
}

// screenEvaluations is the number of likelihoods spent on each of several
// starts before all but the best are dropped: enough to find the best basin
// nearly as often as complete fits.
const screenEvaluations = 12

// box returns the bounds of θ.
func (s Settings) box(d int) (low, high []float64) {
	noise := [2]float64{s.LeastNoise, MostNoise}
	if s.FixedNoise > 0 {
		noise = [2]float64{s.FixedNoise, s.FixedNoise}
	}
	for _, r := range append(slices.Repeat([][2]float64{{shortest, longest}}, d), [2]float64{leastSignal, mostSignal}, noise) {
		low, high = append(low, math.Log(r[0])), append(high, math.Log(r[1]))
	}
	return low, high
}

// posterior is the log posterior of θ = (ln ℓ, ln σ0², ln σn²) with the mean
// profiled out. By the envelope theorem its gradient needs no term for the mean.
type posterior struct {
	w   *evidence
	set Settings
}

// value returns the log posterior, −∞ where it is not defined, and writes its
// gradient.
func (p *posterior) value(theta, grad []float64) float64 {
	d := p.w.d
	noise := math.Exp(theta[d+1])
	if !p.w.factorise(theta[:d], math.Exp(theta[d]), noise) {
		return math.Inf(-1)
	}
	c, value := p.w.solveProfiled()
	p.w.gradient(grad, noise)
	value += p.set.addLogPrior(theta, grad) - 0.5*c*c
	if p.set.FixedNoise > 0 {
		grad[d+1] = 0
	}
	if math.IsNaN(value) {
		return math.Inf(-1)
	}
	return value
}

// hyper returns θ as hyper-parameters, with the profiled mean.
func (p *posterior) hyper(theta []float64) Hyper {
	d := p.w.d
	h := Hyper{LogLengths: theta[:d], LogSignal: theta[d], LogNoise: theta[d+1]}.Clone()
	if p.w.factorise(h.LogLengths, h.Signal(), h.Noise()) {
		h.Mean, _ = p.w.solveProfiled()
	}
	return h
}
