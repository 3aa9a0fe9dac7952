package study

import (
	"fmt"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Trial is one configuration and what became of it.
type Trial struct {
	Number int              `json:"trial"`
	Origin optimizer.Origin `json:"origin"`
	Values spaces.Values    `json:"values"`
	Point  spaces.Point     `json:"-"`
	Note   optimizer.Note   `json:"-"`
	// Hand says that the trial was handed out by Ask.
	Hand bool `json:"hand,omitempty"`
	// Told and Pending are what the optimizer knew when it was asked.
	Told    int   `json:"-"`
	Pending []int `json:"-"`

	// Status is empty while the trial is not finished.
	Status optimizer.Status `json:"status,omitempty"`
	// Value is the objective as the program prints it; meaningless for a
	// failure, the last reading when pruned.
	Value   float64  `json:"-"`
	Failure *Failure `json:"failure,omitempty"`
	// Attempt is the last attempt that ended, counted from 1, and for a finished
	// trial the one that finished it; 0 for none.
	Attempt int `json:"attempt"`
	last    int // the last attempt that ended, also of those that confirm
	// Retries is how many attempts failed and were run again.
	Retries int `json:"retries,omitempty"`
	// Repeats are the values of the repeats that have ended.
	Repeats []float64 `json:"repeats,omitempty"`
	// Continues is the trial whose run this one continues with more of the
	// resource; 0 for none.
	Continues int `json:"continues,omitempty"`
	root      int // the first of these, 0 for none
	next      int // the trial that continues this one, 0 for none
	// Confirms are the values of the attempts that repeat a finished trial, and
	// ConfirmFailures counts those of them that have none.
	Confirms        []float64 `json:"confirms,omitempty"`
	ConfirmFailures int       `json:"confirm_failures,omitempty"`
	seen            bool      // readings of the attempt under way are in the journal
	// Cut is the pruner's decision to stop the trial, if there was one.
	Cut      *Cut          `json:"-"`
	Slot     int           `json:"slot"`
	Took     time.Duration `json:"-"`
	Finished time.Time     `json:"finished,omitzero"`
	Excluded bool          `json:"excluded,omitempty"`
	// Outside says that the values lie outside the space as it is now.
	Outside bool `json:"outside,omitempty"`
}

// NextAttempt is the number of the next attempt.
func (t *Trial) NextAttempt() int { return t.last + 1 }

// runs is how many of the trial's runs have counted: each has a seed of its own.
func (t *Trial) runs(c *Config) int {
	if !t.Done() {
		return len(t.Repeats)
	}
	return max(c.Run.Repeats, 1) + len(t.Confirms) + t.ConfirmFailures
}

// Done reports whether the trial is finished.
func (t *Trial) Done() bool { return t.Status != "" }

// Succeeded reports whether the trial has a value that counts.
func (t *Trial) Succeeded() bool {
	return t.Status == optimizer.Succeeded && !t.Excluded && !t.Outside
}

// teaches reports whether the optimizer is told of the trial once it has finished.
func (t *Trial) teaches() bool { return !t.Outside && !t.Excluded }

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
	FailDisk        FailureKind = "disk full"   // failed, or printed no value, while the disk was full
	FailInterrupted FailureKind = "interrupted" // stopped together with lbotune
)

// blameless reports whether the program had no part in the failure, so that
// the attempt is made again whatever retries say.
func (k FailureKind) blameless() bool {
	return k == FailLost || k == FailInterrupted || k == FailDisk
}

// byProgram reports whether the failure is what the program did by itself.
func (k FailureKind) byProgram() bool {
	return k == FailExit || k == FailSignal || k == FailNoMetric || k == FailReported
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

// AttemptID names one attempt at a trial.
type AttemptID struct{ Trial, Attempt int }

func (id AttemptID) String() string { return fmt.Sprintf("trial %d, attempt %d", id.Trial, id.Attempt) }
