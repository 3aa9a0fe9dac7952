package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

// Run works on the study until its budget is spent or stop says so, and goes on if what is requested during
// its last hooks gives it more to do. Closing stop is StopAsking, and cancelling ctx is StopRunning and ends
// the hooks. The error is nil for a study that ended as its budget says with at least one success. One that
// was stopped may be run again.
func (s *Study) Run(ctx context.Context, stop <-chan Stop) (err error) {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.unlock()
	defer func() {
		s.opts.Log.Info("session ends", "trials", len(s.state.Order), "study", s.state.Standing(false), "error", err)
	}()
	if s.opts.Launcher == nil {
		return errors.New("nothing runs trials: Options.Launcher is nil")
	}
	reopened := false // by what was requested during the last hooks
	for goesOn := true; goesOn; {
		s.hooks.begin(ctx)
		stopped, failed := s.work(ctx, stop)
		<-s.feed.shown
		ended := s.over()
		late := s.hooks.end(stop)
		err, reopened = cmp.Or(failed, unsaved(s.lost, nil)), ended && !s.over()
		goesOn = reopened && err == nil && ctx.Err() == nil && !stopped && !late
	}
	if err != nil {
		return err
	}
	switch c := s.state.Closed; {
	case c == nil || reopened:
		return ErrStopped
	case c.Why == study.EndGuard:
		e := &GuardError{noSuccess: noSuccess(c.Detail)}
		if n := len(s.state.Order); n > 0 { // always, unless somebody has edited the journal
			e.Trial = s.state.Order[n-1]
		}
		return e
	}
	return Judge(s.state)
}

// work is one turn of Run. It reports whether somebody has stopped it.
func (s *Study) work(ctx context.Context, stop <-chan Stop) (stopped bool, err error) {
	if err := s.goOn(); err != nil || s.state.Closed != nil {
		return false, err
	}
	if readsAlong(&s.state.Config) { // the C library is left alone where nobody reads along
		s.stdbuf = askStdbuf(ctx)
	}
	l, err := newLoop(s)
	if err != nil {
		return false, err
	}
	err = l.run(ctx, stop)
	return l.told, err
}

// over reports whether the study has ended and nothing but another session would go on.
func (s *Study) over() bool {
	c := s.state.Closed
	return c != nil && (c.Why == study.EndGuard || s.state.Ended())
}

// run is the loop. It returns when the study is closed, when a stop was asked
// for and nothing runs any more, or at once when the journal cannot be written:
// attempts then go on without lbotune, and the next session rejoins them.
//
// In each turn it does what people have requested (serve), starts what may start (plan), ends
// the attempts whose readings have said so, takes and gives back slots of a shared
// machine (share), waits for something to happen, and writes down what is decided (commit)
// before it acts on that.
func (l *loop) run(ctx context.Context, stop <-chan Stop) (err error) {
	var die context.CancelFunc
	l.base = context.WithoutCancel(ctx)
	l.life, die = context.WithCancel(l.base)
	look := time.NewTicker(requestLook)
	defer func() {
		l.noteFullDisk(err)
		look.Stop()
		die()
		l.unshare()
		if l.asking { // it still works on the question that was cut short: the next session makes a new one
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
		for _, r := range l.study.running {
			if r.cut != nil {
				r.cancel(errPruned)
			}
		}
		l.share()
		if l.idle() {
			l.requested = true // serve looks only then: once more before the end
			if err := l.serve(); err != nil {
				return err
			}
			if l.idle() {
				if goesOn, err := l.close(); !goesOn {
					return err
				}
			}
			continue
		}
		select {
		case happen := <-l.inbox:
			happen()
			for len(l.inbox) > 0 {
				(<-l.inbox)()
			}
		case step, open := <-l.steps:
			l.heed(step, open)
			if l.stop == StopHere {
				l.noteTime()
			}
		case <-l.interrupted:
			l.interrupted = nil
			l.stopAt(StopRunning)
		case <-l.deadline:
			l.noteTime()
			l.deadline = l.timer()
		case <-look.C:
			l.requested = l.requested || len(l.study.requests()) > 0
		}
		if err := l.commit(); err != nil {
			return err
		}
		if l.stop == StopHere {
			return l.fatal
		}
		l.study.watchOn()
	}
}

// noteFullDisk writes down with the running attempts, which are left alone, if the journal could not
// be written for want of room: what they lack for that reason is then no failure of theirs.
func (l *loop) noteFullDisk(err error) {
	if !errors.As(err, new(*UnsavedError)) || !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
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
	late := time.After(startPatience)
	for _, r := range l.study.running {
		for !r.begun && l.study.running[r.id.Trial] == r {
			select {
			case happen := <-l.inbox:
				happen() // what that decides is not written: directories tell the next session of it
			case <-late:
				return
			}
		}
	}
}

// idle reports whether nothing will happen any more. Where nothing new may start no answer is
// waited for. A study that has ended may still wait for a slot that another study has.
func (l *loop) idle() bool {
	if len(l.study.running) > 0 {
		return false
	}
	if l.halted() {
		return true
	}
	nothingToAsk := len(l.ready) == 0 && (awaited(l.study.state) || l.exhausted())
	return !l.asking && (l.ending != nil && !l.waits() || nothingToAsk)
}

// awaited reports whether trials that were handed out are all that is left.
func awaited(st *study.State) bool {
	return st.Room() == 0 && slices.ContainsFunc(st.Pending(), func(t *study.Trial) bool { return t.Hand })
}

// close ends the session and, unless it was cut short, the study, which goes on if somebody has
// requested what gives it more to do while the optimizer was asked for the best trial.
func (l *loop) close() (goesOn bool, err error) {
	end := l.ending
	owed := len(l.ready) > 0 || len(l.study.state.Unconfirmed()) > 0
	switch {
	case l.fatal != nil:
		return false, l.fatal
	case end == nil && !l.halted():
		return false, ErrAwaited
	case end == nil: // stopped
		return false, nil
	case l.stop > 0 && !l.late && owed: // stopped before the study's last trials
		return false, nil
	}
	if !l.asking && !l.late {
		l.study.recommend(end, l.awaitBest)
		l.requested = l.stop == 0
		if err := l.serve(); err != nil {
			return false, err
		}
		if l.ending != end { // a request gave the study more to do
			return true, nil
		}
	}
	if l.stop == StopHere {
		return false, nil
	}
	return false, unsaved(l.study.commit(*end), nil)
}

// onAnswer makes a trial of the optimizer's answer.
func (l *loop) onAnswer(a asked) {
	l.asking = false
	l.stopAsk()
	l.study.doubt(a.err)
	switch {
	case l.over():
	case l.study.state.Config.Safety != nil && slices.ContainsFunc(l.events, isFinished): // it may say that the answer is not safe: ask again
	case nothingElse(a.err):
		l.onNothingElse(a)
	case a.err != nil:
		l.fatal = fmt.Errorf("ask for trial %d: %w", a.question.query.Trial, a.err)
	default:
		if a.question.told == len(l.study.state.Order) && !slices.ContainsFunc(l.events, isFinished) { // else a result that came meanwhile may say otherwise
			if l.ending = l.study.state.GapEnding(a.proposals[0].Note); l.ending != nil {
				return
			}
		}
		a.log(l.study.opts.Log)
		l.warnOfContradictions(a.proposals[0].Note)
		first := a.question.noted(study.Proposed{})
		for i, p := range a.proposals {
			e := first
			if i > 0 {
				e.Trial, e.With = first.Trial+i, first.Trial
				first.Pending = append(slices.Clip(first.Pending), e.Trial-1)
				e.Pending = first.Pending
			}
			e.Origin, e.Values, e.Note = p.Origin, l.study.state.Fresh(l.study.state.Search.Decode(p.Point)), p.Note
			l.propose(e)
		}
		l.wait.ask = mean(l.wait.ask, a.took.Seconds())
	}
}

// onNothingElse waits for what runs to end, asks again if something has ended since the question, has
// one trial run with all of the resource, or ends the study.
func (l *loop) onNothingElse(a asked) {
	next, owed := l.study.state.Unasked(true)
	switch {
	case len(l.study.state.Pending()) > 0 || a.question.told < len(l.study.state.Order):
		l.waitsFor = a.question.told + 1 // plan asks again once that many have ended
	case owed && !errors.Is(a.err, optimizer.ErrNothingSafe):
		l.propose(a.question.noted(next))
	default:
		l.ending = exhausted(a.err)
	}
}

func (l *loop) propose(p study.Proposed) {
	l.events = append(l.events, p)
	l.ready = append(l.ready, layout.AttemptID{Trial: p.Trial, Attempt: 1})
}

// decideEnd says whether the study is to end, and ends what runs when its time is over.
func (l *loop) decideEnd() {
	// A trial that still runs may take some reasons for the end away: by its success, or as the best. One that
	// breaks the safety limit is a reason before any other.
	mayPass := l.ending != nil && !l.asking && (l.ending.Why == study.EndGuard || l.ending.Why == study.EndPatience)
	if l.study.state.SetUp && (l.ending == nil || mayPass || l.study.state.Unsafe() != "") {
		l.ending = l.study.state.Ending(l.study.elapsed())
	}
	if end := l.study.state.Config.Overdue(l.study.elapsed()); end != nil && !l.late {
		l.late, l.ending = true, end
		l.stopAt(StopRunning)
	}
	if l.over() {
		l.stopAsk()
	}
}

// plan starts what can be started: attempts that wait for a slot, then new
// trials for the slots that are left.
func (l *loop) plan() error {
	l.decideEnd()
	for {
		i := slices.IndexFunc(l.ready, func(id layout.AttemptID) bool {
			// One that may still be running is rejoined even after a stop, so that the stop reaches it.
			_, left := l.left[id.Trial]
			return (!l.halted() || l.fatal == nil && left) && (left || !l.rests(id)) && l.slotFor(id) >= 0
		})
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
	for _, id := range l.toConfirm() {
		if l.slotFor(id) >= 0 {
			l.launch(id)
		}
	}
	if !l.wantsTrial() {
		return nil
	}
	if p, ok := l.study.state.Unasked(false); ok {
		return l.take(p)
	}
	l.ask()
	return nil
}

// wantsTrial reports whether another trial should be asked for now. A request may change what is asked.
func (l *loop) wantsTrial() bool {
	return !l.requested && l.mayAsk() && l.freeSlots() > len(l.ready)
}

// mayAsk reports whether another trial could be asked for if there were a slot.
func (l *loop) mayAsk() bool {
	return !l.over() && !l.asking && l.study.state.SetUp && l.study.state.Room() > 0 && !l.exhausted()
}

// exhausted reports whether there is nothing to try before another trial has ended.
func (l *loop) exhausted() bool {
	return len(l.study.state.Order) < l.waitsFor && len(l.study.state.Queue) == 0
}

// take makes a trial that the optimizer need not be asked for.
func (l *loop) take(p study.Proposed) error {
	l.propose(newQuestion(l.study.state, len(l.study.state.Order)).noted(p)) // all is told: no results go along
	if err := l.commit(); err != nil {
		return err
	}
	return l.plan()
}

// ask sends the asker what it does not know yet and the next question.
func (l *loop) ask() {
	if err := l.study.teach(); err != nil {
		l.fatal = fmt.Errorf("make a new optimizer from the trials that count: %w", err)
		return
	}
	q := newQuestion(l.study.state, l.study.told)
	if free := l.freeSlots() - len(l.ready) - 1; q.known == nil && l.wait.long(free) {
		q.more = min(free, l.study.state.Room()-1, mostWith)
	}
	l.asking = true
	var ctx context.Context
	ctx, l.stopAsk = context.WithCancel(l.life)
	answered := l.study.put(ctx, q)
	go func() {
		a := <-answered
		l.send(func() { l.onAnswer(a) })
	}()
}
