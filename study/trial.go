package study

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Trial is one configuration and what became of it.
type Trial struct {
	Number int              `json:"trial"`
	Origin optimizer.Origin `json:"origin"`
	Point  spaces.Point     `json:"-"`
	Note   optimizer.Note   `json:"-"`
	// Hand says that the trial was handed out by Ask.
	Hand bool `json:"hand,omitempty"`
	// Seen says that readings of the attempt under way are in the journal.
	Seen bool  `json:"-"`
	next int32 // the trial that continues this one, 0 for none
	with bool  // the proposal was made with another, of which alone it was asked what is left to gain
	// Told and Pending are what the optimizer knew when it was asked.
	Told    int   `json:"-"`
	Pending []int `json:"-"`

	// Status is empty while the trial is not finished.
	Status optimizer.Status `json:"status,omitempty"`
	// Value is the objective as the program prints it; meaningless for a
	// failure, the last reading when pruned: NaN if a limit was broken before there was one.
	Value float64 `json:"-"`
	// Metrics are all that the trial reported, the objective among them.
	Metrics Reported `json:"metrics,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
	// Attempt is the last attempt that ended, counted from 1, and for a finished
	// trial the one that finished it; 0 for none.
	Attempt int `json:"attempt"`
	// Retries is how many attempts failed and were run again.
	Retries int `json:"retries,omitempty"`
	// Repeats are the metrics of the repeats that have ended.
	Repeats []Metrics `json:"repeats,omitempty"`
	// Continues is the trial whose run this one continues with more of the resource; 0 for none.
	Continues int    `json:"continues,omitempty"`
	root      *Trial // the first of these, nil for none
	by        string // the provenance of its result
	again     int    // the trials that there were when its failure was last taken back; 0 for never
	// Confirms are the metrics of the attempts that repeat a finished trial, and
	// ConfirmFailures counts those of them that have none.
	Confirms        []Metrics `json:"confirms,omitempty"`
	ConfirmFailures int       `json:"confirm_failures,omitempty"`
	retried         int       // those of them that a retry has made good
	// Proposed is when the trial was proposed, Attempts are those at it.
	Proposed time.Time `json:"proposed,omitzero"`
	Attempts []Attempt `json:"attempts,omitempty"`
	// Measurements are the course of the last attempt that has one.
	Measurements []Measurement `json:"-"`
	measured     int           // that attempt
	// Cut is the decision to stop the trial, if there was one.
	Cut      *Cut          `json:"-"`
	Slot     int           `json:"slot"`
	Took     time.Duration `json:"-"`
	Finished time.Time     `json:"finished,omitzero"`
	Excluded bool          `json:"excluded,omitempty"`
	waived   int           // the confirms that were judged by another safety limit
	before   bool          // its first run had begun under another safety limit, and was not interrupted
	former   bool          // excluded, and what gives values has changed since
	taken    int32         // the trials that there were when it was excluded
	// Outside says that the values lie outside the space as it is now.
	Outside bool  `json:"outside,omitempty"`
	last    int32 // the last attempt that ended, also of those that confirm
	search  *Search
	values  spaces.Values // nil if they are what the search decodes of the point, in a fifth of the room
}

// Values returns a copy of what the trial is run with.
func (t *Trial) Values() spaces.Values {
	if t.values == nil && t.search != nil {
		return t.search.Decode(t.Point)
	}
	return slices.Clone(t.values)
}

// set gives the trial its values, in this space. An error means that they lie outside of it.
func (t *Trial) set(s *Search, v spaces.Values) (err error) {
	t.Point, err = s.Encode(v)
	t.search, t.values = s, v
	if err == nil && slices.EqualFunc(s.Decode(t.Point), v, identical) {
		t.values = nil
	}
	return err
}

// identical reports whether a program is given the same: also -0 is not 0.
func identical(a, b spaces.Assignment) bool {
	x, _ := a.Value.Number()
	y, _ := b.Value.Number()
	return a == b && math.Signbit(x) == math.Signbit(y)
}

// MeasuredBy returns how many measurements of an attempt are known.
func (t *Trial) MeasuredBy(attempt int) int {
	if t.measured != attempt {
		return 0
	}
	return len(t.Measurements)
}

// NextAttempt is the number of the next attempt.
func (t *Trial) NextAttempt() int { return int(t.last) + 1 }

// Confirming reports whether an attempt that confirms the finished trial has started and
// has not ended.
func (t *Trial) Confirming() bool { return t.Done() && t.underWay() }

func (t *Trial) underWay() bool {
	n := len(t.Attempts)
	return n > 0 && t.Attempts[n-1].Number == t.NextAttempt()
}

// runs is how many of the trial's runs have counted: each has a seed of its own.
func (t *Trial) runs(c *Config) int {
	if !t.Done() {
		return min(len(t.Repeats), max(c.Run.Repeats, 1)-1) // also of one that has ended, as it was before its last run
	}
	return max(c.Run.Repeats, 1) + len(t.Confirms) + t.ConfirmFailures
}

// first is the trial with which the configuration began that the trial continues.
func (t *Trial) first() *Trial { return cmp.Or(t.root, t) }

// trialSeed is what a trial is given as {seed}: a number below 2^31, which every program can take,
// that differs between trials and between the repeats of one (counted from 0).
func (c *Config) trialSeed(trial, repeat int) uint64 {
	return rand.NewPCG(c.Seed^uint64(repeat)<<32, uint64(trial)).Uint64() >> 33
}

// Done reports whether the trial is finished.
func (t *Trial) Done() bool { return t.Status != "" }

// HasValue reports whether the finished trial has a value, be it a last reading.
func (t *Trial) HasValue() bool {
	return t.Done() && t.Status != optimizer.Failed && !math.IsNaN(t.Value)
}

// Succeeded reports whether the trial has a value that counts.
func (t *Trial) Succeeded() bool {
	return t.Status == optimizer.Succeeded && !t.Excluded && !t.Outside
}

// Teaches reports whether the optimizer is told of the trial once it has finished.
func (t *Trial) Teaches() bool { return !t.Outside && !t.Excluded }

// Measurement is what a program reported at one step of a trial's course.
type Measurement struct {
	Step float64 `json:"step"`
	// Seconds is when it was read, counted from the start of the attempt; 0 if it was
	// read from a file long after.
	Seconds float64 `json:"seconds,omitempty"`
	Metrics Metrics `json:"metrics"`
}

// Attempt is when and where one attempt at a trial ran. Times that are not known, or
// not yet, are zero.
type Attempt struct {
	Number int    `json:"attempt"`
	Slot   int    `json:"slot"`
	Host   string `json:"host,omitempty"`
	// Queued is when it was handed to what runs it, Started when its command began.
	Queued  time.Time `json:"queued,omitzero"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
}

// attempt returns the attempt of a trial with that number, which is its last.
func (t *Trial) attempt(number, slot int) *Attempt {
	if n := len(t.Attempts); n == 0 || t.Attempts[n-1].Number != number {
		t.Attempts = append(t.Attempts, Attempt{Number: number, Slot: slot})
	}
	return &t.Attempts[len(t.Attempts)-1]
}

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
	FailTold        FailureKind = "told"        // a person or another program said so, or has died of it
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

// alike reports whether both failures have the same cause as far as lbotune can tell.
func (f *Failure) alike(g *Failure) bool { return f.Kind == g.Kind && f.Code == g.Code }
