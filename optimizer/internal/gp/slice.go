package gp

import (
	"math"
	"math/rand/v2"
)

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
