package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

// courseDelay is how long an attempt runs before its outputs are followed only for
// those who look on. One that is shorter is read at its end.
const courseDelay = time.Second

// stopPatience is how long the end of an attempt that others have ended by a signal waits for
// a stop of lbotune: who shuts a machine down, stops a service or cancels a job sends the
// same signal to all of its processes, in any order.
const stopPatience = time.Second

// awaitStop waits until it is known whether a stop follows upon the end of an attempt, if that
// may be its cause.
func (o outcome) awaitStop(ctx context.Context) outcome {
	if o.failure != nil && o.byOthers {
		select {
		case <-ctx.Done():
		case <-time.After(stopPatience):
		}
	}
	return o
}

// outcomeOf runs the attempt. A panic ends the session, and leaves the attempt to the next one.
func (a *attempt) outcomeOf(ctx context.Context, resumed bool) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = outcome{err: panicked(a.id.String(), p)}
		}
	}()
	return a.run(ctx, resumed).awaitStop(ctx)
}

// run launches the attempt, or rejoins it, and returns how it ended.
func (a *attempt) run(ctx context.Context, resumed bool) outcome {
	begin := time.Now()
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
			a.study.warnOfCommons(file)
		}
		f.stop()
		if a.box != nil {
			a.box.end()
		}
	}()
	attaching, found := false, false
	job.Started = func(int) {
		switch {
		case a.box == nil:
		case len(a.box.objectives) > 0:
			f.start()
		default:
			time.AfterFunc(courseDelay, f.start) // which does nothing once the attempt has ended
		}
		if a.box != nil && !attaching {
			a.box.since(time.Now())
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
		attaching = true
		exit, err := attacher.Attach(ctx, job)
		attaching = false
		switch {
		case err == nil && !found && exit.Cause == "" && a.endedByOthers(exit):
			return failed(study.FailLost, 0, "the attempt was lost: %s ended it while lbotune was not there", exit.Signal), true
		case err == nil, errors.Is(err, runner.ErrLost), errors.Is(err, runner.ErrElsewhere),
			errors.Is(err, runner.ErrNotBegun), ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
			a.rejoined = true
			return a.outcome(exit, err, begin, f), true
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
	if confirms := a.trial.Done(); !a.mayStart || resumed && confirms {
		return outcome{unstarted: true}
	}
	if a.unsafe {
		return failed(study.FailLaunch, 0, "not started: it is not known any more to be safe")
	}
	before, err := a.recordResults()
	if err != nil {
		return failed(study.FailLaunch, 0, "%v", err)
	}
	job.Files = append(job.Files, before...)
	exit, err := a.study.opts.Launcher.Launch(ctx, job)
	if errors.Is(err, runner.ErrClaimed) { // the journal was put back from a backup, perhaps
		if o, ok := rejoin(); ok {
			return o
		}
	}
	return a.outcome(exit, err, begin, f)
}
