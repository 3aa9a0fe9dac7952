package session

import (
	"sync"

	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/pruner"
	"github.com/lbotune/lbotune/study"
)

// readings tells the loop that an attempt has printed more readings. They wait
// in the box: however fast they come, one message is under way.
type readings struct {
	id      study.AttemptID
	box     *readingBox
	settled bool // they have waited, and the attempt still runs
}

// denseReadings is how many readings of an attempt the pruner sees one by one.
// Then it sees every second, and with each doubling half as many of them, so
// that a million readings make some ten thousand.
const denseReadings = 2048

// readingBox collects the readings of one attempt until the loop takes them.
type readingBox struct {
	notify func() // the loop, once there is something to take

	mu      sync.Mutex
	waiting []study.Reading
	told    bool // the loop knows
	counter pruner.Counter
	count   int
	stride  int // of so many readings one is kept
}

// add takes a reading.
func (b *readingBox) add(r parser.Reading) {
	if b.put(r) {
		b.notify()
	}
}

// put reports whether the loop must be told.
func (b *readingBox) put(r parser.Reading) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	step := b.counter.Step(r.Step, r.HasStep)
	b.count++
	if b.count > denseReadings*max(b.stride, 1) {
		b.stride = 2 * max(b.stride, 1)
	}
	if b.stride > 1 && b.count%b.stride != 0 {
		return false
	}
	b.waiting = append(b.waiting, study.Reading{Step: step, Value: r.Value})
	if b.told {
		return false
	}
	b.told = true
	return true
}

// putBack returns what was taken. The loop comes back for it.
func (b *readingBox) putBack(readings []study.Reading) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting, b.told = append(readings, b.waiting...), true
}

// take empties the box.
func (b *readingBox) take() []study.Reading {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.waiting
	b.waiting, b.told = nil, false
	return out
}
