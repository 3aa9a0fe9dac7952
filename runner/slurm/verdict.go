package slurm

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/runner"
)

// ended makes an Exit of what the job has written at its end. What it does not know, why
// Slurm has sent a signal, is the queue's to say.
func (w *watch) ended(e *ending) (exit runner.Exit, done bool, err error) {
	if e.Refusal != nil {
		w.discard()
		return exit, true, e.Refusal.err(e.Node)
	}
	if !w.arrived(e) {
		return exit, false, nil
	}
	if e.Exit.Counted != nil {
		w.settle()
	}
	exit = *e.Exit
	switch {
	case w.reason == stopTimeout && exit.Cancelled:
		exit.Cancelled, exit.TimedOut = false, true
	case w.reason != "":
	case e.Signal != "", terminated(exit):
		jobs, known := w.theQueue().of(w.intent.Name, w.tail)
		if unfinished(jobs) || !known && !w.patient() {
			return exit, false, nil
		}
		return w.explain(exit, final(jobs), false)
	}
	return exit, true, nil
}

// arrived reports whether all of the outputs can be read here: a network file system may
// show a file before the end of another one. What is there beyond was written by somebody
// else and does not count.
func (w *watch) arrived(e *ending) bool {
	if w.tail.IsZero() {
		w.tail = time.Now()
	}
	now, all := w.folder.lengths(), e.Outputs
	if (now.Stdout < all.Stdout || now.Stderr < all.Stderr) && !w.patient() {
		return false
	}
	if e.Exit.Counted == nil && (now.Stdout > all.Stdout || now.Stderr > all.Stderr) {
		e.Exit.Counted = &all
	}
	return true
}

// patient reports whether we have waited long enough for the rest of a known end.
func (w *watch) patient() bool { return time.Since(w.tail) > w.Settings.settle() }

// judge decides about an attempt of which there is no end yet.
func (w *watch) judge() (exit runner.Exit, done bool, err error) {
	if beat := w.folder.beat(); !beat.Equal(w.beat) {
		w.beat, w.quiet = beat, time.Time{}
	}
	jobs, known := w.theQueue().of(w.intent.Name, w.since)
	switch {
	case !known:
		return exit, false, nil
	case unfinished(jobs):
		w.quiet = time.Time{}
		return exit, false, nil
	case w.withdraw():
		return w.neverBegun(final(jobs))
	case w.quiet.IsZero():
		w.quiet = time.Now()
		return exit, false, nil
	case time.Since(w.quiet) < w.Settings.settle():
		return exit, false, nil
	}
	if jobs, known = w.theQueue().of(w.intent.Name, w.quiet); !known || unfinished(jobs) {
		return exit, false, nil
	}
	exit, err = runner.Harvest(w.job)
	if err == nil { // the record beats whatever Slurm says
		if w.reason == "" && terminated(exit) {
			return w.explain(exit, final(jobs), false)
		}
		return exit, true, nil
	}
	if !errors.Is(err, runner.ErrLost) && !errors.Is(err, runner.ErrNeverStarted) {
		return exit, true, err
	}
	// Should it live after all, behind a network that is broken, it ends when it comes back.
	if w.reason == "" {
		_ = w.folder.write(stopName, []byte(stopLost))
	}
	w.removeJobs()
	_, exit.Started = runner.Inspect(w.job.Dir)
	exit.Ended = time.Now()
	if exit.Started.IsZero() {
		exit.Started = exit.Ended
	}
	exit.Code, exit.Signal, exit.Killed = 128+int(unix.SIGKILL), "SIGKILL", true
	switch w.reason {
	case stopTimeout:
		exit.TimedOut = true
		return exit, true, nil
	case stopCancel, stopKill:
		exit.Cancelled = true
		return exit, true, nil
	}
	return w.explain(exit, final(jobs), true)
}

// neverBegun decides what follows from the end of jobs of which none has begun the
// attempt, which is ours now.
func (w *watch) neverBegun(last queued) (exit runner.Exit, done bool, err error) {
	switch last.state {
	case "CANCELLED":
		err = fmt.Errorf("%w: its job was cancelled outside of lbotune (scancel)", runner.ErrNotBegun)
	case "COMPLETED", "FAILED", "OUT_OF_MEMORY", "TIMEOUT", "DEADLINE":
		err = fmt.Errorf("%w: its job has ended (Slurm says %s)%s", runner.ErrNotBegun, last.state, w.output())
	default: // lost, or it never came there
		if err = w.tooMany(); err == nil {
			w.release()
			w.submitting, w.tryAt = true, time.Time{}
			if last.node != "" {
				_ = w.folder.writeJSON(lostName, loss{State: last.state, Node: last.node})
			}
			return exit, false, nil
		}
	}
	w.discard()
	return exit, true, err
}

// output is the end of what the script has printed, for an error message.
func (w *watch) output() string {
	text, err := runner.ReadTail(w.folder.path(outputName), 2<<10)
	if text = strings.TrimSpace(text); err != nil || text == "" {
		return ""
	}
	return ":\n" + text
}

// terminated reports whether a command was ended by a signal that was not ours: Slurm sends
// SIGTERM to all of a job, and the kernel SIGKILL for want of memory.
func terminated(exit runner.Exit) bool {
	return (exit.Signal == "SIGTERM" || exit.Signal == "SIGKILL") && !exit.Killed && !exit.Cancelled && !exit.TimedOut
}

// explain gives the end of an attempt its cause if Slurm was the one. Of an attempt that
// has vanished the end is not known otherwise.
func (w *watch) explain(exit runner.Exit, last queued, vanished bool) (runner.Exit, bool, error) {
	asked := exit.Cancelled // and not by us
	exit.Cancelled = false
	switch state := last.state; {
	case state == "OUT_OF_MEMORY", strings.Contains(w.output(), "memory limit"):
		exit.Cause = "out of memory: it took more than its Slurm job may have (memory in [launcher])"
	case state == "TIMEOUT", state == "DEADLINE":
		exit.TimedOut = true
		exit.Cause = "timed out: its Slurm job has reached its time limit (time in [launcher])"
	case state == "CANCELLED":
		exit.Cause = "its Slurm job was cancelled outside of lbotune (scancel)"
	case vanished, lossy(state):
		return w.lost(last)
	case asked:
		exit.Cause = "it was asked to end by a SIGTERM that did not come from lbotune"
	}
	if exit.Cause != "" && exit.Code == 0 {
		exit.Code, exit.Signal = 128+int(unix.SIGTERM), "SIGTERM"
	}
	return exit, true, nil
}

// lossy reports whether a job that ends in this state is none of the trial's fault.
func lossy(state string) bool {
	switch state {
	case "PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "LAUNCH_FAILED", "RECONFIG_FAIL", "REVOKED":
		return true
	}
	return false
}

// lost is the end of an attempt that the cluster is to blame for: it runs again.
func (w *watch) lost(last queued) (runner.Exit, bool, error) {
	what := "Slurm does not know its job any more"
	if last.state != "" {
		what = "Slurm says " + last.state
		if last.node != "" {
			what += " on node " + last.node
		}
	}
	if last.state != "PREEMPTED" {
		if err := w.folder.writeJSON(lostName, loss{State: last.state, Node: last.node}); err != nil {
			w.log("cannot note which node has lost an attempt", err)
		}
	}
	return runner.Exit{}, true, fmt.Errorf("%w: %s", runner.ErrLost, what)
}

// unfinished reports whether one of the jobs is not over.
func unfinished(jobs []queued) bool {
	for _, j := range jobs {
		if !j.over() {
			return true
		}
	}
	return false
}

// final is the last of an attempt's jobs, which are over; the zero value if none is known.
func final(jobs []queued) queued {
	if len(jobs) == 0 {
		return queued{}
	}
	return jobs[len(jobs)-1]
}
