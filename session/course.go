package session

import (
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/study"
	"github.com/lbotune/lbotune/study/pruner"
)

// denseMeasurements is how many measurements of an attempt are kept one by one. Then
// it is every second, and with each doubling half as many of them, so that a million
// make some five hundred.
const denseMeasurements = 64

// course makes measurements of the readings of one attempt: readings of different
// metrics at one step belong together.
type course struct {
	names    []string         // of the metrics
	counters []pruner.Counter // the steps of readings that have none
	known    int              // so many were recorded by an earlier session

	open  study.Measurement // not complete
	steps bool              // a step was printed with it
	count int               // complete ones
	thin  thinning
}

func newCourse(metrics []study.Metric, known int) course {
	c := course{known: known, counters: make([]pruner.Counter, len(metrics)), thin: thinning{dense: denseMeasurements}}
	for _, m := range metrics {
		c.names = append(c.names, m.Name)
	}
	return c
}

// add takes a reading that was read so many seconds after the attempt's start. It
// returns the measurement that is complete by it, if that is to be kept.
func (c *course) add(r parser.Reading, seconds float64) (m study.Measurement, keep bool) {
	name, step := c.names[r.Metric], c.counters[r.Metric].Step(r.Step, r.HasStep)
	if _, again := c.open.Metrics[name]; again || c.open.Metrics != nil && c.open.Step != step {
		m, keep = c.complete()
	}
	if c.open.Metrics == nil {
		c.open = study.Measurement{Step: step, Seconds: seconds, Metrics: study.Metrics{}}
	}
	c.open.Metrics[name] = r.Value
	c.steps = c.steps || r.HasStep
	return m, keep
}

// end returns the last measurement, if it is to be kept. The only one of a program that
// prints no steps is its result and no course.
func (c *course) end() (m study.Measurement, keep bool) {
	if c.open.Metrics == nil || c.count == 0 && !c.steps {
		return m, false
	}
	return c.complete()
}

func (c *course) complete() (m study.Measurement, keep bool) {
	m = c.open
	c.open = study.Measurement{}
	c.count++
	if !c.thin.keeps() {
		return m, false
	}
	c.known--
	return m, c.known < 0
}

// thinning keeps the first so many of a sequence, then every second, and with each
// doubling half as many of them.
type thinning struct {
	dense, count, stride int
}

// keeps reports whether the next one is kept.
func (t *thinning) keeps() bool {
	t.stride = max(t.stride, 1)
	t.count++
	if t.count > t.dense*t.stride {
		t.stride *= 2
	}
	return t.count%t.stride == 0
}
