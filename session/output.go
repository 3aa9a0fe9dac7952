package session

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

// stream is a file with readings.
type stream struct {
	source  parser.Source
	path    string
	metrics []int // that are read from it; none for all
	scanner *parser.Scanner
	err     error // of reading
}

// streams are the files in which the attempt's readings stand.
func (a *attempt) streams() []stream {
	dir := a.study.layout.Attempt(a.id)
	out := []stream{
		{source: parser.Stdout, path: filepath.Join(dir, runner.StdoutName)},
		{source: parser.Stderr, path: filepath.Join(dir, runner.StderrName)},
	}
	for metric, p := range a.study.patterns {
		if p.Rule().Source != parser.File {
			continue
		}
		path := a.resultFile(metric)
		i := slices.IndexFunc(out, func(s stream) bool { return s.path == path })
		if i < 0 {
			i = len(out)
			out = append(out, stream{source: parser.File, path: path})
		}
		out[i].metrics = append(out[i].metrics, metric)
	}
	return out
}

// follower reads what an attempt writes: while it runs, if somebody wants its
// readings or it writes more than is kept, else at its end.
type follower struct {
	attempt   *attempt
	streams   []stream
	collector *parser.Collector
	once      sync.Once     // for start, or for not starting
	live      bool          // started
	over      sync.Once     // for stop
	ended     chan struct{} // closed by stop
	tails     sync.WaitGroup
}

func newFollower(a *attempt) *follower {
	f := &follower{attempt: a, ended: make(chan struct{})}
	var emit func(parser.Reading)
	if a.box != nil {
		emit = a.box.add
	}
	if a.id.Trial > 0 {
		f.streams = a.streams()
	}
	f.scan(emit)
	return f
}

// scan makes fresh scanners of the streams.
func (f *follower) scan(emit func(parser.Reading)) {
	f.collector = parser.NewCollector(f.attempt.study.patterns...)
	for i, s := range f.streams {
		f.streams[i].scanner = f.collector.Scanner(s.source, emit, s.metrics...)
	}
}

// start follows the output streams. It is called while the command runs.
func (f *follower) start() {
	f.once.Do(func() {
		f.live = true
		for i, s := range f.streams {
			if s.source == parser.File {
				continue // it may not be there yet
			}
			f.tails.Go(func() {
				f.streams[i].err = runner.Tail(context.Background(), f.attempt.opens(s.path), math.MaxInt64, filler{s.scanner, f.attempt.box}, f.ended)
			})
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

// finish reads what was not followed, of stdout and stderr what counts if not all does.
// A file that the program should have written, and has not, is not its error. A program
// that was ended may have been in the middle of a number, and so may what it left behind: a last line
// counts if its end was printed, or if the program and all that it started have ended by themselves.
func (f *follower) finish(exit runner.Exit) error {
	f.stop()
	if box := f.attempt.box; box != nil && !f.live {
		box.since(time.Time{})
	}
	limits := map[parser.Source]int64{parser.Stdout: math.MaxInt64, parser.Stderr: math.MaxInt64, parser.File: math.MaxInt64}
	gone := map[parser.Source]int64{}
	if e := exit.Emptied; e != nil {
		gone = map[parser.Source]int64{parser.Stdout: e.Stdout, parser.Stderr: e.Stderr}
	}
	if f.live && !exit.Truncated && (exit.Counted != nil || exit.Emptied != nil) { // what is on another machine may have been followed beyond that
		f.scan(nil)
		f.live = false
	}
	if c := exit.Counted; c != nil {
		limits[parser.Stdout], limits[parser.Stderr] = c.Stdout, c.Stderr
	}
	closing := (*parser.Scanner).Close
	if exit.Cancelled || exit.Signal != "" || exit.Counted != nil {
		closing = (*parser.Scanner).CloseTorn
	}
	var errs []error
	for i := range f.streams {
		s := &f.streams[i]
		if now, err := traceOf(s.path); err == nil && now.Size < gone[s.source] {
			s.scanner.Gap()
			_, _ = s.scanner.Write([]byte("\n")) // what has come since begins a line
		}
		if !f.live || s.source == parser.File {
			s.err = runner.Read(context.Background(), f.attempt.opens(s.path), s.scanner, limits[s.source])
		}
		if s.source == parser.File && errors.Is(s.err, fs.ErrNotExist) {
			s.err = nil
		}
		if err := closing(s.scanner); s.err == nil {
			s.err = err
		}
		errs = append(errs, s.err)
	}
	return errors.Join(errs...)
}

// unread is the error of reading a file, if the program had no part in it: the machine could not, or closes to
// lbotune what is lbotune's own. The file may be whole, and the next session can read it.
func unread(err error, ours bool) error {
	var no syscall.Errno
	errors.As(err, &no)
	machine := []syscall.Errno{syscall.EIO, syscall.ESTALE, syscall.ENOTCONN, syscall.ETIMEDOUT, syscall.EMFILE, syscall.ENFILE}
	if slices.Contains(machine, no) || ours && no == syscall.EACCES {
		return &ReadError{err}
	}
	return nil
}

// block is what file systems give out room in: a file that has met a full disk ends, as a
// rule, with a whole number of blocks.
const block = 4096

// cutByDisk names an output that metrics are read from, and that a full disk may have cut,
// "" if there is none. Many programs ignore that a write has failed and exit with 0: the
// first digits of a number are no value then, nor is what was printed before the last line.
func (a *attempt) cutByDisk(f *follower, exit runner.Exit) string {
	for _, s := range f.streams {
		if f.mayBeCut(s) && a.noRoom(s, exit) {
			return filepath.Base(s.path)
		}
	}
	return ""
}

// mayBeCut reports whether a stream ends in the middle of what a metric is read from, or
// where a block ends.
func (f *follower) mayBeCut(s stream) bool {
	read := false
	for metric, p := range f.attempt.study.patterns {
		if f.attempt.config.Metrics[metric].Measure != "" || !p.Reads(s.source) ||
			s.source == parser.File && f.attempt.resultFile(metric) != s.path {
			continue
		}
		if s.scanner.Unended(metric) {
			return true
		}
		read = true
	}
	now, err := traceOf(s.path)
	return read && err == nil && now.Size > 0 && now.Size%block == 0
}

// noRoom reports whether the disk that stream s is on is full, or was when the attempt ended.
func (a *attempt) noRoom(s stream, exit runner.Exit) bool {
	dir := a.study.layout.Attempt(a.id)
	if s.source == parser.File {
		there, err1 := traceOf(s.path)
		here, err2 := traceOf(dir)
		if err1 == nil && err2 == nil && there.There && there.Dev != here.Dev {
			return door.FullDisk(filepath.Dir(s.path), false)
		}
	}
	return exit.DiskFull || door.FullDisk(dir, true)
}

const (
	// glanceWhole is how large an output may be to be read whole for a glance at it, and
	// glanceEnd how much is read of the end of a larger one.
	glanceWhole = 8 << 20
	glanceEnd   = 1 << 20
)

// Glance reads what an attempt that may be running has reported last: the last value of
// each metric, and the last step, which is NaN if none was printed. There are no metrics
// if there is none yet.
func Glance(st *study.State, l layout.Study, id layout.AttemptID) (step float64, metrics study.Metrics, err error) {
	t, err := st.Trial(id.Trial)
	if err != nil {
		return 0, nil, err
	}
	s := &Study{state: st, layout: l}
	s.patterns, _ = patternsOf(st.Config.Metrics)
	a := &attempt{study: s, config: st.Config, id: id, trial: *t}
	if n := len(t.Attempts); n > 0 && t.Attempts[n-1].Number == id.Attempt {
		a.slot = t.Attempts[n-1].Slot
	}
	step, metrics = math.NaN(), study.Metrics{}
	f := &follower{attempt: a, streams: a.streams()}
	f.scan(func(r parser.Reading) {
		metrics[st.Config.Metrics[r.Metric].Name] = r.Value
		if r.HasStep {
			step = r.Step
		}
	})
	now := make(chan struct{})
	close(now)
	for _, stream := range f.streams { // whose scanners are not closed: the last line may be half written
		if stream.source == parser.File {
			if why, err := a.unwritten(stream.metrics[0]); why != "" || err != nil {
				continue // it is another trial's
			}
		}
		file, err := traceOf(stream.path)
		if err == nil && file.There {
			most := int64(glanceEnd)
			if file.Size <= glanceWhole {
				most = math.MaxInt64
			}
			err = runner.Tail(context.Background(), a.opens(stream.path), most, stream.scanner, now)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return step, metrics, err
		}
	}
	return step, metrics, nil
}
