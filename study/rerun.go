package study

import (
	"fmt"
	"slices"
	"time"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
)

// Rerun takes the failures of trials back: they are not finished any more, count in no
// budget, teach nothing, and are run again with the same values.
type Rerun struct {
	Trials []int `json:"trials"`
	// Read lists those of them whose last output is read again before anything is run.
	Read    []int  `json:"read,omitempty"`
	Request string `json:"request,omitempty"` // the id of the one that asked for it, if one did
}

func (Rerun) kind() kind { return "rerun" }

func (e Rerun) answers() (id, refused string) { return e.Request, "" }

func (s *State) rerun(e Rerun) error {
	if err := s.mayRerunAll(e.Trials); err != nil {
		return err
	}
	for _, n := range e.Trials {
		t := s.Trials[n-1]
		s.Order = slices.DeleteFunc(s.Order, func(k int) bool { return k == n })
		s.inSession = slices.DeleteFunc(s.inSession, func(u *Trial) bool { return u == t })
		s.counts[t.Status]--
		t.Status, t.Failure, t.Value, t.Metrics, t.Seen, t.Retries = "", nil, 0, nil, false, 0
		t.Finished, t.Took, t.again = time.Time{}, 0, len(s.Trials)
		read := slices.Contains(e.Read, n)
		if read || t.before || t.by != s.provenance {
			t.Cut = nil // it did not break the safety limit as it is now
		}
		if read {
			t.last-- // its last attempt is judged again
		} else if t.by != s.provenance {
			t.by, t.Repeats = s.provenance, nil
		}
		t.before = t.before && len(t.Repeats) > 0
	}
	s.Closed = nil
	s.findBest()
	return nil
}

// mayRerunAll says why trials cannot be run again, each once.
func (s *State) mayRerunAll(trials []int) error {
	for i, n := range trials {
		t, err := s.Trial(n)
		switch {
		case err != nil:
			return err
		case slices.Contains(trials[:i], n):
			return fmt.Errorf("trial %d is named twice", n)
		}
		if err := s.mayRerun(t); err != nil {
			return err
		}
	}
	return nil
}

func (s *State) mayRerun(t *Trial) error {
	switch {
	case t.Status != optimizer.Failed:
		return fmt.Errorf("trial %d has not failed", t.Number)
	case t.Hand:
		return fmt.Errorf("trial %d was handed out: whoever runs it tells of it", t.Number)
	case t.Excluded:
		return fmt.Errorf("trial %d is excluded", t.Number)
	case t.Outside:
		return fmt.Errorf("trial %d lies outside the ranges as they are now", t.Number)
	}
	return nil
}

// Failed lists the failures that may be run again.
func (s *State) Failed() []int {
	return lists.Map(s.those(func(t *Trial) bool { return s.mayRerun(t) == nil }), func(t *Trial) int { return t.Number })
}

// Mended is what a session begins with before which nothing has ever succeeded: the failures that a
// change of the config, nil if there is none, may have mended, and those for which the guard has ended
// the study, once. The change is not part of the state yet. It is nil if there are none.
func (s *State) Mended(change *ConfigChanged) *Rerun {
	if s.committed() {
		return nil
	}
	was, now := &s.Config, &s.Config
	if change != nil {
		now = &change.Config
	}
	space, err := now.Space()
	if err != nil {
		return nil
	}
	var out Rerun
	sameProgram, sameRules := was.program() == now.program() && was.Dir == now.Dir, was.rules() == now.rules()
	for _, t := range s.Trials {
		asChanged := *t
		asChanged.Outside = !holds(space, withAdded(t.Values(), space, len(was.Params)))
		mended := !sameProgram || !sameRules || change != nil && now.endsWell(t.Failure)
		if s.mayRerun(&asChanged) != nil || !mended && !(s.Stuck() && t.again == 0) {
			continue
		}
		out.Trials = append(out.Trials, t.Number)
		unread := t.Failure != nil && slices.Contains([]FailureKind{FailNoMetric, FailNotFinite, FailReported}, t.Failure.Kind)
		if mended && sameProgram && len(t.Repeats) == 0 && (unread || now.endsWell(t.Failure)) {
			out.Read = append(out.Read, t.Number)
		}
	}
	if len(out.Trials) == 0 {
		return nil
	}
	return &out
}

// Stuck reports whether the guard has ended a study in which nothing has ever succeeded.
func (s *State) Stuck() bool {
	return s.Closed != nil && s.Closed.Why == EndGuard && !s.committed()
}

// endsWell reports whether what was a failure by its exit code is none with this config.
func (c *Config) endsWell(f *Failure) bool {
	return f != nil && (f.Kind == FailExit && slices.Contains(c.Run.OKExit, f.Code) ||
		f.Kind == FailSignal && slices.Contains(c.Run.OKExit, 128+f.Code))
}

// Knew lists the trials that the optimizer knew when it proposed t, as far as they are still
// what they were then.
func (s *State) Knew(t *Trial) []*Trial {
	told := lists.Map(s.Order[:min(t.Told, len(s.Order))], func(n int) *Trial { return s.Trials[n-1] })
	return slices.DeleteFunc(told, func(x *Trial) bool {
		return x.Number >= t.Number || x.again >= t.Number || slices.Contains(t.Pending, x.Number)
	})
}
