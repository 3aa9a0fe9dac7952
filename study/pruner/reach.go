package pruner

import (
	"fmt"
	"math"
	"sort"
)

// reaching stops a trial that cannot become the best one any more. With S the last step, a
// trial whose newest reading is v at step s is stopped if
//
//	max(b, v + σ (S-s))  <  max { z_i : i has ended and came to S },
//
// b being its best reading so far, σ the slope, and z_i the value by which trial i may be the
// best. A stated σ bounds by how much a reading
// can be better than an earlier one, for each step between them: where that holds, no trial
// that is stopped would have been the best, whether a trial's value is its last reading or
// its best. A steeper reading disproves it, and takes its place. Without a stated σ it is the steepest climb from s to the end that any trial had,
// times a factor,
//
//	σ(s) = factor · max_i max_{j: s_ij > s} (v_ij - v_i(s)) / (S-s).
//
// Only readings at marks count, see curve, and those at the last step. What is not finite says
// nothing.
type reaching struct {
	settings Settings
	trials   map[int]*climb
	steepest float64 // rise of a step between two marks, if it disproves the stated slope
}

// climb holds the readings of one trial at its marks, which are those of a curve, and at the
// last step.
type climb struct {
	marks curve // whose means are the readings themselves
	best  float64
	whole bool // it came to the last step
	value float64
	ended bool
}

func newReaching(s Settings) *reaching { return &reaching{settings: s, trials: map[int]*climb{}} }

func (c *reaching) read(r Reading) Decision {
	own := c.trials[r.Trial]
	if own == nil {
		own = &climb{best: math.Inf(-1)}
		c.trials[r.Trial] = own
	}
	if !finite(r.Value) {
		return Decision{}
	}
	own.best = math.Max(own.best, r.Value)
	final := r.Step >= c.settings.MaxStep && !own.whole
	if !final && !own.marks.atMark(r.Step) {
		return Decision{}
	}
	d := Decision{Keep: true}
	if n := len(own.marks.steps); n > 0 && r.Step > own.marks.steps[n-1] {
		rise := (r.Value - own.marks.means[n-1]) / (r.Step - own.marks.steps[n-1])
		if c.settings.Slope > 0 && rise > math.Max(c.settings.Slope, c.steepest)*(1+1e-9) {
			c.steepest, d.Steeper = rise, rise
		}
	}
	own.marks.steps, own.marks.means = append(own.marks.steps, r.Step), append(own.marks.means, r.Value)
	if final {
		own.whole, own.value = true, r.Value
	}
	if r.Step < c.settings.Warmup {
		return d
	}
	best, n := c.best()
	if n < 1 || c.settings.Slope == 0 && n < c.settings.MinTrials {
		return d
	}
	if most := math.Max(own.best, r.Value+c.climb(r.Step)); most < best {
		a, b := c.settings.tell(most, best)
		d.Stop, d.Why = true, fmt.Sprintf("can reach %s at best by step %s, worse than the best %s of %s", a, number(c.settings.MaxStep), b, trials(n))
	}
	return d
}

// best is the best value of the trials that were not stopped, and how many these are.
func (c *reaching) best() (best float64, n int) {
	best = math.Inf(-1)
	for _, o := range c.trials {
		if o.ended && o.whole {
			best = math.Max(best, o.value)
			n++
		}
	}
	return best, n
}

// climb is by how much a trial can still rise from a step to the last one.
func (c *reaching) climb(step float64) float64 {
	if c.settings.Slope > 0 {
		return math.Max(c.settings.Slope, c.steepest) * (c.settings.MaxStep - step)
	}
	most := 0.0
	for _, o := range c.trials {
		if !o.ended || !o.whole {
			continue
		}
		i := sort.SearchFloat64s(o.marks.steps, math.Nextafter(step, math.Inf(1)))
		if i == 0 {
			return math.Inf(1) // began later: nothing is known of its rise from here
		}
		for _, v := range o.marks.means[i:] {
			most = math.Max(most, v-o.marks.means[i-1])
		}
	}
	return c.settings.Factor * most
}

func (c *reaching) finish(trial int, value float64) {
	if own := c.trials[trial]; own != nil {
		own.ended = true
		if finite(value) { // else the first reading of the last step stands for it
			own.value = value
		}
	}
}

func (c *reaching) forget(trial int) { delete(c.trials, trial) }
