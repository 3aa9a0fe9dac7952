package study

import "time"

// Measurement is what a program reported at one step of a trial's course.
type Measurement struct {
	Step float64 `json:"step"`
	// Seconds is when it was read, counted from the start of the attempt; 0 if it was
	// read from a file long after.
	Seconds float64 `json:"seconds,omitempty"`
	Metrics Metrics `json:"metrics"`
}

const (
	burstSteps   = 3   // of the course, at least
	burstSeconds = 2   // that the trial took, at least
	burstShare   = 0.9 // of its time, after which the first of them was read
)

// Burst reports whether all that the trial said of its course came at its end, as it does
// from a program that does not flush its output: too late to stop it early.
func (t *Trial) Burst() bool {
	took := t.Took.Seconds()
	return len(t.Measurements) >= burstSteps && took >= burstSeconds && t.Measurements[0].Seconds >= burstShare*took
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
