package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lbotune/lbotune/study"
	"github.com/lbotune/lbotune/study/pruner"
)

// loop is one session of a study. Its fields belong to the goroutine of run.
type loop struct {
	study       *Study // which owns the state, the journal and the optimizer
	inbox       chan message
	base        context.Context    // of the attempts, which may outlive the loop
	life        context.Context    // of everything that speaks to the inbox
	asking      bool               // a question is with the asker
	stopAsk     context.CancelFunc // of the question under way: no answer is wanted any more
	steps       <-chan Stop        // asked for by who runs the study
	interrupted <-chan struct{}    // closed when the caller's context ends
	waitsFor    int                // that many trials must be finished before another can be proposed
	requested   bool               // requests wait in the study's directory
	helpers     sync.WaitGroup     // who looks for requests

	deadline <-chan time.Time // fires when the study's time is spent
	pruner   *pruner.Pruner   // nil if there is none
	watched  int              // of state.watched, what the pruner knows
	slots    []slot
	open     int // of them, in which attempts are started
	sharing  sharing
	ready    []study.AttemptID       // what waits for a slot
	resumed  map[int]bool            // trials that an earlier session may have left running
	left     map[study.AttemptID]int // slots of these, as their directories have them
	freed    int                     // attempts that ran and have ended
	kill     chan struct{}           // closed to kill every attempt
	burst    bool                    // it was said that readings come too late
	doubted  map[int]bool            // earlier studies whose results it was said are not the same
	constant bool                    // it was said that all values are equal
	steeper  bool                    // it was said that the stated slope of [prune] does not hold

	stop   Stop
	ending *study.Closed
	fatal  error         // ends the session once the running attempts have ended
	events []study.Event // decided in this turn
}

// running is an attempt under way.
type running struct {
	id      study.AttemptID
	slot    int
	cancel  context.CancelCauseFunc
	stopped error // why lbotune asked it to end, nil if it did not
	started bool  // its command runs
	freed   int   // the loop's when it was launched
	queued  time.Time

	confirms bool        // it repeats a finished trial
	cut      bool        // the pruner has decided to stop it
	box      *readingBox // nil if nobody wants its readings
}

// Reasons for which lbotune asks an attempt to end.
var (
	errStopped = errors.New("stopped together with lbotune")
	errPruned  = errors.New("stopped early")
)

// send puts a message into the inbox unless the loop is gone.
func (l *loop) send(m message) {
	select {
	case l.inbox <- m:
	case <-l.life.Done():
	}
}

// halted reports whether nothing new may start.
func (l *loop) halted() bool { return l.stop > 0 || l.fatal != nil }

// over reports whether no trial is asked for any more.
func (l *loop) over() bool { return l.halted() || l.ending != nil }

// end asks the attempt to end, once.
func (r *running) end(why error) {
	if r.stopped == nil {
		r.stopped = why
		r.cancel(why)
	}
}
