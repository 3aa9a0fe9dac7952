package pruner

import (
	"errors"
	"fmt"
	"math"
)

// Method names a rule.
type Method string

// The rules. See the types that implement them for their formulae.
const (
	Median     Method = "median"     // worse than half of the ended trials
	Percentile Method = "percentile" // not among the best N percent of them
	ASHA       Method = "asha"       // not among the best 1/Reduction at a rung
	Patience   Method = "patience"   // no improvement for so many readings
	Threshold  Method = "threshold"  // a reading worse than a bound
	Reachable  Method = "reachable"  // too far from the best to reach it by the last step
)

// Settings define a rule. Fields that the method does not name are ignored.
type Settings struct {
	Method Method
	// Percentile is the share, in per cent, of the best trials that a trial must
	// belong to. Above 0 and below 100.
	Percentile float64
	// Patience is the number of readings in a row without a better one that
	// stops a trial. At least 1.
	Patience int
	// Threshold stops a trial at a reading below it. Larger is better here too.
	Threshold float64
	// Warmup is the first step at which a trial may be stopped.
	Warmup float64
	// MaxStep is the last step that a trial comes to. There it is complete: its
	// readings stop it no more. 0 means that it is not known.
	MaxStep float64
	// MinTrials is how many other trials, at least, a trial must be compared
	// with to be stopped. Patience and threshold compare with none.
	MinTrials int
	// MinResource is the step of ASHA's first rung. Above 0.
	MinResource float64
	// Reduction is η of ASHA: the best 1/η of a rung go on to the next one, whose
	// step is η times as large. At least 1.1.
	Reduction float64
	// Slope, of reachable, is by how much a step can improve a reading at most; 0 if that is
	// not known. Then it is Factor times the steepest climb that there was.
	Slope, Factor float64
	// Negated says that values are the negatives of what the program prints. It
	// matters to Decision.Why alone.
	Negated bool
}

// minReduction keeps the number of rungs in the hundreds.
const minReduction = 1.1

func (s Settings) check() error {
	switch {
	case s.Method == Percentile && !(s.Percentile > 0 && s.Percentile < 100):
		return fmt.Errorf("percentile: found %v; want a number between 0 and 100", s.Percentile)
	case s.Method == Patience && s.Patience < 1:
		return fmt.Errorf("patience: found %d; want at least 1 reading", s.Patience)
	case s.Method == Threshold && !finite(s.Threshold):
		return fmt.Errorf("threshold: found %v; want a number", s.Threshold)
	case s.Method == Reachable && !(s.MaxStep > 0):
		return fmt.Errorf("max_step: found %v; method %s needs the last step", s.MaxStep, Reachable)
	case s.Method == Reachable && (!(s.Slope >= 0) || !finite(s.Slope)):
		return fmt.Errorf("slope: found %v; want a number above 0", s.Slope)
	case s.Method == Reachable && s.Slope == 0 && (!(s.Factor > 0) || !finite(s.Factor)):
		return fmt.Errorf("factor: found %v; want a number above 0", s.Factor)
	case s.Method == ASHA:
		if err := checkRungs(s.MinResource, s.Reduction); err != nil {
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

func checkRungs(minResource, reduction float64) error {
	switch {
	case !(minResource > 0) || !finite(minResource):
		return fmt.Errorf("min_resource: found %v; want a number above 0", minResource)
	case !(reduction >= minReduction) || !finite(reduction):
		return fmt.Errorf("reduction: found %v; want at least %v", reduction, minReduction)
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
