package study

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lbotune/lbotune/internal/pruner"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// State is everything that a study's records say. It changes by Apply alone,
// so that what is shown is what is written.
type State struct {
	ID     string
	Config Config
	Space  *spaces.Space // of the trials' values
	// Trials holds trial k at index k-1.
	Trials []*Trial
	// Order lists the finished trials in the order of their records, which is
	// the order in which the optimizer is told.
	Order []int
	// Earlier is what the study knew of earlier ones when it began.
	Earlier []Earlier
	// Queue holds enqueued values that no trial has taken yet.
	Queue    []spaces.Values
	Sessions int
	// Place and Way are the last session's Dir and Way.
	Place, Way string
	Elapsed    time.Duration
	Worked     time.Duration // of the runs of all trials together
	// SlotTime is the time of all slots together: there may have been more and fewer of them.
	SlotTime time.Duration
	Began    time.Time
	Updated  time.Time
	// SetUp reports whether the setup command has succeeded.
	SetUp bool
	// Setups counts the attempts at it.
	Setups int
	Closed *Closed
	Notes  []Noted
	// Search is what the optimizer sees of the space.
	Search *Search
	// Refuted says which trials disprove the stated Lipschitz constant of the objective, from
	// which nothing follows then; empty if none do.
	Refuted string
	// Watched is what the pruner must know, if there is one.
	Watched []pruner.Call

	rungs      [][]*Trial          // those with a result on each, with a resource
	ran        *configurations     // that trials were proposed with
	provenance string              // of the results of trials from now on
	wording    map[string][]string // of all configs since there were results
	best       *Trial
	goal       *Trial        // of several objectives: the first that has reached the goals
	sinceBest  int           // trials finished after the best one
	longest    time.Duration // that a trial took to succeed
	rivals     rivals        // the trials that joins compares with
	gained     *float64      // what gain says, nil if a trial has finished since
	shown      shown         // what the trials say of the safety limit
	elsewhere  int           // the trials up to this one were proposed in other ranges, by another optimizer, or of other values
	without    []*Trial      // that did not count when the study was closed
	closedAt   int           // trials that were finished then
	said       string        // why it was
	counts     map[optimizer.Status]int
	inSession  []*Trial          // that finished in this session
	shares     bool              // the slots of this session with other studies
	answered   map[string]string // requests by id, with the reason of those that were refused
}

// Trial returns a trial by its number.
func (s *State) Trial(n int) (*Trial, error) {
	if n < 1 || n > len(s.Trials) {
		return nil, fmt.Errorf("there is no trial %d", n)
	}
	return s.Trials[n-1], nil
}

// Ended reports whether the study has come to an end that a new session does not open again.
func (s *State) Ended() bool { return s.Closed != nil && !s.reopens() }

// reopens reports whether a new session, or who asks for a trial, opens the study again.
func (s *State) reopens() bool {
	if s.Closed == nil {
		return false
	}
	fewer := slices.ContainsFunc(s.excluded(), s.outSince)
	if s.Closed.Why != EndUnsafe && s.replaces() {
		return true
	}
	switch s.Closed.Why {
	case EndGuard:
		return true
	case EndPatience:
		return fewer && s.impatient() == nil
	case EndExhausted:
		return fewer // and what was taken out may be proposed again
	case EndUnsafe:
		return s.Unsafe() == ""
	case endGoal: // by a result that was taken out since
		return !slices.ContainsFunc(s.Trials, func(t *Trial) bool {
			return t.Succeeded() && s.Config.violation(&t.Metrics) == 0 && s.reached(t)
		})
	case endGap, endRegret: // which rest on all values
		return slices.ContainsFunc(s.excluded(), func(t *Trial) bool { return s.outSince(t) && t.HasValue() })
	}
	return false
}

func (s *State) excluded() []*Trial { return s.those(func(t *Trial) bool { return t.Excluded }) }

// outSince reports whether an excluded trial still counted when the study was closed.
func (s *State) outSince(t *Trial) bool { return !slices.Contains(s.without, t) }

// replaces reports whether trials that are not confirmed are among the best now for some that were, and
// have been taken out since the end, or since they have been told of or brought back since then.
func (s *State) replaces() bool {
	waiting := s.Unconfirmed()
	late := func(t *Trial) bool {
		return slices.Contains(s.without, t) || slices.Contains(s.Order[s.closedAt:], t.Number)
	}
	return len(waiting) > 0 && (slices.ContainsFunc(waiting, late) ||
		slices.ContainsFunc(s.excluded(), func(t *Trial) bool { return s.outSince(t) && len(t.Confirms)+t.ConfirmFailures > 0 }))
}

// Holds reports whether what the optimizer noted of the objective as it proposed a trial still holds:
// no value that it knew has been taken out since, and the ranges and the optimizer are the same.
func (s *State) Holds(t *Trial) bool {
	return t.Number > s.elsewhere && !slices.ContainsFunc(s.Order[:min(t.Told, len(s.Order))], func(n int) bool {
		u := s.Trials[n-1]
		return u.Excluded && u.HasValue() && int(u.taken) >= t.Number
	})
}

// those are the trials of which something is so, by number.
func (s *State) those(so func(*Trial) bool) (out []*Trial) {
	for _, t := range s.Trials {
		if so(t) {
			out = append(out, t)
		}
	}
	return out
}

// Standing says in words whether the study goes on; running says whether a process works on it.
func (s *State) Standing(running bool) string {
	switch {
	case running:
		return "running"
	case s.Ended() || s.Closed != nil && s.Closed.Why == EndGuard:
		return "ended: " + s.Closed.Detail
	}
	return "stopped"
}

// Best returns the best trial, nil if none has succeeded: the one with the best
// mean once trials were confirmed, until a better one awaits that, else the one with the best value, and of several with that
// the optimizer's choice once the study has ended, or the first. Those that hold every
// limit come first; if there are none, it is the least violating. Of several
// objectives it is the trial of the front that is best in the first.
func (s *State) Best() *Trial {
	if cs := s.Confirmations(); len(cs) > 0 && !s.Config.Several() {
		return cmp.Or(s.newcomer(), cs[0].Trial)
	}
	if c := s.Closed; c != nil && c.Recommended != nil && s.best != nil && !s.Config.Several() {
		if n := c.Recommended.Trial; n >= 1 && n <= len(s.Trials) && s.Trials[n-1].Succeeded() && s.Compare(s.Trials[n-1], s.best) == 0 {
			return s.Trials[n-1]
		}
	}
	return s.best
}

// newcomer returns the best trial that holds the limits, as far as is known, if it is still to be confirmed:
// then it is better than those that were, as where a budget is raised. Where none of these holds them, it is
// one that was run again once, and failed when it was run once more.
func (s *State) newcomer() (once *Trial) {
	for _, t := range s.Ranked() {
		switch {
		case !s.Feasible(t):
		case len(t.Confirms) > 1:
			return nil
		case !s.enough(t):
			return t
		case len(t.Confirms) == 1:
			once = cmp.Or(once, t)
		}
	}
	return once
}

// Incumbent returns the trial with the best value, as Best does without confirmations.
func (s *State) Incumbent() *Trial { return s.best }

// Count returns how many trials ended in the given way.
func (s *State) Count(status optimizer.Status) int { return s.counts[status] }

// Pending lists the trials that are proposed and not finished, by number.
func (s *State) Pending() []*Trial {
	var out []*Trial
	for i := len(s.Trials) - 1; i >= 0 && len(out) < len(s.Trials)-len(s.Order); i-- {
		if !s.Trials[i].Done() {
			out = append(out, s.Trials[i])
		}
	}
	slices.Reverse(out)
	return out
}

// Room is how many more trials the budget lets the study propose.
func (s *State) Room() int {
	if b := s.Config.Budget.Trials; b > 0 {
		return max(b-len(s.Trials), 0)
	}
	return 1 << 30
}

// Observation is what the optimizer is told of a finished trial.
func (s *State) Observation(t *Trial) optimizer.Observation {
	o := optimizer.Observation{
		Trial:    t.Number,
		Proposal: optimizer.Proposal{Point: t.Point, Origin: t.Origin, Note: t.Note},
		Status:   t.Status,
	}
	if t.Status == optimizer.Pruned && t.limited() {
		o.Status, o.Constraints = optimizer.Failed, s.broken(t.Cut)
		return o
	}
	if t.Status == optimizer.Pruned && s.Search.resource != "" {
		o.Status = optimizer.Succeeded // at its own point: the rung is a part of it
	}
	if t.Status != optimizer.Failed {
		o.Values = []float64{s.worth(t.Value)} // one that was stopped early may have the first alone
	}
	if s.Config.Several() && t.Status == optimizer.Succeeded {
		o.Values = s.Config.maximized(t.Metrics)
	}
	o.Constraints = s.constraints(t)
	if s.Config.Safety != nil {
		o.Margin = s.Config.Safety.margin(t)
	}
	return o
}

// worth is a value turned so that larger is better.
func (s *State) worth(v float64) float64 { return s.Config.Objective().Direction.Maximized(v) }

// Update is what an observer sees of one event: the record and copies of what it changed.
type Update struct {
	Record   Record
	Past     bool  // the record was there before; then nothing else is known
	Trial    Trial // that the record is about, if any
	Best     Trial // the best so far; Number is 0 while there is none
	Better   bool  // the last trial to finish is the best so far, or on the front
	Finished int
	Proposed int
}

// Update is what an observer is shown of a record that is part of the state.
func (s *State) Update(r Record) Update {
	u := Update{Record: r, Finished: len(s.Order), Proposed: len(s.Trials), Better: s.best != nil && s.sinceBest == 0}
	if e, ok := r.Event.(ofTrial); ok && e.trial() > 0 && e.trial() <= len(s.Trials) {
		u.Trial = *s.Trials[e.trial()-1]
		u.Trial.Attempts = slices.Clone(u.Trial.Attempts) // which the next event may change
	}
	if b := s.best; b != nil { // the best value: means come last
		u.Best = *b
	}
	return u
}

// watch keeps what the pruner has to know of an event.
func (s *State) watch(w pruner.Call) {
	if s.Config.Prunes() {
		s.Watched = append(s.Watched, w)
	}
}

// Maximized is a reading as the pruner takes it.
func (s *State) Maximized(trial int, r Reading) pruner.Reading {
	out := pruner.Reading{Trial: trial, Step: r.Step, Value: s.worth(r.Value)}
	for j, v := range r.Others {
		out.Others = append(out.Others, s.Config.Objectives()[j+1].Direction.Maximized(v))
	}
	return out
}

// noBar reports whether other trials must not be stopped for a finished one, however good its readings are: it
// breaks a limit or was stopped at one. A rule that stops what cannot become the best stops none either for one that
// could not be the best itself, since it was stopped, or lies outside of the ranges.
func (s *State) noBar(t *Trial) bool {
	if !s.Config.Prunes() || !t.Done() {
		return false
	}
	never := s.Config.Prune.Method == pruner.Reachable && (t.Outside || t.Status != optimizer.Succeeded)
	return never || t.limited() || t.Status == optimizer.Succeeded && !s.Feasible(t)
}
