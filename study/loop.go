package study

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/pruner"
)

// message is what arrives in the loop's inbox: asked, attemptStarted, readings or
// attemptEnded.
type message any

// loop is one session of a study. Its fields belong to the goroutine of run.
type loop struct {
	*Study
	inbox     chan message
	questions chan question
	base      context.Context // of the attempts, which may outlive the loop
	life      context.Context // of everything that speaks to the inbox
	asking    bool            // a question is with the asker
	askCtx    context.Context // ends when no answer is wanted any more
	stopAsk   context.CancelFunc
	askerDone sync.WaitGroup

	pruner  *pruner.Pruner   // nil if there is none
	watched int              // of state.watched, what the pruner knows
	told    int              // finished trials that the optimizer knows
	slots   []bool           // taken or not
	ready   []AttemptID      // what waits for a slot
	resumed map[int]bool     // trials that an earlier session may have left running
	running map[int]*running // by trial; 0 is the setup command
	freed   int              // attempts that ran and have ended
	kill    chan struct{}    // closed to kill every attempt

	stop   Stop
	ending *Closed
	fatal  error   // ends the session once the running attempts have ended
	events []Event // decided in this turn
}

// running is an attempt under way.
type running struct {
	id      AttemptID
	slot    int
	cancel  context.CancelCauseFunc
	stopped error // why lbotune asked it to end, nil if it did not
	started bool  // its command runs
	freed   int   // the loop's when it was launched

	confirms bool // it repeats a finished trial
	cut      bool // the pruner has decided to stop it
}

// Reasons for which lbotune asks an attempt to end.
var (
	errStopped = errors.New("stopped together with lbotune")
	errPruned  = errors.New("stopped early")
)

func newLoop(s *Study) *loop {
	l := &loop{
		Study:     s,
		inbox:     make(chan message, 64),
		questions: make(chan question, 1),
		told:      s.told,
		slots:     make([]bool, s.state.Config.Run.SlotCount()),
		resumed:   map[int]bool{},
		running:   map[int]*running{},
		kill:      make(chan struct{}),
		pruner:    s.pruner,
	}
	l.rewatch()
	if !s.state.SetUp {
		l.ready = append(l.ready, AttemptID{0, s.state.setups + 1})
		l.resumed[0] = true
		return l
	}
	l.takeUp()
	return l
}

// takeUp queues the trials that an earlier session has left unfinished.
func (l *loop) takeUp() {
	for _, t := range l.state.Pending() {
		if t.Hand {
			continue
		}
		l.ready = append(l.ready, AttemptID{t.Number, t.NextAttempt()})
		l.resumed[t.Number] = true
	}
	for _, t := range l.state.unconfirmed() {
		l.resumed[t.Number] = true
	}
}

// run is the loop. It returns when the study is closed, when a stop was asked
// for and nothing runs any more, or at once when the journal cannot be written:
// attempts then go on without lbotune, and the next session rejoins them.
func (l *loop) run(ctx context.Context, stop <-chan Stop) error {
	var die, stopAsk context.CancelFunc
	l.base = context.WithoutCancel(ctx)
	l.life, die = context.WithCancel(l.base)
	l.askCtx, stopAsk = context.WithCancel(l.life)
	l.stopAsk = stopAsk
	l.askerDone.Go(func() { asker(l.life, l.askCtx, l.opt, l.questions, l.inbox) })
	defer func() {
		die()
		stopAsk()
		close(l.questions)
		l.askerDone.Wait()
	}()
	deadline := l.deadline()
	interrupted := ctx.Done()
	for {
		if err := l.plan(); err != nil {
			return err
		}
		l.cutShort()
		if l.idle() {
			return l.close()
		}
		select {
		case m := <-l.inbox:
			l.handle(m)
			l.handleWaiting()
			l.askEarly()
		case step := <-stop:
			l.stopAt(step)
		case <-interrupted:
			interrupted = nil
			l.stopAt(StopRunning)
		case <-deadline:
			deadline = nil
		}
		if err := l.settle(); err != nil {
			return err
		}
		l.watchOn()
	}
}

// handleWaiting takes every further message that is there already.
func (l *loop) handleWaiting() {
	for {
		select {
		case m := <-l.inbox:
			l.handle(m)
		default:
			return
		}
	}
}

// settle commits what this turn has decided.
func (l *loop) settle() error {
	if len(l.events) == 0 {
		return nil
	}
	events := l.events
	l.events = nil
	if err := l.commit(events...); err != nil {
		return unsaved(err, events)
	}
	return nil
}

// deadline fires when the study's time is spent.
func (l *loop) deadline() <-chan time.Time {
	limit := time.Duration(l.state.Config.Budget.Time)
	if limit == 0 {
		return nil
	}
	return time.After(max(limit-l.elapsed(), 0))
}

// idle reports whether nothing will happen any more.
func (l *loop) idle() bool {
	return len(l.running) == 0 && !l.asking && (l.halted() || l.ending != nil || len(l.ready) == 0 && l.state.awaited())
}

// halted reports whether nothing new may start.
func (l *loop) halted() bool { return l.stop > 0 || l.fatal != nil }

// close ends the session and, unless it was cut short, the study.
func (l *loop) close() error {
	if l.fatal != nil {
		return l.fatal
	}
	if l.ending == nil || l.stop > 0 && (len(l.ready) > 0 || len(l.state.unconfirmed()) > 0) {
		return nil
	}
	l.ending.Recommended = l.recommend()
	if err := l.commit(*l.ending); err != nil {
		return unsaved(err, nil)
	}
	return nil
}

// handle turns one message into events and next steps.
func (l *loop) handle(m message) {
	switch m := m.(type) {
	case asked:
		l.answered(m)
	case attemptStarted:
		l.started(m)
	case readings:
		l.collect(m)
	case attemptEnded:
		l.ended(m)
	}
}

// answered makes a trial of the optimizer's answer.
func (l *loop) answered(a asked) {
	l.asking = false
	switch {
	case l.halted() || l.ending != nil:
	case errors.Is(a.err, optimizer.ErrExhausted):
		l.ending = &Closed{Why: EndExhausted, Detail: fmt.Sprintf("all %d configurations of the space were tried", len(l.state.Trials))}
	case a.err != nil:
		l.fatal = fmt.Errorf("ask for trial %d: %w", a.question.query.Trial, a.err)
	case l.state.gapClosed(a.proposal.Note):
		l.ending = &Closed{Why: EndGap, Detail: l.state.gapText(a.proposal.Note)}
	default:
		p := a.proposal
		l.propose(Proposed{Trial: a.question.query.Trial, Told: a.question.told, Pending: numbers(a.question.query.Pending),
			Origin: p.Origin, Values: l.state.fresh(l.state.search.Decode(p.Point)), Note: p.Note})
	}
}

func (l *loop) propose(p Proposed) {
	l.events = append(l.events, p)
	l.ready = append(l.ready, AttemptID{p.Trial, 1})
}

func numbers(pending []optimizer.Pending) []int {
	out := make([]int, len(pending))
	for i, p := range pending {
		out[i] = p.Trial
	}
	return out
}

// plan starts what can be started: attempts that wait for a slot, then new
// trials for the slots that are left.
func (l *loop) plan() error {
	if l.ending == nil && l.state.SetUp {
		l.ending = l.state.ending(l.elapsed())
		if l.ending != nil {
			l.stopAsk()
		}
	}
	if l.halted() {
		l.stopAsk()
		return nil
	}
	for len(l.ready) > 0 && l.freeSlots() > 0 {
		id := l.ready[0]
		l.ready = l.ready[1:]
		l.launch(id)
	}
	l.confirm()
	if !l.state.SetUp || l.ending != nil || l.asking || l.freeSlots() <= len(l.ready) || l.state.room() == 0 {
		return nil
	}
	if p, ok := l.state.unasked(); ok {
		return l.take(p)
	}
	l.ask()
	return nil
}

// take makes a trial that the optimizer need not be asked for.
func (l *loop) take(p Proposed) error {
	q := l.state.question(l.told)
	p.Trial, p.Told, p.Pending = q.query.Trial, q.told, numbers(q.query.Pending)
	l.propose(p)
	if err := l.settle(); err != nil {
		return err
	}
	return l.plan()
}

// ask sends the asker what it does not know yet and the next question.
func (l *loop) ask() {
	q := l.state.question(l.told)
	l.told = q.told
	l.asking = true
	l.questions <- q // there is room: one question at a time
}

// stopAt goes to a step of stopping, never back.
func (l *loop) stopAt(step Stop) {
	if step <= l.stop {
		return
	}
	if step >= StopRunning && l.stop < StopRunning {
		for _, r := range l.running {
			r.end(errStopped)
		}
	}
	if step >= StopNow {
		close(l.kill)
	}
	l.stop = step
}

// end asks the attempt to end, once.
func (r *running) end(why error) {
	if r.stopped == nil {
		r.stopped = why
		r.cancel(why)
	}
}

// freeSlots counts the slots that nothing uses.
func (l *loop) freeSlots() int {
	n := 0
	for _, taken := range l.slots {
		if !taken {
			n++
		}
	}
	return n
}
