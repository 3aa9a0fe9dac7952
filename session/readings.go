package session

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lbotune/lbotune/internal/pruner"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/study"
)

// denseReadings is how many readings of an attempt the pruner sees one by one.
// Then it sees every second, and with each doubling half as many of them, so
// that a million readings make some ten thousand.
const denseReadings = 2048

// readingBox collects what one attempt reports until the loop takes it: readings of the
// objective, if there is a pruner, and the attempt's course. However fast they come, the loop is
// told once.
type readingBox struct {
	notify func() // the loop, once there is something to take
	// objectives are the metrics of which the pruner wants readings, if any.
	objectives []int

	chunk    sync.Mutex // held while a chunk of the output is read
	mu       sync.Mutex
	began    time.Time // the attempt; zero if what is read was printed at another time
	told     bool      // the loop knows
	waiting  []study.Reading
	counters []pruner.Counter // of the metrics: the steps of readings that have none
	open     map[int]float64  // their values at one step, so far
	step     float64
	thin     thinning
	course   course
	measured []study.Measurement
	limits   map[int][]study.Limit // by metric, where the first reading that breaks one stops the trial
	breach   *study.Cut            // of the first limit that was seen to be broken
}

// breachOf is the decision that follows from a reading at a step, if it breaks one of the limits of
// its metric.
func breachOf(limits []study.Limit, step, value float64) *study.Cut {
	for _, l := range limits {
		read := study.Metrics{l.Metric: value}
		if l.Over(read) > 0 {
			return &study.Cut{Metric: l.Metric, Reading: study.Reading{Step: step, Value: value},
				Why: fmt.Sprintf("at step %v: %s", step, l.Broken(read))}
		}
	}
	return nil
}

func (b *readingBox) add(r parser.Reading) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := 0.0
	if !b.began.IsZero() {
		at = seconds(time.Since(b.began))
	}
	step := b.counters[r.Metric].Step(r.Step, r.HasStep)
	if m, keep := b.course.add(r, step, at); keep {
		b.measured = append(b.measured, m)
	}
	if b.breach == nil {
		b.breach = breachOf(b.limits[r.Metric], step, r.Value)
	}
	if i := slices.Index(b.objectives, r.Metric); i >= 0 {
		b.reading(i, step, r.Value)
	}
}

// reading takes one of objective i for the pruner. Those of several objectives are one when
// all have come at the same step.
func (b *readingBox) reading(i int, step, value float64) {
	if step != b.step {
		clear(b.open)
	}
	b.step, b.open[i] = step, value
	if len(b.open) < len(b.objectives) {
		return
	}
	if b.thin.keeps() {
		r := study.Reading{Step: step, Value: b.open[0]}
		for j := 1; j < len(b.objectives); j++ {
			r.Others = append(r.Others, b.open[j])
		}
		b.waiting = append(b.waiting, r)
	}
	clear(b.open)
}

// filler reads what a running attempt prints, by its scanner, into the attempt's box:
// what is there at once is taken at once. Without a box it only reads.
type filler struct {
	box     *readingBox
	scanner *parser.Scanner
}

// Write implements io.Writer.
func (f filler) Write(p []byte) (int, error) {
	if f.box == nil {
		return f.scanner.Write(p)
	}
	f.box.chunk.Lock()
	n, err := f.scanner.Write(p)
	f.box.chunk.Unlock()
	f.box.tell()
	return n, err
}

// Gap tells the scanner that output was lost.
func (f filler) Gap() { f.scanner.Gap() }

// tell tells the loop, once, that there is something to take.
func (b *readingBox) tell() {
	b.mu.Lock()
	tell := !b.told && (len(b.waiting)+len(b.measured) > 0 || b.breach != nil)
	b.told = b.told || tell
	b.mu.Unlock()
	if tell {
		b.notify()
	}
}

// since says when the attempt began whose output is read as it is printed.
func (b *readingBox) since(began time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.began = began
}

// settling is how long readings wait now: few programs take longer to end than they have run,
// and a trial of a second or two must not be over before it is judged.
func (b *readingBox) settling() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.began.IsZero() {
		return settling
	}
	return min(settling, max(settling/4, time.Since(b.began)))
}

// end says that no reading follows.
func (b *readingBox) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m, keep := b.course.end(); keep {
		b.measured = append(b.measured, m)
	}
}

// putBack returns what was taken. The loop comes back for it.
func (b *readingBox) putBack(readings []study.Reading, breach *study.Cut) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting, b.told = append(readings, b.waiting...), true
	if breach != nil {
		b.breach = breach
	}
}

func (b *readingBox) take() ([]study.Reading, []study.Measurement, *study.Cut) {
	b.chunk.Lock()
	defer b.chunk.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	rs, ms, breach := b.waiting, b.measured, b.breach
	b.waiting, b.measured, b.breach, b.told = nil, nil, nil, false
	return rs, ms, breach
}

// denseMeasurements is how many measurements of an attempt are kept one by one. Then it is every
// second, and with each doubling half as many of them, so that a million make some five hundred.
const denseMeasurements = 64

// course makes measurements of the readings of one attempt: readings of different
// metrics at one step belong together.
type course struct {
	names []string // of the metrics
	known int      // so many were recorded by an earlier session

	open  study.Measurement // not complete
	steps bool              // a step was printed with it
	count int               // complete ones
	thin  thinning
}

func newCourse(metrics []study.Metric, known int) course {
	c := course{known: known, thin: thinning{dense: denseMeasurements}}
	for _, m := range metrics {
		c.names = append(c.names, m.Name)
	}
	return c
}

// add takes a reading at a step that was read so many seconds after the attempt's start. It
// returns the measurement that is complete by it, if that is to be kept.
func (c *course) add(r parser.Reading, step, seconds float64) (m study.Measurement, keep bool) {
	name := c.names[r.Metric]
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

func (t *thinning) keeps() bool {
	t.stride = max(t.stride, 1)
	t.count++
	if t.count > t.dense*t.stride {
		t.stride *= 2
	}
	return t.count%t.stride == 0
}
