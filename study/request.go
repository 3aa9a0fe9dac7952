package study

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Action is what a request asks for.
type Action string

// The actions.
const (
	ActionEnqueue Action = "enqueue" // Values, see State.Complete, before the optimizer's next proposals
	ActionExclude Action = "exclude" // the result of Trial
	ActionInclude Action = "include" // it again
	ActionRerun   Action = "rerun"   // the failures Rerun
	ActionNote    Action = "note"    // Text, about Trial if it is not 0
	ActionAdjust  Action = "adjust"  // the budget and the workers
)

// A Request is what a person asks of whoever works on a study, while somebody else
// does. It waits as a file in the study until the process that holds the journal takes
// it: that one records its effect together with the request's id, and then removes the
// file. As a request whose id is in the journal has no effect any more, each has its
// effect exactly once, whoever is killed in between.
type Request struct {
	Version int           `json:"version"`
	Action  Action        `json:"action"`
	Values  spaces.Values `json:"values,omitempty"`
	Trial   int           `json:"trial,omitempty"`
	Text    string        `json:"text,omitempty"`
	// Trials, Time and Workers replace those of the config; 0 leaves them.
	Trials  int      `json:"trials,omitempty"`
	Time    Duration `json:"time,omitempty"`
	Workers int      `json:"workers,omitempty"`
	// Rerun are the numbers of trials.
	Rerun []int `json:"rerun,omitempty"`

	// ID is the name of the file without its ending; empty for a request that was not
	// written to one.
	ID string `json:"-"`
	// Unreadable says why the file cannot be understood.
	Unreadable error `json:"-"`
}

// Event returns what the request does to the study. The error says why it cannot be done.
func (s *State) Event(r Request) (Event, error) {
	if r.Unreadable != nil {
		return nil, r.Unreadable
	}
	t, err := s.Trial(r.Trial)
	switch r.Action {
	case ActionEnqueue:
		whole, err := s.Complete(r.Values)
		if err == nil {
			err = s.roomToEnqueue()
		}
		return Enqueued{Values: whole, Request: r.ID}, err
	case ActionExclude:
		switch {
		case err != nil:
		case !t.Done() && (len(t.Repeats) == 0 || s.Unsafe() == ""): // else it may be what makes it unsafe
			err = fmt.Errorf("trial %d is not finished yet", r.Trial)
		case t.Excluded:
			err = fmt.Errorf("trial %d is excluded already", r.Trial)
		}
		return Excluded{Trial: r.Trial, Request: r.ID}, err
	case ActionInclude:
		switch {
		case err != nil:
		case !t.Excluded:
			err = fmt.Errorf("trial %d is not excluded", r.Trial)
		case t.former:
			err = fmt.Errorf("trial %d was excluded before the command, the metric or what they depend on was changed: its result cannot be compared with those of today; to try its values again, enqueue them", r.Trial)
		}
		return Included{Trial: r.Trial, Request: r.ID}, err
	case ActionRerun:
		trials := slices.Compact(slices.Sorted(slices.Values(r.Rerun)))
		if len(trials) == 0 {
			return nil, errors.New("no trial is named")
		}
		return Rerun{Trials: trials, Request: r.ID}, s.mayRerunAll(trials)
	case ActionNote:
		if r.Trial == 0 {
			err = nil
		}
		return Noted{Trial: r.Trial, Text: r.Text, Request: r.ID}, err
	case ActionAdjust:
		return s.adjusted(r)
	}
	return nil, fmt.Errorf("there is no action %q", r.Action)
}

// Complete returns values that are to be tried with those that they leave out: defaults, or
// the middle of the range, and the first rung that has as much of the resource. An amount of
// the resource that they name must be a rung's.
func (s *State) Complete(v spaces.Values) (spaces.Values, error) {
	whole, err := s.Space.Complete(v)
	if err != nil {
		return nil, err
	}
	if amount, named := v.Get(s.Search.resource); named && s.Search.rung(v) < 0 {
		return nil, fmt.Errorf("%s = %v is no rung of [prune]; name one of %v, or leave %[1]s out", s.Search.resource, amount, s.Search.rungs)
	}
	return s.Search.upwards(whole), nil
}

// roomToEnqueue complains if no more of the budget may be enqueued.
func (s *State) roomToEnqueue() error {
	b := s.Config.Budget
	if b.Enqueued == nil {
		return nil
	}
	n := len(s.Queue) + len(s.those(func(t *Trial) bool { return t.Origin == optimizer.OriginGiven }))
	if float64(n+1)/float64(b.Trials) <= *b.Enqueued { // 29/100 is 0.29, but 0.29*100 is less than 29
		return nil
	}
	return fmt.Errorf("%d trials were enqueued, and [budget] enqueued = %g of %d trials allows no more", n, *b.Enqueued, b.Trials)
}

// adjusted is the change of budget and workers that a request asks for.
func (s *State) adjusted(r Request) (Event, error) {
	now := s.Config
	if r.Trials < 0 || r.Time < 0 || r.Workers < 0 {
		return nil, errors.New("trials, time and workers are positive")
	}
	if r.Trials > 0 {
		now.Budget.Trials = r.Trials
	}
	if r.Time > 0 {
		now.Budget.Time = r.Time
		if hard := now.Budget.TimeHard; 0 < hard && hard < r.Time {
			return nil, fmt.Errorf("time_hard, %v, ends the study before %v: write a larger one into the spec", hard, r.Time)
		}
	}
	if r.Workers > 0 {
		now.Run.Workers = r.Workers
		if n := now.Run.SlotCount(); n != r.Workers {
			return nil, fmt.Errorf("the study has slots for %d trials at a time, and not for %d", n, r.Workers)
		}
		if m, shared := now.SharedResult(nil); shared && r.Workers > 1 {
			return nil, fmt.Errorf("%d trials at a time would write the same file %q for %s", r.Workers, m.File, m.Name)
		}
	}
	print, err := now.Fingerprint()
	return ConfigChanged{Fingerprint: print, Config: now, Request: r.ID}, err
}

// Answered reports whether the journal knows a request, and why it was refused if it was.
func (s *State) Answered(id string) (refused string, known bool) {
	refused, known = s.answered[id]
	return refused, known
}
