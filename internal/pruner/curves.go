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
	trials   map[int]*curve
	// bars are, by step, the sorted averages of the ended trials that came as far.
	bars map[float64][]float64
}

// mostSteps is for how many steps something is kept; with more of them all begin anew.
const mostSteps = 512

func (c *curves) read(r Reading, decide bool) Decision {
	own := c.trials[r.Trial]
	if own == nil {
		own = &curve{best: math.Inf(-1)}
		c.trials[r.Trial] = own
	}
	if !own.atMark(r.Step) {
		return Decision{}
	}
	own.add(r.Step, r.Value)
	if own.ended {
		clear(c.bars)
	}
	d := Decision{Keep: true}
	if !decide || r.Step < c.settings.Warmup {
		return d
	}
	others := c.at(r.Step)
	if own.ended {
		others = without(others, own.means[len(own.means)-1])
	}
	if len(others) < max(c.settings.MinTrials, 1) {
		return d
	}
	if bar := quantile(others, 1-c.settings.Percentile/100); own.best < bar {
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

// at returns the averages of the ended trials that came as far as a step, sorted.
func (c *curves) at(step float64) []float64 {
	bar, known := c.bars[step]
	if known {
		return bar
	}
	for _, o := range c.trials {
		if m, ok := o.mean(step); ok && o.ended {
			bar = append(bar, m)
		}
	}
	slices.Sort(bar)
	if len(c.bars) == mostSteps {
		clear(c.bars)
	}
	c.bars[step] = bar
	return bar
}

// without returns sorted values but for one of those that equal v.
func without(sorted []float64, v float64) []float64 {
	i, _ := slices.BinarySearch(sorted, v)
	return slices.Delete(slices.Clone(sorted), i, i+1)
}

func (c *curves) finish(trial int, _ float64) {
	own := c.trials[trial]
	if own == nil || own.ended {
		return
	}
	own.ended = true
	for step, bar := range c.bars {
		if m, ok := own.mean(step); ok {
			i, _ := slices.BinarySearch(bar, m)
			c.bars[step] = slices.Insert(bar, i, m)
		}
	}
}

func (c *curves) forget(trial int) {
	if own := c.trials[trial]; own != nil && own.ended {
		clear(c.bars)
	}
	delete(c.trials, trial)
}

// marksPerE is how many marks a curve has for each factor e by which its steps grow.
const marksPerE = 32

// curve holds the running averages of one trial at its marks: the first reading, and after one at
// step s the first at or beyond s + |s|/32. A million epochs have some 360, the first 32 one each.
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

// quantile returns the q-quantile of xs, which are sorted and not empty.
func quantile(xs []float64, q float64) float64 {
	h := q * float64(len(xs)-1)
	i := min(int(h), len(xs)-1)
	return lerp(xs[i], xs[min(i+1, len(xs)-1)], h-float64(i))
}

// lerp is a + t (b - a) for t in [0,1]: exact for equal ends, without an overflow
// for opposite ones, and -Inf between -Inf and a number.
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
