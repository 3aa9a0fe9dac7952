package session

import (
	"io"
	"reflect"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/pruner"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/study"
)

// boxFor is a box for so many objectives.
func boxFor(objectives int) *readingBox {
	b := &readingBox{metrics: make([]study.Metric, objectives), counters: make([]pruner.Counter, objectives), open: map[int]float64{}}
	for i := range objectives {
		b.objectives = append(b.objectives, i)
	}
	return b
}

// What a program prints at once reaches the loop at once, however soon the loop looks:
// the first of many readings alone would be judged.
func TestReadingsOfOneWriteAreOne(t *testing.T) {
	pattern, err := parser.Compile(parser.Rule{Metric: "loss"})
	if err != nil {
		t.Fatal(err)
	}
	var taken []int
	box := boxFor(1)
	box.notify = func() {
		readings, _, _, _ := box.take(true)
		taken = append(taken, len(readings))
	}
	f := filler{parser.NewCollector(pattern).Scanner(parser.Stdout, box.add), box}
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

// Readings that have not settled come before those that came meanwhile.
func TestReadingsThatWaitStayInFront(t *testing.T) {
	box := boxFor(1)
	box.reading(0, 1, 10)
	box.reading(0, 2, 20)
	if rest, _, _, later := box.take(false); !later || len(rest) > 0 {
		t.Errorf("the loop takes %v at once", rest)
	}
	box.reading(0, 3, 30)
	all, _, _, _ := box.take(true)
	if len(all) != 3 || all[0].Step != 1 || all[1].Step != 2 || all[2].Step != 3 {
		t.Errorf("the loop takes %v", all)
	}
}

// Values of several objectives are one reading at one step alone: what lacks another at its
// step is none.
func TestReadingsOfSeveralAreOfOneStep(t *testing.T) {
	box := boxFor(2)
	box.reading(0, 1, 10)
	box.reading(1, 2, 21)
	box.reading(0, 2, 20)
	box.reading(0, 3, 30)
	all, _, _, _ := box.take(true)
	if want := (study.Reading{Step: 2, Value: 20, Others: []float64{21}}); len(all) != 1 || !reflect.DeepEqual(all[0], want) {
		t.Errorf("the loop takes %+v; want %+v", all, want)
	}
}
