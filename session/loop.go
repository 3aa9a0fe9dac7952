package session

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// loop is one session of a study. Its fields belong to the goroutine of run.
type loop struct {
	study       *Study             // which owns the state, the journal and the optimizer
	inbox       chan func()        // what has happened, as its effect on the loop
	base        context.Context    // of the attempts, which may outlive the loop
	life        context.Context    // of everything that speaks to the inbox
	asking      bool               // a question is with the asker
	stopAsk     context.CancelFunc // of the question under way: no answer is wanted any more
	steps       <-chan Stop        // asked for by who runs the study
	interrupted <-chan struct{}    // closed when the caller's context ends
	waitsFor    int                // that many trials must be finished before another can be proposed
	requested   bool               // requests wait in the study's directory
	wait        wait               // for proposals

	deadline <-chan time.Time // fires when the study's time is spent, or the last of it begins
	late     bool             // nothing may run any more, for the study's time is over
	open     int              // slots in which attempts are started
	taken    map[int]int      // slots, by so many attempts: two only where an earlier version gave it twice
	sharing  sharing
	ready    []layout.AttemptID // what waits for a slot
	left     map[int]int        // slots of trials that an earlier session may have left running; -1 if not known
	freed    int                // attempts that ran and have ended
	full     int                // of them, the last ones in a row while a disk was full
	lost     int                // the same of attempts that were lost before they had begun
	kill     chan struct{}      // closed to kill every attempt
	said     map[any]bool       // what was warned of

	// Why the session comes to its end. While an attempt runs it does not, but for StopHere.
	stop   Stop          // somebody wants it to; 0 while nobody does
	told   bool          // by somebody, not by the end of its time
	ending *study.Closed // the study is at its end
	fatal  error         // it cannot go on
	events []study.Event // decided in this turn
}

// newLoop begins with the setup command, if it has not succeeded yet, or else with what an
// earlier session has left.
func newLoop(s *Study) (*loop, error) {
	l := &loop{
		study:   s,
		inbox:   make(chan func(), 64),
		stopAsk: func() {},
		taken:   map[int]int{},
		left:    map[int]int{},
		said:    map[any]bool{},
		kill:    make(chan struct{}),
	}
	l.open = s.state.Config.Run.SlotCount()
	l.sharing = sharing{granted: map[int][]*os.File{}}
	clear(s.running)
	if err := errors.Join(s.rewatch(), s.teach()); err != nil {
		return nil, err
	}
	if !s.state.SetUp {
		l.ready = append(l.ready, layout.AttemptID{Trial: 0, Attempt: s.state.Setups + 1})
		l.left[0] = -1
		return l, nil
	}
	l.takeUp()
	return l, nil
}

// takeUp queues what an earlier session may have left running: trials that are not
// finished, and attempts that confirm one, also if the study now goes on.
func (l *loop) takeUp() {
	unconfirmed := l.study.state.Unconfirmed()
	for _, t := range l.study.state.Trials {
		left := !t.Hand
		if t.Done() {
			left = l.study.confirming(t) || slices.Contains(unconfirmed, t)
		}
		if !left {
			continue
		}
		id := layout.AttemptID{Trial: t.Number, Attempt: t.NextAttempt()}
		l.ready = append(l.ready, id)
		l.left[t.Number] = l.readSlot(id)
	}
}

// Reasons for which lbotune asks an attempt to end, of which the first counts.
var (
	errStopped = errors.New("stopped together with lbotune")
	errPruned  = errors.New("stopped early")
)

// send puts a message into the inbox unless the loop is gone.
func (l *loop) send(m func()) {
	select {
	case l.inbox <- m:
	case <-l.life.Done():
	}
}

func (l *loop) warn(of any, text string, args ...any) {
	if !l.said[of] {
		l.said[of] = true
		l.study.opts.Log.Warn(text, args...)
	}
}

// halted reports whether nothing new may start.
func (l *loop) halted() bool { return l.stop > 0 || l.fatal != nil }

// over reports whether no trial is asked for any more.
func (l *loop) over() bool { return l.halted() || l.ending != nil }

// Stop asks a running study to stop, more urgently with each step.
type Stop int

// The steps of stopping.
const (
	// StopAsking starts no more trials and lets the running ones end.
	StopAsking Stop = iota + 1
	// StopRunning also asks the running trials to end.
	StopRunning
	// StopNow kills them.
	StopNow
	// StopHere ends the session and leaves the running trials alone, for a later session to rejoin.
	StopHere
)

// heed takes a step of stopping, or the end of those that ask for one, which asks for the first.
func (l *loop) heed(step Stop, open bool) {
	if !open {
		l.steps, step = nil, StopAsking
	}
	l.told = true
	l.stopAt(step)
}

// stopAt goes to a step of stopping, never back.
func (l *loop) stopAt(step Stop) {
	if step <= l.stop {
		return
	}
	l.stop = step
	if step == StopHere {
		return
	}
	if step >= StopRunning {
		for _, r := range l.study.running {
			r.cancel(errStopped)
		}
	}
	if step >= StopNow {
		close(l.kill)
		l.study.hooks.kill()
	}
}

// timer fires when the next limit of the study's time is reached, soft or hard, or when it is time to note it.
func (l *loop) timer() <-chan time.Time {
	c, spent := &l.study.state.Config, l.study.elapsed()
	var next time.Duration
	for _, limit := range []time.Duration{time.Duration(c.Budget.Time), time.Duration(c.Budget.TimeHard - c.Run.Grace)} {
		if left := limit - spent; left > 0 {
			next = min(left, cmp.Or(next, max(time.Second, c.Budget.Limit()/100)))
		}
	}
	if next == 0 {
		return nil
	}
	return time.After(next)
}

// noteTime writes down how long the study has run, with any attempt that runs: where lbotune is killed, or
// leaves its trials, what was not written down does not count.
func (l *loop) noteTime() {
	for _, r := range l.study.running {
		if r.begun && r.id.Trial > 0 && l.study.state.Config.Budget.Limit() > 0 {
			none := []study.Measurement{}
			l.events = append(l.events, study.Measured{Trial: r.id.Trial, Attempt: r.id.Attempt, Measurements: none})
			return
		}
	}
}

const (
	// mostWith is how many proposals are made with one at most.
	mostWith = 63
	// longWait is the share of a trial's time for which a worker may wait for a proposal of its own.
	longWait = 0.05
	// recent is the weight of the newest time in a moving mean.
	recent = 0.1
)

// wait tells whether workers would wait long for a proposal each. What it measures decides how
// proposals are made, which the journal says of each.
type wait struct {
	ask, trial float64 // moving means, in seconds; 0 while none is known
}

func mean(old, now float64) float64 {
	if old == 0 {
		return now
	}
	return (1-recent)*old + recent*now
}

// long reports whether the last of so many workers would wait long.
func (w *wait) long(workers int) bool {
	return workers > 0 && w.trial > 0 && float64(workers)*w.ask > longWait*w.trial
}

// warnOfContradictions says that an earlier study's results are not those of today's objective.
func (l *loop) warnOfContradictions(n optimizer.Note) {
	for _, k := range n.Contradicted {
		if earlier := l.study.state.Earlier; k < len(earlier) {
			l.warn(k, "same = true does not hold: results of an earlier study are far from today's, and it counts as related", "from", earlier[k].From)
		}
	}
}
