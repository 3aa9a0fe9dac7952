package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/door"
)

// origin is where an attempt was started, as its directory and its record tell (see doc.go).
type origin int

const (
	fromHere origin = iota // this machine, since its last boot: it may live
	beforeBoot
	fromElsewhere
	fromCopied // another directory, of which this one is a copy
	fromBereft // a copy whose original was removed while the attempt ran on: nobody else will take it up
)

// Attach implements Attacher. What becomes of the attempt depends on its origin, and on whether an
// end is recorded:
//
//	               no end recorded               an end recorded
//	fromHere       waited for, then harvested    leftovers ended, then harvested
//	beforeBoot     ErrNeverStarted or ErrLost    harvested; ErrLost if the boot may have cost output
//	fromElsewhere  ErrElsewhere                  harvested
//	fromCopied     ErrCopied                     harvested; ErrLost if a boot may have cost output
//	fromBereft     its processes are ended: ErrCopied
//
// Besides:
//   - Where it was made to end, and no end is recorded, harvest records a SIGKILL.
//   - What was started for another Job.Key is ErrOutdated, and ended first if it lives here. ErrElsewhere
//     and the ErrCopied of fromBereft go before that.
//   - Where a part of the output is gone, what would be harvested is ErrLost, and ErrCopied in a copy.
func (l *Local) Attach(ctx context.Context, job Job) (exit Exit, err error) {
	defer func() {
		if err != nil {
			exit, err = Exit{}, fmt.Errorf("attempt %s: %w", job.ID, err)
		}
	}()
	l.adopt()
	reserveThreads()
	a, rec, err := reopen(job)
	if err != nil {
		return Exit{}, err
	}
	defer a.close()
	native := a.native(rec)
	if !native {
		// Its last process may have released the lock, and written the end, since rec was read.
		if rec, err = readRecord(a.record, 0); err != nil {
			return Exit{}, err
		}
	}
	switch {
	case rec.Version == 0: // no header was written
		return Exit{}, ErrNeverStarted
	case rec.Version > recordVersion:
		return Exit{}, fmt.Errorf("%s has version %d; this program reads versions up to %d",
			recordName, rec.Version, recordVersion)
	}
	outdated := job.Key != "" && rec.Key != job.Key
	switch from := a.origin(rec, native); from {
	case fromHere:
		if outdated {
			return Exit{}, l.end(ctx, a, rec, ErrOutdated)
		}
		return l.rejoin(ctx, a, rec)
	case fromBereft:
		return Exit{}, l.end(ctx, a, rec, ErrCopied)
	default: // nothing lives that is ours: what is left is a record
		if err := a.whyUseless(rec, from, outdated); err != nil {
			return Exit{}, err
		}
		a.counted = a.countAt(rec)
		return a.harvest(rec)
	}
}

func (a *attempt) origin(rec record, native bool) origin {
	switch {
	case native && rec.here():
		return fromHere
	case native && rec.Host == thisPlace().host:
		return beforeBoot
	case native:
		return fromElsewhere
	case rec.here() && a.bereft(rec):
		return fromBereft
	}
	return fromCopied
}

// whyUseless says why nothing can be made of the record of an attempt that cannot live here, if so.
// The order is that which Attach promises.
func (a *attempt) whyUseless(rec record, from origin, outdated bool) error {
	here := thisPlace()
	switch {
	case from == fromElsewhere && rec.Exit == nil:
		return fmt.Errorf("%w (%s)", ErrElsewhere, rec.Host)
	case outdated:
		return ErrOutdated
	case from == fromCopied && (rec.Exit == nil || a.cutShort(rec)):
		return ErrCopied
	case rec.Exit != nil && !rec.Synced && rec.Host == here.host && rec.Boot != here.boot: // also of a copy that was made before the boot
		return fmt.Errorf("%w: the machine has booted since, and its output may not have been on disk", ErrLost)
	case a.cutShort(rec):
		return errCutShort
	}
	return nil
}

var errCutShort = fmt.Errorf("%w: a part of its output is gone", ErrLost)

// here reports whether the kernel that the record names is this one, as it was booted last.
func (rec record) here() bool {
	here := thisPlace()
	return rec.Boot == here.boot && (rec.Boot != "" || rec.Host == here.host)
}

// end leaves nothing of an attempt whose result is of no use, and returns why.
func (l *Local) end(ctx context.Context, a *attempt, rec record, why error) error {
	a.regroup(rec.Cgroup)
	if !a.over() {
		l.stop(a, stopCancel)
	}
	l.sweep(a, time.Time{}) // it ended long ago: leftovers get no patience
	return cmp.Or(a.gone(ctx), why)
}

// reopen opens the directory of an attempt that an earlier orchestrator has made.
func reopen(job Job) (a *attempt, rec record, err error) {
	dir, err := openDir(job.Dir)
	if errors.Is(err, unix.ENOENT) {
		return nil, rec, ErrNeverStarted
	}
	if err != nil {
		return nil, rec, fmt.Errorf("open the attempt's directory %s: %w", job.Dir, err)
	}
	a = newAttempt(job, dir)
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	a.record, err = door.OpenAt(a.dir, recordName, unix.O_RDWR|unix.O_APPEND)
	if errors.Is(err, unix.ENOENT) {
		return a, rec, ErrNeverStarted
	}
	if err != nil {
		return a, rec, fmt.Errorf("open %s: %w", recordName, err)
	}
	// The outputs matter less: a user's program may have removed them.
	a.out.reopen(a.dir, StdoutName)
	a.err.reopen(a.dir, StderrName)
	if rec, err = readRecord(a.record, 0); err != nil {
		return a, rec, err
	}
	a.nonce, a.pid, a.uptime = rec.Nonce, rec.PID, time.Duration(rec.Uptime)
	if rec.Started != nil {
		a.started = *rec.Started
	}
	return a, rec, nil
}

// rejoin waits for an attempt that may live on this machine, and leaves nothing of it.
func (l *Local) rejoin(ctx context.Context, a *attempt, rec record) (Exit, error) {
	a.regroup(rec.Cgroup)
	lived, up := false, ""
	switch {
	case rec.Exit != nil:
		a.counted = a.countAt(rec)
	case rec.Stop != "" && !a.over(): // its orchestrator died while it was ending it
		a.announce()
		l.stop(a, stopReason(rec.Stop))
		up = upNow()
	case !a.over():
		lived = true
		l.watch(ctx, a)
		up = upNow()
	}
	end := time.Now() // of one that this process has seen end
	if rec.Exit != nil {
		end = a.recordedEnd(rec)
	}
	left := l.sweep(a, end)
	rec, err := readRecord(a.record, 0)
	if err == nil && (rec.Exit == nil || rec.disputed) { // ErrLost lets it run again: nothing of it may be left
		err = a.gone(ctx)
	}
	if err != nil {
		return Exit{}, err
	}
	rec.Up = cmp.Or(rec.Up, up) // a supervisor that was killed has not written it
	exit, err := a.harvest(rec)
	exit.Leftovers = left
	if err == nil && lived {
		exit.DiskFull = a.noteFullDisk(exit.Code) || exit.DiskFull
	}
	return exit, err
}

// gone waits until no process is left, of an attempt that could then run again.
func (a *attempt) gone(ctx context.Context) error {
	for a.locked() || a.cgroup.populated() || len(a.find(nil, ignore)) > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("a process of it cannot be ended: %w", context.Cause(ctx))
		case <-time.After(lookMax):
		}
	}
	return nil
}

// harvest makes an Exit of the record of an attempt of which nothing lives, and whose outputs were counted.
func (a *attempt) harvest(rec record) (Exit, error) {
	if rec.Exit == nil && rec.Stop != "" {
		// Made to end by an orchestrator that did not live to write down the status.
		code := 128 + int(unix.SIGKILL)
		rec.Exit, rec.Killed = &code, true
		_ = appendEntry(a.record, entry{Exit: &code, Up: rec.Up, Killed: true})
	}
	switch {
	case rec.Exit == nil && (rec.PID == 0 || rec.Fork != nil): // the supervisor could not make a process for it
		return Exit{}, ErrNeverStarted
	case rec.Exit == nil:
		return Exit{}, ErrLost
	case rec.disputed:
		return Exit{}, fmt.Errorf("%w that is certain: %s has two", ErrLost, recordName)
	}
	a.reason, a.killed = stopReason(rec.Stop), rec.Killed
	ended := a.recordedEnd(rec)
	if ended.Before(a.started) { // file systems read a coarser clock
		ended = a.started
	}
	exit := a.exit(*rec.Exit, a.usage(rec, usage{}), ended)
	exit.DiskFull, exit.Emptied = rec.Full, a.emptied(rec)
	return exit, nil
}

// recordedEnd is when the command ended whose record this is. The file itself was changed later, after
// a sync, and by the clock of its file system; and the time in it counts for nothing where the clock was set meanwhile.
func (a *attempt) recordedEnd(rec record) time.Time {
	if end, known := a.endedBy(rec.Up); known && (rec.Ended == nil || rec.lastSeen.Sub(end).Abs() >= lateness) {
		return end
	}
	return rec.lastSeen
}

// over reports whether the command has ended, or nothing of it can be found. It looks at the record
// again, and learns from it which process to look for.
func (a *attempt) over() bool {
	if a.ended != nil { // it is our child
		return a.dead()
	}
	rec, err := readRecord(a.record, 0)
	if err == nil && rec.Exit != nil {
		return true
	}
	a.pid = cmp.Or(a.pid, rec.PID)                  // it may have been about to start when we looked first
	if a.pid == 0 || rec.PIDs != thisPlace().pids { // no process number that can be looked up here
		return !a.locked() && !a.cgroup.populated() && len(a.find(nil, ignore)) == 0
	}
	_, lives := a.supervisor()
	return !lives
}
