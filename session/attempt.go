package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/secrets"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

// attempt is one run of a trial's command, or of the setup command (trial 0).
type attempt struct {
	study  *Study
	config study.Config
	trial  study.Trial
	id     layout.AttemptID
	key    string // study.State.Key
	// confirms says that it repeats a finished trial.
	confirms bool
	slot     int
	// mayStart says that a command may be started in the slot, with hold open. What an
	// earlier session has started holds its own.
	mayStart bool
	hold     []*os.File
	// unsafe says that no command may be started: the safety limit is another by now.
	unsafe bool
	kill   chan struct{}
	// rejoined says that an earlier session has started it.
	rejoined bool
	// launched says that the launcher was asked to start it.
	launched bool
	// box takes readings while the attempt runs; nil if nobody wants them.
	box *readingBox
	// started is called when the command runs: rejoined if it was found running.
	started func(rejoined bool)

	// What follows is the loop's.
	cancel context.CancelCauseFunc
	begun  bool // its command runs
	freed  int  // the loop's when it was launched
	queued time.Time
	cut    *study.Cut // the decision to stop it, nil if there is none
}

func (a *attempt) bindings() *command.Bindings {
	return study.TrialBindings(a.study.layout, &a.config, &a.trial, a.id.Attempt, a.slot)
}

// variable is the environment variable by which some dialects tell a program where
// to write its results; empty if no metric needs it.
func (a *attempt) variable() string {
	return cmp.Or(lists.Map(a.study.patterns, (*parser.Pattern).Variable)...)
}

// courseDelay is how long an attempt runs before its outputs are followed only for
// those who look on. One that is shorter is read at its end.
const courseDelay = time.Second

// stopPatience is how long the end of an attempt that others have ended by a signal waits for
// a stop of lbotune: who shuts a machine down, stops a service or cancels a job sends the
// same signal to all of its processes, in any order.
const stopPatience = time.Second

// outcomeOf runs the attempt. A panic ends the session, and leaves the attempt to the next one.
func (a *attempt) outcomeOf(ctx context.Context, resumed bool) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = outcome{err: panicked(a.id.String(), p)}
		}
	}()
	if o = a.run(ctx, resumed); o.failure != nil {
		o.failure.Text = secrets.Of(a.config.Run.SecretEnv).Hide(o.failure.Text)
	}
	if o.failure != nil && o.byOthers { // a stop may follow, of which this is a part
		select {
		case <-ctx.Done():
		case <-time.After(stopPatience):
		}
	}
	return o
}

// follow has what an attempt that has failed printed followed to its end, if nobody has read it and all of it counts:
// it may have broken the safety limit. Only whole lines count.
func (a *attempt) follow(f *follower, exit runner.Exit) {
	if exit.Counted == nil && a.box != nil && a.box.safety != nil && len(a.box.limits) > 0 {
		f.start()
	}
}

// run launches the attempt, or rejoins it, and returns how it ended.
func (a *attempt) run(ctx context.Context, resumed bool) outcome {
	var began time.Time // in this session
	job, err := a.job()
	if spawn := (*runner.SpawnError)(nil); errors.As(err, &spawn) {
		return outcome{err: fmt.Errorf("%v: %w", a.id, err)}
	}
	if err != nil {
		return failed(study.FailLaunch, 0, "%v", err)
	}
	f := newFollower(a)
	defer func() {
		if file := a.study.commons.end(a.id); file != "" {
			unless := map[bool]string{true: ", unless it is a hook that writes it"}[a.config.Hooks != nil]
			a.study.opts.Log.Warn("trials that run beside each other all change the same file, and each may read there what another wrote"+unless+
				"; let each write below its own {trial_dir}, or set isolate = true in [run], or workers = 1", "file", file)
		}
		f.stop()
		if a.box != nil {
			a.box.end()
		}
	}()
	attaching, found := false, false
	job.Started = func(int) {
		began = time.Now()
		if a.box != nil && !attaching {
			a.box.since(began)
		}
		if a.box != nil && len(a.box.objectives)+len(a.box.limits) > 0 {
			f.start()
		} else if a.box != nil {
			time.AfterFunc(courseDelay, f.start) // which does nothing once the attempt has ended
		}
		found = attaching
		a.study.commons.begin(a.id, commonDir(&a.config))
		a.started(attaching)
	}
	job.Long = f.start
	job.Settled = f.stop
	rejoin := func() (o outcome, ok bool) {
		attacher, ok := a.study.opts.Launcher.(runner.Attacher)
		if !ok {
			return o, false
		}
		if err := a.study.unpack(a.id); err != nil && !errors.Is(err, fs.ErrNotExist) { // it has ended before, as the journal knew once
			return outcome{err: fmt.Errorf("rejoin %v: %w", a.id, err)}, true
		}
		attaching = true
		exit, err := attacher.Attach(ctx, job)
		attaching = false
		switch {
		case err == nil && !found && exit.Cause == "" && a.endedByOthers(exit):
			a.follow(f, exit)
			return failed(study.FailLost, 0, "the attempt was lost: %s ended it while lbotune was not there", exit.Signal), true
		case err == nil, errors.Is(err, runner.ErrLost), errors.Is(err, runner.ErrElsewhere),
			errors.Is(err, runner.ErrNotBegun), ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
			a.rejoined = true
			return a.outcome(exit, err, began, f), true
		case errors.Is(err, runner.ErrNeverStarted) && a.trial.Seen:
			return failed(study.FailLost, 0, "the attempt was lost: it had begun, but its directory is gone"), true
		case errors.Is(err, runner.ErrNeverStarted):
			return o, false
		}
		return outcome{err: fmt.Errorf("rejoin %v: %w", a.id, err)}, true
	}
	if resumed {
		if o, ok := rejoin(); ok {
			return o
		}
	}
	if !a.mayStart || resumed && a.confirms {
		return outcome{unstarted: true}
	}
	if a.trial.Excluded && !a.confirms {
		return failed(study.FailLaunch, 0, "not started: it is excluded")
	}
	if a.unsafe {
		return notSafe()
	}
	before, err := a.recordResults()
	if unread := unread(err, false); unread != nil {
		return outcome{err: fmt.Errorf("%v: %w", a.id, unread)}
	}
	if err != nil {
		return failed(study.FailLaunch, 0, "%v", err)
	}
	job.Files = append(job.Files, before...)
	a.launched = true
	exit, err := a.study.opts.Launcher.Launch(ctx, job)
	if errors.Is(err, runner.ErrClaimed) { // the journal was put back from a backup, perhaps
		if o, ok := rejoin(); ok {
			return o
		}
	}
	return a.outcome(exit, err, began, f)
}
