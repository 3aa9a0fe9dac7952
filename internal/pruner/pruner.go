// Package pruner decides which trials are worth going on with, from what they have measured so far. It
// reads no clock and no file: the same calls in the same order give the same answers.
//
// A Pruner watches the readings of running trials and says when one should be stopped. Rungs are
// for trials that are run with little of a resource, such as epochs, and then with more of it if
// they deserve that. Values are maximized: readings of a metric that is minimized are negated before
// they come here, and so is a threshold.
//
// A reading has a step, such as an epoch; those without one are counted by a Counter. A trial's steps
// should grow: a reading whose step repeats or goes back is passed over, and one whose step jumps stands
// for the steps that it left out.
//
// A Pruner is a fold over what a journal keeps. Of the readings only those must be stored for which
// Decision.Keep is true, in their order: a new Pruner that is given them by Restore, and the endings by
// Finish and Forget, goes on exactly as the old one would have. A trial that still runs may then be read
// again from its beginning. A decision to stop is the caller's to store before acting on it.
//
// Sources: Golovin, Solnik, Moitra, Kochanski, Karro, Sculley: Google Vizier: A Service for Black-Box
// Optimization, KDD 2017 (the median rule). Li, Jamieson, Rostamizadeh, Gonina, Ben-tzur, Hardt, Recht,
// Talwalkar: A System for Massively Parallel Hyperparameter Tuning, MLSys 2020 (ASHA). Klein, Tiao,
// Lienart, Archambeau, Seeger: Model-based Asynchronous Hyperparameter and Neural Architecture Search,
// arXiv:2003.10865, 2020 (ASHA that stops trials instead of promoting them).
package pruner

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/lbotune/lbotune/internal/lists"
)

// Reading is one intermediate value of a trial. One that is not finite is worse than every number.
type Reading struct {
	Trial       int
	Step, Value float64
	// Others are, of several objectives, the values after the first, at which only ASHA looks.
	Others []float64
}

// Decision is what follows from a reading.
type Decision struct {
	// Keep says that the reading must be stored for Restore, as O(log n) of a trial's n.
	Keep bool
	// Stop says that the trial should be stopped.
	Stop bool
	// Why says for people why: "at step 9: 0.71, rank 5 of 12; only the best 4 continue".
	Why string
	// Complete, when Stop is set, says that the trial has succeeded with the value of its readings: no
	// more was to be expected. Without it the value is unknown: the trial is pruned.
	Complete bool
	// Steeper, if not 0, is by how much a step has improved the reading, more than Slope and all before.
	Steeper float64
}

// rule is one way of deciding.
type rule interface {
	// read takes a number or -Inf. Where nothing is to be decided it only stores it for others.
	read(r Reading, decide bool) Decision
	finish(trial int, value float64)
	forget(trial int)
}

// Pruner is told of every reading and ending, and says which trials should be stopped, to one goroutine.
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
	case Median:
		s.Percentile = 50
		fallthrough
	case Percentile:
		p.rule = &curves{s, map[int]*curve{}, map[float64][]float64{}}
	case ASHA:
		p.rule = &halving{s, map[int]map[int][]float64{}}
	case Patience:
		p.rule = &waiting{s, map[int]*record{}}
	case Threshold:
		p.rule = bound{s}
	case Reachable:
		p.rule = &reaching{settings: s, trials: map[int]*climb{}, bar: math.Inf(-1), climbs: map[float64]float64{}}
	default:
		return nil, fmt.Errorf("method: found %q; want %s, %s, %s, %s, %s or %s",
			s.Method, Median, Percentile, ASHA, Patience, Threshold, Reachable)
	}
	return p, nil
}

// For is New for an objective that is minimized, or not, with a threshold as people write it; nil where
// trials are not stopped for their readings.
func For(s *Settings, minimized bool) (*Pruner, error) {
	if s == nil || s.Method == ASHA && s.Resource != "" {
		return nil, nil
	}
	turned := *s
	if turned.Negated = minimized; minimized && s.Threshold != nil {
		threshold := 0 - *s.Threshold
		turned.Threshold = &threshold
	}
	p, err := New(turned)
	if err != nil {
		return nil, fmt.Errorf("prune: %w", err)
	}
	return p, nil
}

// Call is one call to a Pruner: a reading that must be kept, or a trial
// whose readings stay or go. One that is given them in order goes on as
// the one that made the decisions.
type Call struct {
	Reading        Reading // with Finish the trial's value alone
	Finish, Forget int     // numbers of trials, 0 for none
	Excluded       bool    // Forget is for an exclusion, which may be taken back
}

// Read takes a new reading of a running trial.
func (p *Pruner) Read(r Reading) Decision {
	d := p.rule.read(cleaned(r), true)
	if p.settings.MaxStep > 0 && r.Step >= p.settings.MaxStep {
		d.Stop, d.Complete = false, false
	}
	if d.Stop {
		d.Why = fmt.Sprintf("at step %s: %s", number(r.Step), d.Why)
	}
	return d
}

// cleaned is a reading with -Inf for what is no number, or infinite.
func cleaned(r Reading) Reading {
	worst := func(v float64) float64 {
		if finite(v) {
			return v
		}
		return math.Inf(-1)
	}
	r.Value, r.Others = worst(r.Value), lists.Map(r.Others, worst)
	return r
}

// Restore takes a stored reading, in place of Read.
func (p *Pruner) Restore(r Reading) { p.rule.read(cleaned(r), false) }

// Finish says that a trial has ended well, with a value that is maximized as readings are, or
// was stopped by a decision, and has NaN. Its readings stay and others are compared with them.
func (p *Pruner) Finish(trial int, value float64) { p.rule.finish(trial, value) }

// Forget takes the readings of a trial back: it has failed, was excluded, or begins again.
func (p *Pruner) Forget(trial int) { p.rule.forget(trial) }

// Counter gives the readings of one attempt their steps.
type Counter struct{ n int }

// maxStep is where float64 ends to tell neighbouring whole numbers apart.
const maxStep = 1 << 53

// Step returns the step that was printed with the next reading, or else its number.
func (c *Counter) Step(printed float64, known bool) float64 {
	c.n++
	if known && math.Abs(printed) <= maxStep {
		return printed
	}
	return float64(c.n)
}

// waiting stops a trial after so many readings in a row, at whatever steps, that were not strictly
// better than its best one. It has reached all that it can, so it is complete.
type waiting struct {
	settings Settings
	trials   map[int]*record
}

// record is the best reading of a trial.
type record struct {
	best, at float64
	since    int // readings after it
}

func (w *waiting) read(r Reading, decide bool) Decision {
	if !decide { // nothing of it is stored for others
		return Decision{}
	}
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

func (b bound) read(r Reading, _ bool) Decision {
	if r.Step < b.settings.Warmup || r.Value >= *b.settings.Threshold {
		return Decision{}
	}
	v, limit := b.settings.tell(r.Value, *b.settings.Threshold)
	return Decision{Stop: true, Why: fmt.Sprintf("%s, worse than the threshold %s", v, limit)}
}

func (bound) finish(int, float64) {}
func (bound) forget(int)          {}

// The rules. See the types that implement them for their formulae.
const (
	Median     = "median"     // worse than half of the ended trials
	Percentile = "percentile" // not among the best N percent of them
	ASHA       = "asha"       // not among the best 1/Reduction at a rung
	Patience   = "patience"   // no improvement for so many readings
	Threshold  = "threshold"  // a reading worse than a bound
	Reachable  = "reachable"  // too far from the best to reach it by the last step
)

// Settings define a rule. Fields that the method does not name are ignored.
type Settings struct {
	Method string `json:"method"`
	// Percentile is the share of the best trials to belong to, above 0 and below 100.
	Percentile float64 `json:"percentile,omitempty"`
	// Patience is the number of readings in a row without a better one, at least 1.
	Patience int `json:"patience,omitempty"`
	// Threshold stops a trial at a worse reading: for a pruner, at one below it.
	Threshold *float64 `json:"threshold,omitempty"`
	// Slope, of reachable, is by how much a step can improve a reading at most; 0 if that is
	// not known. Then it is Factor times the steepest climb of the complete trials.
	Slope  float64 `json:"slope,omitempty"`
	Factor float64 `json:"factor,omitempty"`
	// MaxStep is the last step, at which a trial is complete and not stopped; 0 if unknown.
	MaxStep float64 `json:"max_step,omitempty"`
	// Warmup is the first step at which a trial may be stopped.
	Warmup float64 `json:"warmup,omitempty"`
	// MinTrials is how many others a trial must be compared with, by rules that do.
	MinTrials int `json:"min_trials,omitempty"`
	// MinResource is the step of ASHA's first rung. Above 0.
	MinResource float64 `json:"min_resource,omitempty"`
	// Reduction is η of ASHA, at least 1.1: the best 1/η go on, to a step η times as large.
	Reduction float64 `json:"reduction,omitempty"`
	// Resource names an int parameter that is the training budget, such as epochs. No trial is stopped
	// then: ASHA runs configurations with the smallest rung, and continues the best in further trials.
	Resource string `json:"resource,omitempty"`
	// Negated says that values are the negatives of what is printed, for Decision.Why alone.
	Negated bool `json:"-"`
}

// minReduction keeps the number of rungs in the hundreds.
const minReduction = 1.1

func (s Settings) check() error {
	switch {
	case s.Method == Percentile && !(s.Percentile > 0 && s.Percentile < 100):
		return fmt.Errorf("percentile: found %v; want a number between 0 and 100", s.Percentile)
	case s.Method == Patience && s.Patience < 1:
		return fmt.Errorf("patience: found %d; want at least 1 reading", s.Patience)
	case s.Method == Threshold && s.Threshold == nil:
		return errors.New("threshold: found none; want a number")
	case s.Method == Threshold && !finite(*s.Threshold):
		return fmt.Errorf("threshold: found %v; want a number", *s.Threshold)
	case s.Method == Reachable && !(s.MaxStep > 0):
		return fmt.Errorf("max_step: found %v; method %s needs the last step", s.MaxStep, Reachable)
	case s.Method == Reachable && (!(s.Slope >= 0) || !finite(s.Slope)):
		return fmt.Errorf("slope: found %v; want a number above 0", s.Slope)
	case s.Method == Reachable && s.Slope == 0 && (!(s.Factor > 0) || !finite(s.Factor)):
		return fmt.Errorf("factor: found %v; want a number above 0", s.Factor)
	case s.Method == ASHA:
		if err := s.checkRungs(); err != nil {
			return err
		}
	}
	switch {
	case math.IsNaN(s.Warmup):
		return errors.New("warmup: found nan; want a step")
	case s.MinTrials < 0:
		return fmt.Errorf("min_trials: found %d; want 0 or more", s.MinTrials)
	}
	return nil
}

func (s Settings) checkRungs() error {
	switch {
	case !(s.MinResource > 0) || !finite(s.MinResource):
		return fmt.Errorf("min_resource: found %v; want a number above 0", s.MinResource)
	case !(s.Reduction >= minReduction) || !finite(s.Reduction):
		return fmt.Errorf("reduction: found %v; want at least %v", s.Reduction, minReduction)
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

const digits = 6 // significant ones that people are shown

// tell writes two different values as the program would, with digits enough to tell them apart.
func (s Settings) tell(a, b float64) (string, string) {
	for n := digits; n < 17; n++ {
		if x, y := s.text(a, n), s.text(b, n); x != y {
			return x, y
		}
	}
	return s.text(a, -1), s.text(b, -1)
}

func (s Settings) tellOne(v float64) string { return s.text(v, digits) }

func (s Settings) text(v float64, digits int) string {
	if math.IsInf(v, -1) {
		return "not a finite number"
	}
	if s.Negated {
		v = 0 - v // not -v, which would show -0
	}
	return strconv.FormatFloat(v, 'g', digits, 64)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func trials(n int) string {
	if n == 1 {
		return "1 trial"
	}
	return strconv.Itoa(n) + " trials"
}
