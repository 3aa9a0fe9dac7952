package pruner

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// reaching stops a trial that cannot become the best one any more. With S the last step, a
// trial whose newest reading is v at step s is stopped if
//
//	max(b, v + σ (S-s))  <  max { z_i : i has ended and came to S },
//
// b being its best reading so far, σ the slope, and z_i the value by which trial i may be the
// best. A stated σ bounds by how much a step can improve a reading: where that holds, no trial
// that is stopped would have been the best, whether a trial's value is its last reading or its
// best. A steeper reading disproves it, and takes its place. Without a stated σ it is the
// steepest climb from s to the end that any trial had, times a factor,
//
//	σ(s) = factor · max_i max_{j: s_ij > s} (v_ij - v_i(s)) / (S-s).
//
// Only finite readings count, at marks, see curve, and at the last step.
type reaching struct {
	settings Settings
	trials   map[int]*climb
	steepest float64 // rise of a step between two marks, if it disproves the stated slope
	// Of the trials that ended at the last step: the best value, how many there are, and, at the
	// steps at which readings come, the steepest climb from there.
	bar    float64
	whole  int
	climbs map[float64]float64
}

// climb holds the readings of one trial at the marks of a curve, and at the last step.
type climb struct {
	marks curve // whose means are the readings themselves
	best  float64
	whole bool // it came to the last step
	value float64
	ended bool
}

func (c *reaching) read(r Reading, decide bool) Decision {
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
	if own.ended {
		c.recount()
	}
	if !decide || r.Step < c.settings.Warmup || c.whole < 1 || c.settings.Slope == 0 && c.whole < c.settings.MinTrials {
		return d
	}
	if most := math.Max(own.best, r.Value+c.climb(r.Step)); most < c.bar {
		a, b := c.settings.tell(most, c.bar)
		d.Stop, d.Why = true, fmt.Sprintf("can reach %s at best by step %s, worse than the best %s of %s", a, number(c.settings.MaxStep), b, trials(c.whole))
	}
	return d
}

// climb is by how much a trial can still rise from a step to the last one.
func (c *reaching) climb(step float64) float64 {
	if c.settings.Slope > 0 {
		return math.Max(c.settings.Slope, c.steepest) * (c.settings.MaxStep - step)
	}
	most, known := c.climbs[step]
	if !known {
		for _, o := range c.trials {
			if o.ended && o.whole {
				most = math.Max(most, o.from(step))
			}
		}
		if len(c.climbs) == mostSteps {
			clear(c.climbs)
		}
		c.climbs[step] = most
	}
	return c.settings.Factor * most
}

// from is the steepest climb that a trial had from a step to a later one.
func (o *climb) from(step float64) float64 {
	i := sort.SearchFloat64s(o.marks.steps, math.Nextafter(step, math.Inf(1)))
	switch i {
	case 0:
		return math.Inf(1) // it began later: nothing is known of its rise from here
	case len(o.marks.steps):
		return 0
	}
	return slices.Max(o.marks.means[i:]) - o.marks.means[i-1]
}

func (c *reaching) finish(trial int, value float64) {
	own := c.trials[trial]
	if own == nil {
		return
	}
	if finite(value) { // else the first reading of the last step stands for it
		own.value = value
	}
	if own.ended {
		c.recount()
		return
	}
	own.ended = true
	c.count(own)
}

func (c *reaching) forget(trial int) {
	own := c.trials[trial]
	delete(c.trials, trial)
	if own != nil && own.ended {
		c.recount()
	}
}

// count has a trial that has ended stand among those with which others are compared.
func (c *reaching) count(o *climb) {
	if !o.ended || !o.whole {
		return
	}
	c.whole++
	c.bar = math.Max(c.bar, o.value)
	for step, most := range c.climbs {
		c.climbs[step] = math.Max(most, o.from(step))
	}
}

// recount begins anew: an ended trial was taken back, or has changed.
func (c *reaching) recount() {
	c.bar, c.whole = math.Inf(-1), 0
	clear(c.climbs)
	for _, o := range c.trials {
		c.count(o)
	}
}
