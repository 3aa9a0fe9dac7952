package pruner

import (
	"fmt"
	"math"
	"slices"
)

// Reading is one intermediate value of a trial. A value that is not finite
// counts as worse than every number.
type Reading struct {
	Trial       int
	Step, Value float64
	// Others are, of several objectives, the values of those after the first. ASHA alone
	// looks at them.
	Others []float64
}

// Decision is what follows from a reading.
type Decision struct {
	// Keep says that the reading must be stored for Restore: other trials are
	// compared with it. A trial with n readings has O(log n) of them.
	Keep bool
	// Stop says that the trial should be stopped.
	Stop bool
	// Why says for people why it should: "at step 9: 0.71, rank 5 of 12; only
	// the best 4 continue".
	Why string
	// Complete, when Stop is set, says that nothing more was to be expected of
	// the trial, so that it has succeeded with the value of its readings. Without
	// it the trial's value is unknown: it is pruned.
	Complete bool
	// Steeper, if not 0, is by how much a step has improved the reading, more than the stated
	// Settings.Slope, and more than was known.
	Steeper float64
}

// rule is one way of deciding.
type rule interface {
	// read takes a reading whose value is a number or -Inf.
	read(Reading) Decision
	finish(trial int, value float64)
	forget(trial int)
}

// Pruner is told of every reading and of every ending, and says which trials
// should be stopped. It is not safe for concurrent use.
type Pruner struct {
	settings Settings
	rule     rule
}

// New returns a pruner that has seen nothing yet.
func New(s Settings) (*Pruner, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	p := &Pruner{settings: s}
	switch s.Method {
	case Median, Percentile:
		p.rule = newCurves(s)
	case ASHA:
		p.rule = newHalving(s)
	case Patience:
		p.rule = newWaiting(s)
	case Threshold:
		p.rule = bound{s}
	case Reachable:
		p.rule = newReaching(s)
	default:
		return nil, fmt.Errorf("method: found %q; want %s, %s, %s, %s, %s or %s",
			s.Method, Median, Percentile, ASHA, Patience, Threshold, Reachable)
	}
	return p, nil
}

// Read takes a new reading of a running trial.
func (p *Pruner) Read(r Reading) Decision {
	if !finite(r.Value) {
		r.Value = math.Inf(-1)
	}
	if r.Others != nil {
		r.Others = slices.Clone(r.Others)
		for j, v := range r.Others {
			if !finite(v) {
				r.Others[j] = math.Inf(-1)
			}
		}
	}
	d := p.rule.read(r)
	if p.settings.MaxStep > 0 && r.Step >= p.settings.MaxStep {
		d.Stop, d.Complete = false, false
	}
	if d.Stop {
		d.Why = fmt.Sprintf("at step %s: %s", number(r.Step), d.Why)
	}
	return d
}

// Restore takes a stored reading, in place of Read. For the rules that look at
// a trial's own readings only it does nothing: nothing is stored for them, and
// a trial that still runs is read again from its beginning.
func (p *Pruner) Restore(r Reading) {
	if p.settings.Method != Patience && p.settings.Method != Threshold {
		p.Read(r)
	}
}

// Finish says that a trial has ended well, with a value that is maximized as readings are, or
// was stopped by a decision, and has NaN. Its readings stay and others are compared with them.
func (p *Pruner) Finish(trial int, value float64) { p.rule.finish(trial, value) }

// Forget takes the readings of a trial back: it has failed, it was excluded, or
// it begins again from the start.
func (p *Pruner) Forget(trial int) { p.rule.forget(trial) }

// Counter gives the readings of one attempt their steps.
type Counter struct{ n int }

// maxStep is where float64 ends to tell neighbouring whole numbers apart.
const maxStep = 1 << 53

// Step returns the step that was printed with the next reading or, if none was
// or it is no reasonable number, how many readings there were.
func (c *Counter) Step(printed float64, known bool) float64 {
	c.n++
	if known && math.Abs(printed) <= maxStep {
		return printed
	}
	return float64(c.n)
}
