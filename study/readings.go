package study

import (
	"encoding/json"
	"fmt"
	"math"
	"sync"

	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/parser"
)

// Reading is an intermediate value of the metric.
type Reading struct{ Step, Value float64 }

// MarshalJSON writes [step, value].
func (r Reading) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]journal.Float{journal.Float(r.Step), journal.Float(r.Value)})
}

// UnmarshalJSON reads [step, value].
func (r *Reading) UnmarshalJSON(b []byte) error {
	var pair [2]journal.Float
	if err := json.Unmarshal(b, &pair); err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	r.Step, r.Value = float64(pair[0]), float64(pair[1])
	return nil
}

// readings tells the loop that an attempt has printed more readings. They wait
// in the box: however fast they come, one message is under way.
type readings struct {
	id  AttemptID
	box *readingBox
}

// maxReadings bounds the readings of one attempt that are kept: beyond it every
// second one is dropped, again and again.
const maxReadings = 2048

// readingBox collects the readings of one attempt until the loop takes them.
type readingBox struct {
	notify func() // the loop, once there is something to take

	mu      sync.Mutex
	waiting []Reading
	told    bool // the loop knows
	count   int  // readings so far
	stride  int  // of so many readings one is kept
}

// add takes a reading. Without a step of its own it gets its number.
func (b *readingBox) add(r parser.Reading) {
	b.mu.Lock()
	b.count++
	if b.stride == 0 {
		b.stride = 1
	}
	if b.count > maxReadings*b.stride {
		b.stride *= 2
	}
	if b.count%b.stride != 0 {
		b.mu.Unlock()
		return
	}
	step := float64(b.count)
	if r.HasStep {
		step = r.Step
	}
	b.waiting = append(b.waiting, Reading{step, r.Value})
	tell := !b.told
	b.told = true
	b.mu.Unlock()
	if tell {
		b.notify()
	}
}

// take empties the box.
func (b *readingBox) take() []Reading {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.waiting
	b.waiting, b.told = nil, false
	return out
}

// lastFinite returns the last reading that is a number.
func lastFinite(rs []Reading) (float64, bool) {
	for i := len(rs) - 1; i >= 0; i-- {
		if v := rs[i].Value; !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v, true
		}
	}
	return 0, false
}
