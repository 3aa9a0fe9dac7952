package study

import (
	"slices"
	"time"

	"github.com/lbotune/lbotune/optimizer"
)

// An fsync is the dearest part of a short trial. So when a trial ends, the loop
// asks for the next one before it records the end, and if the answer comes at
// once both are recorded together. The optimizer then knows a result a moment
// before the disk does; nobody else does, and if the disk never gets it, what
// the optimizer knew is lost with the process.

// earlyPatience is how long an end waits for the next proposal: less than a fit
// takes.
const earlyPatience = time.Millisecond

// askEarly asks for the trial that follows the ends of this turn, and waits a
// moment for the answer.
func (l *loop) askEarly() {
	if !slices.ContainsFunc(l.events, isFinished) || slices.ContainsFunc(l.events, isProposed) || l.asking || l.ending != nil || l.mayEnd() ||
		l.halted() || len(l.state.Queue) > 0 || l.state.search.resource != "" || l.state.room() == 0 || l.freeSlots() <= len(l.ready) {
		return
	}
	q := l.state.questionAfter(l.told, l.events)
	l.told = q.told
	l.asking = true
	l.questions <- q // there is room: one question at a time
	late := time.NewTimer(earlyPatience)
	defer late.Stop()
	for l.asking {
		select {
		case m := <-l.inbox:
			l.handle(m)
		case <-late.C:
			return
		}
	}
}

func isFinished(e Event) bool {
	_, ok := e.(Finished)
	return ok
}

func isProposed(e Event) bool {
	_, ok := e.(Proposed)
	return ok
}

// mayEnd reports whether the ends of this turn may end the study, so that no
// further trial must be asked for before they are part of the state.
func (l *loop) mayEnd() bool {
	b := l.state.Config.Budget
	return b.Goal != nil || b.Patience > 0 || b.Time > 0 || l.state.Config.Run.FailureGuard > 0 && l.state.best == nil
}

// questionAfter is question as if the events were part of the state.
func (s *State) questionAfter(told int, events []Event) question {
	q := s.question(told)
	for _, e := range events {
		f, ok := e.(Finished)
		if !ok {
			continue
		}
		t := *s.Trials[f.Trial-1]
		q.told++
		q.query.Pending = slices.DeleteFunc(q.query.Pending, func(p optimizer.Pending) bool { return p.Trial == f.Trial })
		if !t.teaches() {
			continue
		}
		t.Status = f.Status
		if f.Value != nil {
			t.Value = *f.Value
		}
		q.tell = append(q.tell, s.Observation(&t))
	}
	return q
}
