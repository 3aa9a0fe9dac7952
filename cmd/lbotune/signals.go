package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/session"
)

const sigInterrupt = syscall.SIGINT

// signalError is a study stopped by a signal.
type signalError struct {
	signal os.Signal
	err    error
}

func (e *signalError) Error() string { return e.err.Error() }
func (e *signalError) Unwrap() error { return e.err }

func isSignal(err error, sig os.Signal) bool {
	var s *signalError
	return errors.As(err, &s) && s.signal == sig
}

// stopper turns signals into the steps of stopping a study, and announces each.
type stopper struct {
	steps   chan session.Stop
	say     func(string)
	first   os.Signal // that stopped the study, nil if none did
	signals chan os.Signal
	done    chan struct{}
}

// newStopper listens for Ctrl-C (SIGINT), SIGTERM and SIGHUP until its stop is
// called. A signal that was ignored when lbotune began, as under nohup, stays
// ignored.
func newStopper(say func(string)) *stopper {
	s := &stopper{steps: make(chan session.Stop, 3), say: say, signals: make(chan os.Signal, 8), done: make(chan struct{})}
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(s.signals, sig)
		}
	}
	go s.listen()
	return s
}

// samePress is how soon after a Ctrl-C another one is taken for the same: a key
// that is held down repeats, and timeout(1) sends its signal twice.
const samePress = 100 * time.Millisecond

func (s *stopper) listen() {
	defer close(s.done)
	step := session.Stop(0)
	var pressed time.Time
	for sig := range s.signals {
		if s.first == nil {
			s.first = sig
		}
		next := session.StopRunning
		if sig == sigInterrupt {
			again := time.Since(pressed) < samePress
			pressed = time.Now()
			if again {
				continue
			}
			next = min(step+1, session.StopNow)
		}
		if next <= step {
			continue
		}
		step = next
		s.say(announcement(step))
		s.steps <- step
	}
}

// announcement says what a step does and what the next one would do.
func announcement(step session.Stop) string {
	switch step {
	case session.StopAsking:
		return "stopping: no new trials are started, the running ones may end; Ctrl-C again ends them now"
	case session.StopRunning:
		return "stopping: the running trials are asked to end (SIGTERM); Ctrl-C again kills them"
	}
	return "stopping: the running trials are killed (SIGKILL)"
}

// stop ends listening and returns the first signal, nil if there was none.
func (s *stopper) stop() os.Signal {
	signal.Stop(s.signals)
	close(s.signals)
	<-s.done
	return s.first
}

// interrupted names the signal in a study's error.
func interrupted(sig os.Signal, err error) error {
	if sig == nil || !errors.Is(err, session.ErrStopped) {
		return err
	}
	return &signalError{sig, fmt.Errorf("%w (%v)", err, sig)}
}
