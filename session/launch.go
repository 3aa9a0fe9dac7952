package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

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
	defer f.stop()
	attaching := false
	job.Started = func(int) {
		if a.box != nil {
			f.start()
		}
		a.started(attaching)
	}
	job.Long = f.start
	if attacher, ok := a.study.opts.Launcher.(runner.Attacher); ok && resumed {
		attaching = true
		exit, err := attacher.Attach(ctx, job)
		switch {
		case err == nil, errors.Is(err, runner.ErrLost), errors.Is(err, runner.ErrElsewhere):
			return a.outcome(exit, err, begin, f)
		case errors.Is(err, runner.ErrNeverStarted) && a.trial.Seen:
			return failed(study.FailLost, 0, "the attempt was lost: it had begun, but its directory is gone")
		case !errors.Is(err, runner.ErrNeverStarted):
			return outcome{err: fmt.Errorf("rejoin %v: %w", a.id, err)}
		}
		attaching = false
	}
	exit, err := a.study.opts.Launcher.Launch(ctx, job)
	return a.outcome(exit, err, begin, f)
}
