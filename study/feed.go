package study

import "sync"

// Update is what an observer sees of one event: the record and copies of what
// it changed.
type Update struct {
	Record   Record
	Trial    Trial // that the record is about, if any
	Best     Trial // the best so far; Number is 0 while there is none
	Finished int
	Proposed int
}

// trialOf returns the number of the trial that an event is about, 0 for none.
func trialOf(e Event) int {
	switch e := e.(type) {
	case Proposed:
		return e.Trial
	case Started:
		return e.Trial
	case Metric:
		return e.Trial
	case Cut:
		return e.Trial
	case Ended:
		return e.Trial
	case Finished:
		return e.Trial
	case Confirmed:
		return e.Trial
	case Excluded:
		return e.Trial
	case Included:
		return e.Trial
	case Noted:
		return e.Trial
	}
	return 0
}

// feed hands updates to an observer without ever making the study wait for it.
type feed struct {
	observe func(Update)
	wake    sync.Cond
	queue   []Update
	busy    bool
}

func newFeed(observe func(Update)) *feed {
	f := &feed{observe: observe}
	f.wake.L = new(sync.Mutex)
	return f
}

// put queues an update. A goroutine lives while there is something to show.
func (f *feed) put(u Update) {
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

func (f *feed) drain() {
	f.wake.L.Lock()
	defer f.wake.L.Unlock()
	for len(f.queue) > 0 {
		batch := f.queue
		f.queue = nil
		f.wake.L.Unlock()
		for _, u := range batch {
			f.observe(u)
		}
		f.wake.L.Lock()
	}
	f.busy = false
	f.wake.Broadcast()
}

// flush waits until everything queued was shown.
func (f *feed) flush() {
	f.wake.L.Lock()
	defer f.wake.L.Unlock()
	for f.busy {
		f.wake.Wait()
	}
}
