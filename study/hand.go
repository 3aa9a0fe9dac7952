package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// ErrAwaited means that nothing is left to run, but trials that were handed out
// by Ask are not told yet.
var ErrAwaited = errors.New("trials that were handed out are not told yet")

// ErrSpent means that the budget leaves no trial to ask for.
var ErrSpent = errors.New("the budget is spent")

// Edit takes up the study in opts.Dir, lets a person change it, and gives it up
// again. A study that is not there is begun with the config, if there is one; of
// one that is there, the config's parameters are taken over as Open does. Edit
// makes no session: edit must not call Ask or Run.
func Edit(config *Config, opts Options, edit func(*Study) error) error {
	s, err := newStudy(opts)
	if err != nil {
		return err
	}
	if _, err := s.openJournal(config); err != nil {
		return err
	}
	if err = s.takeParams(config); err == nil {
		err = edit(s)
	}
	return errors.Join(err, s.Close())
}

// takeParams takes over the parameters of a config whose other changes can wait
// for the next session.
func (s *Study) takeParams(config *Config) error {
	if config == nil || sameJSON(config.Params, s.state.Config.Params) {
		return nil
	}
	now := *config
	if len(s.state.Trials) > 0 {
		now = s.state.Config
		now.Params = config.Params
	}
	change, err := s.state.reconfigured(now)
	if err != nil || change == nil {
		return err
	}
	return s.commit(*change)
}

// Enqueue puts values before the optimizer's next proposals. It must not be
// called while Run runs.
func (s *Study) Enqueue(v spaces.Values) error {
	p, err := s.state.Space.Encode(v)
	if err != nil {
		return err
	}
	return s.commit(Enqueued{Values: s.state.Space.Decode(p)})
}

// Exclude takes a trial's result out of the study, from the next session on.
func (s *Study) Exclude(trial int) error {
	t, err := s.state.trial(trial)
	if err != nil {
		return err
	}
	switch {
	case !t.Done():
		return fmt.Errorf("trial %d is not finished yet", trial)
	case t.Excluded:
		return fmt.Errorf("trial %d is excluded already", trial)
	}
	return s.commit(Excluded{Trial: trial})
}

// Include takes an exclusion back, from the next session on.
func (s *Study) Include(trial int) error {
	t, err := s.state.trial(trial)
	if err != nil {
		return err
	}
	if !t.Excluded {
		return fmt.Errorf("trial %d is not excluded", trial)
	}
	return s.commit(Included{Trial: trial})
}

// Note keeps a remark, about one trial if trial is not 0.
func (s *Study) Note(trial int, text string) error {
	if trial != 0 {
		if _, err := s.state.trial(trial); err != nil {
			return err
		}
	}
	return s.commit(Noted{Trial: trial, Text: text})
}

// Ask hands out a trial that somebody else runs and tells of. Values that were
// enqueued come first.
func (s *Study) Ask(ctx context.Context) (*Trial, error) {
	if s.state.Ended() {
		return nil, fmt.Errorf("%w: %s", ErrSpent, s.state.Closed.Detail)
	}
	if s.state.room() == 0 {
		return nil, fmt.Errorf("%w: all %d trials are handed out", ErrSpent, s.state.Config.Budget.Trials)
	}
	q := s.state.question(s.told)
	s.told = q.told
	p, ok := s.state.unasked()
	p.Trial, p.Told, p.Pending, p.Hand = q.query.Trial, q.told, numbers(q.query.Pending), true
	if !ok {
		a, err := answer(ctx, s.opt, q)
		if err != nil {
			return nil, fmt.Errorf("ask for trial %d: %w", p.Trial, err)
		}
		p.Origin, p.Values, p.Note = a.Origin, s.state.fresh(s.state.search.Decode(a.Point)), a.Note
	}
	if err := s.commit(p); err != nil {
		return nil, err
	}
	return s.state.Trials[p.Trial-1], nil
}

// Tell ends a trial that was handed out: with its value, or without one for the
// reason given.
func (s *Study) Tell(trial int, value float64, failure string) error {
	t, err := s.state.trial(trial)
	switch {
	case err != nil:
		return err
	case t.Done():
		return fmt.Errorf("trial %d is finished already", trial)
	case !t.Hand:
		return fmt.Errorf("trial %d was not handed out: lbotune runs it", trial)
	}
	f := Finished{Trial: trial, Attempt: t.NextAttempt(), Value: &value}
	s.state.graded(t.Values, &f)
	switch {
	case failure != "":
		f.Status, f.Value, f.Failure = optimizer.Failed, nil, &Failure{Kind: FailTold, Text: failure}
	case math.IsNaN(value) || math.IsInf(value, 0):
		f.Status, f.Value = optimizer.Failed, nil
		f.Failure = &Failure{Kind: FailNotFinite, Text: fmt.Sprintf("its value is %v", value)}
	}
	if err := s.commit(f); err != nil {
		return err
	}
	if end := s.state.ending(s.elapsed()); end != nil && len(s.state.Pending()) == 0 && s.state.Closed == nil {
		return s.commit(*end)
	}
	return nil
}

// question asks for the next trial, telling what is new after the first told
// finished trials.
func (s *State) question(told int) question {
	q := question{told: len(s.Order), query: optimizer.Query{Trial: len(s.Trials) + 1}, known: s.known()}
	for _, n := range s.Order[told:] {
		if t := s.Trials[n-1]; t.teaches() {
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

// awaited reports whether trials that were handed out are all that is left.
func (s *State) awaited() bool {
	return s.room() == 0 && slices.ContainsFunc(s.Pending(), func(t *Trial) bool { return t.Hand })
}
