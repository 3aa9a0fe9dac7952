package session

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/pruner"
	"github.com/lbotune/lbotune/study"
)

// rewatch makes a pruner that knows what was kept.
func (s *Study) rewatch() (err error) {
	s.pruner, err = pruner.For(s.state.Config.Prune, s.state.Config.Objective().Direction == study.Minimize)
	s.watch(s.state.Watched, true)
	return err
}

// watchOn tells the pruner of the endings that were committed since. It knows the readings.
func (s *Study) watchOn() { s.watch(s.state.Watched[s.watched:], false) }

// watchAgain tells the pruner what was kept of a trial that counts again.
func (s *Study) watchAgain(trial int) {
	s.watch(slices.DeleteFunc(slices.Clone(s.state.Watched), func(w pruner.Call) bool {
		return w.Reading.Trial != trial && w.Finish != trial && w.Forget != trial
	}), true)
}

// watch tells the pruner, if there is one, of some calls, after which it knows all that there are.
func (s *Study) watch(calls []pruner.Call, readings bool) {
	if s.pruner == nil {
		return
	}
	for _, w := range calls {
		if readings && w.Reading.Trial > 0 {
			s.pruner.Restore(w.Reading)
		}
		if w.Finish > 0 {
			s.pruner.Finish(w.Finish, w.Reading.Value)
		}
		if w.Forget > 0 {
			s.pruner.Forget(w.Forget)
		}
	}
	s.watched = len(s.state.Watched)
}

// collect takes what a running attempt has printed since, and decides. A broken limit
// always waits: a program may print all it has as it ends. Settled says that it has waited.
func (l *loop) collect(r *attempt, settled bool) {
	if l.study.running[r.id.Trial] != r {
		return // it has ended
	}
	batch, breach, later := l.empty(r, settled)
	if later {
		time.AfterFunc(r.box.settling(), func() { l.send(func() { l.collect(r, true) }) })
		return
	}
	l.judge(r, batch, true)
	l.events = cutAt(breach, &r.cut, r.config.Safety, l.events)
}

// cutAt notes that an attempt has broken a limit, if it has, unless it is being stopped already for something as grave.
func cutAt(breach *study.Cut, cut **study.Cut, s *study.Safety, events []study.Event) []study.Event {
	if breach == nil || !graver(s, breach, *cut) {
		return events
	}
	breach.Complete = *cut != nil && (*cut).Complete // which it stays
	*cut = breach
	return append(events, *breach)
}

// graver reports whether an attempt is to be stopped at cut: it was not before, or not at the safety limit, and now is.
func graver(s *study.Safety, cut, before *study.Cut) bool {
	return before == nil || breaks(s, cut) && !breaks(s, before)
}

// breaks reports whether an attempt is stopped at a reading over the safety limit, if there is one, by more than the noise.
func breaks(s *study.Safety, c *study.Cut) bool {
	if s == nil || c.Metric != s.Metric {
		return false
	}
	over := c.Reading.Value - s.At
	if s.Least {
		over = -over
	}
	return over > s.Noise
}

// judge gives the pruner the readings of an attempt, and keeps those that others are
// compared with. As long as the attempt runs, the pruner may stop it.
func (l *loop) judge(r *attempt, batch []study.Reading, runs bool) {
	if r.cut != nil {
		return
	}
	var events []study.Event
	events, r.cut = l.study.verdict(r.id, batch, runs, l.warn)
	l.events = append(l.events, events...)
}

// verdict is judge for any attempt, as events.
func (s *Study) verdict(id layout.AttemptID, batch []study.Reading, runs bool,
	warn func(of any, text string, args ...any)) (events []study.Event, cut *study.Cut) {
	var keep []study.Reading
	for _, reading := range batch {
		d := s.pruner.Read(s.state.Maximized(id.Trial, reading))
		if d.Keep {
			keep = append(keep, reading)
		}
		if d.Steeper > 0 {
			warn("slope", "slope of [prune] does not hold; steeper ones that are seen take its place",
				"stated", s.state.Config.Prune.Slope, "trial", id.Trial, "step", reading.Step, "seen", d.Steeper)
		}
		if d.Stop && runs {
			s.opts.Log.Debug("stopped early", "trial", id.Trial, "attempt", id.Attempt, "why", d.Why)
			cut = &study.Cut{Trial: id.Trial, Attempt: id.Attempt, Reading: reading, Why: d.Why, Complete: d.Complete}
			events = append(events, *cut)
			break
		}
	}
	if len(keep) > 0 {
		events = append(events, study.Readings{Trial: id.Trial, Attempt: id.Attempt, Readings: keep})
	}
	return events, cut
}

// settling is the longest that readings wait that come several at a time. They may be
// what a program has gathered and prints as it ends: then it is complete, and nothing is
// left to be saved by stopping it.
const settling = time.Second

// empty empties the box of an attempt: it records the measurements, and returns
// the readings for the pruner, and the limit that is broken, if one is.
func (l *loop) empty(r *attempt, settled bool) (readings []study.Reading, breach *study.Cut, later bool) {
	readings, measurements, breach, later := r.box.take(settled)
	for _, m := range measurements {
		l.study.opts.Log.Log(l.base, levelTrace, "reading", "trial", r.id.Trial, "attempt", r.id.Attempt, "step", m.Step, "metrics", m.Metrics)
	}
	l.events = appendMeasured(l.events, r.id, measurements)
	return readings, breach, later
}

// unpicked reports whether an attempt that had reported all there is to expect has been lost since: the reading that
// its metric picks is unknown then, unless it picks the last.
func unpicked(config *study.Config, c *study.Cut, o outcome) bool {
	pick := cmp.Or(config.Objective().Rule.Pick, "last")
	return c.Complete && o.partial == nil && pick != "last" && (o.byOthers || o.failure.Kind != study.FailInterrupted)
}

// prunedOutcome is that of an attempt that was stopped early: what it has reported. If
// more was to be expected of it, what it was judged by has its last reading.
func prunedOutcome(config *study.Config, c *study.Cut, o outcome) outcome {
	objectives := config.Objectives()
	o.metrics = study.Metrics{}
	maps.Copy(o.metrics, o.partial)
	o.failure = &study.Failure{Kind: study.FailPruned, Text: "stopped early " + c.Why}
	missing := ""
	for _, m := range config.Metrics {
		if m.Measure != "" && !c.Complete { // it would be too little
			delete(o.metrics, m.Name)
		}
		if _, has := o.metrics[m.Name]; !has && m.Limited() {
			missing = cmp.Or(missing, m.Name)
		}
	}
	if c.Metric != "" && !(c.Complete && o.partial != nil) {
		o.metrics[c.Metric] = c.Reading.Value
		return o
	}
	if !c.Complete || o.partial == nil {
		for j, v := range append([]float64{c.Reading.Value}, c.Reading.Others...) {
			o.metrics[objectives[j].Name] = v
		}
	}
	switch {
	case !finite(o.metrics[objectives[0].Name]):
		o.failure.Kind = study.FailNotFinite
	case c.Complete && missing != "":
		o.failure.Text += ", when " + missing + " was not known yet"
	case c.Complete:
		o.failure = nil
	}
	return o
}
