package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/kinds"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// stopPatience is how long stop waits beyond the trials' grace for lbotune to end, stopLook the pause
// between two looks.
const stopPatience, stopLook = time.Minute, time.Second

func newStop(g *global, above *cobra.Command) {
	cmd := newCommand(above, "stop STUDY", "End a running study from anywhere",
		`Stop asks the lbotune that works on STUDY, on whatever host, to end: its trials get
SIGTERM, and SIGKILL after their grace period. It removes the job of a detached study, and
cancels jobs of trials that an earlier lbotune left behind. Of one that was killed, a
trial or the setup command may still run on this machine: stop names it and exits with 2,
and resume takes it up. Nothing is lost: run and resume continue from there.`)
	cmd.Aliases = []string{"kill"}
	cmd.RunE = g.onStudy(func(cmd *cobra.Command, st *study.State, l layout.Study) error {
		return stopStudy(cmd.Context(), g, st, l)
	})
}

func stopStudy(ctx context.Context, g *global, st *study.State, l layout.Study) error {
	if err := session.CheckOwner(l, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	if err := askToStop(l); err != nil {
		return err
	}
	// Lbotune waits for its hooks, and they must not wait for it.
	if os.Getenv("LBOTUNE_EVENT") != "" && sameFile(os.Getenv("LBOTUNE_STUDY"), string(l)) {
		fmt.Fprintln(g.err, "lbotune ends the study once its hooks are done")
		return nil
	}
	r, err := relay(&st.Config, l)
	if err != nil {
		return err
	}
	if r != nil {
		if err := r.End(ctx); err != nil {
			return fmt.Errorf("remove the study's job: %w", err)
		}
	}
	patience := time.Duration(st.Config.Run.Grace) + stopPatience
	for begun, told := time.Now(), false; ; told = true {
		running := 0
		if r != nil {
			_, running, err = r.Jobs(ctx)
		}
		busy := running > 0
		if err == nil && !busy {
			busy, err = journal.InUse(l.Journal())
		}
		if err != nil {
			return err
		}
		if !busy {
			break
		}
		if err := askToStop(l); err != nil { // again: a run takes back what it finds when it begins
			return err
		}
		if !told {
			fmt.Fprintln(g.err, "waiting for lbotune to end its trials")
		}
		if time.Since(begun) > patience {
			return hinted(fmt.Errorf("lbotune still works on the study after %v", patience),
				"it has been asked to stop, and will; a process that hangs must be killed where it runs")
		}
		time.Sleep(stopLook)
	}
	if st, err = study.Load(string(l)); err != nil { // as it has been left
		return err
	}
	var of launcher
	if err := of.choose(&st.Config, l); err != nil {
		return err
	}
	canceller, cancels := of.Rejoiner.(kinds.Canceller)
	cancelled := 0
	for _, dir := range left(st, l) { // by an lbotune that has gone
		did, failed := canceller.Cancel(ctx, dir)
		cancelled += either(did, 1, 0)
		err = errors.Join(err, failed)
	}
	if err := errors.Join(err, of.release(ctx)); err != nil {
		return err
	}
	if cancelled > 0 {
		fmt.Fprintf(g.err, "%s cancelled\n", count(cancelled, "job"))
	}
	if err := forgetStop(l); err != nil {
		return err
	}
	if !cancels { // what it has cancelled takes its time to end
		if err := orphaned(st, l); err != nil {
			return err
		}
	}
	if st.Ended() {
		fmt.Fprintf(g.err, "study %s has ended: %s\n", oneLine(string(l)), oneLine(st.Closed.Detail))
		return nil
	}
	fmt.Fprintf(g.err, "study %s is stopped; lbotune resume %s goes on\n", oneLine(string(l)), word(l))
	return nil
}

// orphaned says what still runs of a study on which no lbotune works.
func orphaned(st *study.State, l layout.Study) error {
	what := setupUnderWay(st, l)
	if on := attemptsUnderWay(st, l, false, 1); len(on) > 0 {
		what = on[0].line()
	}
	if what == "" {
		return nil
	}
	return hinted(usagef("%s still runs: %s", l, what), "lbotune resume "+word(l)+" awaits it, or ends it when you press Ctrl-C")
}

// askToStop leaves the wish that the study stop; what lies in its place is not followed.
func askToStop(l layout.Study) error {
	f, err := l.OpenFile(l.StopRequest(), os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err == nil {
		err = f.Close()
	}
	switch {
	case err == nil, errors.Is(err, os.ErrExist) && stopAsked(l):
		return nil
	case errors.Is(err, os.ErrExist):
		return usage(fmt.Errorf("%s is no regular file, and links are not followed; remove it, and ask again", l.StopRequest()))
	}
	return fmt.Errorf("ask the study to stop: %w", err)
}

// stopAsked reports whether somebody wants the study to stop. A link is nobody's wish.
func stopAsked(l layout.Study) bool {
	info, err := l.Stat(l.StopRequest())
	return err == nil && info.Mode.IsRegular()
}

func forgetStop(l layout.Study) error {
	if stopAsked(l) {
		if err := l.In(l.StopRequest(), (*door.Dir).Remove); err != nil {
			return fmt.Errorf("take back the request to stop: %w", err)
		}
	}
	return nil
}

// quitQuietly lets Ctrl-\ end this process without a trace, but while trials run.
func (g *global) quitQuietly() {
	if signal.Ignored(syscall.SIGQUIT) {
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGQUIT)
	go func() {
		for range signals {
			if !g.trialsRun.Load() {
				os.Exit(128 + int(syscall.SIGQUIT)) // as any program that it ends
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
	deaf    func()        // nothing is sent to signals after it
	done    chan struct{} // closed when it listens no more
}

// newStopper listens for signals, and for lbotune stop on whatever host, until its stop is called. Where
// trials go on by themselves, all but repeated Ctrl-C and Ctrl-\ leaves them.
func newStopper(g *global, say func(string), of *launcher, l layout.Study) *stopper {
	_, leaves := of.Rejoiner.(kinds.Canceller)
	s := &stopper{leaves: leaves, steps: make(chan session.Stop, 4), say: say, done: make(chan struct{})}
	s.signals, s.deaf = g.hear()
	go s.listen(l)
	return s
}

// hear has Ctrl-C (SIGINT), Ctrl-\ (SIGQUIT), SIGTERM and SIGHUP sent to signals, instead of ending lbotune,
// until deaf is called. What was ignored when lbotune began, as under nohup, stays ignored.
func (g *global) hear() (signals chan os.Signal, deaf func()) {
	g.trialsRun.Store(true)
	signals = make(chan os.Signal, 8)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	return signals, func() { signal.Stop(signals); g.trialsRun.Store(false) }
}

// samePress is how soon after a Ctrl-C another one is taken for the same: a key
// that is held down repeats, and timeout(1) sends its signal twice.
const samePress = 100 * time.Millisecond

func (s *stopper) listen(l layout.Study) {
	defer close(s.done)
	look := time.NewTicker(stopLook)
	defer look.Stop()
	step := session.Stop(0)
	var pressed time.Time
	var leave <-chan time.Time
	for {
		var sig os.Signal
		select {
		case sig = <-s.signals:
		case <-look.C:
			if !stopAsked(l) {
				continue
			}
			sig = byStop{}
		case <-leave:
			s.steps <- session.StopHere
			leave = nil
			continue
		}
		if sig == nil {
			return // closed
		}
		s.first = cmp.Or(s.first, sig)
		next, why := session.StopRunning, "stopping: "
		switch sig {
		case byStop{}:
			why = "stopping, as lbotune stop has asked: "
		case syscall.SIGQUIT:
			next = session.StopNow
		case syscall.SIGINT:
			again := time.Since(pressed) < samePress
			pressed = time.Now()
			if again {
				continue
			}
			next = min(step+1, session.StopNow)
		default:
			next = either(s.leaves, session.StopHere, next)
		}
		if next <= step {
			continue
		}
		step, leave = next, nil
		if s.leaves && step == session.StopAsking {
			leave = time.After(leavePause)
			s.say("stopping: no new trials are started, and lbotune leaves the jobs to themselves in 5 seconds; Ctrl-C again cancels them")
		} else {
			s.say(why + announcements[step])
		}
		s.steps <- step
	}
}

// leavePause is the time for a second Ctrl-C, which cancels what the first one would leave.
const leavePause = 5 * time.Second

// announcements say what a step does and what the next one would do.
var announcements = map[session.Stop]string{
	session.StopAsking:  "no new trials are started, the running ones may finish; Ctrl-C again ends them now",
	session.StopRunning: "the running trials are asked to end (SIGTERM); Ctrl-C again kills them",
	session.StopHere:    "lbotune leaves its jobs to themselves",
	session.StopNow:     "the running trials are killed (SIGKILL)",
}

// stop ends listening and returns the first signal, or byStop; nil if there was none.
func (s *stopper) stop() os.Signal {
	s.deaf()
	close(s.signals)
	<-s.done
	return s.first
}

// interrupted names the signal in a study's error.
func interrupted(sig os.Signal, err error) error {
	if sig == nil || !errors.Is(err, session.ErrStopped) {
		return err
	}
	return &marked{fmt.Errorf("%w (%v)", err, sig), signalled{sig}}
}
