package session

import (
	"context"
	"fmt"
	"time"

	"github.com/lbotune/lbotune/internal/inbox"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/study"
)

const requestLook = 250 * time.Millisecond

// requests are those that wait. What prevents a look, such as a want of descriptors, may pass.
func (s *Study) requests() []study.Request {
	rs, err := inbox.Read(s.layout)
	if err != nil && !s.unseen {
		s.opts.Log.Error("not all requests are served for now", "error", err)
	}
	s.unseen = err != nil
	return rs
}

// serve fulfils the requests that wait, once no question is with the optimizer: what it
// is asked and what it answers belong to one state of the study. Where nothing new may start
// the answer is not followed, and so not waited for.
func (l *loop) serve() error {
	if !l.requested || l.asking && !l.halted() || len(l.events) > 0 {
		return nil
	}
	l.requested = false
	l.study.watchOn()
	return l.study.fulfil(l.study.requests(), l.admit, l.adapt)
}

// Serve fulfils the requests that people have left for whoever works on the study. Run does so
// by itself.
func (s *Study) Serve() error {
	if err := s.lock(context.Background()); err != nil {
		return err
	}
	defer s.unlock()
	return s.serve()
}

// serve is Serve while a method is under way.
func (s *Study) serve() error {
	s.watchOn()
	return s.fulfil(s.requests(), func(study.Event) error { return nil }, s.unlearn)
}

// unlearn has a new optimizer made after a change of what counts, and tells the pruner.
func (s *Study) unlearn(e study.Event) {
	if e, ok := e.(study.Included); ok {
		s.watchAgain(e.Trial)
	} else {
		s.watchOn()
	}
	switch e.(type) {
	case study.Excluded, study.Included, study.Rerun:
		s.opt = nil
	}
}

// fulfil records the effect of each request, or why it is not admitted, then
// has it obeyed, and removes it.
func (s *Study) fulfil(requests []study.Request, admit func(study.Event) error, obey func(study.Event)) error {
	for _, r := range requests {
		_, known := s.state.Answered(r.ID)
		if !known {
			event, err := s.state.Event(r)
			if err == nil {
				err = admit(event)
			}
			if err != nil {
				event = study.Refused{Request: r.ID, Why: err.Error()}
			}
			if err := s.commit(event); err != nil {
				return unsaved(err, nil)
			}
			s.opts.Log.Info("request", "effect", fmt.Sprintf("%T", event), "id", r.ID)
			obey(event)
		}
		if err := inbox.Remove(s.layout, r); err != nil && !known {
			s.opts.Log.Warn("a request that is done stays, and does nothing more", "error", err)
		}
	}
	return nil
}

// admit says why the session cannot follow a change of the study.
func (l *loop) admit(e study.Event) error {
	c, is := e.(study.ConfigChanged)
	if is && l.study.sharer != nil && c.Config.Run.SlotCount() > l.study.shared {
		return fmt.Errorf("the study shares this machine with others: for more than the %d trials at a time that it was started with, stop it and start it again", l.study.shared)
	}
	if is {
		return l.study.apart(&c.Config)
	}
	return nil
}

// adapt makes the session follow a change of the study. The pruner stays: of the trials that run it
// knows more than was kept.
func (l *loop) adapt(e study.Event) {
	l.study.unlearn(e)
	switch e := e.(type) {
	case study.Enqueued:
		if l.ending == nil || l.ending.Why != study.EndExhausted {
			return
		}
	case study.Excluded, study.Included:
	case study.Rerun:
		for _, n := range e.Trials {
			l.ready = append(l.ready, layout.AttemptID{Trial: n, Attempt: l.study.state.Trials[n-1].NextAttempt()})
		}
	case study.ConfigChanged:
		l.open = e.Config.Run.SlotCount()
		l.giveBackUnused(l.open)
		l.deadline = l.timer()
	default:
		return
	}
	l.ending = nil // what has changed may have been the reason, and the budget may have room again
}
