package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Hyper-parameters sampled under the priors of Spearmint (Snoek, Larochelle and
// Adams, 2012), without its input warping:
//
//	ℓ_j ~ Uniform(0, 10),  √σ0² ~ LogNormal(0, 1),  c ~ N(0, 1),
//	σn² ~ a horseshoe of scale 0.1, in the approximation ln p(v) = ln ln(1 + 3(0.1/v)²)
//
// One sweep is a slice step of initial width 1 for each of c, ln σ0², ln σn² and
// ln ℓ_j, in random order. Spearmint's own sweep, for the paper's configuration, is a
// step for (c, σ0², σn²) along a random direction in natural units, then one for each
// ℓ_j. It hardly mixes: the noise, about 0.01, stops every step in which the signal
// variance, about 10, would move.

const (
	maxLength      = 10.0
	horseshoeScale = 0.1
	// stability stands on the diagonal beside the sampled noise, so that a
	// noise of 0 can be factorised.
	stability = 1e-6
)

// SampleSettings say how SampleHyper walks.
type SampleSettings struct {
	// BurnIn is the number of sweeps before the first sample. Spearmint makes
	// 100 for the first fit of a study, and none when it goes on from the last
	// sample.
	BurnIn int
	// Samples is the number of samples: 10 in Spearmint.
	Samples int
	// Every is the number of sweeps for a sample: 1 in Spearmint, and where it is 0.
	Every int
	// FixedNoise, if positive, is the noise variance, which is then not sampled.
	FixedNoise float64
	// Spearmint walks as Spearmint does.
	Spearmint bool
}

// NewSampleSettings returns the settings of a first fit: ten samples, which with five
// sweeps for each are nearly independent; or those of Spearmint.
func NewSampleSettings(spearmint bool) SampleSettings {
	if spearmint {
		return SampleSettings{BurnIn: 100, Samples: 10, Every: 1, Spearmint: true}
	}
	return SampleSettings{BurnIn: 100, Samples: 10, Every: 5}
}

// SampleStart returns the hyper-parameters at which Spearmint's chain starts:
// ℓ = 1, σ0² = 1, σn² = 1e-6, c = 0.
func SampleStart(d int) Hyper {
	return Hyper{LogLengths: make([]float64, d), LogNoise: math.Log(2 * stability)}
}

// SampleHyper draws hyper-parameters from their posterior given y at x, by the
// Markov chain described above, from start, which is moved into the priors' support. The last
// sample is the chain's state: passing it as the next start, with no burn-in, goes on. A sweep
// costs about 6(d+3) factorisations. When ctx ends, at most one more slice step is made.
func SampleHyper(ctx context.Context, x [][]float64, y []float64, start Hyper, s SampleSettings, rng *rand.Rand) ([]Hyper, error) {
	if _, err := check(x, y, &start); err != nil {
		return nil, err
	}
	if s.BurnIn < 0 || s.Samples < 1 {
		return nil, fmt.Errorf("gp: %d sweeps of burn-in and %d samples", s.BurnIn, s.Samples)
	}
	w := newEvidence(x)
	w.y = y
	c := newChain(w, start, s, rng)
	if math.IsInf(c.value, -1) || math.IsNaN(c.value) {
		return nil, errors.New("gp: the chain starts where the posterior density is 0")
	}
	samples := make([]Hyper, 0, s.Samples)
	for sweeps := 1; len(samples) < s.Samples; sweeps++ {
		if err := c.sweep(ctx); err != nil {
			return nil, err
		}
		if after := sweeps - s.BurnIn; after > 0 && after%max(s.Every, 1) == 0 {
			samples = append(samples, c.hyper())
		}
	}
	return samples, nil
}

// chain is the state of the sampler: θ = (ℓ_1 … ℓ_d, c, σ0², σn²) in natural
// units, and the log density of the coordinates in which it moves.
type chain struct {
	w          *evidence
	fixedNoise float64
	natural    bool // steps are made in natural units, not in logarithms
	slice      slicer
	theta      []float64
	value      float64
	trial, dir []float64
	logLengths []float64
}

func newChain(w *evidence, start Hyper, s SampleSettings, rng *rand.Rand) *chain {
	d := w.d
	c := &chain{
		w: w, fixedNoise: s.FixedNoise, natural: s.Spearmint,
		slice:      slicer{rng: rng, width: 1},
		theta:      make([]float64, d+3),
		trial:      make([]float64, d+3),
		dir:        make([]float64, d+3),
		logLengths: make([]float64, d),
	}
	const edge = 1e-3
	for j, l := range start.Lengths() {
		c.theta[j] = math.Min(math.Max(l, edge), maxLength-edge)
	}
	c.theta[d] = start.Mean
	c.theta[d+1] = math.Max(start.Signal(), stability)
	c.theta[d+2] = math.Max(start.Noise()-stability, stability)
	c.value = c.logDensity(c.theta)
	return c
}

// fixed reports whether coordinate i is a noise that is not sampled.
func (c *chain) fixed(i int) bool { return i == c.w.d+2 && c.fixedNoise > 0 }

// sweep makes one step of each coordinate, or of each of Spearmint's blocks.
func (c *chain) sweep(ctx context.Context) error {
	d, rng := c.w.d, c.slice.rng
	coordinates := d + 3
	if c.natural {
		coordinates = d
		norm := 0.0
		clear(c.dir)
		for i := d; i < d+3 && !c.fixed(i); i++ {
			c.dir[i] = rng.NormFloat64()
			norm += c.dir[i] * c.dir[i]
		}
		for i := d; i < d+3; i++ {
			c.dir[i] /= math.Sqrt(norm)
		}
		if err := c.move(ctx); err != nil {
			return err
		}
	}
	for _, i := range rng.Perm(coordinates) {
		if c.fixed(i) {
			continue
		}
		clear(c.dir)
		c.dir[i] = 1
		if err := c.move(ctx); err != nil {
			return err
		}
	}
	return nil
}

// move makes a slice step along dir.
func (c *chain) move(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t, value := c.slice.step(func(t float64) float64 {
		c.place(c.trial, t)
		return c.logDensity(c.trial)
	}, c.value)
	c.place(c.theta, t)
	c.value = value
	return nil
}

// place writes the point at t along dir into dst.
func (c *chain) place(dst []float64, t float64) {
	for i, v := range c.theta {
		if c.natural || i == c.w.d { // the mean has no logarithm
			dst[i] = v + t*c.dir[i]
		} else {
			dst[i] = v * math.Exp(t*c.dir[i])
		}
	}
}

// logDensity is the log posterior density of the chain's coordinates at θ up to a
// constant, −∞ outside the support. For logarithms it is that of θ times the θ_i
// themselves: dθ_i/d ln θ_i.
func (c *chain) logDensity(theta []float64) float64 {
	value := c.logPosterior(theta)
	if c.natural || math.IsInf(value, -1) {
		return value
	}
	for i, v := range theta {
		if i != c.w.d && !c.fixed(i) {
			value += math.Log(v)
		}
	}
	return value
}

func (c *chain) logPosterior(theta []float64) float64 {
	d := c.w.d
	for j, l := range theta[:d] {
		if !(l > 0 && l < maxLength) {
			return math.Inf(-1)
		}
		c.logLengths[j] = math.Log(l)
	}
	mean, signal, noise := theta[d], theta[d+1], theta[d+2]
	if !(signal > 0) || c.fixedNoise <= 0 && !(noise > 0) {
		return math.Inf(-1)
	}
	prior := -0.5*mean*mean + logAmplitudePrior(signal)
	if c.fixedNoise > 0 {
		noise = c.fixedNoise
	} else {
		prior += logHorseshoe(noise)
		noise += stability
	}
	if !c.w.factorise(c.logLengths, signal, noise) {
		return math.Inf(-1)
	}
	value := c.w.logLikelihood(mean) + prior
	if math.IsNaN(value) {
		return math.Inf(-1)
	}
	return value
}

// logAmplitudePrior is the log density of v when √v ~ LogNormal(0, 1), up to a
// constant: −(ln √v)²/2 − ln √v from the log-normal, − ln √v from d√v/dv.
func logAmplitudePrior(v float64) float64 {
	l := 0.5 * math.Log(v)
	return -0.5*l*l - 2*l
}

// logHorseshoe is the approximate log density of the horseshoe prior.
func logHorseshoe(v float64) float64 {
	t := horseshoeScale / v
	if t > 1e100 { // its square would overflow: ln(1 + 3t²) → ln 3 + 2 ln t
		return math.Log(math.Log(3) + 2*math.Log(t))
	}
	return math.Log(math.Log1p(3 * t * t))
}

func (c *chain) hyper() Hyper {
	d := c.w.d
	h := Hyper{Mean: c.theta[d], LogSignal: math.Log(c.theta[d+1]), LogNoise: math.Log(c.theta[d+2] + stability)}
	if c.fixedNoise > 0 {
		h.LogNoise = math.Log(c.fixedNoise)
	}
	for _, l := range c.theta[:d] {
		h.LogLengths = append(h.LogLengths, math.Log(l))
	}
	return h
}

// slicer makes slice-sampling steps along lines, with stepping out by doubling
// (Neal, Slice sampling, Annals of Statistics 31, 2003, figures 4 to 6).
type slicer struct {
	rng   *rand.Rand
	width float64 // of the first interval
}

// maxDoublings bounds the growth of the interval. A density that vanishes
// outside a bounded set, or decays, ends it long before.
const maxDoublings = 1000

// step draws a new t from the density exp(logDensity(t)) restricted to a line,
// starting from t = 0 where the log density is current. It returns the new t
// and its log density.
func (s *slicer) step(logDensity func(t float64) float64, current float64) (t, value float64) {
	level := current + math.Log(1-s.rng.Float64()) // in (0, 1]: never −∞
	high := s.width * s.rng.Float64()
	low := high - s.width
	atLow, atHigh := logDensity(low), logDensity(high)
	for k := 0; k < maxDoublings && (atLow > level || atHigh > level); k++ {
		if s.rng.Float64() < 0.5 {
			low -= high - low
			atLow = logDensity(low)
		} else {
			high += high - low
			atHigh = logDensity(high)
		}
	}
	left, right := low, high
	for {
		t = left + (right-left)*s.rng.Float64()
		value = logDensity(t)
		if value > level && s.acceptable(logDensity, t, level, low, high) {
			return t, value
		}
		if t < 0 {
			left = t
		} else {
			right = t
		}
		if right-left < 1e-14*s.width { // only rounding left: stay
			return 0, current
		}
	}
}

// acceptable reports whether the doubling from t could have produced the
// interval [low, high]: without this test the step would not leave the density
// invariant.
func (s *slicer) acceptable(logDensity func(float64) float64, t, level, low, high float64) bool {
	differ := false
	for high-low > 1.1*s.width {
		middle := (low + high) / 2
		if (0 < middle) != (t < middle) {
			differ = true
		}
		if t < middle {
			high = middle
		} else {
			low = middle
		}
		if differ && logDensity(low) <= level && logDensity(high) <= level {
			return false
		}
	}
	return true
}
