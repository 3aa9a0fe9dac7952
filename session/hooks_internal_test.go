package session

import "testing"

// A stop that comes together with the end of the last hook is none the less one.
func TestStopAtTheEndOfTheHooks(t *testing.T) {
	s := newStudy(Options{Dir: t.TempDir()})
	for range 100 {
		stop := make(chan Stop, 1)
		stop <- StopAsking
		if !s.hooks.end(stop) {
			t.Fatal("it was missed")
		}
	}
}
