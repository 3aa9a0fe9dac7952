package study

import (
	"fmt"
	"math"

	"github.com/lbotune/lbotune/pruner"
)

// watched is one call to the pruner: a reading that must be kept, or a trial
// whose readings stay or go. A pruner that is given them in order goes on as
// the one that made the decisions.
type watched struct {
	reading        pruner.Reading
	finish, forget int  // numbers of trials, 0 for none
	excluded       bool // forget is for an exclusion, which may be taken back
}

// newPruner returns the pruner that the config asks for, nil if none.
func (c *Config) newPruner() (*pruner.Pruner, error) {
	if !c.prunes() {
		return nil, nil
	}
	s := pruner.Settings{
		Method: pruner.Method(c.Prune.Method), Percentile: c.Prune.Percentile, Patience: c.Prune.Patience,
		Warmup: c.Prune.Warmup, MinTrials: c.Prune.MinTrials, MinResource: c.Prune.MinResource,
		Reduction: c.Prune.Reduction, Negated: c.Objective.Direction == Minimize,
	}
	if c.Prune.Threshold != nil {
		s.Threshold = c.Objective.Direction.Maximized(*c.Prune.Threshold)
	}
	p, err := pruner.New(s)
	if err != nil {
		return nil, fmt.Errorf("prune: %w", err)
	}
	return p, nil
}

// prunes reports whether running attempts are stopped for their readings.
func (c *Config) prunes() bool { return c.Prune != nil && c.resource() == "" }

// watch keeps what the pruner has to know of an event.
func (s *State) watch(w watched) {
	if s.Config.prunes() {
		s.watched = append(s.watched, w)
	}
}

// maximized is a reading as the pruner takes it.
func (s *State) maximized(trial int, r Reading) pruner.Reading {
	return pruner.Reading{Trial: trial, Step: r.Step, Value: s.worth(r.Value)}
}

// rewatch gives the pruner what earlier sessions have kept.
func (l *loop) rewatch() {
	if l.pruner == nil {
		return
	}
	for _, w := range l.state.watched {
		if w.reading.Trial > 0 {
			l.pruner.Restore(w.reading)
		}
		l.endWatch(w)
	}
	l.watched = len(l.state.watched)
}

// watchOn tells the pruner of the endings that were committed since. It knows
// the readings already.
func (l *loop) watchOn() {
	if l.pruner == nil {
		return
	}
	for _, w := range l.state.watched[l.watched:] {
		l.endWatch(w)
	}
	l.watched = len(l.state.watched)
}

func (l *loop) endWatch(w watched) {
	if w.finish > 0 {
		l.pruner.Finish(w.finish)
	}
	if w.forget > 0 {
		l.pruner.Forget(w.forget)
	}
}

// collect takes what a running attempt has printed since, and decides.
func (l *loop) collect(m readings) {
	r := l.running[m.id.Trial]
	if r == nil || r.id != m.id {
		return // it has ended
	}
	var keep []Reading
	for _, reading := range m.box.take() {
		if r.cut {
			break
		}
		d := l.pruner.Read(l.state.maximized(m.id.Trial, reading))
		if d.Keep {
			keep = append(keep, reading)
		}
		if d.Stop {
			r.cut = true
			l.events = append(l.events, Cut{Trial: m.id.Trial, Attempt: m.id.Attempt, Reading: reading, Why: d.Why, Complete: d.Complete})
		}
	}
	if len(keep) > 0 {
		l.events = append(l.events, Metric{Trial: m.id.Trial, Attempt: m.id.Attempt, Readings: keep})
	}
}

// cutShort ends the attempts that the pruner has decided to stop, once that is
// recorded.
func (l *loop) cutShort() {
	for _, r := range l.running {
		if r.cut {
			r.end(errPruned)
		}
	}
}

// prunedOutcome is that of an attempt that was ended by the pruner: the value
// of its readings if nothing more was to be expected of it, else its last one.
func prunedOutcome(c *Cut, o outcome) outcome {
	v := c.Reading.Value
	if c.Complete && o.partial != nil {
		v = *o.partial
	}
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		o.failure = &Failure{Kind: FailNotFinite, Text: "stopped early " + c.Why}
	case c.Complete:
		o.value, o.failure = v, nil
	default:
		o.value, o.failure = v, &Failure{Kind: FailPruned, Text: "stopped early " + c.Why}
	}
	return o
}
