package session

import (
	"fmt"
	"testing"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// A course came in a burst if all of it came in the last tenth of a run that took a while.
func TestBurst(t *testing.T) {
	for _, c := range []struct {
		took, first float64
		steps       int
		want        bool
	}{{2, 1.8, 3, true}, {2, 1.7, 3, false}, {2, 1.8, 2, false}, {1.9, 1.8, 3, false}, {10, 9.5, 9, true}, {10, 5, 9, false}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			trial := study.Trial{Took: time.Duration(c.took * float64(time.Second)), Measurements: make([]study.Measurement, c.steps)}
			trial.Measurements[0].Seconds = c.first
			if got := burst(&trial); got != c.want {
				t.Errorf("%+v: %v", c, got)
			}
		})
	}
}

// Awaited are trials that were handed out, once the budget has no room for more.
func TestAwaited(t *testing.T) {
	for _, c := range []struct {
		trials     int
		hand, want bool
	}{{2, true, true}, {2, false, false}, {3, true, false}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			st := &study.State{
				Config: study.Config{Budget: study.Budget{Trials: c.trials}},
				Trials: []*study.Trial{{Number: 1, Status: optimizer.Succeeded}, {Number: 2, Hand: c.hand}},
				Order:  []int{1},
			}
			if got := awaited(st); got != c.want {
				t.Errorf("%+v: %v", c, got)
			}
		})
	}
}
