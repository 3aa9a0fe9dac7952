package study

import (
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Event is something that happened in a study. Every event is one of the
// struct types of this file; a study's State is a fold over them.
type Event interface {
	// kind names the event in the journal.
	kind() kind
}

// kind names events of one type in the journal. A change of an event's meaning gets a new
// name, so that an older program refuses what it would misread.
type kind string

// Record is an event with its time.
type Record struct {
	// At is the wall clock's time.
	At time.Time
	// Elapsed is how long the study had been running, summed over its sessions
	// by a clock that never jumps.
	Elapsed time.Duration
	Event   Event
}

// Created is the first record of a journal.
type Created struct {
	ID          string `json:"id"`
	Fingerprint string `json:"fingerprint"` // of Config
	Program     string `json:"program"`     // the version of lbotune
	Config      Config `json:"config"`
}

// Session says that a process took up the study.
type Session struct {
	Number  int    `json:"session"`
	Host    string `json:"host"`
	PID     int    `json:"pid"`
	Program string `json:"program"`
	// Recovered is the name of the file that keeps the bytes of a torn last
	// line, if one was cut off.
	Recovered string `json:"recovered,omitempty"`
	// Dir is where the study was, free of symbolic links, and Way the way from there
	// to Config.Dir, so that a later session sees whether both have moved.
	Dir string `json:"dir,omitempty"`
	Way string `json:"way,omitempty"`
	// Kernel is the kind of processor, as optimizer.Kernel names it.
	Kernel string `json:"kernel,omitempty"`
	// Shares says that other studies may have the slots in which this one's attempts run.
	Shares bool `json:"shares,omitempty"`
}

// SetupEnded says how the setup command ended. It is run again at the next
// start unless Failure is empty.
type SetupEnded struct {
	Attempt int      `json:"attempt"`
	Seconds float64  `json:"seconds"`
	Failure *Failure `json:"failure,omitempty"`
}

// Enqueued holds values that a person wants to be tried before the optimizer's.
type Enqueued struct {
	Values  spaces.Values `json:"values"`
	Request string        `json:"request,omitempty"` // the id of the one that asked for it, if one did
}

// Proposed makes a trial. The optimizer's answer is a pure function of the
// first Told finished trials, Pending, the trial's number and the config.
type Proposed struct {
	Trial   int              `json:"trial"`
	Told    int              `json:"told"`
	Pending []int            `json:"pending"`
	Origin  optimizer.Origin `json:"origin"`
	Values  spaces.Values    `json:"values"`
	Note    optimizer.Note   `json:"note"`
	// Hand says that somebody asked for the trial and will tell of it.
	Hand bool `json:"hand,omitempty"`
	// Continues is the trial that this one continues from its checkpoint, with
	// more of the resource. Nobody was asked for it.
	Continues int `json:"continues,omitempty"`
	// With is the trial with which this one was asked for, because workers waited: it comes from
	// the model of that one.
	With int `json:"with,omitempty"`
}

// Started says that the command of an attempt at a trial runs. It is for those who
// look on: the attempt's directory is the truth.
type Started struct {
	Trial   int `json:"trial"`
	Attempt int `json:"attempt"`
	Slot    int `json:"slot"`
	// Host is where the session runs that follows the attempt.
	Host string `json:"host,omitempty"`
	// Waited is how many seconds ago the attempt was handed to what runs it.
	Waited float64 `json:"waited,omitempty"`
	// Rejoined says that an earlier session has started it.
	Rejoined bool `json:"rejoined,omitempty"`
}

// Measured holds measurements of a running attempt: a trial's course, for those who
// look on. Of a long course it has some 64, 32 more each time that it doubles, and the last. Without one it
// says how long the study has run, under a limit of time.
type Measured struct {
	Trial        int           `json:"trial"`
	Attempt      int           `json:"attempt"`
	Measurements []Measurement `json:"measurements"`
}

// Readings holds those readings of a running attempt with which the pruner
// compares other trials. They are written before the trial's end is.
type Readings struct {
	Trial    int       `json:"trial"`
	Attempt  int       `json:"attempt"`
	Readings []Reading `json:"readings"`
}

// Cut is the decision to stop a trial at a reading: the pruner's, or because a limit is broken.
type Cut struct {
	Trial   int     `json:"trial"`
	Attempt int     `json:"attempt"`
	Reading Reading `json:"reading"`
	Why     string  `json:"why"`
	// Complete says that nothing more was to be expected of the trial: it has
	// succeeded with the value of its readings.
	Complete bool `json:"complete,omitempty"`
	// Metric is the one whose limit the reading breaks; empty if the pruner has decided.
	Metric string `json:"metric,omitempty"`
}

// Ended says how an attempt ended that was not its trial's last.
type Ended struct {
	Trial   int `json:"trial"`
	Attempt int `json:"attempt"`
	Slot    int `json:"slot"`
	// Metrics are the result of one of several repeats.
	Metrics Metrics `json:"metrics,omitempty"`
	// Failure says why there is no value.
	Failure *Failure `json:"failure,omitempty"`
	Seconds float64  `json:"seconds"`
	// Leftovers says which processes the attempt left behind.
	Leftovers string `json:"leftovers,omitempty"`
}

// Finished is the end of a trial. The first one counts.
type Finished struct {
	Trial   int              `json:"trial"`
	Attempt int              `json:"attempt"`
	Slot    int              `json:"slot"`
	Status  optimizer.Status `json:"status"`
	// Metrics are what the trial reported, as the program prints it; there is an
	// objective unless it failed. When pruned, the objective is its last reading,
	// and Failure says why it was pruned.
	Metrics Metrics  `json:"metrics,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
	Seconds float64  `json:"seconds"` // of the last attempt
	// Leftovers says which processes the last attempt left behind.
	Leftovers string `json:"leftovers,omitempty"`
	// Last is the result of the last of several repeats.
	Last Metrics `json:"last,omitempty"`
}

// Confirmed is the end of an attempt that repeats one of the best trials after
// the study has come to its end.
type Confirmed struct {
	Trial   int      `json:"trial"`
	Attempt int      `json:"attempt"`
	Slot    int      `json:"slot"`
	Metrics Metrics  `json:"metrics,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
	Seconds float64  `json:"seconds"`
}

// Excluded takes a trial's result out of the study: it is neither the best nor
// told to the optimizer from here on, which begins anew without it.
type Excluded struct {
	Trial   int    `json:"trial"`
	Request string `json:"request,omitempty"` // the id of the one that asked for it, if one did
}

// Included takes an exclusion back.
type Included Excluded

// Noted is a person's remark, about one trial if Trial is not 0.
type Noted struct {
	Trial   int    `json:"trial,omitempty"`
	Text    string `json:"text"`
	Request string `json:"request,omitempty"` // the id of the one that asked for it, if one did
}

// ConfigChanged replaces the config from here on.
type ConfigChanged struct {
	Fingerprint string `json:"fingerprint"`
	Config      Config `json:"config"`
	Request     string `json:"request,omitempty"` // the id of the one that asked for it, if one did
}

// Refused answers a request that cannot be fulfilled.
type Refused struct {
	Request string `json:"request"`
	Why     string `json:"why"`
}

// Closed says why a study asks for no more trials. Raising its budget opens it again.
type Closed struct {
	Why    Ending `json:"why"`
	Detail string `json:"detail,omitempty"`
	// Over is the best trial when no more was left to gain, where that is why. It may not be the best for
	// long: its runs that confirm it may fail.
	Over int `json:"over,omitempty"`
	// Recommended is the optimizer's choice, if it has one.
	Recommended *Recommended `json:"recommended,omitempty"`
	// Holds is, where the metrics with limits are noisy, the probability that without noise
	// the best trial holds them all; nil where they are not.
	Holds *float64 `json:"holds,omitempty"`
	// Doubtful are the trials that hold the limits by their values and are expected to break
	// one without noise. They are not the best while another holds them.
	Doubtful []int `json:"doubtful,omitempty"`
}

// Recommended is the trial that the optimizer would choose at a study's end.
// Under noise the best value is often only the luckiest. Mean and SD are in the
// objective's units, as the program prints them.
type Recommended struct {
	Trial int     `json:"trial"`
	Mean  float64 `json:"mean"`         // expected value without the noise
	SD    float64 `json:"sd,omitempty"` // standard deviation of that expectation
	Gain  *Gain   `json:"gain,omitempty"`
}

// Gain is by how much a trial is better than that with today's values, or the first where there is
// none, without the noise.
type Gain struct {
	Over int     `json:"over"` // that trial
	By   float64 `json:"by"`   // above 0 if it is better, whatever the direction
	SD   float64 `json:"sd"`   // standard deviation of that
}

// Ending is why a study ended.
type Ending string

// The endings of a study.
const (
	EndTrials    Ending = "trials"    // all trials of the budget are finished
	endTime      Ending = "time"      // the time is spent
	endGoal      Ending = "goal"      // the goal is reached
	EndPatience  Ending = "patience"  // no better trial for too long
	endGap       Ending = "gap"       // nothing worth having is left to gain
	endRegret    Ending = "regret"    // the same, by the model
	EndExhausted Ending = "exhausted" // every configuration was tried
	EndGuard     Ending = "guard"     // the first trials all failed, or the last ones in a row
	EndUnsafe    Ending = "unsafe"    // the safety limit was broken, or its constant is disproved
)

func (Created) kind() kind       { return "study" }
func (Earlier) kind() kind       { return "earlier" }
func (Session) kind() kind       { return "session" }
func (SetupEnded) kind() kind    { return "setup" }
func (Enqueued) kind() kind      { return "enqueue" }
func (Proposed) kind() kind      { return "proposed" }
func (Started) kind() kind       { return "started" }
func (Measured) kind() kind      { return "measured" }
func (Readings) kind() kind      { return "readings" }
func (Cut) kind() kind           { return "cut" }
func (Ended) kind() kind         { return "ended" }
func (Finished) kind() kind      { return "finished" }
func (Confirmed) kind() kind     { return "confirmed" }
func (Excluded) kind() kind      { return "exclude" }
func (Included) kind() kind      { return "include" }
func (Noted) kind() kind         { return "note" }
func (ConfigChanged) kind() kind { return "config" }
func (Refused) kind() kind       { return "refused" }
func (Closed) kind() kind        { return "closed" }

// ofTrial is an event that is about a trial; 0 is none.
type ofTrial interface{ trial() int }

func (e Proposed) trial() int  { return e.Trial }
func (e Started) trial() int   { return e.Trial }
func (e Measured) trial() int  { return e.Trial }
func (e Readings) trial() int  { return e.Trial }
func (e Cut) trial() int       { return e.Trial }
func (e Ended) trial() int     { return e.Trial }
func (e Finished) trial() int  { return e.Trial }
func (e Confirmed) trial() int { return e.Trial }
func (e Excluded) trial() int  { return e.Trial }
func (e Included) trial() int  { return e.Trial }
func (e Noted) trial() int     { return e.Trial }

// answer is an event that may answer a request; the id is empty if it answers none. A request
// that is refused has a reason.
type answer interface{ answers() (id, refused string) }

func (e Enqueued) answers() (id, refused string)      { return e.Request, "" }
func (e Excluded) answers() (id, refused string)      { return e.Request, "" }
func (e Included) answers() (id, refused string)      { return e.Request, "" }
func (e Noted) answers() (id, refused string)         { return e.Request, "" }
func (e ConfigChanged) answers() (id, refused string) { return e.Request, "" }
func (e Refused) answers() (id, refused string)       { return e.Request, e.Why }
