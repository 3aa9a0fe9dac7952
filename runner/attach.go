package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/door"
)

// Attach implements Attacher.
func (l *Local) Attach(ctx context.Context, job Job) (Exit, error) {
	l.adopt()
	reserveThreads()
	exit, err := l.attach(ctx, job)
	if err != nil {
		return Exit{}, fmt.Errorf("attempt %s: %w", job.ID, err)
	}
	return exit, nil
}

func (l *Local) attach(ctx context.Context, job Job) (Exit, error) {
	a, rec, err := reopen(job)
	if err != nil {
		return Exit{}, err
	}
	defer a.close()
	here := l.here()
	a.foreign = rec.PIDs != here.pids
	sameKernel := rec.Boot == here.boot && (rec.Boot != "" || rec.Host == here.host)
	native := a.native(rec, sameKernel)
	if !native { // its last process may have let go of the lock since its record was read
		if rec, err = readRecord(a.record); err != nil {
			return Exit{}, fmt.Errorf("read %s: %w", RecordName, err)
		}
	}
	outdated := job.Key != "" && rec.Key != job.Key
	switch {
	case rec.Version == 0:
		return Exit{}, ErrNeverStarted
	case rec.Version > recordVersion:
		return Exit{}, fmt.Errorf("%s has version %d; this program reads versions up to %d",
			RecordName, rec.Version, recordVersion)
	case native && !sameKernel && rec.Exit == nil && rec.Host != here.host:
		return Exit{}, fmt.Errorf("%w (%s)", ErrElsewhere, rec.Host)
	case native && sameKernel:
		a.regroup(rec.Cgroup)
		if outdated {
			return Exit{}, l.end(ctx, a, ErrOutdated)
		}
		return l.rejoin(ctx, a, rec)
	case !native && sameKernel && a.bereft(rec):
		a.regroup(rec.Cgroup)
		return Exit{}, l.end(ctx, a, ErrCopied)
	case outdated:
		return Exit{}, ErrOutdated
	case !native && (rec.Exit == nil || a.cutShort(rec)):
		return Exit{}, ErrCopied
	case rec.Exit != nil && !rec.Synced && rec.Host == here.host && rec.Boot != here.boot:
		return Exit{}, fmt.Errorf("%w: the machine has booted since, and its output may not have been on disk", ErrLost)
	case a.cutShort(rec):
		return Exit{}, fmt.Errorf("%w: a part of its output is gone", ErrLost)
	}
	// No process survives a boot, and those of an original are not ours.
	a.counted = a.countAt(rec)
	return a.harvest(rec)
}

// end leaves nothing of an attempt whose result is of no use, and returns why.
func (l *Local) end(ctx context.Context, a *attempt, why error) error {
	if !a.over() {
		l.stop(a, stopCancel)
	}
	l.sweep(a, time.Time{})
	if err := a.gone(ctx); err != nil {
		return err
	}
	return why
}

// reopen opens the directory of an attempt that an earlier orchestrator has made.
func reopen(job Job) (*attempt, record, error) {
	dir, err := openDir(job.Dir)
	if errors.Is(err, unix.ENOENT) {
		return nil, record{}, ErrNeverStarted
	}
	if err != nil {
		return nil, record{}, fmt.Errorf("open the attempt's directory %s: %w", job.Dir, err)
	}
	a := &attempt{job: job, dir: dir, record: -1}
	a.out, a.err = newBoundedLog(&job), newBoundedLog(&job)
	rec, err := a.reopen()
	if err != nil {
		a.close()
		return nil, rec, err
	}
	a.nonce, a.pid, a.uptime = rec.Nonce, rec.PID, time.Duration(rec.Uptime)
	if rec.Started != nil {
		a.started = *rec.Started
	}
	return a, rec, nil
}

func (a *attempt) reopen() (rec record, err error) {
	a.record, err = door.OpenAt(a.dir, RecordName, unix.O_RDWR|unix.O_APPEND)
	if errors.Is(err, unix.ENOENT) {
		return rec, ErrNeverStarted
	}
	if err != nil {
		return rec, fmt.Errorf("open %s: %w", RecordName, err)
	}
	// The outputs matter less: a user's program may have removed them.
	a.out.reopen(a.dir, StdoutName)
	a.err.reopen(a.dir, StderrName)
	if rec, err = readRecord(a.record); err != nil {
		return rec, fmt.Errorf("read %s: %w", RecordName, err)
	}
	return rec, nil
}

// rejoin waits for an attempt that may live on this machine, and leaves nothing of it.
func (l *Local) rejoin(ctx context.Context, a *attempt, rec record) (Exit, error) {
	lived := false
	switch {
	case rec.Exit != nil:
		a.counted = a.countAt(rec)
	case rec.Stop != "" && !a.over(): // its orchestrator died while it was ending it
		a.announce()
		l.stop(a, stopReason(rec.Stop))
	case !a.over():
		lived = true
		l.watch(ctx, a)
	}
	ended := rec.ended
	if rec.Exit == nil {
		ended = time.Now()
	}
	left := l.sweep(a, ended)
	rec, err := readRecord(a.record)
	if err != nil {
		return Exit{}, fmt.Errorf("read %s: %w", RecordName, err)
	}
	if rec.Exit == nil {
		if err := a.gone(ctx); err != nil {
			return Exit{}, err
		}
	}
	exit, err := a.harvest(rec)
	exit.Leftovers = left
	if err == nil && lived {
		exit.DiskFull = a.noteFullDisk(exit.Code) || exit.DiskFull
	}
	return exit, err
}

// gone waits until no process is left, of an attempt that could then run again.
func (a *attempt) gone(ctx context.Context) error {
	for a.locked() || a.cgroup.populated() || len(a.find(ignore)) > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("a process of it cannot be ended: %w", context.Cause(ctx))
		case <-time.After(lookMax):
		}
	}
	return nil
}

// harvest makes an Exit of the record of an attempt of which nothing lives.
func (a *attempt) harvest(rec record) (Exit, error) {
	if rec.Exit == nil && rec.Stop != "" {
		// Made to end by an orchestrator that did not live to write down the status.
		code := 128 + int(unix.SIGKILL)
		rec.Exit, rec.Killed = &code, true
		_ = appendEntry(a.record, entry{Exit: &code, Killed: true})
	}
	switch {
	case rec.Exit == nil && (rec.PID == 0 || rec.Fork != nil):
		return Exit{}, ErrNeverStarted
	case rec.Exit == nil:
		return Exit{}, ErrLost
	}
	a.reason = stopReason(rec.Stop)
	exit := a.exit()
	exit.Ended, exit.Killed, exit.DiskFull, exit.Counted = rec.ended, rec.Killed, rec.Full, a.counted
	if exit.Ended.Before(exit.Started) { // file systems read a coarser clock
		exit.Ended = exit.Started
	}
	exit.setCode(*rec.Exit)
	exit.setUsage(a.usage(rec, usage{}))
	return exit, nil
}

// over reports whether the attempt has ended by itself.
func (a *attempt) over() bool {
	if a.ended != nil {
		return a.dead()
	}
	rec, err := readRecord(a.record)
	if err == nil && rec.Exit != nil {
		return true
	}
	if a.pid == 0 {
		a.pid = rec.PID // it was about to start when we looked first
	}
	if a.pid == 0 || a.foreign {
		return !a.locked() && !a.cgroup.populated() && len(a.find(ignore)) == 0
	}
	return !a.supervising()
}
