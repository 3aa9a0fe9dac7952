package gp

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Settings say how Fit looks for hyper-parameters. NewSettings returns the
// defaults.
type Settings struct {
	Prior  Prior
	Bounds Bounds
	// FixedNoise, if positive, is the noise variance σn², which is then not
	// fitted: DeterministicNoise for a declared deterministic objective, the
	// declared variance in units of the standardised values otherwise.
	FixedNoise float64
	// Starts is the number of random starts beside the warm start (or, without
	// one, beside the prior's mode).
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
// deterministic, in units of the standardised values.
const DeterministicNoise = 1e-6

// NewSettings returns the default settings for d dimensions: DefaultPrior,
// DefaultBounds, learned noise and no random starts.
func NewSettings(d int) Settings {
	return Settings{
		Prior:          DefaultPrior(d),
		Bounds:         DefaultBounds(),
		MaxEvaluations: 60,
		GradTolerance:  1e-2,
		GainTolerance:  1e-4,
	}
}

// FitResult is what Fit found.
type FitResult struct {
	Hyper        Hyper
	LogPosterior float64 // log likelihood + log prior, up to a constant
	Evaluations  int     // likelihoods computed, all starts together
	Converged    bool    // the best start met a tolerance
}

// Fit maximises the posterior density of the hyper-parameters (MAP, or type II
// maximum likelihood with priors) by L-BFGS in (ln ℓ, ln σ0², ln σn²), the mean
// profiled out in closed form. The first start is *start if it is not nil, else
// the mode of the prior; the best of all starts wins, the earlier one in a tie.
// The result is a pure function of the arguments. An evaluation costs n³/2
// multiplications.
func Fit(x [][]float64, y []float64, start *Hyper, s Settings) (FitResult, error) {
	d, err := checkData(x, y)
	if err != nil {
		return FitResult{}, err
	}
	if start != nil {
		if err := start.check(d); err != nil {
			return FitResult{}, fmt.Errorf("warm start: %w", err)
		}
	}
	low, high := s.box(d)
	p := posterior{w: newEvidence(x, y, true), prior: s.Prior, noiseFixed: s.FixedNoise > 0}
	opt := newDescent(low, high)
	opt.maxEvals, opt.gradTolerance, opt.stepTolerance = s.MaxEvaluations, s.GradTolerance, s.GainTolerance

	best := FitResult{LogPosterior: math.Inf(-1)}
	rng := rand.New(rand.NewPCG(s.Seed, 0x6770666974)) // its own stream: "gpfit"
	theta := make([]float64, d+2)
	for k := range s.Starts + 1 {
		switch {
		case k > 0:
			s.drawStart(theta, rng)
		case start != nil:
			copy(theta, start.LogLengths)
			theta[d], theta[d+1] = start.LogSignal, start.LogNoise
		default:
			s.modeStart(theta)
		}
		value, converged := opt.minimise(p.negative, theta)
		best.Evaluations += opt.evals
		if -value > best.LogPosterior {
			best.LogPosterior, best.Converged = -value, converged
			best.Hyper = p.hyper(opt.x)
		}
	}
	if math.IsInf(best.LogPosterior, -1) {
		return FitResult{}, ErrNotPositiveDefinite
	}
	return best, nil
}

// box returns the bounds of θ.
func (s Settings) box(d int) (low, high []float64) {
	low, high = make([]float64, d+2), make([]float64, d+2)
	set := func(i int, r Range) { low[i], high[i] = math.Log(r.Low), math.Log(r.High) }
	for j := range d {
		set(j, s.Bounds.Length)
	}
	set(d, s.Bounds.Signal)
	set(d+1, s.Bounds.Noise)
	if s.FixedNoise > 0 {
		set(d+1, Range{s.FixedNoise, s.FixedNoise})
	}
	return low, high
}

// modeStart sets θ to the prior's modes, with a noise variance of 1e-3: from
// there the noise finds its way both down and up.
func (s Settings) modeStart(theta []float64) {
	d := len(theta) - 2
	for j := range d {
		theta[j] = s.Prior.LengthMu - s.Prior.LengthSigma*s.Prior.LengthSigma
	}
	theta[d], theta[d+1] = s.Prior.SignalMu, math.Log(1e-3)
}

// drawStart draws θ around the mode: length scales within a factor of about
// three, noise log-uniform between 1e-6 and 1e-1.
func (s Settings) drawStart(theta []float64, rng *rand.Rand) {
	s.modeStart(theta)
	d := len(theta) - 2
	for j := range d {
		theta[j] += rng.NormFloat64()
	}
	theta[d] += 0.5 * rng.NormFloat64()
	theta[d+1] = math.Log(1e-6) + rng.Float64()*math.Log(1e5)
}

// posterior is the log posterior of θ = (ln ℓ, ln σ0², ln σn²) with the mean
// profiled out. By the envelope theorem its gradient needs no term for the mean.
type posterior struct {
	w          *evidence
	prior      Prior
	noiseFixed bool
}

func (p *posterior) negative(theta, grad []float64) float64 {
	d := p.w.d
	noise := math.Exp(theta[d+1])
	if !p.w.factorise(theta[:d], math.Exp(theta[d]), noise) {
		return math.Inf(1)
	}
	c, value := p.w.solveProfiled(p.prior.MeanSigma)
	p.w.gradient(grad, noise)
	z := c / p.prior.MeanSigma
	value += p.prior.addLog(theta, grad, p.noiseFixed) - 0.5*z*z
	if p.noiseFixed {
		grad[d+1] = 0
	}
	if math.IsNaN(value) {
		return math.Inf(1)
	}
	for i, g := range grad {
		grad[i] = -g
	}
	return -value
}

// hyper returns θ as hyper-parameters, with the profiled mean.
func (p *posterior) hyper(theta []float64) Hyper {
	d := p.w.d
	h := Hyper{LogLengths: theta[:d], LogSignal: theta[d], LogNoise: theta[d+1]}.Clone()
	if p.w.factorise(h.LogLengths, h.Signal(), h.Noise()) {
		h.Mean, _ = p.w.solveProfiled(p.prior.MeanSigma)
	}
	return h
}
