package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

const (
	sigInterrupt = syscall.SIGINT
	sigQuit      = syscall.SIGQUIT
)

// exitQuit is the exit code after Ctrl-\: that of any program which it ends.
const exitQuit = 128 + int(sigQuit)

// quitQuietly lets Ctrl-\ end this process without the trace of what it was doing,
// but while trials run: then it is the stopper's.
func (g *global) quitQuietly() {
	if signal.Ignored(sigQuit) {
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, sigQuit)
	go func() {
		for range signals {
			if !g.trialsRun.Load() {
				os.Exit(exitQuit)
			}
		}
	}()
}

// signalled marks the error of a study that was stopped by a signal.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return s.String() }

// byStop stands for the signal where lbotune stop has stopped the study.
type byStop struct{}

func (byStop) String() string { return "by lbotune stop" }
func (byStop) Signal()        {}

// stopper turns signals into the steps of stopping a study, and announces each.
type stopper struct {
	leaves  bool // trials go on when one leaves them
	steps   chan session.Stop
	say     func(string)
	first   os.Signal // that stopped the study, or byStop; nil if nothing did
	signals chan os.Signal
	asked   chan struct{} // by lbotune stop
	done    chan struct{}
	ended   func() // is called when it listens no more
}

// newStopper listens for Ctrl-C (SIGINT), Ctrl-\ (SIGQUIT), SIGTERM and SIGHUP until
// its stop is called. A signal that was ignored when lbotune began, as under nohup,
// stays ignored. Where trials go on by themselves, all but repeated Ctrl-C and
// Ctrl-\ leaves them.
func newStopper(g *global, say func(string), l *launcher) *stopper {
	_, leaves := l.Rejoiner.(runner.Canceller)
	g.trialsRun.Store(true)
	s := &stopper{leaves: leaves, ended: func() { g.trialsRun.Store(false) }, steps: make(chan session.Stop, 4), say: say, signals: make(chan os.Signal, 8), asked: make(chan struct{}), done: make(chan struct{})}
	for _, sig := range []os.Signal{sigInterrupt, sigQuit, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(s.signals, sig)
		}
	}
	go s.listen()
	return s
}

// stopLook is the pause between two looks for a request of lbotune stop.
const stopLook = time.Second

// heed lets lbotune stop, on whatever host, stop the study, until the function that it
// returns is called.
func (s *stopper) heed(l study.Layout) (unheed func()) {
	over := make(chan struct{})
	go func() {
		for !stopAsked(l) {
			select {
			case <-over:
				return
			case <-time.After(stopLook):
			}
		}
		select {
		case <-over:
		case <-s.done:
		case s.asked <- struct{}{}:
		}
	}()
	return func() { close(over) }
}

// samePress is how soon after a Ctrl-C another one is taken for the same: a key
// that is held down repeats, and timeout(1) sends its signal twice.
const samePress = 100 * time.Millisecond

func (s *stopper) listen() {
	defer close(s.done)
	step := session.Stop(0)
	var pressed time.Time
	var leave <-chan time.Time
	for {
		var sig os.Signal
		select {
		case sig = <-s.signals:
		case <-s.asked:
			if s.first == nil {
				s.first = byStop{}
			}
			if step < session.StopRunning {
				step, leave = session.StopRunning, nil
				s.say("stopping, as lbotune stop has asked: " + strings.TrimPrefix(announcement(step), "stopping: "))
				s.steps <- step
			}
			continue
		case <-leave:
			s.steps <- session.StopHere
			leave = nil
			continue
		}
		if sig == nil {
			return // closed
		}
		if s.first == nil {
			s.first = sig
		}
		next := session.StopRunning
		switch sig {
		case sigQuit:
			next = session.StopNow
		case sigInterrupt:
			again := time.Since(pressed) < samePress
			pressed = time.Now()
			if again {
				continue
			}
			next = min(step+1, session.StopNow)
		default:
			if s.leaves {
				next = session.StopHere
			}
		}
		if next <= step {
			continue
		}
		step, leave = next, nil
		if s.leaves && step == session.StopAsking {
			leave = time.After(leavePause)
			s.say(leaving)
			s.steps <- step
			continue
		}
		s.say(announcement(step))
		s.steps <- step
	}
}

// leavePause is the time for a second Ctrl-C, which cancels the jobs that the first one
// would leave.
const leavePause = 5 * time.Second

const leaving = "stopping: no new trials are started, and lbotune leaves the jobs to themselves in 5 seconds; Ctrl-C again cancels them"

// announcement says what a step does and what the next one would do.
func announcement(step session.Stop) string {
	switch step {
	case session.StopAsking:
		return "stopping: no new trials are started, the running ones may finish; Ctrl-C again ends them now"
	case session.StopRunning:
		return "stopping: the running trials are asked to end (SIGTERM); Ctrl-C again kills them"
	case session.StopHere:
		return "stopping: lbotune leaves its jobs to themselves"
	}
	return "stopping: the running trials are killed (SIGKILL)"
}

// stop ends listening and returns the first signal, or byStop; nil if there was none.
func (s *stopper) stop() os.Signal {
	signal.Stop(s.signals)
	close(s.signals)
	<-s.done
	s.ended()
	return s.first
}

// interrupted names the signal in a study's error.
func interrupted(sig os.Signal, err error) error {
	if sig == nil || !errors.Is(err, session.ErrStopped) {
		return err
	}
	return &marked{fmt.Errorf("%w (%v)", err, sig), signalled{sig}}
}
