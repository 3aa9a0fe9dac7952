package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// Edit takes up the study in opts.Dir, lets a person change it, and gives it up
// again. A study that is not there is begun with the config, if there is one; of
// one that is there, the config's parameters are taken over as Open does. Edit
// makes no session: edit must not call Ask or Run.
func Edit(config *study.Config, opts Options, edit func(*Study) error) error {
	s, _, err := take(config, opts)
	if err != nil {
		return err
	}
	if config != nil { // its other changes can wait for the next session
		var change *study.ConfigChanged
		if change, err = s.state.ReconfiguredParams(*config); change != nil {
			err = s.commit(*change)
		}
	}
	if err == nil {
		err = s.Serve()
	}
	if err == nil {
		err = edit(s)
	}
	return errors.Join(err, s.Close())
}

// Do changes the study as a request says. The error says why it cannot be done.
func (s *Study) Do(r study.Request) error {
	if err := s.lock(context.Background()); err != nil {
		return err
	}
	defer s.unlock()
	s.watchOn()
	e, err := s.state.Event(r)
	if err == nil {
		err = s.commit(e)
	}
	if err == nil {
		s.unlearn(e)
	}
	return err
}

// Ask hands out a trial that somebody else runs and tells of. Values that were enqueued come
// first. The end of ctx is its error, however long the optimizer goes on thinking. Until it is told of,
// or given up by Fail, a trial is awaited, also by another process that has the study later.
func (s *Study) Ask(ctx context.Context) (study.Trial, error) {
	t, _, err := s.handOut(ctx, false)
	return t, err
}

// handOut is Ask, and, for trying, takes up what an earlier process has left, and notes who has the
// trial. Where there is nothing else to try before one of these has ended, later is closed then.
func (s *Study) handOut(ctx context.Context, trying bool) (t study.Trial, later <-chan struct{}, err error) {
	if err := s.lock(ctx); err != nil {
		return t, nil, err
	}
	defer s.unlock()
	n := 0
	if trying && !s.state.Ended() {
		if n, err = s.orphan(); err != nil {
			return t, nil, err
		}
	}
	if n == 0 {
		p, err := s.next(ctx, trying)
		if p.Hand = true; err == nil {
			err = s.commit(p)
		}
		if err != nil {
			if slices.ContainsFunc(s.trying, func(n int) bool { return n > 0 }) && (nothingElse(err) || errors.Is(err, ErrSpent)) {
				later = s.tried
			}
			return t, later, err
		}
		n = p.Trial
	}
	if trying {
		slot := slices.Index(s.trying, 0)
		if slot < 0 {
			slot, s.trying = len(s.trying), append(s.trying, 0)
		}
		if err := s.commit(study.Started{Trial: n, Attempt: s.state.Trials[n-1].NextAttempt(), Slot: slot, Host: s.host}); err != nil {
			return t, nil, err
		}
		s.trying[slot] = n
	}
	t = *s.state.Trials[n-1] // the caller may change it
	t.Point, t.Pending, t.Attempts = slices.Clone(t.Point), slices.Clone(t.Pending), slices.Clone(t.Attempts)
	return t, nil, nil
}

// mostKills is how many processes may end while they try a trial before that is its failure.
const mostKills = 3

// orphan is a trial that an earlier process has left and that may still run, 0 if there is none.
func (s *Study) orphan() (int, error) {
	for len(s.orphans) > 0 && s.state.Unsafe() == "" {
		n := s.orphans[0]
		s.orphans = s.orphans[1:]
		t := s.state.Trials[n-1]
		why := &study.Failure{Kind: study.FailTold, Text: fmt.Sprintf("it was left without a result %d times, by a panic or the end of its process", t.Retries+1)}
		switch k := len(t.Attempts); {
		case t.Done():
			continue
		case !s.state.MayRun(t):
			why = notSafe().failure
		case k == 0 || t.Attempts[k-1].Number < t.NextAttempt():
			return n, nil // it was not being tried
		case t.Retries+1 < mostKills:
			return n, s.commit(study.Ended{Trial: n, Attempt: t.NextAttempt(), Failure: why})
		}
		if err := s.commit(study.Finished{Trial: n, Attempt: t.NextAttempt(), Status: optimizer.Failed, Failure: why}); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// next is the trial that is handed out next. The failure guard ends only what is tried here: somebody else who
// asks may know what he does.
func (s *Study) next(ctx context.Context, trying bool) (p study.Proposed, err error) {
	if why := s.state.Unsafe(); why != "" {
		return p, &UnsafeError{errors.New(why)}
	}
	if s.state.Ended() {
		return p, fmt.Errorf("%w: %s", ErrSpent, s.state.Closed.Detail)
	}
	if end := s.state.Ending(s.elapsed()); end != nil && (trying || end.Why != study.EndGuard) { // though others are awaited
		return p, cmp.Or(s.close(ctx, end), fmt.Errorf("%w: %s", ErrSpent, end.Detail))
	}
	if s.state.Room() == 0 {
		return p, fmt.Errorf("%w: all %d trials are handed out", ErrSpent, s.state.Config.Budget.Trials)
	}
	if err := errors.Join(s.goOn(), s.teach()); err != nil {
		return p, err
	}
	q := newQuestion(s.state, s.told)
	if p, ok := s.state.Unasked(false); ok {
		return q.noted(p), nil
	}
	a, err := s.ask(ctx, q)
	if errors.Is(err, optimizer.ErrExhausted) && len(q.query.Pending) == 0 {
		if whole, owed := s.state.Unasked(true); owed {
			return q.noted(whole), nil
		}
	}
	if err != nil {
		if trying && nothingElse(err) { // who asks may still enqueue
			if unsaved := s.close(ctx, exhausted(err)); unsaved != nil {
				return p, unsaved
			}
		}
		return p, fmt.Errorf("ask for trial %d: %w", q.query.Trial, err)
	}
	if end := s.state.GapEnding(a.Note); end != nil {
		return p, cmp.Or(s.close(ctx, end), fmt.Errorf("%w: %s", ErrSpent, end.Detail))
	}
	return q.noted(study.Proposed{Origin: a.Origin, Values: s.state.Fresh(s.state.Search.Decode(a.Point)), Note: a.Note}), nil
}

// Try runs a study by calls of f: it asks for one trial after the other, and tells what f
// returns of it, or, if that is an error, that the trial has failed. It returns when there are
// no more trials to hand out, or at the end of ctx; nothing is told of the trial that this cuts
// short. Several goroutines may call it, so that as many trials run at a time; one for which there is
// nothing to try before another's trial has ended waits for that. Each trial is one call: repeats, retries,
// confirm, timeout and setup of a config are for commands.
//
// It begins with the trials that were handed out before this process had the study and were not told
// of: those that a process was trying when it was killed, of which nobody else will tell. One at which
// this has happened three times has failed, and so has one that is not known to be safe any more.
func (s *Study) Try(ctx context.Context, f func(study.Trial) (study.Metrics, error)) error {
	for {
		t, later, err := s.handOut(ctx, true)
		switch {
		case later != nil:
			select {
			case <-later:
			case <-ctx.Done():
				return ctx.Err()
			}
			continue
		case errors.Is(err, ErrSpent) || nothingElse(err):
			return nil
		case err == nil:
			err = s.try(ctx, t, f)
		}
		if err != nil {
			return err
		}
	}
}

// try is Try for one trial.
func (s *Study) try(ctx context.Context, t study.Trial, f func(study.Trial) (study.Metrics, error)) error {
	returned := false // or it panics
	defer func() { s.giveBack(t.Number, returned) }()
	metrics, err := f(t)
	returned = true
	switch {
	case err == nil:
		return s.Tell(t.Number, metrics)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return s.Fail(t.Number, err.Error())
}

// giveBack says that a trial is not being tried any more. One of which nothing was told is tried again, and notes
// that this was not its doing where its function has returned.
func (s *Study) giveBack(trial int, returned bool) {
	s.turn <- struct{}{}
	defer s.unlock()
	s.trying[slices.Index(s.trying, trial)] = 0
	delete(s.reported, trial)
	close(s.tried)
	s.tried = make(chan struct{})
	if t := s.state.Trials[trial-1]; !t.Done() && !s.closed {
		if s.orphans = append(s.orphans, trial); returned { // whatever prevents that is told by what follows
			_ = s.commit(study.Ended{Trial: trial, Attempt: t.NextAttempt(), Failure: &study.Failure{Kind: study.FailInterrupted, Text: errStopped.Error()}})
		}
	}
}

// Tell ends a trial that was handed out with its metrics by their names: the objectives, what
// has a limit, and whatever else the study looks at. One that must be told and is no finite number makes
// the trial a failure; any other such counts as not told.
func (s *Study) Tell(trial int, metrics map[string]float64) error {
	return s.end(trial, func(f *study.Finished, t *study.Trial) error { return s.judge(f, t, metrics) })
}

// Fail ends a trial that was handed out and has no result, for the reason given.
func (s *Study) Fail(trial int, why string) error {
	return s.end(trial, func(f *study.Finished, t *study.Trial) error {
		f.Status, f.Failure = optimizer.Failed, &study.Failure{Kind: study.FailTold, Text: why}
		if s.state.Unsafe() == "" && !s.state.MayRun(t) { // it says nothing of the limits
			f.Failure.Kind = study.FailLaunch
		}
		return nil
	})
}

// end ends a trial that was handed out as judge says.
func (s *Study) end(trial int, judge func(*study.Finished, *study.Trial) error) error {
	if err := s.lock(context.Background()); err != nil {
		return err
	}
	defer s.unlock()
	t, err := s.awaited(trial)
	if err != nil || t.Done() {
		return err
	}
	f := study.Finished{Trial: trial, Attempt: t.NextAttempt()}
	if err := judge(&f, t); err != nil {
		return err
	}
	return s.finish(f)
}

// awaited is a trial that was handed out, and not told of. It may have ended with what was reported of it.
func (s *Study) awaited(trial int) (*study.Trial, error) {
	t, err := s.state.Trial(trial)
	switch {
	case err != nil:
		return nil, err
	case t.Done() && !(t.Hand && t.Cut != nil && t.Cut.Attempt == t.Attempt):
		return nil, fmt.Errorf("trial %d is finished already", trial)
	case !t.Hand:
		return nil, fmt.Errorf("trial %d was not handed out: lbotune runs it", trial)
	}
	return t, nil
}

// finish commits the end of a trial that was handed out, after other events of it. If it was the last, the study
// ends, too.
func (s *Study) finish(f study.Finished, events ...study.Event) error {
	if r := s.reported[f.Trial]; r != nil {
		r.box.end()
		_, measured, _, _ := r.box.take(true)
		events = appendMeasured(events, layout.AttemptID{Trial: f.Trial, Attempt: f.Attempt}, measured)
		delete(s.reported, f.Trial)
	}
	if err := s.commit(append(events, f)...); err != nil {
		return err
	}
	return s.close(context.Background(), s.state.Ending(s.elapsed()))
}

// close ends the study so, unless it has ended, trials are awaited, or a session is to confirm the best ones.
func (s *Study) close(ctx context.Context, end *study.Closed) error {
	c := s.state.Closed
	if end == nil || s.state.Ended() || c != nil && c.Why == study.EndGuard && end.Why == c.Why || len(s.state.Pending()) > 0 {
		return nil
	}
	if slices.ContainsFunc(s.state.Trials, s.confirming) {
		return nil // a session was killed as it confirmed; the next one takes that up
	}
	ran := func(t *study.Trial) bool { return !t.Hand || len(t.Confirms) > 0 }
	if end.Why != study.EndUnsafe && len(s.state.Unconfirmed()) > 0 && slices.ContainsFunc(s.state.Trials, ran) {
		return nil // the next session confirms them
	}
	s.recommend(end, func(answered <-chan asked) asked {
		select {
		case a := <-answered:
			return a
		case <-ctx.Done():
			return asked{err: ctx.Err()}
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.commit(*end)
}

// judge completes the end of a trial by what is told of it, if that is what the study must know.
func (s *Study) judge(f *study.Finished, t *study.Trial, told study.Metrics) error {
	c := &s.state.Config
	objective := c.Objective().Name
	if _, ok := told[objective]; !ok {
		return fmt.Errorf("%s, the objective, must be told", objective)
	}
	f.Metrics = maps.Clone(told)
	if err := known(c, told); err != nil {
		return err
	}
	for _, m := range c.Metrics {
		value, ok := told[m.Name]
		switch {
		case !ok || finite(value):
		case required(m):
			text := fmt.Sprintf("its value is %v", value)
			if m.Name != objective {
				text = fmt.Sprintf("its %s is %v", m.Name, value)
			}
			f.Status, f.Metrics, f.Failure = optimizer.Failed, nil, &study.Failure{Kind: study.FailNotFinite, Text: text}
			return nil
		default:
			delete(f.Metrics, m.Name)
		}
	}
	for _, m := range c.Metrics {
		if _, ok := told[m.Name]; required(m) && !ok {
			return fmt.Errorf("%s is an objective or has a limit, and must be told, too", m.Name)
		}
	}
	graded(s.state, t.Values(), f)
	return nil
}

// known says which of some metrics the study has not.
func known(c *study.Config, told study.Metrics) error {
	for name := range told {
		if !slices.ContainsFunc(c.Metrics, func(m study.Metric) bool { return m.Name == name }) {
			return fmt.Errorf("there is no other metric %q", name)
		}
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
