package session

// Stop asks a running study to stop, more urgently with each step.
type Stop int

// The steps of stopping.
const (
	// StopAsking starts no more trials and lets the running ones end.
	StopAsking Stop = iota + 1
	// StopRunning also asks the running trials to end.
	StopRunning
	// StopNow kills them.
	StopNow
	// StopHere ends the session and leaves the running trials alone, for a later session
	// to rejoin.
	StopHere
)

// heed takes a step of stopping, or the end of those that ask for one, which asks for the
// first.
func (l *loop) heed(step Stop, open bool) {
	if !open {
		l.steps, step = nil, StopAsking
	}
	l.stopAt(step)
}

// stopAt goes to a step of stopping, never back.
func (l *loop) stopAt(step Stop) {
	if step <= l.stop {
		return
	}
	if step == StopHere {
		l.stop = step
		return
	}
	if step >= StopRunning && l.stop < StopRunning {
		for _, r := range l.study.running {
			r.end(errStopped)
		}
	}
	if step >= StopNow {
		close(l.kill)
		l.study.hooks.kill()
	}
	l.stop = step
}
