package pruner

import (
	"fmt"
	"math"
)

// waiting stops a trial after so many readings in a row that were not strictly
// better than its best one. Every reading counts, whatever its step. What such
// a trial has reached is taken for all that it can, so it is complete.
type waiting struct {
	settings Settings
	trials   map[int]*record
}

// record is the best reading of a trial.
type record struct {
	best, at float64
	since    int // readings after it
}

func newWaiting(s Settings) *waiting { return &waiting{s, map[int]*record{}} }

func (w *waiting) read(r Reading) Decision {
	own := w.trials[r.Trial]
	if own == nil {
		own = &record{best: math.Inf(-1)}
		w.trials[r.Trial] = own
	}
	if r.Value > own.best {
		*own = record{best: r.Value, at: r.Step}
		return Decision{}
	}
	own.since++
	if own.since < w.settings.Patience || r.Step < w.settings.Warmup {
		return Decision{}
	}
	if math.IsInf(own.best, -1) {
		return Decision{Stop: true, Why: fmt.Sprintf("none of %d readings is a finite number", own.since)}
	}
	return Decision{Stop: true, Complete: true, Why: fmt.Sprintf("no reading better than %s at step %s in the last %d",
		w.settings.tellOne(own.best), number(own.at), own.since)}
}

func (w *waiting) finish(trial int, _ float64) { delete(w.trials, trial) }
func (w *waiting) forget(trial int)            { delete(w.trials, trial) }

// bound stops a trial at a reading strictly worse than the threshold.
type bound struct{ settings Settings }

func (b bound) read(r Reading) Decision {
	if r.Step < b.settings.Warmup || r.Value >= b.settings.Threshold {
		return Decision{}
	}
	v, limit := b.settings.tell(r.Value, b.settings.Threshold)
	return Decision{Stop: true, Why: fmt.Sprintf("%s, worse than the threshold %s", v, limit)}
}

func (bound) finish(int, float64) {}
func (bound) forget(int)          {}
