package session

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// Edit takes up the study in opts.Dir, lets a person change it, and gives it up
// again. A study that is not there is begun with the config, if there is one; of
// one that is there, the config's parameters are taken over as Open does. Edit
// makes no session: edit must not call Ask or Run.
func Edit(config *study.Config, opts Options, edit func(*Study) error) error {
	s := newStudy(opts)
	if err := CheckOwner(s.layout, s.opts.Log); err != nil {
		return err
	}
	_, err := s.openJournal(config)
	if err != nil {
		return err
	}
	_ = s.hooks.keep.open(true) // whoever needs it tries again, and says why not
	if err = s.takeParams(config); err == nil {
		err = s.Serve()
	}
	if err == nil {
		err = edit(s)
	}
	return errors.Join(err, s.Close())
}

// takeParams takes over the parameters of a config whose other changes can wait
// for the next session.
func (s *Study) takeParams(config *study.Config) error {
	if config == nil {
		return nil
	}
	change, err := s.state.ReconfiguredParams(*config)
	if err != nil || change == nil {
		return err
	}
	return s.commit(*change)
}

// Do changes the study as a request says. The error says why it cannot be done. It must
// not be called while Run runs.
func (s *Study) Do(r study.Request) error {
	e, err := s.state.Event(r)
	if err != nil {
		return err
	}
	return s.commit(e)
}

// Enqueue puts values before the optimizer's next proposals. Parameters that they do
// not name get their default, or the middle of their range.
func (s *Study) Enqueue(v spaces.Values) error {
	return s.Do(study.Request{Action: study.ActionEnqueue, Values: v})
}

// Ask hands out a trial that somebody else runs and tells of. Values that were
// enqueued come first.
func (s *Study) Ask(ctx context.Context) (*study.Trial, error) {
	if why := s.state.Unsafe(); why != "" {
		return nil, &UnsafeError{why}
	}
	if s.state.Ended() {
		return nil, fmt.Errorf("%w: %s", ErrSpent, s.state.Closed.Detail)
	}
	if s.state.Room() == 0 {
		return nil, fmt.Errorf("%w: all %d trials are handed out", ErrSpent, s.state.Config.Budget.Trials)
	}
	q := newQuestion(s.state, s.told)
	s.told = q.told
	p, ok := s.state.Unasked()
	p.Trial, p.Told, p.Pending, p.Hand = q.query.Trial, q.told, numbers(q.query.Pending), true
	if !ok {
		a, err := answer(ctx, s.opt, q)
		if err != nil {
			return nil, fmt.Errorf("ask for trial %d: %w", p.Trial, err)
		}
		p.Origin, p.Values, p.Note = a.Origin, s.state.Fresh(s.state.Search.Decode(a.Point)), a.Note
	}
	if err := s.commit(p); err != nil {
		return nil, err
	}
	return s.state.Trials[p.Trial-1], nil
}

// Tell ends a trial that was handed out: with its value and other metrics, or without for
// the reason given. What has a limit must be among the metrics.
func (s *Study) Tell(trial int, value float64, others study.Metrics, failure string) error {
	t, err := s.state.Trial(trial)
	switch {
	case err != nil:
		return err
	case t.Done():
		return fmt.Errorf("trial %d is finished already", trial)
	case !t.Hand:
		return fmt.Errorf("trial %d was not handed out: lbotune runs it", trial)
	}
	f := study.Finished{Trial: trial, Attempt: t.NextAttempt(), Metrics: study.Metrics{}}
	if failure == "" && !math.IsNaN(value) && !math.IsInf(value, 0) {
		if err := s.takeMetrics(f.Metrics, others); err != nil {
			return err
		}
	}
	f.Metrics[s.state.Config.Objective().Name] = journal.Float(value)
	graded(s.state, t.Values, &f)
	switch {
	case failure != "":
		f.Status, f.Metrics, f.Failure = optimizer.Failed, nil, &study.Failure{Kind: study.FailTold, Text: failure}
	case math.IsNaN(value) || math.IsInf(value, 0):
		f.Status, f.Metrics = optimizer.Failed, nil
		f.Failure = &study.Failure{Kind: study.FailNotFinite, Text: fmt.Sprintf("its value is %v", value)}
	}
	if err := s.commit(f); err != nil {
		return err
	}
	end := s.state.Ending(s.elapsed())
	if end == nil || s.state.Closed != nil || len(s.state.Pending()) > 0 {
		return nil
	}
	if slices.ContainsFunc(s.state.Trials, s.confirming) {
		return nil // a session was killed as it confirmed; the next one takes that up
	}
	return s.commit(*end)
}

// takeMetrics copies what a person tells beside the objective, if that is what the study
// must know.
func (s *Study) takeMetrics(into, told study.Metrics) error {
	c := &s.state.Config
	objective := c.Objective().Name
	for name, v := range told {
		switch {
		case name == objective || !slices.ContainsFunc(c.Metrics, func(m study.Metric) bool { return m.Name == name }):
			return fmt.Errorf("there is no other metric %q", name)
		case math.IsNaN(float64(v)) || math.IsInf(float64(v), 0):
			return fmt.Errorf("%s = %v: want a finite number", name, float64(v))
		}
		into[name] = v
	}
	for _, m := range c.Metrics {
		if _, ok := told[m.Name]; m.Required() && m.Name != objective && !ok {
			return fmt.Errorf("%s is an objective or has a limit, and must be told, too", m.Name)
		}
	}
	return nil
}
