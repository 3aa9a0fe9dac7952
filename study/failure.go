package study

import (
	"slices"

	"github.com/lbotune/lbotune/optimizer"
)

// FailureKind says which of a trial's promises was not kept. Failures of the
// same kind and code are alike.
type FailureKind string

// The kinds of failure.
const (
	FailExit        FailureKind = "exit"        // an exit code that is not ok
	FailSignal      FailureKind = "signal"      // ended by a signal
	FailTimeout     FailureKind = "timeout"     // ended by lbotune for its time
	FailNoMetric    FailureKind = "no metric"   // ran well, printed no value
	FailReported    FailureKind = "reported"    // ran well, printed that it has failed
	FailNotFinite   FailureKind = "not finite"  // its value is NaN or infinite
	FailFlood       FailureKind = "flood"       // printed more than max_log where that cannot be cut
	FailLaunch      FailureKind = "launch"      // could not be started
	FailPruned      FailureKind = "pruned"      // stopped early for its readings
	FailTold        FailureKind = "told"        // a person or another program said so
	FailLost        FailureKind = "lost"        // died with its machine or supervisor
	FailDisk        FailureKind = "disk full"   // failed, or printed no value or perhaps half of one, while the disk was full
	FailInterrupted FailureKind = "interrupted" // stopped together with lbotune
)

// Blameless reports whether the program had no part in the failure, so that
// the attempt is made again whatever retries say.
func (k FailureKind) Blameless() bool {
	return k == FailLost || k == FailInterrupted || k == FailDisk
}

// Failure says why an attempt has no value.
type Failure struct {
	Kind FailureKind `json:"kind"`
	Code int         `json:"code,omitempty"` // the exit code or signal
	Text string      `json:"text"`           // for people: "exit code 1"
}

// String is the failure's text; none is empty.
func (f *Failure) String() string {
	if f == nil {
		return ""
	}
	return f.Text
}

// alike reports whether both failures have the same cause as far as lbotune
// can tell.
func (f *Failure) alike(g *Failure) bool { return f.Kind == g.Kind && f.Code == g.Code }

// Failures are trials that failed for one reason.
type Failures struct {
	Reason string `json:"reason"`
	Trials []int  `json:"trials"`
}

// Last is the trial that failed last.
func (f Failures) Last() int { return f.Trials[len(f.Trials)-1] }

// Failures lists why trials failed, the most frequent reason first.
func (s *State) Failures() []Failures {
	out := []Failures{}
	for _, t := range s.Trials {
		if t.Status != optimizer.Failed {
			continue
		}
		reason := t.Failure.String()
		i := slices.IndexFunc(out, func(f Failures) bool { return f.Reason == reason })
		if i < 0 {
			i = len(out)
			out = append(out, Failures{Reason: reason})
		}
		out[i].Trials = append(out[i].Trials, t.Number)
	}
	slices.SortStableFunc(out, func(a, b Failures) int { return len(b.Trials) - len(a.Trials) })
	return out
}
