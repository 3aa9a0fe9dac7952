package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// question is what the loop wants of the optimizer: to learn what is new, then to propose a trial.
type question struct {
	tell  []optimizer.Observation
	query optimizer.Query
	told  int // finished trials that the optimizer knows, tell included
	// known reports whether a trial with the values of a point was proposed before.
	// Nil where the optimizer sees to that itself.
	known func(spaces.Point) bool
	// more is how many further proposals are wanted, where they can be had from the same model.
	more int
	// best is asked to recommend a trial instead; nil for a proposal.
	best optimizer.Recommender
}

// newQuestion asks for the next trial, telling what is new after the first told finished trials.
func newQuestion(s *study.State, told int) question {
	q := question{told: len(s.Order), query: s.Query(len(s.Trials) + 1), known: s.Known()}
	for _, n := range s.Order[told:] {
		if t := s.Trials[n-1]; t.Teaches() {
			q.tell = append(q.tell, s.Observation(t))
		}
	}
	return q
}

// noted is the trial that is proposed in answer, with what was known when it was asked for.
func (q question) noted(p study.Proposed) study.Proposed {
	p.Trial, p.Told, p.Pending = q.query.Trial, q.told, make([]int, len(q.query.Pending))
	for i, other := range q.query.Pending {
		p.Pending[i] = other.Trial
	}
	return p
}

// asked is the answer: a proposal, and those that were made with it, or a recommendation.
type asked struct {
	question  question
	best      optimizer.Recommendation
	proposals []optimizer.Proposal
	took      time.Duration
	err       error
}

const levelTrace = slog.LevelDebug - 4

// log says how the proposals were made; those made together took their time together.
func (a asked) log(to *slog.Logger) {
	for i, p := range a.proposals {
		to.Debug("proposal", "trial", a.question.query.Trial+i, "rule", p.Origin, "why", p.Note.Why, "ms", a.took.Milliseconds(), "fitted", p.Note.Fitted)
	}
}

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
	began := time.Now()
	defer func() {
		a.took = time.Since(began)
		if r := recover(); r != nil {
			a.err = panicked("the optimizer", r)
		}
	}()
	if a.err = tell(opt, q.tell); a.err != nil {
		return a
	}
	if q.best != nil {
		a.best, a.err = q.best.Recommend(ctx)
		return a
	}
	query := q.query
	first, err := opt.Ask(ctx, query)
	for err == nil && q.known != nil && q.known(first.Point) {
		query.Pending = append(slices.Clip(query.Pending), optimizer.Pending{Trial: query.Trial, Point: first.Point})
		first, err = opt.Ask(ctx, query)
	}
	if a.err = err; err != nil {
		return a
	}
	a.proposals = []optimizer.Proposal{first}
	b, ok := opt.(optimizer.Batcher)
	for ok && len(a.proposals) <= q.more {
		p, err := b.More(ctx, query.Trial+len(a.proposals))
		if err != nil { // the next Ask says what it is, unless it is ErrNoMore
			break
		}
		a.proposals = append(a.proposals, p)
	}
	return a
}

// panicked is the error for a panic of somebody's code.
func panicked(who string, with any) error {
	return fmt.Errorf("internal error: %s panicked: %v\n%s", who, with, debug.Stack())
}

// put has the optimizer answer a question beside its caller: a fit may take seconds.
func (s *Study) put(ctx context.Context, q question) <-chan asked {
	s.told = q.told
	opt, answered := s.opt, make(chan asked, 1)
	go func() { answered <- answer(ctx, opt, q) }()
	return answered
}

// ask asks the optimizer. It does not wait for one that goes on thinking after the end of ctx.
func (s *Study) ask(ctx context.Context, q question) (p optimizer.Proposal, err error) {
	a := asked{}
	select {
	case a = <-s.put(ctx, q):
	case <-ctx.Done():
		a.err = ctx.Err()
	}
	if s.doubt(a.err); a.err != nil {
		return p, a.err
	}
	a.log(s.opts.Log)
	return a.proposals[0], nil
}

// nothingElse reports whether the optimizer's error says that there is nothing else to propose, or
// nothing that is safe.
func nothingElse(err error) bool { return errors.Is(err, optimizer.ErrExhausted) }

// exhausted is the end of a study for nothingElse.
func exhausted(err error) *study.Closed {
	if errors.Is(err, optimizer.ErrNothingSafe) {
		return &study.Closed{Why: study.EndExhausted, Detail: "nothing else is known to be safe"}
	}
	return &study.Closed{Why: study.EndExhausted, Detail: "all configurations of the space were tried"}
}

// doubt gives up the optimizer after an error, unless that is nothingElse: it may still be thinking,
// and nobody knows what it has learnt.
func (s *Study) doubt(err error) {
	if err != nil && !nothingElse(err) {
		s.opt = nil
	}
}

// recommend completes the end of a study by the optimizer's choice, and by its doubts about what
// holds the limits. Without an answer, for which wait waits, there is neither: the study has ended well
// all the same.
func (s *Study) recommend(end *study.Closed, wait func(<-chan asked) asked) {
	if s.state.Incumbent() == nil || s.state.Config.Several() {
		return
	}
	err := s.teach() // a new one, if the end has cut short what the optimizer was asked
	rec, ok := s.opt.(optimizer.Recommender)
	if err == nil && !ok {
		return
	}
	var a optimizer.Recommendation
	if err == nil {
		q := newQuestion(s.state, s.told)
		q.best = rec
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		answer := wait(s.put(ctx, q))
		s.doubt(answer.err)
		a, err = answer.best, answer.err
	}
	if err != nil {
		s.opts.Log.Warn("the optimizer recommends no trial", "error", err)
		return
	}
	end.Doubtful = a.Doubtful
	if best := bestAt(s.state, end); a.Holds != nil {
		p := a.Holds[best.Number]
		end.Holds = &p
	}
	if t := s.state.Trials[a.Trial-1]; !t.Succeeded() || !s.state.Feasible(t) || slices.Contains(a.Doubtful, t.Number) {
		return // it had only a part of the resource, or broke a limit
	}
	end.Recommended = &study.Recommended{Trial: a.Trial, Mean: s.state.Config.Objective().Direction.Maximized(a.Mean), SD: a.SD}
	if a.Over > 0 {
		end.Recommended.Gain = &study.Gain{Over: a.Over, By: a.Gain, SD: a.GainSD}
	}
}

// bestAt is what the best trial is once the study has ended so.
func bestAt(s *study.State, end *study.Closed) *study.Trial {
	then := *s
	then.Closed = end
	if best := then.Best(); best == nil || !then.Doubtful(best) || len(best.Confirms) > 1 {
		return best
	}
	return then.Ranked()[0]
}

// awaitBest waits for the optimizer's choice. A stop is heeded meanwhile.
func (l *loop) awaitBest(answered <-chan asked) asked {
	for l.stop < StopRunning {
		select {
		case a := <-answered:
			return a
		case step, open := <-l.steps:
			l.heed(step, open)
		case <-l.interrupted:
			l.interrupted = nil
			l.stopAt(StopRunning)
		}
	}
	return asked{err: errStopped}
}
