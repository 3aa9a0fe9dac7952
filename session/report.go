package session

import (
	"context"
	"math"
	"slices"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/study"
)

// report is what was reported of a trial that was handed out.
type report struct {
	box    *readingBox
	picked []parser.Fold // of the metrics
}

// Report takes readings of a trial that was handed out, under way, by the names of their metrics. Those of several
// objectives count once all have come with the same step. A step that is NaN is counted. If a rule or a limit
// stops the trial, it has ended, and over is true: it need not be told any more, and what is told counts for nothing.
//
// A trial that an earlier process had begins anew with its first report.
func (s *Study) Report(trial int, step float64, metrics study.Metrics) (over bool, err error) {
	if err := s.lock(context.Background()); err != nil {
		return false, err
	}
	defer s.unlock()
	t, err := s.awaited(trial)
	if err != nil || t.Done() {
		return err == nil, err
	}
	c := &s.state.Config
	if err := known(c, metrics); err != nil {
		return false, err
	}
	r, err := s.reportOf(t)
	if err != nil {
		return false, err
	}
	for i, m := range c.Metrics {
		if v, ok := metrics[m.Name]; ok {
			r.box.add(parser.Reading{Metric: i, Step: step, HasStep: !math.IsNaN(step), Value: v})
			r.picked[i].Add(v)
		}
	}
	if len(r.box.last.Metrics) == len(c.Metrics) { // else more of this step may come
		r.box.complete()
	}
	batch, measured, breach, _ := r.box.take(true)
	events, cut := s.verdict(r.box.id, batch, true, func(_ any, text string, args ...any) { s.opts.Log.Warn(text, args...) })
	events = appendMeasured(events, r.box.id, measured)
	if events = cutAt(breach, &cut, c.Safety, events); cut == nil {
		return false, s.commit(events...)
	}
	return true, s.finish(stopped(s.state, t, cut, r.partial(c, cut)), events...)
}

// reportOf is what was reported of a trial, by this process.
func (s *Study) reportOf(t *study.Trial) (*report, error) {
	if s.pruner == nil {
		if err := s.rewatch(); err != nil {
			return nil, err
		}
	}
	r := s.reported[t.Number]
	if r == nil {
		if n := t.NextAttempt(); t.Seen || t.MeasuredBy(n) > 0 {
			why := &study.Failure{Kind: study.FailInterrupted, Text: errStopped.Error()}
			if err := s.commit(study.Ended{Trial: t.Number, Attempt: n, Failure: why}); err != nil {
				return nil, err
			}
		}
		c := &s.state.Config
		picked := lists.Map(c.Metrics, func(m study.Metric) parser.Fold { return parser.Fold{Pick: m.Rule.Pick} })
		r = &report{newBox(c, t, t.NextAttempt()), picked}
		s.reported[t.Number] = r
	}
	s.watchOn()
	return r, nil
}

// partial is the value of each metric, as far as the trial has come. One that is not finite is not known, but
// for an objective: by that a trial which a rule has stopped is judged.
func (r *report) partial(c *study.Config, cut *study.Cut) study.Metrics {
	metrics := study.Metrics{}
	for i, m := range c.Metrics {
		if v, ok := r.picked[i].Value(); ok && (finite(v) || (cut.Metric == "" || cut.Complete) && slices.Contains(r.box.objectives, i)) {
			metrics[m.Name] = v
		}
	}
	return metrics
}

func appendMeasured(events []study.Event, id layout.AttemptID, measured []study.Measurement) []study.Event {
	if len(measured) == 0 {
		return events
	}
	return append(events, study.Measured{Trial: id.Trial, Attempt: id.Attempt, Measurements: measured})
}

// stopped is the end of a trial that was handed out and is stopped early.
func stopped(st *study.State, t *study.Trial, cut *study.Cut, partial study.Metrics) study.Finished {
	o := prunedOutcome(&st.Config, cut, outcome{partial: partial})
	f := study.Finished{Trial: t.Number, Attempt: cut.Attempt, Status: optimizer.Failed, Failure: o.failure}
	switch {
	case o.failure == nil:
		f.Metrics = o.metrics
		graded(st, t.Values(), &f)
	case o.failure.Kind == study.FailPruned:
		f.Status, f.Metrics = optimizer.Pruned, o.metrics
	}
	return f
}
