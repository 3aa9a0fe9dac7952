package study

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
)

// outcome is how an attempt ended: a value, a failure, or an error when the
// attempt could not be made through no fault of the trial's.
type outcome struct {
	value     float64
	failure   *Failure
	err       error
	seconds   float64
	leftovers string
}

func failed(kind FailureKind, code int, format string, args ...any) outcome {
	return outcome{failure: &Failure{Kind: kind, Code: code, Text: fmt.Sprintf(format, args...)}}
}

// outcome judges what the launcher says.
func (a *attempt) outcome(exit runner.Exit, err error, begin time.Time) outcome {
	var o outcome
	var spawn *runner.SpawnError
	switch {
	case err == nil:
		o = a.judge(exit)
		o.seconds = seconds(exit.Ended.Sub(exit.Started))
		o.leftovers = describeLeftovers(exit.Leftovers)
		return o
	case errors.Is(err, runner.ErrLost), errors.Is(err, runner.ErrClaimed):
		o = failed(FailLost, 0, "the attempt was lost: %v", err)
	case errors.Is(err, runner.ErrElsewhere) && a.study.opts.AssumeLost:
		o = failed(FailLost, 0, "the attempt was taken for lost: %v", err)
	case errors.Is(err, errStopped), errors.Is(err, context.Canceled):
		o = failed(FailInterrupted, 0, "%v", errStopped)
	case errors.Is(err, runner.ErrElsewhere), errors.As(err, &spawn):
		o.err = fmt.Errorf("%v: %w", a.id, err)
	default:
		o = failed(FailLaunch, 0, "%v", err)
	}
	o.seconds = seconds(time.Since(begin))
	return o
}

// judge turns the end of a command into a value or the reason why there is
// none.
func (a *attempt) judge(exit runner.Exit) outcome {
	switch {
	case exit.TimedOut:
		return failed(FailTimeout, 0, "timed out after %v", a.config.Run.Timeout)
	case exit.Cancelled:
		return failed(FailInterrupted, 0, "%v", errStopped)
	case exit.Flooded:
		return failed(FailFlood, 0, "printed more than max_log allows")
	case exit.Signal != "" && !a.exitOK(exit.Code):
		return failed(FailSignal, exit.Code-128, "ended by %s", exit.Signal)
	case !a.exitOK(exit.Code):
		return failed(FailExit, exit.Code, "exit code %d", exit.Code)
	case a.id.Trial == 0:
		return outcome{}
	}
	return a.value()
}

// exitOK reports whether the exit code is that of a good run.
func (a *attempt) exitOK(code int) bool {
	ok := a.config.Objective.OKExit
	if len(ok) == 0 || a.id.Trial == 0 {
		return code == 0
	}
	return slices.Contains(ok, code)
}

// value reads the metric from what the attempt has written.
func (a *attempt) value() outcome {
	collector := a.study.pattern.Collector()
	dir := a.study.layout.Attempt(a.id)
	for _, stream := range []struct {
		source parser.Source
		name   string
	}{{parser.Stdout, runner.StdoutName}, {parser.Stderr, runner.StderrName}} {
		if err := scan(collector.Scanner(stream.source, nil), filepath.Join(dir, stream.name)); err != nil {
			return failed(FailNoMetric, 0, "cannot read its output: %v", err)
		}
	}
	result, err := collector.Result()
	var none *parser.NoValueError
	switch {
	case err == nil:
		return outcome{value: result.Value}
	case errors.As(err, &none) && none.Reason == parser.NonFinite:
		return failed(FailNotFinite, 0, "%v", err)
	}
	return failed(FailNoMetric, 0, "%v", err)
}

// scan reads a file of an attempt, whose directory the program may have
// changed: a symbolic link or a pipe is not followed.
func scan(w io.WriteCloser, path string) error {
	f, err := openRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(w, f); err != nil {
		return err
	}
	return w.Close()
}

// openRegular opens a regular file and nothing else.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, f.Close(), fmt.Errorf("%s is not a regular file", path))
	}
	return f, nil
}

func describeLeftovers(ps []runner.Process) string {
	var out []string
	for _, p := range ps {
		s := fmt.Sprintf("%d (%s)", p.PID, p.Command)
		if p.Alive {
			s += ", still alive"
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}
