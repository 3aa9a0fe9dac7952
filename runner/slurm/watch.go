package slurm

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/runner"
)

// Pace of the looks at an attempt's files.
const (
	lookMin = 20 * time.Millisecond
	lookMax = time.Second
)

// watch is one attempt under the eyes of this process. It belongs to one goroutine.
type watch struct {
	*Launcher
	folder folder
	intent *intent
	job    runner.Job

	pilots *pool // that run the attempt; nil if it has a job of its own

	submitting bool // a job is to be submitted
	tries      tries
	submitted  int       // jobs that were submitted
	doubt      bool      // there may be more
	since      time.Time // of the last submission, or of the beginning

	seen  bool         // it is ours, or there was a look at it
	sight runner.Sight // with the supervisor's id once it has begun
	long  [2]bool      // Job.Long was called for this output
	beat  time.Time    // the last sign of life
	quiet time.Time    // since when all jobs are gone and there is no sign of life; zero if not so
	tail  time.Time    // since when an end is known of which something is still missing

	reason  stopReason // why we ask it to end, "" if we do not
	killing bool       // and now at once
	asked   time.Time
}

func (w *watch) see(ctx context.Context) (runner.Exit, error) {
	if w.intent.Piloted {
		pool, err := w.thePool()
		if err != nil {
			return runner.Exit{}, diskError(err)
		}
		w.pilots = pool
		pool.watched.Add(1)
		defer func() {
			pool.watched.Add(-1)
			pool.folder.strike(w.intent.entry())
		}()
		if !w.folder.claimed() && w.folder.stopped() == "" {
			if err := pool.enlist(w.folder, w.intent); err != nil {
				return runner.Exit{}, err
			}
		}
	} else {
		defer w.queue.forget(w.intent.Name)
	}
	w.since = time.Now()
	ids, _ := w.folder.read(submittedName) // absent: none is known
	w.submitted = bytes.Count(ids, []byte("\n"))
	switch reason := w.folder.stopped(); reason {
	case "":
	case stopLost:
		return runner.Exit{}, fmt.Errorf("%w: it was given up by an earlier session", runner.ErrLost)
	default: // its orchestrator died while it was ending it, or lbotune stop was called
		if w.withdraw() {
			w.recall()
			return runner.Exit{}, runner.ErrNeverStarted
		}
		w.reason, w.killing, w.asked = reason, reason == stopKill, w.since
		w.notify()
	}
	for pause := lookMin; ; pause = min(pause*3/2, lookMax) {
		exit, err := w.look(ctx)
		if exit != nil || err != nil {
			if w.doubt || w.submitted > 1 {
				w.removeJobs() // one of them has run, or none must
			}
			return *cmp.Or(exit, new(runner.Exit)), err
		}
		select {
		case <-time.After(pause):
		case <-w.news(ctx):
			pause = lookMin
		}
	}
}

// news is ready when there may be a new reason to end the attempt.
func (w *watch) news(ctx context.Context) <-chan struct{} {
	switch {
	case !w.tail.IsZero(), w.killing:
		return nil // it has ended, or no more can be asked of it
	case w.reason == "":
		return ctx.Done()
	}
	return w.job.Kill
}

// look takes one look at everything that is known of the attempt; it has not ended if that gives neither.
func (w *watch) look(ctx context.Context) (*runner.Exit, error) {
	w.folder.refresh()
	var e ending
	there, err := w.folder.readJSON(endingName, &e)
	if err == nil && there && e.Exit == nil && e.Refusal == nil {
		err = fmt.Errorf("%s does not say how the attempt ended", w.folder.path(endingName))
	}
	if err != nil {
		return nil, err
	}
	if !there || w.seen {
		w.begun() // also when it has begun and ended since the last look
	}
	w.seen = true
	if there {
		return w.ended(&e)
	}
	if err := w.obey(ctx); err != nil {
		return nil, err
	}
	if w.submitting {
		return nil, w.submit()
	}
	return w.judge()
}

// settle tells the caller once that what is printed from now on does not count.
func (w *watch) settle() {
	if tell := w.job.Settled; tell != nil {
		w.job.Settled = nil
		tell()
	}
}

// begun tells the caller once that the command runs, and of long outputs.
func (w *watch) begun() {
	if w.sight.PID == 0 {
		if w.sight, _ = runner.Look(w.job.Dir); w.sight.PID == 0 {
			return
		}
		if w.job.Started != nil {
			w.job.Started(w.sight.PID)
		}
	}
	if w.folder.has(settledName) {
		w.settle()
	}
	if w.job.Long == nil {
		return
	}
	limit, now := cmp.Or(max(w.job.MaxLog, 0), runner.DefaultMaxLog), w.folder.lengths()
	for i, length := range []int64{now.Stdout, now.Stderr} {
		if !w.long[i] && length > limit/4 {
			w.long[i] = true
			w.job.Long()
		}
	}
}

// killSlack is how much later than the job itself we think that a grace is over, which counts from when
// the job has heard of it.
const killSlack = 5 * time.Second

// obey asks the attempt to end if its time has come; its error says that it has not begun and never will.
func (w *watch) obey(ctx context.Context) error {
	if w.killing {
		return nil
	}
	grace := w.job.Grace
	if grace >= w.intent.Job.Grace { // else it is shorter than the one that the job knows, and counts here alone
		grace += killSlack
	}
	w.killing = w.reason != "" && time.Since(w.asked) > grace
	select {
	case <-w.job.Kill:
		w.killing = true
	default:
	}
	switch {
	case w.reason != "" && w.killing:
	case w.killing, w.reason == "" && ctx.Err() != nil:
		w.reason, w.asked = stopCancel, time.Now()
	case w.reason == "" && w.late():
		w.reason, w.asked = stopTimeout, time.Now()
	default:
		return nil
	}
	if w.withdraw() {
		w.recall()
		return cmp.Or(context.Cause(ctx), context.Canceled)
	}
	what := w.reason
	if w.killing {
		what = stopKill
	}
	if err := w.folder.write(stopName, []byte(what)); err != nil {
		w.log("cannot ask a job to end but by scancel", err)
		w.removeJobs()
		return nil
	}
	w.notify()
	return nil
}

// late reports whether an attempt has outlived a timeout that its job does not know and enforce itself. Clocks
// may differ, so that of its node tells: by a sign of life that has come since the last look.
func (w *watch) late() bool {
	known := w.intent.Job.Timeout
	if w.sight.PID == 0 || w.job.Timeout <= 0 || known > 0 && known <= w.job.Timeout {
		return false
	}
	beat := w.folder.beat()
	return !w.beat.IsZero() && !beat.Equal(w.beat) && beat.Sub(w.sight.Started) > w.job.Timeout
}

// withdraw claims the attempt in place of the job, which has begun if it fails, and else never will.
func (w *watch) withdraw() bool { return runner.Claim(w.folder.attempt()) == nil }

// discard removes everything of an attempt that has not begun.
func (w *watch) discard() {
	if w.pilots != nil {
		w.pilots.folder.strike(w.intent.entry())
	}
	w.folder.remove()
	_ = door.Rmdir(w.folder.attempt()) // which withdraw has claimed
}

// recall is discard for an attempt of which a job may wait.
func (w *watch) recall() {
	if w.pilots == nil {
		w.removeJobs()
	}
	w.discard()
}

// tries say when sbatch is called again that could not submit.
type tries struct {
	at    time.Time
	pause time.Duration
}

// later puts off the next try, and says to when.
func (t *tries) later() string {
	t.pause = min(max(2*t.pause, time.Second), time.Minute)
	t.at = time.Now().Add(t.pause)
	return "the next try is in " + t.pause.String()
}

func (w *watch) submit() error {
	if time.Now().Before(w.tries.at) {
		return nil
	}
	w.doubt = true // until the id is known
	id, err := sbatch(context.Background(), w.args(w.folder, w.intent), w.folder.avoid(), w.folder.path(scriptName))
	switch {
	case err == nil:
		if err := w.folder.addSubmission(id); err != nil {
			w.log("cannot note a job's id; it can be found by its name", err)
		}
		w.submitting, w.doubt = false, w.tries.pause > 0
		w.submitted++
		w.since, w.quiet, w.tries.pause = time.Now(), time.Time{}, 0
		return nil
	case passes(err):
		w.log("Slurm does not take a job now; "+w.tries.later(), err)
		return nil
	case w.withdraw(): // no job of an earlier try has begun
		w.discard()
	}
	return &runner.SpawnError{Op: "submit a job", Err: err}
}

// notify gives the job notice that there is something for it in the folder.
func (w *watch) notify() {
	if w.pilots != nil {
		return // a pilot could have gone on to another attempt; it looks each second
	}
	if err := signalJobs(context.Background(), w.intent.Name); err != nil {
		w.log("cannot signal a job; it will see by itself that it is to end", err)
	}
}

func (w *watch) removeJobs() {
	for _, t := range w.takers() {
		args := []string{"--name=" + t.name}
		if t.id != "" {
			args = append(args, t.id)
		}
		if err := scancel(context.Background(), args...); err != nil {
			w.log("cannot remove a job; should it begin, it will find nothing to do", err)
		}
	}
}

// takers are the pilots that have tried to take the attempt; if it is claimed, one of them has it. Without
// pilots they are the attempt's own jobs, whatever their ids.
func (w *watch) takers() []queued {
	if w.pilots == nil {
		return []queued{{name: w.intent.Name}}
	}
	var pilots []queued
	for _, name := range w.folder.names() {
		mark, ok := strings.CutPrefix(name, takenPrefix)
		if dot := strings.LastIndexByte(mark, '.'); ok && dot > 0 {
			pilots = append(pilots, queued{name: mark[:dot], id: mark[dot+1:]})
			w.pilots.fruitful.Store(mark[:dot], true)
			w.pilots.barren.Store(0)
		}
	}
	return pilots
}

// jobs are those that may run the attempt, as squeue answers to a question put after since.
func (w *watch) jobs(since time.Time) (jobs []queued, known bool) {
	known = true
	for _, t := range w.takers() {
		all, ok := w.jobsOf(t.name, since)
		known = known && ok
		for _, j := range all {
			if t.id == "" || j.id == t.id {
				jobs = append(jobs, j)
			}
		}
	}
	return jobs, known
}

// await waits for a pilot to take the attempt.
func (w *watch) await() (*runner.Exit, error) {
	err := w.pilots.tend(w)
	if w.reason != "" { // it was asked to end in the moment in which it began
		err = context.Canceled
	}
	if err == nil || !w.withdraw() { // it has begun after all
		return nil, nil
	}
	w.discard()
	return nil, err
}
