package session

import "github.com/lbotune/lbotune/study"

// confirm runs the best trials again once the study has come to its end and all
// trials are finished.
func (l *loop) confirm() {
	if l.ending == nil || l.halted() || l.asking || l.state.Incumbent() == nil || l.state.Config.Run.Confirm == 0 {
		return
	}
	for _, r := range l.running {
		if !r.confirms {
			return
		}
	}
	for _, t := range l.state.Unconfirmed() {
		if l.running[t.Number] == nil && l.freeSlots() > 0 && len(l.ready) == 0 {
			l.launch(study.AttemptID{Trial: t.Number, Attempt: t.NextAttempt()})
		}
	}
}

// confirmed records the end of an attempt that confirms a trial.
func (l *loop) confirmed(r *running, o outcome) {
	e := study.Confirmed{Trial: r.id.Trial, Attempt: r.id.Attempt, Slot: r.slot, Failure: o.failure, Seconds: o.seconds}
	if o.failure == nil {
		e.Metrics = o.metrics
	}
	l.events = append(l.events, e)
}
