package session

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// question is what the loop wants of the optimizer: to learn what is new, then
// to propose a trial.
type question struct {
	ctx   context.Context     // ends when no answer is worth its time any more
	opt   optimizer.Optimizer // who is asked; it is the asker's until the answer has come
	tell  []optimizer.Observation
	query optimizer.Query
	told  int // finished trials that the optimizer knows, tell included
	// known reports whether a trial with the values of a point was proposed before.
	// Nil where the optimizer sees to that itself.
	known func(spaces.Point) bool
}

// newQuestion asks for the next trial, telling what is new after the first told
// finished trials.
func newQuestion(s *study.State, told int) question {
	q := question{told: len(s.Order), query: s.Query(len(s.Trials) + 1), known: s.Known()}
	for _, n := range s.Order[told:] {
		if t := s.Trials[n-1]; t.Teaches() {
			q.tell = append(q.tell, s.Observation(t))
		}
	}
	for _, t := range s.Pending() {
		if !t.Outside {
			q.query.Pending = append(q.query.Pending, optimizer.Pending{Trial: t.Number, Point: t.Point})
		}
	}
	return q
}

// message is what arrives in the loop's inbox: asked, granted, attemptStarted, readings,
// attemptEnded or requested.
type message any

// asked is the answer.
type asked struct {
	question question
	proposal optimizer.Proposal
	err      error
}

// asker answers one question after the other. Every question has its answer, as long as
// there is life.
func asker(life context.Context, questions <-chan question, inbox chan<- message) {
	for q := range questions {
		p, err := answer(q.ctx, q.opt, q)
		select {
		case inbox <- asked{q, p, err}:
		case <-life.Done():
			return
		}
	}
}

// answer turns a panic of the optimizer into an error: the study's results are
// worth more than a stack trace on the terminal.
func answer(ctx context.Context, opt optimizer.Optimizer, q question) (p optimizer.Proposal, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: the optimizer panicked: %v\n%s", r, debug.Stack())
		}
	}()
	for _, o := range q.tell {
		if err := opt.Tell(o); err != nil {
			return p, fmt.Errorf("tell the optimizer of trial %d: %w", o.Trial, err)
		}
	}
	for {
		p, err = opt.Ask(ctx, q.query)
		if err != nil || q.known == nil || !q.known(p.Point) {
			return p, err
		}
		q.query.Pending = append(slices.Clip(q.query.Pending), optimizer.Pending{Trial: q.query.Trial, Point: p.Point})
	}
}
