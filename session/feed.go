package session

import "sync"

// feed hands what happens to an observer, one thing after the other, without ever making the study
// wait for it.
type feed[T any] struct {
	observe func(T)
	failed  func(with any) // observe has panicked
	mu      sync.Mutex
	waiting []T           // the first of them is being shown
	shown   chan struct{} // closed once nothing that was put waits any more
}

func newFeed[T any](observe func(T), failed func(any)) *feed[T] {
	f := &feed[T]{observe: observe, failed: failed, shown: make(chan struct{})}
	close(f.shown)
	return f
}

// put has an update shown after all that were put before.
func (f *feed[T]) put(u T) {
	if f.observe == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting = append(f.waiting, u); len(f.waiting) == 1 {
		f.shown = make(chan struct{})
		go f.showOne(u)
	}
}

// showOne shows the first that waits, u. The next one has a goroutine of its own, since an observer may
// end the one that it is called by.
func (f *feed[T]) showOne(u T) {
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.waiting = f.waiting[1:]; len(f.waiting) > 0 {
			go f.showOne(f.waiting[0])
		} else {
			close(f.shown)
		}
	}()
	f.show(u)
}

func (f *feed[T]) show(u T) {
	defer func() {
		if p := recover(); p != nil {
			f.failed(p)
		}
	}()
	if f.observe != nil {
		f.observe(u)
	}
}
