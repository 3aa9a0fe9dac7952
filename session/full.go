package session

import (
	"path/filepath"

	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
)

// block is what file systems give out room in: a file that has met a full disk ends, as a
// rule, with a whole number of blocks.
const block = 4096

// cutByDisk names an output that metrics are read from, and that a full disk may have cut,
// "" if there is none. Many programs ignore that a write has failed and exit with 0: the
// first digits of a number are no value then, nor is what was printed before the last line.
func (a *attempt) cutByDisk(f *follower, exit runner.Exit) string {
	for i, s := range f.streams {
		if f.mayBeCut(i) && a.noRoom(s, exit) {
			return filepath.Base(s.path)
		}
	}
	return ""
}

// mayBeCut reports whether stream i ends in the middle of what a metric is read from, or
// where a block ends.
func (f *follower) mayBeCut(i int) bool {
	s, read := f.streams[i], false
	for metric, p := range f.attempt.study.patterns {
		if f.attempt.config.Metrics[metric].Measure != "" || !p.Reads(s.source) ||
			s.source == parser.File && f.attempt.resultFile(metric) != s.path {
			continue
		}
		if f.scanners[i].Unended(metric) {
			return true
		}
		read = true
	}
	now, err := traceOf(s.path)
	return read && err == nil && now.Size > 0 && now.Size%block == 0
}

// noRoom reports whether the disk that stream s is on is full, or was when the attempt
// ended.
func (a *attempt) noRoom(s stream, exit runner.Exit) bool {
	dir := a.study.layout.Attempt(a.id)
	if s.source == parser.File {
		where, err := filepath.EvalSymlinks(s.path)
		there, err1 := traceOf(where)
		here, err2 := traceOf(dir)
		if err == nil && err1 == nil && err2 == nil && there.Dev != here.Dev {
			return runner.NoRoom(filepath.Dir(where))
		}
	}
	return exit.DiskFull || runner.FullDisk(dir)
}
