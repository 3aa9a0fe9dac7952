package slurm

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/runner"
)

// ended makes an Exit of what the job has written; why Slurm has sent a signal is the queue's to say.
func (w *watch) ended(e *ending) (*runner.Exit, error) {
	switch {
	case e.Refusal == nil:
	case e.Refusal.Lost:
		w.note(loss{State: "a missing exit status", Node: e.Node})
		return nil, fmt.Errorf("%w (on node %s)", runner.ErrLost, e.Node)
	default:
		w.discard()
		return nil, e.Refusal.err(e.Node)
	}
	switch output, all := w.arrived(e); {
	case !all && !w.patient():
		return nil, nil
	case !output && w.reason == "":
		w.note(loss{State: "a missing output", Node: e.Node})
		return nil, fmt.Errorf("%w: a part of its output is gone (on node %s)", runner.ErrLost, e.Node)
	}
	if e.Exit.Counted != nil {
		w.settle()
	}
	exit := *e.Exit
	switch {
	case w.reason == stopTimeout && exit.Cancelled:
		exit.Cancelled, exit.TimedOut = false, true
	case w.reason != "":
	case exit.TimedOut && (w.job.Timeout <= 0 || w.intent.Job.Timeout < w.job.Timeout): // it was raised
		return nil, fmt.Errorf("%w: it was begun with a timeout of %v, which is another by now", runner.ErrLost, w.intent.Job.Timeout)
	case e.Signal != "", terminated(exit):
		jobs, known := w.jobs(w.tail)
		if mayLive(jobs, true) && w.pilots != nil && w.Settings.PerJob > 1 && e.Signal == "" && w.patient() {
			return &exit, nil // others may run in this job for hours
		}
		if mayLive(jobs, true) || !known && (!w.patient() || time.Since(w.tail) < time.Minute) { // squeue may be slow
			return nil, nil
		}
		return w.explain(exit, final(jobs), false)
	}
	return &exit, nil
}

// arrived reports whether the outputs, and all that the command has written, can be read here: a network file
// system may show a file before another one. What is there beyond of an output was written by somebody else: it
// does not count.
func (w *watch) arrived(e *ending) (output, all bool) {
	if w.tail.IsZero() {
		w.tail = time.Now()
		if w.pilots != nil {
			w.takers() // to note that they work
		}
	}
	now, then := w.folder.lengths(), e.Outputs
	if e.Exit.Counted == nil && (now.Stdout > then.Stdout || now.Stderr > then.Stderr) {
		e.Exit.Counted = &then
	}
	output = now.Stdout >= then.Stdout && now.Stderr >= then.Stderr
	all = output
	for name, length := range e.Files {
		all = all && w.folder.length(name) >= length
	}
	return output, all
}

// patient reports whether we have waited long enough for the rest of a known end.
func (w *watch) patient() bool { return time.Since(w.tail) > w.Settings.silence() }

// judge decides about an attempt of which there is no end yet.
func (w *watch) judge() (*runner.Exit, error) {
	if beat := w.folder.beat(); !beat.Equal(w.beat) {
		w.beat, w.quiet = beat, time.Time{}
	}
	claimed := w.folder.claimed() || w.sight.PID != 0 // if its directory is gone now, it was deleted
	if w.pilots != nil && !claimed {
		return w.await()
	}
	jobs, known := w.jobs(w.since)
	switch {
	case !known:
		return nil, nil
	case mayLive(jobs, claimed):
		w.quiet = time.Time{}
		return nil, nil
	case w.pilots == nil && !claimed && w.withdraw():
		return w.neverBegun(final(jobs))
	case w.quiet.IsZero():
		w.quiet = time.Now()
		return nil, nil
	case time.Since(w.quiet) < w.Settings.silence():
		return nil, nil
	}
	if jobs, known = w.jobs(w.quiet); !known || mayLive(jobs, true) {
		return nil, nil
	}
	exit, err := runner.Harvest(w.job)
	if err == nil { // the record beats whatever Slurm says
		if w.reason == "" && terminated(exit) {
			return w.explain(exit, final(jobs), false)
		}
		return &exit, nil
	}
	if !errors.Is(err, runner.ErrLost) && !errors.Is(err, runner.ErrNeverStarted) {
		return nil, err
	}
	// Should it live after all, behind a network that is broken, it ends when it comes back.
	if w.reason == "" {
		_ = w.folder.write(stopName, []byte(stopLost))
	}
	w.removeJobs()
	now := time.Now()
	exit = runner.Exit{Code: 128 + int(unix.SIGKILL), Signal: "SIGKILL", Killed: true,
		Started: cmp.Or(w.sight.Started, now), Ended: now,
		TimedOut: w.reason == stopTimeout, Cancelled: w.reason == stopCancel || w.reason == stopKill}
	if exit.TimedOut || exit.Cancelled {
		return &exit, nil
	}
	return w.explain(exit, final(jobs), true)
}

// neverBegun decides what follows from the end of jobs of which none has begun the attempt, now ours.
func (w *watch) neverBegun(last queued) (exit *runner.Exit, err error) {
	again := last.state == "FAILED" && w.submitted <= w.Settings.second(w.output())
	switch {
	case !again && failedItself(last.state), last.state == "COMPLETED":
		err = w.blame(notBegun(last, w.output()))
	case w.submitted > w.Settings.Retries:
		err = fmt.Errorf("%w: the cluster has lost %d jobs for it", runner.ErrNotBegun, w.submitted)
	default: // lost, or it never came there
		_ = door.Rmdir(w.folder.attempt()) // which withdraw has claimed
		if again {
			_ = w.folder.write(outputName, nil) // the next one speaks for itself
		}
		w.submitting, w.tries.at = true, time.Time{}
		if last.node != "" {
			w.note(loss{State: last.state, Node: last.node})
		}
		return nil, nil
	}
	w.discard()
	return nil, err
}

// second is how many more jobs follow one that has failed by itself. It says why, and may have met a sick
// node: a second one tells. One without a word had no room for it, on a disk that may have room by now.
func (s Settings) second(words string) int {
	if words != "" {
		return min(s.Retries, 1)
	}
	return s.Retries
}

// failedItself reports whether a job that ends in this state, with nothing begun, would do so again.
func failedItself(state string) bool {
	return slices.Contains([]string{"CANCELLED", "FAILED", "OUT_OF_MEMORY", "TIMEOUT", "DEADLINE"}, state)
}

// lossy are the states of ended jobs that are none of the trial's fault.
var lossy = []string{"PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "LAUNCH_FAILED", "RECONFIG_FAIL", "REVOKED"}

// notBegun says why an attempt did not begin whose job has ended.
func notBegun(last queued, output string) error {
	if last.state == "CANCELLED" {
		return fmt.Errorf("%w: its job was cancelled outside of lbotune (scancel)", runner.ErrNotBegun)
	}
	return fmt.Errorf("%w: its job has ended (Slurm says %s)%s", runner.ErrNotBegun, last.state, output)
}

// blame gives the reason why an attempt did not begin another name if the disk had no room for it.
func (w *watch) blame(err error) error {
	if door.FullDisk(string(w.folder), true) {
		return &runner.SpawnError{Op: "prepare the attempt", Err: unix.ENOSPC, Disk: true}
	}
	return err
}

// output is the end of what the script has printed, for an error message.
func (w *watch) output() string {
	if w.pilots == nil {
		return printed(w.folder.path(outputName))
	}
	for _, t := range w.takers() {
		return w.pilots.output(t)
	}
	return ""
}

func printed(path string) string {
	text, err := runner.ReadTail(runner.At(path), 2<<10)
	if text = strings.TrimSpace(text); err != nil || text == "" {
		return ""
	}
	return ":\n" + text
}

// terminated reports whether a command was ended by a signal that was not ours: Slurm's SIGTERM to
// all of a job, or the kernel's SIGKILL for want of memory.
func terminated(exit runner.Exit) bool {
	return (exit.Signal == "SIGTERM" || exit.Signal == "SIGKILL") && !exit.Killed && !exit.Cancelled && !exit.TimedOut
}

// exceededRE matches what slurmstepd says when it ends a job for its memory.
var exceededRE = pattern.Lazy(`(?i)\bexceeded .*memory limit`)

// explain gives the end of an attempt its cause if Slurm was it; a vanished one has no other.
func (w *watch) explain(exit runner.Exit, last queued, vanished bool) (*runner.Exit, error) {
	asked := exit.Cancelled // and not by us
	exit.Cancelled = false
	switch state := last.state; {
	case state == "OUT_OF_MEMORY", exceededRE().MatchString(w.output()):
		exit.Cause = "out of memory: it took more than its Slurm job may have (memory in [launcher])"
	case timeUp(state) && !w.shared():
		exit.TimedOut = true
		exit.Cause = "timed out: its Slurm job has reached its time limit (time in [launcher])"
	case state == "CANCELLED":
		exit.Cause = "its Slurm job was cancelled outside of lbotune (scancel)"
	case vanished, slices.Contains(lossy, state), timeUp(state), last.waits():
		return w.lost(last)
	case asked:
		exit.Cause = "it was asked to end by a SIGTERM that did not come from lbotune"
	}
	if exit.Cause != "" && exit.Code == 0 {
		exit.Code, exit.Signal = 128+int(unix.SIGTERM), "SIGTERM"
	}
	return &exit, nil
}

// shared reports whether the attempt began when others had used up some of its job's time.
func (w *watch) shared() bool {
	if w.pilots == nil {
		return false
	}
	for _, t := range w.takers() {
		var mark taken
		if there, err := w.folder.readJSON(takenPrefix+t.name+"."+t.id, &mark); there && err == nil && mark.First {
			return false
		}
	}
	return true
}

// timeUp reports whether a job that ends in this state has reached its time limit.
func timeUp(state string) bool { return state == "TIMEOUT" || state == "DEADLINE" }

// lost is the end of an attempt that the cluster is to blame for: it runs again.
func (w *watch) lost(last queued) (*runner.Exit, error) {
	what := "Slurm does not know its job any more"
	switch {
	case last.waits():
		what = "its job was put back into the queue"
		w.removeJobs()
	case last.state != "":
		what = "Slurm says " + loss{State: last.state, Node: last.node}.String()
	}
	if timeUp(last.state) {
		last.node = "" // which is as good as others
	}
	if last.state != "PREEMPTED" {
		w.note(loss{State: last.state, Node: last.node})
	}
	return nil, fmt.Errorf("%w: %s", runner.ErrLost, what)
}

// note notes where the cluster has lost the attempt.
func (w *watch) note(l loss) {
	if err := w.folder.writeJSON(lostName, l); err != nil {
		w.log("cannot note which node has lost an attempt", err)
	}
}

// mayLive reports whether a job runs the attempt or will. If that has begun, one that waits will not.
func mayLive(jobs []queued, claimed bool) bool {
	return slices.ContainsFunc(jobs, func(j queued) bool { return !j.over() && !(claimed && j.waits()) })
}

// final is the last of an attempt's jobs, which are over; the zero value if none is known.
func final(jobs []queued) queued {
	if len(jobs) == 0 {
		return queued{}
	}
	return jobs[len(jobs)-1]
}
