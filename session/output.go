package session

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"sync"

	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
)

// stream is a file with readings.
type stream struct {
	source parser.Source
	path   string
}

// streams are the files in which the attempt's readings stand.
func (a *attempt) streams() []stream {
	dir := a.study.layout.Attempt(a.id)
	out := []stream{
		{parser.Stdout, filepath.Join(dir, runner.StdoutName)},
		{parser.Stderr, filepath.Join(dir, runner.StderrName)},
	}
	if a.study.pattern.Rule().Source == parser.File {
		out = append(out, stream{parser.File, a.resultFile()})
	}
	return out
}

// follower reads what an attempt writes: while it runs, if somebody wants its
// readings or it writes more than is kept, else at its end.
type follower struct {
	attempt   *attempt
	collector *parser.Collector
	scanners  []*parser.Scanner
	once      sync.Once     // for start, or for not starting
	live      bool          // started
	over      sync.Once     // for stop
	ended     chan struct{} // closed by stop
	tails     sync.WaitGroup
	errs      []error // one for each stream
}

func newFollower(a *attempt) *follower {
	f := &follower{attempt: a, collector: parser.NewCollector(a.study.pattern), ended: make(chan struct{})}
	var emit func(parser.Reading)
	if a.box != nil {
		emit = a.box.add
	}
	for _, s := range a.streams() {
		f.scanners = append(f.scanners, f.collector.Scanner(s.source, emit))
	}
	f.errs = make([]error, len(f.scanners))
	return f
}

// start follows the output streams. It is called while the command runs.
func (f *follower) start() {
	f.once.Do(func() {
		f.live = true
		for i, s := range f.attempt.streams() {
			if s.source == parser.File {
				continue // it may not be there yet
			}
			f.tails.Go(func() { f.errs[i] = runner.Tail(context.Background(), s.path, f.scanners[i], f.ended) })
		}
	})
}

// stop waits until the streams that are followed have been read to their ends,
// which the attempt's end has fixed.
func (f *follower) stop() {
	f.once.Do(func() {})
	f.over.Do(func() { close(f.ended) })
	f.tails.Wait()
}

// finish reads what was not followed, of stdout and stderr what counts if not all does,
// and returns the value.
func (f *follower) finish(counted *runner.Lengths) (parser.Result, error) {
	f.stop()
	limits := map[parser.Source]int64{parser.Stdout: math.MaxInt64, parser.Stderr: math.MaxInt64, parser.File: math.MaxInt64}
	if counted != nil {
		limits[parser.Stdout], limits[parser.Stderr] = counted.Stdout, counted.Stderr
	}
	for i, s := range f.attempt.streams() {
		if !f.live || s.source == parser.File {
			f.errs[i] = runner.Read(context.Background(), s.path, f.scanners[i], limits[s.source])
		}
		if err := f.scanners[i].Close(); f.errs[i] == nil {
			f.errs[i] = err
		}
	}
	if err := errors.Join(f.errs...); err != nil {
		return parser.Result{}, err
	}
	return f.collector.Result(0)
}
