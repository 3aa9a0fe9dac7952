package session

import (
	"runtime"
	"slices"
	"testing"
)

// However much an observer has not seen yet, one goroutine waits for it; it sees all in order, though
// it panics, or ends its goroutine, at some of it.
func TestFeedOfASlowObserver(t *testing.T) {
	const records = 1000
	var seen []int
	wait, panics := make(chan struct{}), 0
	f := newFeed(func(n int) {
		<-wait
		switch seen = append(seen, n); n % 10 {
		case 3:
			panic("no")
		case 7:
			runtime.Goexit()
		}
	}, func(any) { panics++ })
	before := runtime.NumGoroutine()
	for n := range records {
		f.put(n)
	}
	if more := runtime.NumGoroutine() - before; more > 1 {
		t.Errorf("%d goroutines for %d records", more, records)
	}
	close(wait)
	<-f.shown
	f.put(records)
	<-f.shown
	if !slices.IsSorted(seen) || len(seen) != records+1 || panics != records/10 {
		t.Errorf("%d were seen, in order %v, with %d panics", len(seen), slices.IsSorted(seen), panics)
	}
}
