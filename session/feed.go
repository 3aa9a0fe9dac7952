package session

// feed hands what happens to an observer, one thing after the other, without ever making the study
// wait for it.
type feed[T any] struct {
	observe func(T)
	failed  func(with any)  // observe has panicked
	shown   <-chan struct{} // closed once the last thing that was put has been shown
}

func newFeed[T any](observe func(T), failed func(any)) *feed[T] {
	nothing := make(chan struct{})
	close(nothing)
	return &feed[T]{observe, failed, nothing}
}

// put has an update shown after all that were put before.
func (f *feed[T]) put(u T) {
	if f.observe == nil {
		return
	}
	before, shown := f.shown, make(chan struct{})
	f.shown = shown
	go func() {
		defer close(shown)
		<-before
		f.show(u)
	}()
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
