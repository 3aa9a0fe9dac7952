package session

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/study"
)

// confirm runs the best trials again once the study has come to its end and all
// trials are finished.
func (l *loop) confirm() {
	for _, id := range l.toConfirm() {
		if l.slotFor(id) >= 0 {
			l.launch(id)
		}
	}
}

// toConfirm lists the attempts that confirm the best trials and can be made now.
func (l *loop) toConfirm() []study.AttemptID {
	if l.ending == nil || l.ending.Why == study.EndUnsafe || l.halted() {
		return nil
	}
	if l.asking || len(l.ready) > 0 { // trials come first
		return nil
	}
	if l.study.state.Config.Run.Confirm == 0 || l.study.state.Incumbent() == nil {
		return nil
	}
	for _, r := range l.study.running {
		if !r.confirms {
			return nil
		}
	}
	var ids []study.AttemptID
	for _, t := range l.study.state.Unconfirmed() {
		if l.study.running[t.Number] == nil {
			ids = append(ids, study.AttemptID{Trial: t.Number, Attempt: t.NextAttempt()})
		}
	}
	return ids
}

// confirming reports whether an attempt that confirms a finished trial may be under way: one of
// which a session has died before it could write down its start has left a directory.
func (s *Study) confirming(t *study.Trial) bool {
	if t.Confirming() || s.state.Config.Run.Confirm == 0 || !t.Done() {
		return t.Confirming()
	}
	name := filepath.Base(s.layout.Attempt(study.AttemptID{Trial: t.Number, Attempt: t.NextAttempt()}))
	names, _ := s.layout.Names(s.layout.Trial(t.Number)) // absent: cleaned up
	return slices.ContainsFunc(names, func(n string) bool {
		attempt, _, _ := strings.Cut(n, ".") // a launcher keeps files beside it
		return attempt == name
	})
}

// confirmed records the end of an attempt that confirms a trial.
func (l *loop) confirmed(r *running, o outcome) {
	e := study.Confirmed{Trial: r.id.Trial, Attempt: r.id.Attempt, Slot: r.slot, Failure: o.failure, Seconds: o.seconds}
	if o.failure == nil {
		e.Metrics = o.metrics
	}
	l.events = append(l.events, e)
}
