package main

import (
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/session"
)

// A press that bounces or repeats is one press, and only Ctrl-C and Ctrl-\ kill.
func TestStepsOfStopping(t *testing.T) {
	const pause = time.Second
	for name, c := range map[string]struct {
		signals []os.Signal
		pauses  []time.Duration
		want    []session.Stop
	}{
		"three presses": {[]os.Signal{syscall.SIGINT, syscall.SIGINT, syscall.SIGINT, syscall.SIGINT}, []time.Duration{pause, pause, pause, pause},
			[]session.Stop{session.StopAsking, session.StopRunning, session.StopNow}},
		"twice at once": {[]os.Signal{syscall.SIGINT, syscall.SIGINT, syscall.SIGINT}, []time.Duration{0, pause, 0},
			[]session.Stop{session.StopAsking, session.StopRunning}},
		"held down": {slices.Repeat([]os.Signal{syscall.SIGINT}, 50), slices.Repeat([]time.Duration{33 * time.Millisecond}, 50),
			[]session.Stop{session.StopAsking}},
		"terminated": {[]os.Signal{syscall.SIGTERM, syscall.SIGTERM, syscall.SIGHUP}, []time.Duration{0, pause, pause},
			[]session.Stop{session.StopRunning}},
		"quit": {[]os.Signal{syscall.SIGQUIT, syscall.SIGINT}, []time.Duration{pause, pause},
			[]session.Stop{session.StopNow}},
		"pressed and terminated": {[]os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGINT}, []time.Duration{pause, pause, pause},
			[]session.Stop{session.StopAsking, session.StopRunning, session.StopNow}},
	} {
		t.Run(name, func(t *testing.T) {
			l := layout.Study(t.TempDir())
			synctest.Test(t, func(t *testing.T) {
				said := 0
				s := &stopper{steps: make(chan session.Stop, 3), say: func(string) { said++ },
					signals: make(chan os.Signal), done: make(chan struct{}), deaf: func() {}}
				go s.listen(l)
				for i, sig := range c.signals {
					s.signals <- sig
					time.Sleep(c.pauses[i])
				}
				if first := s.stop(); first != c.signals[0] {
					t.Errorf("the first signal was %v", first)
				}
				close(s.steps)
				var got []session.Stop
				for step := range s.steps {
					got = append(got, step)
				}
				if !slices.Equal(got, c.want) || said != len(got) {
					t.Errorf("steps %v, %d announced; want %v", got, said, c.want)
				}
			})
		})
	}
}

// What lbotune stop has stopped was terminated, unless a signal has come before.
func TestStoppedFromElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		before []os.Signal
		code   int
	}{"alone": {nil, 143}, "after Ctrl-C": {[]os.Signal{syscall.SIGINT}, 130}} {
		t.Run(name, func(t *testing.T) {
			s := &stopper{steps: make(chan session.Stop), say: func(string) {},
				signals: make(chan os.Signal), done: make(chan struct{}), deaf: func() {}}
			l := layout.Study(t.TempDir())
			go s.listen(l)
			for _, sig := range c.before {
				s.signals <- sig
				<-s.steps
			}
			if err := askToStop(l); err != nil {
				t.Fatal(err)
			}
			<-s.steps
			if got := codeOf(interrupted(s.stop(), session.ErrStopped)); got != c.code {
				t.Errorf("exit code %d; want %d", got, c.code)
			}
		})
	}
}
