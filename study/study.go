// Package study runs one study: it asks an optimizer for trials, runs them,
// reads their values, and keeps everything in a journal from which the study
// goes on exactly where it stopped.
//
// # Who speaks to whom
//
//	person ──Stop──▶ ┐
//	timer  ──tick──▶ │
//	                 │            ┌─▶ journal ─▶ State ─▶ observers
//	asker ──asked──▶ ├─ inbox ─▶ loop
//	  ▲              │            ├──launch──▶ attempt (one goroutine each)
//	  └──tell, ask───┼────────────┘               │
//	                 └ ◀── reading, ended ────────┘
//
// One goroutine, the loop, owns the state, the journal and the budget. One, the
// asker, owns the optimizer: a fit may take seconds while attempts end and
// people press Ctrl-C. Each running attempt has a goroutine of its own. All of
// them speak to the loop over one inbox, and nothing is shared.
//
// In one turn the loop takes every message that is there, decides, appends what
// it decided to the journal with one fsync, and only then shows it and acts on
// it. So a record is on disk before anything follows from it, and several trials
// that end together cost one fsync.
package study

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/pruner"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/spaces"
)

// Options are what a study needs beyond its config.
type Options struct {
	// Dir is the study's directory.
	Dir string
	// Launcher runs the trials. If it is a runner.Attacher too, attempts that
	// outlived an earlier session are rejoined.
	Launcher runner.Launcher
	// Optimizer makes the optimizer; nil means optimizer.New.
	Optimizer func(*spaces.Space, uint64, optimizer.Settings) (optimizer.Optimizer, error)
	// Observe is called with everything that happens, in order, by a goroutine
	// of its own: it may be slow. Nil means nobody looks.
	Observe func(Update)
	// Program is the version of lbotune, for the journal.
	Program string
	// Log takes diagnostics; nil discards them.
	Log hclog.Logger
	// Adjust changes the config of the journal when Open is given none.
	Adjust func(*Config) error
	// Journal are options of the journal.
	Journal []journal.Option
	// AssumeLost lets attempts that were started on another host and have left
	// no exit status count as lost.
	AssumeLost bool
}

// Stop asks a running study to stop, more urgently with each step.
type Stop int

// The steps of stopping.
const (
	// StopAsking starts no more trials and lets the running ones end.
	StopAsking Stop = iota + 1
	// StopRunning also asks the running trials to end.
	StopRunning
	// StopNow kills them.
	StopNow
)

// Errors of Run. All of them leave a study that can be resumed.
var (
	// ErrStopped means that a person stopped the study before its end.
	ErrStopped = errors.New("the study was stopped before its end")
	// ErrNoSuccess means that the study ended without a successful trial.
	ErrNoSuccess = errors.New("no trial succeeded")
)

// A SetupError says that the setup command failed; nothing else was started.
type SetupError struct {
	Failure Failure
	Dir     string // of its output
}

func (e *SetupError) Error() string { return "setup failed: " + e.Failure.Text }

// A GuardError says that the failure guard stopped the study.
type GuardError struct {
	Detail string
	Trial  int // one of those that failed
}

func (e *GuardError) Error() string { return e.Detail }

// Unwrap makes a GuardError an ErrNoSuccess.
func (e *GuardError) Unwrap() error { return ErrNoSuccess }

// Study is a study that this process works on: it holds the journal's lock.
type Study struct {
	opts    Options
	layout  Layout
	state   *State
	journal *journal.Journal
	pattern *parser.Pattern
	opt     optimizer.Optimizer
	told    int            // finished trials that the optimizer knows
	pruner  *pruner.Pruner // nil if there is none
	began   time.Time      // of this session, with a monotonic reading
	before  time.Duration  // Elapsed when the session began
	feed    *feed
}

// State returns what is known of the study. It must not be called while Run
// runs.
func (s *Study) State() *State { return s.state }

// Layout names the study's files.
func (s *Study) Layout() Layout { return s.layout }

// elapsed is the study's own time.
func (s *Study) elapsed() time.Duration { return s.before + time.Since(s.began) }

// commit makes events part of the study: they are applied to the state, which
// refuses what contradicts it before that can spoil the journal, then written,
// and only then shown and acted on. Its error is a *journal.WriteError if the
// journal could not be written; nothing more may then be committed.
func (s *Study) commit(events ...Event) error {
	var now, later []any
	records := make([]Record, len(events))
	for i, e := range events {
		records[i] = s.record(e)
		if err := s.state.Apply(records[i]); err != nil {
			return fmt.Errorf("internal error: the study contradicts itself: %w", err)
		}
		switch e.Type().durability() {
		case synced:
			now = append(now, records[i])
		case lazy:
			later = append(later, records[i])
		}
	}
	if _, err := s.journal.AppendLazy(later...); err != nil {
		return err
	}
	if len(now) > 0 {
		if _, err := s.journal.Append(now...); err != nil {
			return err
		}
	}
	for _, r := range records {
		s.show(r)
	}
	return nil
}

// record dates an event, with the precision that the journal keeps.
func (s *Study) record(e Event) Record {
	return Record{At: time.Now().UTC().Truncate(time.Millisecond), Elapsed: s.elapsed().Truncate(time.Millisecond), Event: e}
}

// show hands a record and the trial that it is about to the observers.
func (s *Study) show(r Record) {
	u := Update{Record: r, Finished: len(s.state.Order), Proposed: len(s.state.Trials)}
	if n := trialOf(r.Event); n > 0 && n <= len(s.state.Trials) {
		u.Trial = *s.state.Trials[n-1]
	}
	if b := s.state.best; b != nil { // the best value: means come last
		u.Best = *b
	}
	s.feed.put(u)
}

// Run works on the study until its budget is spent or stop says so. Cancelling
// ctx is StopRunning. The error is nil for a study that ended as its budget
// says with at least one success.
func (s *Study) Run(ctx context.Context, stop <-chan Stop) error {
	defer s.feed.flush()
	if s.state.Closed == nil {
		if err := newLoop(s).run(ctx, stop); err != nil {
			return err
		}
	}
	switch c := s.state.Closed; {
	case c == nil && s.state.awaited():
		return ErrAwaited
	case c == nil:
		return ErrStopped
	case c.Why == EndGuard:
		return &GuardError{Detail: c.Detail, Trial: s.state.Order[len(s.state.Order)-1]}
	case s.state.best == nil:
		return ErrNoSuccess
	}
	return nil
}

// Close gives up the study. It returns the error that ended writing, if one
// did.
func (s *Study) Close() error {
	s.feed.flush()
	return s.journal.Close()
}
