package study

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/lbotune/lbotune/internal/pruner"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Apply folds one record into the state. An error means that the records
// contradict each other; the state is then unchanged.
func (s *State) Apply(r Record) error {
	if _, first := r.Event.(Created); first != (s.ID == "") {
		return errors.New("a study record must be the first and the only one of its kind")
	}
	err, slots := s.unsound(r.Event), s.Config.Run.SlotCount()
	if err == nil {
		err = s.apply(r)
	}
	if err != nil {
		return fmt.Errorf("%s record: %w", r.Event.kind(), err)
	}
	if a, ok := r.Event.(answer); ok {
		if id, refused := a.answers(); id != "" {
			s.answered[id] = refused
		}
	}
	elapsed := max(s.Elapsed, r.Elapsed)
	s.SlotTime += time.Duration(slots) * (elapsed - s.Elapsed)
	s.Elapsed = elapsed
	s.Updated = r.At
	return nil
}

// unsound says what of an event could be of no study, whatever came before it.
func (s *State) unsound(e Event) error {
	slot, readings := 0, []Reading(nil)
	switch e := e.(type) {
	case Started:
		slot = e.Slot
	case Ended:
		slot = e.Slot
	case Finished:
		slot = e.Slot
	case Confirmed:
		slot = e.Slot
	case Readings:
		readings = e.Readings
	case Cut:
		if e.Metric == "" { // a reading at a limit is of that metric only
			readings = []Reading{e.Reading}
		}
	}
	if slot < 0 {
		return fmt.Errorf("slot %d", slot)
	}
	for _, r := range readings {
		if n := len(s.Config.Objectives()); len(r.Others) != max(n-1, 0) {
			return fmt.Errorf("a reading of %d values, and there are %d objectives", 1+len(r.Others), n)
		}
	}
	return nil
}

func (s *State) apply(r Record) error {
	t, err := s.subject(r.Event)
	if err != nil {
		return err
	}
	switch r.Event.(type) {
	case Readings, Cut, Ended, Finished:
		if t.Done() {
			return nil // the first end of a trial wins
		}
	}
	switch e := r.Event.(type) {
	case Created:
		return s.created(e, r.At)
	case Earlier:
		if len(s.Earlier) == len(s.Config.WarmStart) {
			s.Earlier = nil // it is read again, before the first trial
		}
		s.Earlier = append(s.Earlier, e)
	case Session:
		s.Sessions = e.Number
		s.Place, s.Way = e.Dir, e.Way
		s.inSession, s.shares = nil, e.Shares
		s.reopen() // a person has started it again
	case SetupEnded:
		s.SetUp = e.Failure == nil
		s.Setups = e.Attempt
	case Enqueued:
		s.Queue = append(s.Queue, e.Values)
	case Proposed:
		if err := s.proposed(e, r.At); err != nil {
			return err
		}
		s.reopen() // somebody has asked for more
	case Started:
		t.started(e, r.At)
	case Measured:
		if t.measured != e.Attempt && len(e.Measurements) > 0 {
			t.measured, t.Measurements = e.Attempt, nil
		}
		t.Measurements = append(t.Measurements, e.Measurements...)
	case Readings:
		t.Seen = true
		for _, r := range e.Readings {
			s.watch(pruner.Call{Reading: s.Maximized(t.Number, r)})
		}
	case Cut:
		t.Cut, t.Seen = &e, true
		s.watchSafety(t)
		if e.Metric == "" { // its Readings follow, but for a power cut
			s.watch(pruner.Call{Reading: s.Maximized(t.Number, e.Reading)})
		} else {
			s.watch(pruner.Call{Forget: t.Number})
		}
	case Ended:
		s.ended(t, e, r.At)
	case Finished:
		return s.finished(t, e, r.At)
	case Confirmed:
		return s.confirmed(t, e, r.At)
	case Excluded:
		t.Excluded, t.taken = true, int32(len(s.Trials))
		s.watch(pruner.Call{Forget: t.Number, Excluded: true})
		s.unsay()
		s.findBest()
	case Included:
		t.Excluded = false
		s.Watched = slices.DeleteFunc(s.Watched, func(w pruner.Call) bool { return w.Excluded && w.Forget == t.Number })
		s.unsay()
		s.findBest()
	case Rerun:
		return s.rerun(e)
	case Noted:
		s.Notes = append(s.Notes, e)
	case ConfigChanged:
		return s.configChanged(e)
	case Closed:
		s.Closed, s.said, s.without, s.closedAt = &e, e.Detail, s.excluded(), len(s.Order)
		s.findBest() // its doubts count
	}
	return nil
}

// subject is the trial that an event is about which must be there already, if it is about one.
func (s *State) subject(e Event) (*Trial, error) {
	switch e := e.(type) {
	case Proposed, Noted:
	case ofTrial:
		return s.Trial(e.trial())
	}
	return nil, nil
}

func (s *State) created(e Created, at time.Time) error {
	space, search, err := e.Config.spaces()
	if err != nil {
		return err
	}
	if e.ID == "" {
		return errors.New("the study has no id")
	}
	*s = State{ID: e.ID, Config: e.Config, Space: space, Search: search, Began: at,
		SetUp: e.Config.Setup == "", provenance: e.Config.provenance(), wording: e.Config.wording(), counts: map[optimizer.Status]int{}, answered: map[string]string{}, ran: &configurations{}, rungs: make([][]*Trial, len(search.rungs))}
	return nil
}

func (s *State) configChanged(e ConfigChanged) error {
	space, search, err := e.Config.spaces()
	if err != nil {
		return err
	}
	if e.Config.Setup != s.Config.Setup {
		s.SetUp = e.Config.Setup == ""
	}
	before := len(s.Config.Params)
	moved := !sameJSON(e.Config.Params, s.Config.Params) || !sameJSON(e.Config.Where, s.Config.Where) ||
		!slices.Equal(search.rungs, s.Search.rungs) || !sameJSON(search.Settings, s.Search.Settings)
	another := len(s.incomparable(e.Config)) > 0
	anew := !s.committed()
	if anew || len(e.Config.Params) > before {
		s.provenance = e.Config.provenance()
	}
	if anew && len(s.excluded()) == 0 { // which may count again
		clear(s.wording)
	}
	maps.Copy(s.wording, e.Config.wording())
	if !sameJSON(e.Config.Safety, s.Config.Safety) {
		for _, t := range s.Trials {
			t.waived, t.before = len(t.Confirms), t.Done() || len(t.Repeats) > 0 || t.underWay()
			if !t.before {
				t.Cut = nil // of an attempt that has ended
			}
		}
	}
	as := e.Config
	if as.Run.Workers = s.Config.Run.Workers; !sameJSON(as, s.Config) {
		s.Closed = nil // what has ended it may not hold any more
	}
	if moved || another {
		s.elsewhere = len(s.Trials)
	}
	s.Config, s.Space, s.Search, s.ran = e.Config, space, search, &configurations{}
	for _, t := range s.Trials {
		if anew && (another || t.by != s.provenance) {
			t.Cut = nil // of another program, or read by another rule
		}
		if !t.Done() {
			t.by = s.provenance
		}
		t.former = t.former || another && t.Excluded
		if moved {
			t.Outside = t.set(search, withAdded(t.Values(), space, before)) != nil
		}
		if s.noBar(t) {
			s.watch(pruner.Call{Forget: t.Number})
		}
	}
	for k, e := range s.Earlier {
		s.Earlier[k].Trials = slices.Clone(e.Trials) // the record may be part of another state, too
		for i, r := range e.Trials {
			s.Earlier[k].Trials[i].Values = withAdded(r.Values, space, before)
		}
	}
	for i, v := range s.Queue {
		s.Queue[i] = withAdded(v, space, before)
	}
	s.Queue = slices.DeleteFunc(s.Queue, func(v spaces.Values) bool { return !holds(space, v) })
	s.findBest()
	return nil
}

func (s *State) proposed(e Proposed, at time.Time) error {
	if e.Trial != len(s.Trials)+1 {
		return fmt.Errorf("trial %d follows trial %d", e.Trial, len(s.Trials))
	}
	if e.Told < 0 || e.Told > len(s.Order) {
		return fmt.Errorf("trial %d: %d trials told, but %d finished", e.Trial, e.Told, len(s.Order))
	}
	t := &Trial{Number: e.Trial, Origin: e.Origin,
		Note: e.Note, Hand: e.Hand, Told: e.Told, Pending: e.Pending, with: e.With > 0, by: s.provenance, Proposed: at}
	if err := t.set(s.Search, e.Values); err != nil {
		return fmt.Errorf("trial %d: %w", e.Trial, err)
	}
	if e.Continues > 0 {
		f, err := s.Trial(e.Continues)
		switch {
		case err != nil:
			return err
		case !f.Done() || f.Status == optimizer.Failed:
			return fmt.Errorf("trial %d continues trial %d, which has no value", t.Number, f.Number)
		}
		t.Continues, t.root, f.next = f.Number, f.first(), int32(t.Number)
	}
	if e.Origin == optimizer.OriginGiven && len(s.Queue) > 0 {
		s.Queue = s.Queue[1:]
	}
	s.Trials = append(s.Trials, t)
	return nil
}

func (t *Trial) started(e Started, at time.Time) {
	a := t.attempt(e.Attempt, e.Slot)
	a.Host = e.Host
	if !e.Rejoined {
		a.Ended = time.Time{} // where its output was to be read again, and is gone
	}
	if a.Started.IsZero() {
		a.Started, a.Queued = at, at.Add(-time.Duration(e.Waited*float64(time.Second)))
	}
}

// over notes the end of an attempt, but of one whose output was read again.
func (s *State) over(t *Trial, attempt, slot int, seconds float64, at time.Time) {
	if a := t.attempt(attempt, slot); a.Ended.IsZero() {
		a.Ended = at
		s.Worked += time.Duration(seconds * float64(time.Second))
	}
}

func (s *State) ended(t *Trial, e Ended, at time.Time) {
	t.Attempt, t.Slot, t.last, t.Seen = e.Attempt, e.Slot, int32(e.Attempt), false
	s.over(t, e.Attempt, e.Slot, e.Seconds, at)
	switch {
	case e.Metrics != nil:
		t.Repeats = append(t.Repeats, e.Metrics)
	case e.Failure != nil && !e.Failure.Kind.Blameless():
		t.Retries++
	}
	s.watchSafety(t)
	if e.Metrics == nil && len(t.Repeats) == 0 && s.Config.Prunes() {
		s.watch(pruner.Call{Forget: t.Number}) // the first run, which is watched, begins from the start
	}
}

func (s *State) finished(t *Trial, e Finished, at time.Time) error {
	value, ok := e.Metrics.Get(s.Config.Objective().Name)
	switch e.Status {
	case optimizer.Succeeded:
		ok = ok && s.Config.hasObjectives(e.Metrics) && !math.IsNaN(value) && !math.IsInf(value, 0)
	case optimizer.Pruned:
		if !ok && t.Cut.limited() {
			value, ok = math.NaN(), true
		}
	case optimizer.Failed:
		ok = true
	default:
		return fmt.Errorf("trial %d: found status %q", e.Trial, e.Status)
	}
	if !ok {
		return fmt.Errorf("trial %d: %s without a value", e.Trial, e.Status)
	}
	t.Status, t.Failure, t.Attempt, t.Slot, t.last, t.Seen = e.Status, e.Failure, e.Attempt, e.Slot, int32(e.Attempt), false
	if !t.Hand || len(t.Attempts) > 0 {
		s.over(t, e.Attempt, e.Slot, e.Seconds, at)
	}
	t.Finished, t.Took = at, time.Duration(e.Seconds*float64(time.Second))
	if e.Status == optimizer.Succeeded {
		s.longest = max(s.longest, t.Took)
	}
	t.Value, t.Metrics = value, e.Metrics.reported()
	if e.Last != nil {
		t.Repeats = append(t.Repeats, e.Last)
	}
	if t.Status == optimizer.Failed || s.noBar(t) {
		s.watch(pruner.Call{Forget: t.Number})
	} else {
		s.watch(pruner.Call{Finish: t.Number, Reading: pruner.Reading{Value: s.worth(value)}})
	}
	s.Order = append(s.Order, t.Number)
	s.counts[t.Status]++
	s.inSession = append(s.inSession, t)
	s.unsay()
	s.climb(t)
	s.contend(t)
	return nil
}

// reopen has the study go on if it may.
func (s *State) reopen() {
	if s.reopens() {
		s.Closed = nil
		s.findBest()
	}
}

// unsay drops what the optimizer has said at the end of its choice and of the best, since other trials
// count now, and of what was left to gain as long as one that counted does not. Its doubts stay, each of one
// trial.
func (s *State) unsay() {
	if s.Closed != nil {
		c := *s.Closed
		c.Recommended, c.Holds, c.Detail = nil, nil, s.said
		if (c.Why == endGap || c.Why == endRegret) && s.reopens() {
			c.Detail = "what is left to gain is not known without the results that were taken out, and the next run goes on"
		}
		s.Closed = &c
	}
}

// findBest looks for the best trial anew, and for those that go on.
func (s *State) findBest() {
	s.layRungs()
	s.best, s.goal, s.sinceBest, s.shown, s.Refuted, s.rivals, s.gained = nil, nil, 0, shown{}, "", rivals{}, nil
	for _, n := range s.Order {
		s.contend(s.Trials[n-1])
	}
	for _, t := range s.Pending() {
		s.watchSafety(t)
	}
}

// contend makes a finished trial the best one if it is better than all before it.
func (s *State) contend(t *Trial) {
	s.sinceBest++
	s.gained = nil
	s.watchSafety(t)
	s.refute(t)
	if !t.Succeeded() {
		return
	}
	if s.joins(t) {
		// The one that stands for a front is the best in the first objective.
		s.best, s.sinceBest = slices.MaxFunc(s.rivals.front, func(a, b rival) int { return cmp.Compare(a.values[0], b.values[0]) }).trial, 0
	}
	if s.Config.Several() && s.goal == nil && s.reached(t) && s.Feasible(t) {
		s.goal = t
	}
}
