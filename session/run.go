package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

// Run works on the study until its budget is spent or stop says so. Closing stop is
// StopAsking, and cancelling ctx is StopRunning and ends the hooks. The error is nil for a
// study that ended as its budget says with at least one success. One that was stopped may be
// run again.
func (s *Study) Run(ctx context.Context, stop <-chan Stop) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.unlock()
	if s.opts.Launcher == nil {
		return errors.New("nothing runs trials: Options.Launcher is nil")
	}
	s.hooks.begin(ctx)
	defer s.hooks.end(stop, s.serve)
	defer s.feed.flush()
	if s.state.Closed == nil {
		l, err := newLoop(s)
		if err == nil {
			err = l.run(ctx, stop)
		}
		if err != nil {
			return err
		}
	}
	switch c := s.state.Closed; {
	case c == nil && s.state.Awaited():
		return ErrAwaited
	case c == nil:
		return ErrStopped
	case c.Why == study.EndGuard:
		e := &GuardError{Detail: c.Detail}
		if n := len(s.state.Order); n > 0 { // as in every journal that lbotune has written
			e.Trial = s.state.Order[n-1]
		}
		return e
	}
	return Judge(s.state)
}

func newLoop(s *Study) (*loop, error) {
	l := &loop{
		study:   s,
		inbox:   make(chan message, 64),
		stopAsk: func() {},
		resumed: map[int]bool{},
		left:    map[study.AttemptID]int{},
		doubted: map[int]bool{},
		kill:    make(chan struct{}),
	}
	l.resize(s.state.Config.Run.SlotCount())
	l.sharing.slots = len(l.slots)
	clear(s.running)
	if err := errors.Join(l.rewatch(), s.teach()); err != nil {
		return nil, err
	}
	if !s.state.SetUp {
		l.ready = append(l.ready, study.AttemptID{Trial: 0, Attempt: s.state.Setups + 1})
		l.resumed[0] = true
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
		id := study.AttemptID{Trial: t.Number, Attempt: t.NextAttempt()}
		l.ready = append(l.ready, id)
		l.resumed[t.Number] = true
		if slot, err := l.readSlot(id); err == nil {
			l.left[id] = slot
		}
	}
}

// run is the loop. It returns when the study is closed, when a stop was asked
// for and nothing runs any more, or at once when the journal cannot be written:
// attempts then go on without lbotune, and the next session rejoins them.
func (l *loop) run(ctx context.Context, stop <-chan Stop) error {
	var die context.CancelFunc
	l.base = context.WithoutCancel(ctx)
	l.life, die = context.WithCancel(l.base)
	l.helpers.Go(l.awaitRequests)
	defer func() {
		die()
		l.helpers.Wait()
		l.unshare()
		if l.asking { // it may take a while to hear that
			l.study.opt = nil
		}
	}()
	l.deadline = l.timer()
	l.steps, l.interrupted = stop, ctx.Done()
	for {
		if err := l.serve(); err != nil {
			return err
		}
		if err := l.plan(); err != nil {
			return err
		}
		l.cutShort()
		l.share()
		if l.idle() {
			l.requested = true // a last look
			if err := l.serve(); err != nil {
				return err
			}
			if l.idle() {
				return l.close()
			}
			continue
		}
		select {
		case m := <-l.inbox:
			l.handle(m)
			l.handleWaiting()
		case step, open := <-l.steps:
			l.heed(step, open)
		case <-l.interrupted:
			l.interrupted = nil
			l.stopAt(StopRunning)
		case <-l.deadline:
			l.deadline = nil
		}
		if err := l.settle(); err != nil {
			l.noteFullDisk(err)
			return err
		}
		if l.stop == StopHere {
			return l.fatal
		}
		l.watchOn()
	}
}

// noteFullDisk writes down with the running attempts, which are left alone, that the disk
// has no room: what they lack for that reason is then no failure of theirs.
func (l *loop) noteFullDisk(err error) {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return
	}
	l.awaitStarts()
	for _, r := range l.study.running {
		runner.NoteFullDisk(l.study.layout.Attempt(r.id))
	}
}

// startPatience bounds the time that attempts which are being started are waited for when
// the session cannot go on.
const startPatience = 2 * time.Second

// awaitStarts waits until what is being started runs, or has failed to. Else it would
// start behind the back of a loop that has ended.
func (l *loop) awaitStarts() {
	late := time.NewTimer(startPatience)
	defer late.Stop()
	for {
		starting := false
		for _, r := range l.study.running {
			starting = starting || !r.started
		}
		if !starting {
			return
		}
		select {
		case m := <-l.inbox:
			switch m := m.(type) {
			case attemptStarted:
				if r := l.study.running[m.id.Trial]; r != nil && r.id == m.id {
					r.started = true
				}
			case attemptEnded:
				delete(l.study.running, m.id.Trial) // its directory tells the next session of it
			case slotGranted:
				release(m.hold)
			}
		case <-late.C:
			return
		}
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

// timer fires when the study's time is spent.
func (l *loop) timer() <-chan time.Time {
	limit := time.Duration(l.study.state.Config.Budget.Time)
	if limit == 0 {
		return nil
	}
	return time.After(max(limit-l.study.elapsed(), 0))
}

// idle reports whether nothing will happen any more. Where nothing new may start no answer is
// waited for.
func (l *loop) idle() bool {
	if len(l.study.running) > 0 {
		return false
	}
	if l.halted() {
		return true
	}
	onlyAwaited := len(l.ready) == 0 && l.study.state.Awaited()
	return !l.asking && (l.ending != nil || onlyAwaited)
}

// close ends the session and, unless it was cut short, the study.
func (l *loop) close() error {
	if l.fatal != nil {
		return l.fatal
	}
	if l.ending == nil || l.stop > 0 && (len(l.ready) > 0 || len(l.study.state.Unconfirmed()) > 0) {
		return nil
	}
	l.recommend(l.ending)
	if l.stop == StopHere {
		return nil
	}
	if err := l.study.commit(*l.ending); err != nil {
		return unsaved(err, nil)
	}
	return nil
}

// handle turns one message into events and next steps.
func (l *loop) handle(m message) {
	switch m := m.(type) {
	case asked:
		l.onAnswer(m)
	case attemptStarted:
		l.onStart(m)
	case slotGranted:
		l.onSlot(m)
	case readings:
		l.collect(m)
	case attemptEnded:
		l.onEnd(m)
	case requestsCame:
		l.requested = true
	}
}

// onAnswer makes a trial of the optimizer's answer.
func (l *loop) onAnswer(a asked) {
	l.asking = false
	l.stopAsk()
	l.study.doubt(a.err)
	switch {
	case l.over():
	case l.study.state.Config.Safety != nil && slices.ContainsFunc(l.events, isFinished): // it may say that the answer is not safe: ask again
	case errors.Is(a.err, optimizer.ErrNothingSafe) && len(l.study.state.Pending()) > 0:
		l.waitsFor = a.question.told + 1
	case errors.Is(a.err, optimizer.ErrNothingSafe):
		l.ending = &study.Closed{Why: study.EndExhausted, Detail: "nothing else is known to be safe"}
	case errors.Is(a.err, optimizer.ErrExhausted):
		l.ending = &study.Closed{Why: study.EndExhausted, Detail: fmt.Sprintf("all %d configurations of the space were tried", len(l.study.state.Trials))}
	case a.err != nil:
		l.fatal = fmt.Errorf("ask for trial %d: %w", a.question.query.Trial, a.err)
	default:
		if l.ending = l.study.state.GapEnding(a.proposal.Note); l.ending != nil {
			return
		}
		p := a.proposal
		l.warnOfContradictions(p.Note)
		l.propose(study.Proposed{Trial: a.question.query.Trial, Told: a.question.told, Pending: numbers(a.question.query.Pending),
			Origin: p.Origin, Values: l.study.state.Fresh(l.study.state.Search.Decode(p.Point)), Note: p.Note})
	}
}

func (l *loop) propose(p study.Proposed) {
	l.events = append(l.events, p)
	l.ready = append(l.ready, study.AttemptID{Trial: p.Trial, Attempt: 1})
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
	if l.ending == nil && l.study.state.SetUp {
		l.ending = l.study.state.Ending(l.study.elapsed())
	}
	if l.over() {
		l.stopAsk()
	}
	for {
		i := slices.IndexFunc(l.ready, func(id study.AttemptID) bool { return l.mayLaunch(id) && l.slotFor(id) >= 0 })
		if i < 0 {
			break
		}
		id := l.ready[i]
		l.ready = slices.Delete(l.ready, i, i+1)
		l.launch(id)
	}
	if l.halted() {
		return nil
	}
	l.confirm()
	if !l.wantsTrial() {
		return nil
	}
	if p, ok := l.study.state.Unasked(); ok {
		return l.take(p)
	}
	l.ask()
	return nil
}

// mayLaunch reports whether an attempt may be launched now. One that may still be running is
// rejoined even after a stop, so that the stop reaches it.
func (l *loop) mayLaunch(id study.AttemptID) bool {
	return !l.halted() || l.fatal == nil && l.resumed[id.Trial]
}

// wantsTrial reports whether another trial should be asked for now.
func (l *loop) wantsTrial() bool {
	if l.requested { // which may change what is asked
		return false
	}
	return l.mayAsk() && l.freeSlots() > len(l.ready)
}

// mayAsk reports whether another trial could be asked for if there were a slot.
func (l *loop) mayAsk() bool {
	if l.over() || l.asking || !l.study.state.SetUp || l.study.state.Room() == 0 {
		return false
	}
	return len(l.study.state.Order) >= l.waitsFor // until then nothing is known to be safe
}

// take makes a trial that the optimizer need not be asked for.
func (l *loop) take(p study.Proposed) error {
	q := newQuestion(l.study.state, l.study.told)
	p.Trial, p.Told, p.Pending = q.query.Trial, q.told, numbers(q.query.Pending)
	l.propose(p)
	if err := l.settle(); err != nil {
		return err
	}
	return l.plan()
}

// ask sends the asker what it does not know yet and the next question.
func (l *loop) ask() {
	q := newQuestion(l.study.state, l.study.told)
	l.study.told = q.told
	l.asking = true
	var ctx context.Context
	ctx, l.stopAsk = context.WithCancel(l.life)
	opt := l.study.opt
	go func() { l.send(answer(ctx, opt, q)) }() // beside the loop: a fit may take seconds
}
