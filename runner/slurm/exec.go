package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/runner"
)

// Pace of the job's looks at its folder.
const (
	stopPause    = time.Second // for a request to stop, which a signal announces sooner
	latePause    = 250 * time.Millisecond
	latePatience = 90 * time.Second // for an intent that a network file system shows late
)

// errDuplicate: another job has claimed the attempt, it is over, or its launcher has withdrawn it.
var errDuplicate = errors.New("another job has run this attempt, or it was withdrawn; there is nothing to do")

// Exec runs, inside a job, the attempt whose folder it is given, or the attempts that wait
// in a pool. How an attempt ended is in its folder then; an error says that it did not run.
func Exec(path string) error {
	notify(warnings...) // they end no job that runs nothing yet
	f := folder(path)
	if !strings.HasSuffix(path, suffix) {
		return f.fly()
	}
	err := f.exec()
	switch {
	case errors.Is(err, errDuplicate):
		fmt.Fprintf(os.Stderr, "%s: %v\n", f.attempt(), err)
	case err != nil:
		return fmt.Errorf("%s: %w", f.attempt(), err)
	}
	return nil
}

func (f folder) exec() error {
	in := new(intent)
	if err := f.await(intentName, in); err != nil {
		return err
	}
	if in.Version > intentVersion {
		return fmt.Errorf("%s has version %d; this program reads versions up to %d", intentName, in.Version, intentVersion)
	}
	notify(syscall.SIGTERM) // which ends the attempt, and not what writes how it ended
	_, err := f.run(&runner.Local{Adopt: true}, in, func() {})
	return err
}

// run runs the attempt of an intent, unless it has been claimed, and calls begun once it has done so.
func (f folder) run(local *runner.Local, in *intent, begun func()) (e ending, err error) {
	if f.has(endingName) || f.claimed() || f.stopped() != "" {
		return e, errDuplicate
	}
	over := make(chan struct{})
	defer close(over)
	die := f.live(in.Beat)
	defer die()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	killed, kill := context.WithCancel(context.Background())
	defer kill()
	terms := notify(syscall.SIGTERM)
	defer signal.Stop(terms)
	go f.listen(terms, in.Beat, cancel, kill, over)
	warned := notify(warnings...)
	defer close(warned)
	defer signal.Stop(warned) // which is first

	job := in.Job.job(f.attempt())
	withdrawn := false
	job.Kill, job.Started = killed.Done(), func(pid int) {
		begun()
		go func() {
			for s := range warned {
				_ = syscall.Kill(-pid, s.(syscall.Signal)) // the session's group, which may have ended
			}
		}()
		// The launcher may have withdrawn the attempt between our look and our claim.
		f.refresh()
		if _, err := f.stat(intentName); errors.Is(err, fs.ErrNotExist) {
			withdrawn = true
			time.AfterFunc(stopPause, kill) // as with the next look at a file stop
		}
	}
	job.Settled = func() { _ = f.write(settledName, nil) }
	exit, err := local.Launch(ctx, job)
	die() // nothing is written after the ending
	switch {
	case withdrawn:
		_ = door.RemoveAll(job.Dir)
		return e, errDuplicate
	case errors.Is(err, runner.ErrClaimed):
		return e, errDuplicate
	case errors.Is(err, errAsked), errors.Is(err, context.Canceled): // before it began
		return e, errAsked
	}
	e = ending{Job: os.Getenv("SLURM_JOB_ID"), Node: nodeName(), Exit: &exit}
	if context.Cause(ctx) == errSignalled || len(terms) > 0 && f.stopped() == "" {
		e.Signal = "SIGTERM"
	}
	if err != nil {
		e.Exit, e.Refusal = nil, refusalOf(err)
	} else {
		e.Outputs, e.Files = f.lengths(), f.files()
	}
	// If this fails, the attempt's record still has the status.
	return e, errors.Join(err, f.writeJSON(endingName, e))
}

// warnings are the signals that a job passes on to its program, such as those of --signal=B:USR1@60.
var warnings = []os.Signal{syscall.SIGUSR1, syscall.SIGUSR2}

// notify returns a channel on which signals come, also those that come soon after each other.
func notify(signals ...os.Signal) chan os.Signal {
	come := make(chan os.Signal, 4)
	signal.Notify(come, signals...)
	return come
}

// jobID is this job's, as squeue shows it.
func jobID() string {
	if array := os.Getenv("SLURM_ARRAY_JOB_ID"); array != "" && array != "0" {
		return array + "_" + os.Getenv("SLURM_ARRAY_TASK_ID")
	}
	return os.Getenv("SLURM_JOB_ID")
}

func nodeName() string {
	host, _ := os.Hostname()
	return cmp.Or(os.Getenv("SLURMD_NODENAME"), host)
}

// await reads a file that the launcher has written.
func (f folder) await(name string, v any) error {
	for begun := time.Now(); ; time.Sleep(latePause) {
		f.refresh()
		there, err := f.readJSON(name, v)
		switch {
		case err != nil, there:
			return err
		case time.Since(begun) > latePatience:
			return fmt.Errorf("there is no %s: the attempt was given up, or this node does not see the study's directory", name)
		}
	}
}

// live gives signs of life until die is called, which returns after the last one.
func (f folder) live(every time.Duration) (die func()) {
	over, dead := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(dead)
		for made := false; ; {
			if made { // once only, and not again beside a study that is being deleted
				_ = f.in(func(d *door.Dir) error { return d.Touch(beatName, time.Now()) })
			} else { // again if the disk is full: the next try may help
				made = f.write(beatName, []byte(jobID()+" on "+nodeName()+"\n")) == nil
			}
			select {
			case <-over:
				return
			case <-time.After(every):
			}
		}
	}()
	return sync.OnceFunc(func() { close(over); <-dead })
}

// errAsked ends an attempt that was asked to end, errSignalled one that Slurm has asked by itself.
var (
	errAsked     = errors.New("asked to end")
	errSignalled = fmt.Errorf("%w by a signal", errAsked)
)

// listen ends the attempt when it is asked to, by a file of the folder, of which a SIGTERM gives notice.
// SIGTERM without that file is Slurm's own doing.
func (f folder) listen(terms <-chan os.Signal, beat time.Duration, end context.CancelCauseFunc, kill func(), over <-chan struct{}) {
	look := time.NewTicker(stopPause)
	defer look.Stop()
	for seen := time.Now(); ; {
		signalled := false
		select {
		case <-over:
			return
		case <-terms:
			signalled = true
		case <-look.C:
		}
		f.refresh()
		if _, err := os.Lstat(string(f)); !errors.Is(err, fs.ErrNotExist) {
			seen = time.Now()
		}
		deleted := time.Since(seen) > 3*beat // with its study, and not for a moment of a network's
		switch reason := f.stopped(); {
		case reason == stopKill, reason == stopLost, deleted:
			kill()
		case reason != "":
			end(errAsked)
		case signalled:
			end(errSignalled)
		}
	}
}
