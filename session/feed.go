package session

import "sync"

// feed hands what happens to an observer without ever making the study wait for it.
type feed[T any] struct {
	observe func(T)
	failed  func(with any) // observe has panicked
	wake    sync.Cond
	queue   []T
	busy    bool
}

func newFeed[T any](observe func(T), failed func(any)) *feed[T] {
	f := &feed[T]{observe: observe, failed: failed}
	f.wake.L = new(sync.Mutex)
	return f
}

// put queues an update. A goroutine lives while there is something to show.
func (f *feed[T]) put(u T) {
	if f.observe == nil {
		return
	}
	f.wake.L.Lock()
	defer f.wake.L.Unlock()
	f.queue = append(f.queue, u)
	if !f.busy {
		f.busy = true
		go f.drain()
	}
}

func (f *feed[T]) drain() {
	f.wake.L.Lock()
	defer f.wake.L.Unlock()
	for len(f.queue) > 0 {
		next := f.queue[0]
		f.queue = f.queue[1:]
		f.wake.L.Unlock()
		f.show(next)
		f.wake.L.Lock()
	}
	f.busy = false
	f.wake.Broadcast()
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

// flush waits until everything queued was shown.
func (f *feed[T]) flush() {
	f.wake.L.Lock()
	defer f.wake.L.Unlock()
	for f.busy {
		f.wake.Wait()
	}
}
