package session

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/pruner"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/study"
)

// denseReadings is how many readings of an attempt the pruner sees one by one.
// Then it sees every second, and with each doubling half as many of them, so
// that a million readings make some ten thousand.
const denseReadings = 2048

// denseMeasurements is the same for the measurements of an attempt that are kept, so that a million
// make some five hundred.
const denseMeasurements = 64

// readingBox collects what one attempt reports until the loop takes it: readings of the
// objective, if there is a pruner, and the attempt's course. However fast they come, the loop is
// told once.
type readingBox struct {
	notify  func() // the loop, once there is something to take
	metrics []study.Metric
	// objectives are the metrics of which the pruner wants readings, if any.
	objectives []int
	limits     []study.Limit // the first reading that breaks one stops the trial
	safety     *study.Safety
	id         layout.AttemptID

	chunk    sync.Mutex // held while a chunk of the output is read
	mu       sync.Mutex
	began    time.Time        // the attempt; zero if what is read was printed at another time
	told     bool             // the loop knows
	counters []pruner.Counter // of the metrics: the steps of readings that have none
	breach   *study.Cut       // of the first limit that was seen to be broken, or of the safety limit

	waiting []study.Reading
	open    map[int]float64 // values of the objectives at one step, so far
	step    float64
	thin    thinning

	// Readings of different metrics at one step are one measurement.
	measured []study.Measurement
	last     study.Measurement // not complete
	passed   study.Measurement // the one before it, if it was one too many
	steps    bool              // a step was printed with it
	course   thinning
	known    int // so many were recorded by an earlier session
}

func newBox(c *study.Config, t *study.Trial, attempt int) *readingBox {
	b := &readingBox{metrics: c.Metrics, counters: make([]pruner.Counter, len(c.Metrics)),
		open: map[int]float64{}, known: t.MeasuredBy(attempt), safety: c.Safety, id: layout.AttemptID{Trial: t.Number, Attempt: attempt}}
	for i, m := range c.Metrics {
		if m.Direction != "" && c.Prunes() && len(t.Repeats) == 0 {
			b.objectives = append(b.objectives, i)
		}
	}
	b.limits = slices.DeleteFunc(c.Limits(), func(l study.Limit) bool {
		stops := func(m study.Metric) bool { return m.Name == l.Metric && m.StopsEarly() }
		return !slices.ContainsFunc(c.Metrics, stops)
	})
	return b
}

func (b *readingBox) add(r parser.Reading) {
	b.mu.Lock()
	defer b.mu.Unlock()
	step := b.counters[r.Metric].Step(r.Step, r.HasStep)
	b.measure(r, step)
	for _, l := range b.limits {
		read := study.Metrics{b.metrics[r.Metric].Name: r.Value}
		if !(l.Over(read) > 0) {
			continue
		}
		if cut := (&study.Cut{Trial: b.id.Trial, Attempt: b.id.Attempt, Metric: l.Metric, Reading: study.Reading{Step: step, Value: r.Value}}); graver(b.safety, cut, b.breach) {
			cut.Why = fmt.Sprintf("at step %v: %s", step, l.Broken(read))
			b.breach = cut
		}
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
	if b.thin.keeps(denseReadings) {
		r := study.Reading{Step: step, Value: b.open[0]}
		for j := 1; j < len(b.objectives); j++ {
			r.Others = append(r.Others, b.open[j])
		}
		b.waiting = append(b.waiting, r)
	}
	clear(b.open)
}

// measure adds a reading to the measurement of its step.
func (b *readingBox) measure(r parser.Reading, step float64) {
	name := b.metrics[r.Metric].Name
	if _, again := b.last.Metrics[name]; again || b.last.Metrics != nil && b.last.Step != step {
		b.complete()
	}
	if b.last.Metrics == nil {
		b.last = study.Measurement{Step: step, Metrics: study.Metrics{}}
		if !b.began.IsZero() {
			b.last.Seconds = journal.Seconds(time.Since(b.began))
		}
	}
	b.last.Metrics[name] = r.Value
	b.steps = b.steps || r.HasStep
}

// complete keeps the last measurement, unless it is one too many.
func (b *readingBox) complete() {
	b.passed = b.last
	if b.course.keeps(denseMeasurements) {
		b.keep()
	}
	b.last = study.Measurement{}
}

// keep records the measurement that was passed, unless an earlier session has.
func (b *readingBox) keep() {
	if b.known--; b.known < 0 {
		b.measured = append(b.measured, b.passed)
	}
	b.passed = study.Measurement{}
}

// filler reads what a running attempt prints, by its scanner, into the attempt's box:
// what is there at once is taken at once. Without a box it only reads.
type filler struct {
	*parser.Scanner
	box *readingBox
}

// Write implements io.Writer.
func (f filler) Write(p []byte) (int, error) {
	if f.box == nil {
		return f.Scanner.Write(p)
	}
	f.box.chunk.Lock()
	n, err := f.Scanner.Write(p)
	f.box.chunk.Unlock()
	f.box.tell()
	return n, err
}

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

// end says that no reading follows: the last measurement is kept. The only one of a program that prints no
// steps is its result and no course.
func (b *readingBox) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last.Metrics != nil && (b.course.count > 0 || b.steps) {
		b.complete()
	}
	if b.passed.Metrics != nil {
		b.keep()
	}
}

// take empties the box. Unless they have settled, several readings, and a broken limit, stay in it,
// and the loop comes back for them later.
func (b *readingBox) take(settled bool) (rs []study.Reading, ms []study.Measurement, breach *study.Cut, later bool) {
	b.chunk.Lock()
	defer b.chunk.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	ms, b.measured = b.measured, nil
	if later = !settled && (len(b.waiting) > 1 || b.breach != nil); !later {
		rs, breach = b.waiting, b.breach
		b.waiting, b.breach = nil, nil
	}
	b.told = later
	return rs, ms, breach, later
}

// thinning keeps the first so many (dense) of a sequence, then every second, and with each
// doubling half as many of them.
type thinning struct {
	count, stride int
}

func (t *thinning) keeps(dense int) bool {
	t.stride = max(t.stride, 1)
	t.count++
	if t.count > dense*t.stride {
		t.stride *= 2
	}
	return t.count%t.stride == 0
}
