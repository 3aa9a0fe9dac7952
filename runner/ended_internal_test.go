package runner

import (
	"testing"
	"time"
)

// Whoever was stopped while the command ended takes the supervisor's word for when that was.
func TestEndedAt(t *testing.T) {
	begun := time.Now()
	at := func(s float64) time.Time { return begun.Add(time.Duration(s * float64(time.Second))) }
	for _, c := range []struct {
		name       string
		up         string
		seen, want float64
		uptime     time.Duration
	}{
		{"in time", "101.00", 1.02, 1.02, 100 * time.Second},
		{"stopped for 4 s", "101.00", 5, 1, 100 * time.Second},
		{"no word", "", 5, 5, 100 * time.Second},
		{"another clock", "3.00", 5, 5, 100 * time.Second},
		{"no clock", "101.00", 5, 5, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := attempt{started: begun, uptime: c.uptime}
			if got := a.endedAt(c.up, at(c.seen)); got.Sub(at(c.want)).Abs() > time.Microsecond {
				t.Errorf("%s: ended after %v; want %v s", c.name, got.Sub(begun), c.want)
			}
		})
	}
}
