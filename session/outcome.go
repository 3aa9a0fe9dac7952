package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// outcome is how an attempt ended: its metrics, a failure, or an error when the
// attempt could not be made through no fault of the trial's.
type outcome struct {
	metrics   study.Metrics
	failure   *study.Failure
	partial   study.Metrics // what was printed by an attempt that was cancelled; nil without an objective
	err       error
	byOthers  bool // a signal ended it by which machines and services are stopped, and which lbotune did not send
	unstarted bool // it was not found running, and is to be started another time
	seconds   float64
	leftovers string
}

func failed(kind study.FailureKind, code int, format string, args ...any) outcome {
	return outcome{failure: &study.Failure{Kind: kind, Code: code, Text: fmt.Sprintf(format, args...)}}
}

// notSafe is the outcome of a trial that may not be started any more.
func notSafe() outcome {
	return failed(study.FailLaunch, 0, "not started: it is not known any more to be safe")
}

func (a *attempt) outcome(exit runner.Exit, err error, began time.Time, f *follower) outcome {
	var o outcome
	var spawn *runner.SpawnError
	switch {
	case err == nil:
		if o = a.judge(exit, f); o.failure != nil {
			a.follow(f, exit)
		}
		if o.failure != nil && byProgram(o.failure.Kind) && (exit.DiskFull || door.FullDisk(a.bindings().WorkDir(), false)) {
			o.failure = &study.Failure{Kind: study.FailDisk, Text: o.failure.Text + " while the disk was full"}
		}
		if exit.Cause != "" && o.failure != nil {
			o.failure.Text = exit.Cause
		}
		o.byOthers = a.endedByOthers(exit)
		o.seconds = journal.Seconds(exit.Ended.Sub(exit.Started))
		o.leftovers = describeLeftovers(exit.Leftovers, len(a.config.Run.SecretEnv) > 0)
		return o
	case errors.Is(err, runner.ErrOutdated):
		o = failed(study.FailLost, 0, "the attempt does not count: %v", runner.ErrOutdated)
	case errors.Is(err, runner.ErrLost), errors.Is(err, runner.ErrClaimed):
		o = failed(study.FailLost, 0, "the attempt was lost: %v", err)
	case errors.Is(err, runner.ErrElsewhere) && a.study.opts.AssumeLost:
		o = failed(study.FailLost, 0, "the attempt was taken to be lost: %v", err)
	case errors.Is(err, errStopped), errors.Is(err, errPruned), errors.Is(err, context.Canceled):
		o = failed(study.FailInterrupted, 0, "%v", errStopped)
	case errors.Is(err, runner.ErrElsewhere), errors.As(err, &spawn):
		o.err = fmt.Errorf("%v: %w", a.id, err)
	default:
		o = failed(study.FailLaunch, 0, "%v", err)
	}
	if !began.IsZero() {
		o.seconds = journal.Seconds(time.Since(began))
	}
	return o
}

// judge turns the end of a command into a value or the reason why there is none.
func (a *attempt) judge(exit runner.Exit, f *follower) outcome {
	switch {
	case exit.TimedOut:
		return failed(study.FailTimeout, 0, "timed out after %v", a.config.Run.Timeout)
	case exit.Cancelled:
		o := failed(study.FailInterrupted, 0, "%v", errStopped)
		if v := a.values(f, exit); a.id.Trial > 0 && v.failure == nil && v.err == nil {
			o.partial = v.metrics
		}
		return o
	case exit.Flooded:
		return failed(study.FailFlood, 0, "printed more than max_log allows")
	case exit.Signal != "" && !a.exitOK(exit.Code):
		return failed(study.FailSignal, exit.Code-128, "ended by %s", exit.Signal)
	case !a.exitOK(exit.Code):
		return failed(study.FailExit, exit.Code, "exit code %d", exit.Code)
	case a.id.Trial == 0:
		return outcome{}
	}
	return a.values(f, exit)
}

// endedByOthers reports whether a signal ended the attempt that lbotune did not send, and by
// which processes are asked to end.
func (a *attempt) endedByOthers(exit runner.Exit) bool {
	return !exit.TimedOut && !exit.Cancelled && !exit.Flooded && !a.exitOK(exit.Code) &&
		slices.Contains([]string{"SIGTERM", "SIGINT", "SIGHUP"}, exit.Signal)
}

func (a *attempt) exitOK(code int) bool {
	ok := a.config.Run.OKExit
	if len(ok) == 0 || a.id.Trial == 0 {
		return code == 0
	}
	return slices.Contains(ok, code)
}

// values turns what the attempt has printed, and what was measured of it, into its
// metrics. The objective and what has a limit must be among them; others may be missing.
func (a *attempt) values(f *follower, exit runner.Exit) outcome {
	err := f.finish(exit)
	if runner.IsShortage(err) {
		return outcome{err: fmt.Errorf("%v: %w", a.id, err)}
	}
	for _, s := range f.streams {
		if unread := unread(s.err, s.source != parser.File); unread != nil {
			return outcome{err: fmt.Errorf("%v: %w", a.id, unread)}
		}
	}
	if err != nil {
		return failed(study.FailNoMetric, 0, "%v", err)
	}
	if !exit.Cancelled {
		if name := a.cutByDisk(f, exit); name != "" {
			return failed(study.FailDisk, 0, "%s may lack its end: the disk was full", name)
		}
	}
	metrics := study.Metrics{}
	for i, m := range a.config.Metrics {
		if m.Measure != "" {
			if v, known := measured(m.Measure, exit); known {
				metrics[m.Name] = v
			} else if required(m) && !exit.Cancelled && a.rejoined {
				return failed(study.FailLost, 0, "the attempt was lost: its %s is not known, because lbotune was not there when it ended", m.Measure)
			} else if required(m) && !exit.Cancelled {
				return failed(study.FailNoMetric, 0, "%s of the attempt is not known", m.Measure)
			}
			continue
		}
		result, err := f.collector.Result(i)
		why, unread := a.unwritten(i)
		switch {
		case unread != nil:
			return outcome{err: fmt.Errorf("%v: %w", a.id, unread)}
		case why != "" && required(m):
			return failed(study.FailNoMetric, 0, "%s", why)
		case why != "":
		case err == nil:
			metrics[m.Name] = result.Value
		case required(m):
			return a.noMetric(i, err)
		}
	}
	return outcome{metrics: metrics}
}

// measured is what was measured of an attempt, also of one that was made to end.
func measured(what study.Measure, exit runner.Exit) (v float64, known bool) {
	v = map[study.Measure]float64{
		study.Seconds:    exit.Ended.Sub(exit.Started).Seconds(),
		study.CPUSeconds: exit.CPU.Seconds(),
		study.PeakMemory: float64(exit.PeakMemory),
	}[what]
	return v, v > 0
}

// noMetric is the outcome of an attempt that ran well, and lacks a metric that it must have.
func (a *attempt) noMetric(metric int, err error) outcome {
	var none *parser.NoValueError
	if !errors.As(err, &none) {
		return failed(study.FailNoMetric, 0, "%v", err)
	}
	if a.study.patterns[metric].Rule().Source == parser.File {
		file := a.resultFile(metric)
		if now, err := traceOf(file); err == nil && !now.There {
			return failed(study.FailNoMetric, 0, "the program wrote no file %s", file)
		}
	}
	kinds := map[string]study.FailureKind{"not finite": study.FailNotFinite, "failed": study.FailReported}
	kind := cmp.Or(kinds[none.Reason], study.FailNoMetric)
	if none.Hint != "" { // what to write instead comes with the reason
		return failed(kind, 0, "%v; %s", none, none.Hint)
	}
	return failed(kind, 0, "%v", none)
}

// describeLeftovers names the first few processes, and those that live on; without
// their arguments, if these may hold secrets.
func describeLeftovers(ps []runner.Process, secret bool) string {
	const most = 5
	var out []string
	more := 0
	for i, p := range ps {
		if i >= most && !p.Alive {
			more++
			continue
		}
		line := p.Command
		if secret {
			line, _, _ = strings.Cut(line, " ")
		}
		s := fmt.Sprintf("%d (%s)", p.PID, line)
		if p.PID == 0 { // none was seen
			s = line
		}
		if p.Alive {
			s += ", still alive"
		}
		out = append(out, s)
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, "; ")
}

// byProgram reports whether the failure is what the program did by itself.
func byProgram(k study.FailureKind) bool {
	return k == study.FailExit || k == study.FailSignal || k == study.FailNoMetric || k == study.FailReported
}

// graded completes the end of a trial that has a value: with less than all of the
// resource it is no success, because nobody knows how it would have gone on.
func graded(s *study.State, v spaces.Values, f *study.Finished) {
	f.Status = optimizer.Succeeded
	if part := s.Search.Partial(v); part != "" {
		f.Status = optimizer.Pruned
		f.Failure = &study.Failure{Kind: study.FailPruned, Text: part}
	}
}

// required reports whether a trial must report the metric to succeed.
func required(m study.Metric) bool { return m.Direction != "" || m.Limited() }
