package session

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

// launch starts an attempt in the slot that there is for it.
func (l *loop) launch(id layout.AttemptID) {
	slot := l.slotFor(id)
	mayStart := l.usable(slot) && !l.claimed(slot) && !l.halted() && !l.rests(id)
	hold := l.sharing.granted[slot]
	delete(l.sharing.granted, slot)
	l.taken[slot]++
	l.study.opts.Log.Debug("launch", "trial", id.Trial, "attempt", id.Attempt, "slot", slot)
	ctx, cancel := context.WithCancelCause(l.base)
	r := &attempt{study: l.study, config: l.study.state.Config, id: id, slot: slot, mayStart: mayStart, hold: hold, kill: l.kill,
		cancel: cancel, freed: l.freed, queued: time.Now()}
	r.started = func(rejoined bool) { l.send(func() { l.onStart(r, rejoined) }) }
	l.study.running[id.Trial] = r
	r.key = l.study.state.Key(nil)
	if id.Trial > 0 {
		r.trial = *l.study.state.Trials[id.Trial-1]
		r.key = l.study.state.Key(&r.trial)
		if r.confirms = r.trial.Done(); !r.confirms {
			r.unsafe, r.box = !l.study.state.MayRun(&r.trial), newBox(&r.config, &r.trial, id.Attempt)
			r.box.notify = func() { l.send(func() { l.collect(r, false) }) }
		}
	}
	_, left := l.left[id.Trial]
	delete(l.left, id.Trial)
	if cut := r.trial.Cut; cut != nil && cut.Attempt == id.Attempt {
		r.cut = cut // decided by an earlier session
	}
	if l.stop >= StopRunning {
		r.cancel(errStopped)
	}
	go func() {
		o := r.outcomeOf(ctx, left)
		l.send(func() { l.onEnd(r, o) })
	}()
}

// rests reports whether an attempt repeats a trial of a study that is unsafe: until it is not, the trial keeps the runs
// that it has.
func (l *loop) rests(id layout.AttemptID) bool {
	if id.Trial == 0 || len(l.study.state.Trials[id.Trial-1].Repeats) == 0 {
		return false
	}
	return l.study.state.Unsafe() != "" && !l.study.state.MayRun(l.study.state.Trials[id.Trial-1])
}

func (l *loop) onStart(r *attempt, rejoined bool) {
	if l.study.running[r.id.Trial] != r {
		return // it has ended
	}
	r.begun = true
	if r.id.Trial > 0 {
		e := study.Started{Trial: r.id.Trial, Attempt: r.id.Attempt, Slot: r.slot, Host: l.study.host, Rejoined: rejoined}
		if !rejoined {
			e.Waited = journal.Seconds(time.Since(r.queued))
		}
		l.events = append(l.events, e)
	}
}

// lostInARow is how many attempts in a row may be lost, for each slot, before they have begun: a launcher that
// loses each is not asked for ever.
const lostInARow = 16

func (l *loop) onEnd(r *attempt, o outcome) {
	id := r.id
	delete(l.study.running, id.Trial)
	if r.box != nil { // what is left stops nothing any more, but others are compared with it, and it may have broken the safety limit
		batch, breach, _ := l.empty(r, true)
		l.judge(r, batch, false)
		if breach != nil && breaks(r.config.Safety, breach) {
			l.events = cutAt(breach, &r.cut, r.config.Safety, l.events)
		}
	}
	l.taken[r.slot]--
	release(r.hold)
	r.cancel(nil)
	if r.begun {
		l.freed++
	}
	l.lost++
	if r.begun || !r.launched || o.failure == nil || o.failure.Kind != study.FailLost {
		l.lost = 0
	} else if l.lost >= lostInARow*l.open {
		l.fatal = cmp.Or(l.fatal, fmt.Errorf("%d attempts in a row have not begun: %s", l.lost, o.failure.Text))
	}
	if o.failure != nil && (l.stop > 0 && o.byOthers || l.stop >= StopRunning && byProgram(o.failure.Kind)) {
		o.failure = &study.Failure{Kind: study.FailInterrupted, Text: errStopped.Error()} // by what stopped lbotune
	}
	l.study.opts.Log.Debug("ended", "trial", id.Trial, "attempt", id.Attempt, "metrics", o.metrics, "failure", o.failure, "error", o.err)
	switch {
	case o.unstarted && r.confirms: // its time may be yet to come
	case o.unstarted, runner.IsShortage(o.err) && l.mayPass(r):
		l.ready = slices.Insert(l.ready, 0, id)
	case o.err != nil:
		l.fatal = cmp.Or(l.fatal, o.err)
	case id.Trial == 0:
		l.setupEnded(id, o)
	case r.confirms:
		l.countFull(o.failure)
		l.events = append(l.events, study.Confirmed{Trial: id.Trial, Attempt: id.Attempt, Slot: r.slot,
			Metrics: o.metrics, Failure: o.failure, Seconds: o.seconds})
	default:
		l.trialEnded(l.study.state.Trials[id.Trial-1], r, o)
	}
}

// mayPass reports whether the shortage that r has met may be of our own making:
// another attempt runs that may give back what is short, or has ended since r was
// launched. Attempts that are only being started count for nothing: they may wait
// for the same, and then all would wait for each other.
func (l *loop) mayPass(r *attempt) bool {
	for _, other := range l.study.running {
		if other.begun {
			return true
		}
	}
	return l.freed > r.freed
}

// trialEnded records the end of an attempt: the trial's, or that of one of several attempts.
func (l *loop) trialEnded(t *study.Trial, r *attempt, o outcome) {
	cut, config := t.Cut, &l.study.state.Config
	if cut != nil && cut.Attempt == r.id.Attempt && o.failure != nil && (o.failure.Kind.Blameless() || o.byOthers) {
		cut = r.cut // it may have broken the safety limit since
		if !unpicked(config, cut, o) {
			o = prunedOutcome(config, cut, o)
		} else if !o.failure.Kind.Blameless() {
			o.failure = &study.Failure{Kind: study.FailLost, Text: o.failure.Text}
		}
	}
	f := study.Finished{Trial: t.Number, Attempt: r.id.Attempt, Slot: r.slot, Status: optimizer.Failed,
		Failure: o.failure, Seconds: o.seconds, Leftovers: o.leftovers}
	again := false
	l.countFull(o.failure)
	switch {
	case o.failure == nil:
		l.wait.trial = mean(l.wait.trial, o.seconds)
		graded(l.study.state, t.Values(), &f)
		run := l.study.state.Config.Run
		runs := append(t.Repeats[:len(t.Repeats):len(t.Repeats)], o.metrics)
		f.Metrics = study.Combine(runs, run.Combine)
		if again = len(runs) < run.Repeats; len(runs) > 1 {
			f.Last = o.metrics
		}
	case o.failure.Kind == study.FailPruned:
		f.Status, f.Metrics = optimizer.Pruned, o.metrics
	case o.failure.Kind.Blameless():
		again = true
	default:
		again = t.Retries < l.study.state.Config.Run.Retries && l.ending == nil && !t.Excluded
	}
	if !again {
		l.events = append(l.events, f)
		return
	}
	e := study.Ended{Trial: t.Number, Attempt: r.id.Attempt, Slot: r.slot, Failure: o.failure, Seconds: o.seconds, Leftovers: o.leftovers}
	if o.failure == nil {
		e.Metrics = o.metrics
	}
	l.events = append(l.events, e)
	l.ready = slices.Insert(l.ready, 0, layout.AttemptID{Trial: t.Number, Attempt: r.id.Attempt + 1})
}

// fullInARow is how many attempts may end in a row while a disk is full before the session does: it
// may be another disk than the study's, of which nothing else tells.
const fullInARow = 8

func (l *loop) countFull(f *study.Failure) {
	if f == nil || f.Kind != study.FailDisk {
		l.full = 0
	} else if l.full++; l.full >= fullInARow && l.fatal == nil {
		l.fatal = fmt.Errorf("%d attempts in a row have ended while a disk was full: make room, and run the same command again: %w", l.full, syscall.ENOSPC)
	}
}

// setupEnded lets the trials begin, or ends the session.
func (l *loop) setupEnded(id layout.AttemptID, o outcome) {
	l.events = append(l.events, study.SetupEnded{Attempt: id.Attempt, Seconds: o.seconds, Failure: o.failure})
	switch {
	case o.failure == nil:
		l.takeUp()
	case o.failure.Kind == study.FailLost:
		l.ready = append(l.ready, layout.AttemptID{Trial: 0, Attempt: id.Attempt + 1})
	case o.failure.Kind != study.FailInterrupted:
		l.fatal = &SetupError{Failure: *o.failure, Dir: l.study.layout.Attempt(id)}
	}
}

// toConfirm lists the attempts that confirm the best trials and can be made now: once the study has
// come to its end and all trials are finished.
func (l *loop) toConfirm() []layout.AttemptID {
	trialsFirst := l.asking || len(l.ready) > 0
	if l.ending == nil || l.ending.Why == study.EndUnsafe || l.halted() || trialsFirst {
		return nil
	}
	for _, r := range l.study.running {
		if !r.confirms {
			return nil
		}
	}
	waiting := slices.DeleteFunc(l.study.state.Unconfirmed(), func(t *study.Trial) bool { return l.study.running[t.Number] != nil })
	return lists.Map(waiting, func(t *study.Trial) layout.AttemptID {
		return layout.AttemptID{Trial: t.Number, Attempt: t.NextAttempt()}
	})
}

// confirming reports whether an attempt that confirms a finished trial may be under way: one of
// which a session has died before it could write down its start has left a directory.
func (s *Study) confirming(t *study.Trial) bool {
	if t.Confirming() || s.state.Config.Run.Confirm == 0 || !t.Done() {
		return t.Confirming()
	}
	name := filepath.Base(s.layout.Attempt(layout.AttemptID{Trial: t.Number, Attempt: t.NextAttempt()}))
	names, _ := s.layout.Names(s.layout.Trial(t.Number)) // absent: cleaned up
	return slices.ContainsFunc(names, func(n string) bool {
		attempt, _, _ := strings.Cut(n, ".") // a launcher keeps files beside it
		return attempt == name
	})
}
