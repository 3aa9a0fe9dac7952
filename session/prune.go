package session

import (
	"maps"
	"math"
	"time"

	"github.com/lbotune/lbotune/study"
)

// rewatch makes a pruner that knows what was kept.
func (l *loop) rewatch() (err error) {
	if l.pruner, err = l.study.state.Config.Pruner(); l.pruner == nil {
		return err
	}
	for _, w := range l.study.state.Watched {
		if w.Reading.Trial > 0 {
			l.pruner.Restore(w.Reading)
		}
		l.endWatch(w)
	}
	l.watched = len(l.study.state.Watched)
	return nil
}

// watchOn tells the pruner of the endings that were committed since. It knows
// the readings already.
func (l *loop) watchOn() {
	if l.pruner == nil {
		return
	}
	for _, w := range l.study.state.Watched[l.watched:] {
		l.endWatch(w)
	}
	l.watched = len(l.study.state.Watched)
}

func (l *loop) endWatch(w study.Watched) {
	if w.Finish > 0 {
		l.pruner.Finish(w.Finish, w.Reading.Value)
	}
	if w.Forget > 0 {
		l.pruner.Forget(w.Forget)
	}
}

// collect takes what a running attempt has printed since, and decides. A broken limit
// always waits: a program may print all it has as it ends.
func (l *loop) collect(m readings) {
	r := l.study.running[m.id.Trial]
	if r == nil || r.id != m.id {
		return // it has ended
	}
	batch, breach := l.recordCourse(m.id, m.box)
	if (len(batch) > 1 || breach != nil) && !m.settled {
		m.box.putBack(batch, breach)
		time.AfterFunc(m.box.settling(), func() { l.send(readings{id: m.id, box: m.box, settled: true}) })
		return
	}
	l.judge(r, batch, true)
	if breach != nil && !r.cut {
		r.cut = true
		breach.Trial, breach.Attempt = r.id.Trial, r.id.Attempt
		l.events = append(l.events, *breach)
	}
}

// judge gives the pruner the readings of an attempt, and keeps those that others are
// compared with. As long as the attempt runs, the pruner may stop it.
func (l *loop) judge(r *running, batch []study.Reading, runs bool) {
	var keep []study.Reading
	for _, reading := range batch {
		if r.cut {
			break
		}
		d := l.pruner.Read(l.study.state.Maximized(r.id.Trial, reading))
		if d.Keep {
			keep = append(keep, reading)
		}
		if d.Steeper > 0 && !l.steeper {
			l.steeper = true
			l.study.opts.Log.Warn("slope of [prune] does not hold; steeper ones that are seen take its place", "stated", l.study.state.Config.Prune.Slope, "trial", r.id.Trial, "step", reading.Step, "seen", d.Steeper)
		}
		if d.Stop && runs {
			r.cut = true
			l.events = append(l.events, study.Cut{Trial: r.id.Trial, Attempt: r.id.Attempt, Reading: reading, Why: d.Why, Complete: d.Complete})
		}
	}
	if len(keep) > 0 {
		l.events = append(l.events, study.Readings{Trial: r.id.Trial, Attempt: r.id.Attempt, Readings: keep})
	}
}

// settling is the longest that readings wait that come several at a time. They may be
// what a program has gathered and prints as it ends: then it is complete, and nothing is
// left to be saved by stopping it.
const settling = time.Second

// collectRest takes the readings of an attempt that has ended. They stop nothing any
// more, but others are compared with them.
func (l *loop) collectRest(r *running) {
	if r.box != nil {
		batch, _ := l.recordCourse(r.id, r.box)
		l.judge(r, batch, false)
	}
}

// recordCourse empties the box of an attempt: it records the measurements, and returns
// the readings for the pruner, and the limit that is broken, if one is.
func (l *loop) recordCourse(id study.AttemptID, b *readingBox) ([]study.Reading, *study.Cut) {
	readings, measurements, breach := b.take()
	if len(measurements) > 0 {
		l.events = append(l.events, study.Measured{Trial: id.Trial, Attempt: id.Attempt, Measurements: measurements})
	}
	return readings, breach
}

// cutShort ends the attempts that are to be stopped, once that is recorded.
func (l *loop) cutShort() {
	for _, r := range l.study.running {
		if r.cut {
			r.end(errPruned)
		}
	}
}

// prunedOutcome is that of an attempt that was stopped early: what it has reported. If
// more was to be expected of it, what it was judged by has its last reading.
func prunedOutcome(objectives []study.Metric, c *study.Cut, o outcome) outcome {
	o.metrics = study.Metrics{}
	maps.Copy(o.metrics, o.partial)
	if c.Metric != "" {
		o.metrics[c.Metric] = c.Reading.Value
		o.failure = &study.Failure{Kind: study.FailPruned, Text: "stopped early " + c.Why}
		return o
	}
	if !c.Complete || o.partial == nil {
		for j, v := range append([]float64{c.Reading.Value}, c.Reading.Others...) {
			o.metrics[objectives[j].Name] = v
		}
	}
	v, _ := o.metrics.Get(objectives[0].Name)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		o.failure = &study.Failure{Kind: study.FailNotFinite, Text: "stopped early " + c.Why}
	case c.Complete:
		o.failure = nil
	default:
		o.failure = &study.Failure{Kind: study.FailPruned, Text: "stopped early " + c.Why}
	}
	return o
}
