package session

import (
	"context"
	"errors"
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

// message is what arrives in the loop's inbox: asked, slotGranted, attemptStarted,
// readings, attemptEnded or requestsCame.
type message any

// asked is the answer.
type asked struct {
	question question
	proposal optimizer.Proposal
	err      error
}

// tell hands observations to an optimizer.
func tell(opt optimizer.Optimizer, news []optimizer.Observation) error {
	for _, o := range news {
		if err := opt.Tell(o); err != nil {
			return fmt.Errorf("tell the optimizer of trial %d: %w", o.Trial, err)
		}
	}
	return nil
}

// answer has an optimizer answer a question. A panic becomes an error: the study's results
// are worth more than a stack trace on the terminal.
func answer(ctx context.Context, opt optimizer.Optimizer, q question) (a asked) {
	a.question = q
	defer func() {
		if r := recover(); r != nil {
			a.err = panicked("the optimizer", r)
		}
	}()
	if a.err = tell(opt, q.tell); a.err != nil {
		return a
	}
	query := q.query
	for {
		a.proposal, a.err = opt.Ask(ctx, query)
		if a.err != nil || q.known == nil || !q.known(a.proposal.Point) {
			return a
		}
		query.Pending = append(slices.Clip(query.Pending), optimizer.Pending{Trial: query.Trial, Point: a.proposal.Point})
	}
}

// panicked is the error for a panic of somebody's code.
func panicked(who string, with any) error {
	return fmt.Errorf("internal error: %s panicked: %v\n%s", who, with, debug.Stack())
}

// ask asks the optimizer. It does not wait for one that goes on thinking after the end of ctx.
func (s *Study) ask(ctx context.Context, q question) (optimizer.Proposal, error) {
	s.told = q.told
	opt, answered := s.opt, make(chan asked, 1)
	go func() { answered <- answer(ctx, opt, q) }()
	a := asked{}
	select {
	case a = <-answered:
	case <-ctx.Done():
		a.err = ctx.Err()
	}
	s.doubt(a.err)
	return a.proposal, a.err
}

// doubt gives up the optimizer after an error, unless that says that there is nothing to
// propose: it may still be thinking, and nobody knows what it has learnt.
func (s *Study) doubt(err error) {
	if err != nil && !errors.Is(err, optimizer.ErrExhausted) && !errors.Is(err, optimizer.ErrNothingSafe) {
		s.opt = nil
	}
}
