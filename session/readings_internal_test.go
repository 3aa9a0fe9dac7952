package session

import (
	"io"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/parser"
	"github.com/lbotune/lbotune/internal/pruner"
	"github.com/lbotune/lbotune/study"
)

// What a program prints at once reaches the loop at once, however soon the loop looks:
// the first of many readings alone would be judged.
func TestReadingsOfOneWriteAreOne(t *testing.T) {
	pattern, err := parser.Compile(parser.Rule{Metric: "loss"})
	if err != nil {
		t.Fatal(err)
	}
	var taken []int
	box := &readingBox{objectives: []int{0}, counters: make([]pruner.Counter, 1), open: map[int]float64{}, course: newCourse([]study.Metric{{}}, 0), thin: thinning{dense: denseReadings}}
	box.notify = func() {
		readings, _, _ := box.take()
		taken = append(taken, len(readings))
	}
	f := filler{box, parser.NewCollector(pattern).Scanner(parser.Stdout, box.add)}
	for _, text := range []string{"loss=3\nloss=2\nloss=1\n", "nothing\n", "loss=1\nloss=1\n"} {
		if _, err := io.WriteString(f, text); err != nil {
			t.Fatal(err)
		}
	}
	if len(taken) != 2 || taken[0] != 3 || taken[1] != 2 {
		t.Errorf("the loop took %v readings, want 3 and 2", taken)
	}
}

// A program that prints its epochs within a second has ended before readings that came
// together have waited for one: they wait about as long as it has run.
func TestReadingsSettleNoLongerThanTheProgramHasRun(t *testing.T) {
	var box readingBox
	if got := box.settling(); got != settling {
		t.Errorf("rejoined: %v, want %v", got, settling)
	}
	box.since(time.Now().Add(-time.Hour))
	if got := box.settling(); got != settling {
		t.Errorf("after an hour: %v, want %v", got, settling)
	}
	began := time.Now()
	box.since(began)
	if got, most := box.settling(), max(settling/4, time.Since(began)); got > most || got < settling/4 {
		t.Errorf("after at most %v: %v", most, got)
	}
}
