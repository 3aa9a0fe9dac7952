package maximize

import "math"

const (
	armijo    = 1e-4 // part of the predicted gain that a step must bring
	curvature = 0.9  // part of the first slope that may be left after a step
	maxTrials = 30
)

// step searches along the projected ray from x for a better point, which it
// leaves in the trial vectors. It reports failure when none was found, or when
// the slope promises less than the value tolerance.
func (m *Maximizer) step(fx float64) (float64, bool) {
	m.direction()
	slope := m.freeDot(m.at.g, m.dir)
	if math.IsInf(slope, 0) {
		return fx, false
	}
	least := 0.1 * m.set.ValueTol * math.Max(1, math.Abs(fx))
	found, best := false, fx
	for t, trial := 1.0, 0; trial < maxTrials && t*slope > least && !m.spent(); trial++ {
		if !m.moveTo(t) {
			break
		}
		fn := m.eval(m.trial.x, m.trial.g)
		if math.IsInf(fn, 1) || !(fn > best && fn >= fx+armijo*m.predicted()) {
			if found {
				break
			}
			next := 0.25 * t
			if gained := fn - fx; !math.IsInf(gained, 0) { // the maximizer of the parabola through it
				next = 0.5 * slope * t * t / (slope*t - gained)
			}
			t = math.Min(math.Max(next, 0.1*t), 0.5*t)
			continue
		}
		best, found = fn, true
		m.trial, m.good = m.good, m.trial
		if m.slopeLeft() <= curvature*slope {
			break
		}
		t *= 4
	}
	if found {
		m.trial, m.good = m.good, m.trial
	}
	return best, found
}

// moveTo sets the trial point to the projection of x + t·dir onto the box and
// reports whether it differs from x and from the last good trial.
func (m *Maximizer) moveTo(t float64) bool {
	to := &m.trial
	moved := false
	for i, z := range m.at.z {
		to.z[i], to.x[i] = z, m.at.x[i]
		if !m.free[i] || m.dir[i] == 0 {
			continue
		}
		s := m.scale(i)
		to.z[i] = z + t*m.dir[i]
		x := to.z[i] * s
		if x <= m.lo[i] || x >= m.up[i] {
			x = math.Min(math.Max(x, m.lo[i]), m.up[i])
			to.z[i] = x / s
		}
		to.x[i] = x
		moved = moved || x != m.at.x[i]
	}
	return moved
}

// predicted returns the first-order gain of the projected step, at least 0.
func (m *Maximizer) predicted() float64 {
	sum := 0.0
	for i, g := range m.at.g {
		sum += g * (m.trial.z[i] - m.at.z[i])
	}
	return math.Max(sum, 0)
}

// slopeLeft returns the derivative along the projected ray at the good trial.
func (m *Maximizer) slopeLeft() float64 {
	sum := 0.0
	for i, d := range m.dir {
		x := m.good.x[i]
		if m.free[i] && x > m.lo[i] && x < m.up[i] {
			sum += m.good.g[i] * d
		}
	}
	return sum
}
