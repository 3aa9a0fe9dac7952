package pruner

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// curves is the median stopping rule of Golovin et al. 2017 (section 3.2.2),
// generalised to quantiles. At step s a running trial k is stopped if
//
//	max_{j: s_kj ≤ s} v_kj  <  Q_q { m_i(s) : i has ended, s_i,last ≥ s },
//	m_i(s) = Σ_{j: s_ij ≤ s} w_ij v_ij / Σ_{j: s_ij ≤ s} w_ij
//
// in words: if its best value so far is strictly worse than the q-quantile of
// the running averages that the ended trials which came as far had at that
// step. q = 1/2 for the median; q = 1 - p/100 if a trial must be among the best
// p per cent. Q interpolates linearly (Hyndman and Fan 1996, definition 7).
//
// Where the paper leaves room:
//   - Ended trials are those that ended well and those that were stopped, as far
//     as they came. Without the stopped ones the bar would rise with every stop.
//   - A reading stands for the steps since the one before it, the first for as
//     many as the second: w_ij = s_ij - s_i,j-1. For equal steps that is the
//     paper's average.
//   - Only readings at marks count, see curve. Those that are not finite are left
//     out of averages; a trial without any other has average -Inf.
type curves struct {
	settings Settings
	quantile float64
	trials   map[int]*curve
}

func newCurves(s Settings) *curves {
	c := &curves{settings: s, quantile: 0.5, trials: map[int]*curve{}}
	if s.Method == Percentile {
		c.quantile = 1 - s.Percentile/100
	}
	return c
}

func (c *curves) read(r Reading) Decision {
	own := c.trials[r.Trial]
	if own == nil {
		own = &curve{best: math.Inf(-1)}
		c.trials[r.Trial] = own
	}
	if !own.atMark(r.Step) {
		return Decision{}
	}
	own.add(r.Step, r.Value)
	d := Decision{Keep: true}
	if r.Step < c.settings.Warmup {
		return d
	}
	others := c.at(r.Step, own)
	if len(others) < max(c.settings.MinTrials, 1) {
		return d
	}
	if bar := quantile(others, c.quantile); own.best < bar {
		d.Stop, d.Why = true, c.why(own.best, bar, len(others))
	}
	return d
}

func (c *curves) why(best, bar float64, n int) string {
	what := "the median"
	if c.settings.Method == Percentile {
		what = fmt.Sprintf("the bar of the best %s %%", number(c.settings.Percentile))
	}
	a, b := c.settings.tell(best, bar)
	return fmt.Sprintf("best so far %s, worse than %s %s of %s", a, what, b, trials(n))
}

// at returns the averages of the ended trials that came as far as a step.
func (c *curves) at(step float64, own *curve) []float64 {
	var out []float64
	for _, o := range c.trials {
		if m, ok := o.mean(step); ok && o.ended && o != own {
			out = append(out, m)
		}
	}
	return out
}

func (c *curves) finish(trial int, _ float64) {
	if own := c.trials[trial]; own != nil {
		own.ended = true
	}
}

func (c *curves) forget(trial int) { delete(c.trials, trial) }

// marksPerE is how many marks a curve has for each factor e by which its steps
// grow, and the largest whole number up to which each has its own.
const marksPerE = 32

// curve holds the running averages of one trial at its marks. The first reading
// is a mark; after a mark at step s the next one is the first reading at or
// beyond s + |s|/32. So every epoch of the first 32 counts, and a million of
// them have some 360 marks.
type curve struct {
	steps, means []float64
	weight       float64 // of the last average
	best         float64 // of the values at marks
	ended        bool
}

func (c *curve) atMark(step float64) bool {
	if len(c.steps) == 0 {
		return true
	}
	last := c.steps[len(c.steps)-1]
	return step > last && step-last >= math.Abs(last)/marksPerE
}

func (c *curve) add(step, value float64) {
	c.best = math.Max(c.best, value)
	mean := value
	if n := len(c.steps); n > 0 {
		mean = c.means[n-1]
		gap := step - c.steps[n-1]
		if n == 1 && finite(mean) {
			c.weight = gap // of the first reading, until now without one
		}
		if finite(value) {
			c.weight += gap
			mean = lerp(mean, value, gap/c.weight)
		}
	}
	c.steps = append(c.steps, step)
	c.means = append(c.means, mean)
}

// mean is the running average at a step, if the trial came as far.
func (c *curve) mean(step float64) (float64, bool) {
	n := len(c.steps)
	i := sort.Search(n, func(i int) bool { return c.steps[i] > step })
	if i == 0 || i == n && c.steps[n-1] < step {
		return 0, false
	}
	return c.means[i-1], true
}

// quantile sorts xs, which is not empty, and returns its q-quantile.
func quantile(xs []float64, q float64) float64 {
	slices.Sort(xs)
	h := q * float64(len(xs)-1)
	i := min(int(h), len(xs)-1)
	return lerp(xs[i], xs[min(i+1, len(xs)-1)], h-float64(i))
}

// lerp is a + t (b - a) for t in [0,1]: exactly a for equal ends, without an
// overflow for opposite ones, and -Inf between -Inf and a number.
func lerp(a, b, t float64) float64 {
	d := b - a
	switch {
	case a == b || t == 0:
		return a
	case t == 1:
		return b
	case finite(d):
		return a + t*d
	case finite(a) && finite(b):
		return (1-t)*a + t*b
	}
	return math.Inf(-1)
}
