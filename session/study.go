package session

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/pruner"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// Options are what a study needs beyond its config.
type Options struct {
	// Dir is the study's directory.
	Dir string
	// Launcher runs the trials. If it is a runner.Attacher too, attempts that
	// outlived an earlier session are rejoined.
	Launcher runner.Launcher
	// Optimizer makes the optimizer; nil means optimizer.New.
	Optimizer func(*spaces.Space, uint64, optimizer.Settings, ...optimizer.Earlier) (optimizer.Optimizer, error)
	// Observe is called with all records of the study, in order: by Open with those that the
	// journal holds already, and then with everything that happens, by a goroutine of its
	// own, so that it may be slow. Nil means nobody looks.
	Observe func(study.Update)
	// Program is the version of lbotune, for the journal.
	Program string
	// Log takes diagnostics; nil discards them. Sessions and changes are of slog.LevelInfo;
	// proposals, launches and verdicts of slog.LevelDebug; readings are below that.
	Log *slog.Logger
	// Adjust changes the config of the journal when Open is given none.
	Adjust func(*study.Config) error
	// Journal are options of the journal, with which lbotune's own tests make its disk fail.
	Journal []journal.FS
	// Share makes what grants the slots of a study that shares the machine with others. It
	// returns nil for a study that has them to itself, as nil does.
	Share func(*study.Config) (Sharer, error)
	// AssumeLost lets attempts that were started on another host and have left
	// no exit status count as lost.
	AssumeLost bool
}

// Study is a study that this process works on: it holds the journal's lock.
//
// Ask, Try, Tell, Fail, Do, Serve, Run and Close may be called by several goroutines. They
// take turns: while Run runs, the others wait for its end, so that an observer must not call
// them. State and what it returns are only for who knows that none of them is under way.
type Study struct {
	turn     chan struct{} // holds one element while a method is under way
	closed   bool
	orphans  []int         // trials that were handed out before this process had the study, for Try
	trying   []int         // trials that calls of Try have, by their slots; 0 for none
	tried    chan struct{} // closed when there is one less of them
	lost     error         // the journal could not be written: the state is ahead of it
	opts     Options
	layout   layout.Study
	unpack   func(layout.AttemptID) error // layout.Study.Unpacker
	state    *study.State
	journal  *journal.Journal
	patterns []*parser.Pattern   // of the metrics
	opt      optimizer.Optimizer // nil if it must be made anew, since nobody knows what it knows or whether it is idle
	told     int                 // finished trials that the optimizer knows
	running  map[int]*attempt    // attempts under way, by trial; 0 is the setup command
	earlier  []study.Earlier     // what was read of earlier studies and is not recorded yet
	pruner   *pruner.Pruner      // nil if there is none, or nobody has needed it yet
	watched  int                 // of state.Watched, what the pruner knows
	reported map[int]*report     // of the trials that were handed out, what Report was told
	host     string              // that we run on, for people only
	sharer   Sharer              // nil if there is none
	shared   int                 // slots for which it can be asked
	began    time.Time           // of this session, with a monotonic reading
	begun    bool                // the session: not of a study that was found at its end
	before   time.Duration       // Elapsed when the session began
	stdbuf   []string            // environment in which C programs write line by line
	feed     *feed[study.Update]
	hooks    *hooks
	commons  *commons
	unseen   bool     // requests wait that could not be read
	linked   []string // entries of the working directory that isolated trials share
}

// State returns what is known of the study. Nothing may be changed in it.
func (s *Study) State() *study.State { return s.state }

// Layout names the study's files.
func (s *Study) Layout() layout.Study { return s.layout }

// lock waits for the methods that are under way. The error says why none may follow.
func (s *Study) lock(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
	default:
		select {
		case s.turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := s.lost
	if s.closed {
		err = ErrClosed
	}
	if err != nil {
		s.unlock()
	}
	return err
}

func (s *Study) unlock() { <-s.turn }

func (s *Study) elapsed() time.Duration { return s.before + time.Since(s.began) }

// commit makes events part of the study: they are applied to the state, which
// refuses what contradicts it before that can spoil the journal, then written,
// and only then shown and acted on. Its error is a *journal.WriteError if the
// journal could not be written; nothing more may then be committed.
func (s *Study) commit(events ...study.Event) error {
	updates, err := s.apply(events)
	if err != nil {
		return err
	}
	return s.write(updates)
}

// apply is the first half of commit.
func (s *Study) apply(events []study.Event) ([]study.Update, error) {
	updates := make([]study.Update, len(events))
	for i, e := range events {
		r := s.record(e)
		if err := s.state.Apply(r); err != nil {
			return nil, fmt.Errorf("internal error: the study contradicts itself: %w", err)
		}
		updates[i] = s.state.Update(r) // before the next one changes what is the best
	}
	return updates, nil
}

// write is the second half of commit.
func (s *Study) write(updates []study.Update) error {
	lines := make([]any, len(updates))
	record := s.journal.AppendLazy
	for i, u := range updates {
		lines[i] = u.Record
		if !lazy(u.Record.Event) {
			record = s.journal.Append
		}
	}
	if s.lost = record(lines...); s.lost != nil {
		return s.lost
	}
	for _, u := range updates {
		s.feed.put(u)
		s.hooks.follow(u)
	}
	return nil
}

// lazy reports whether an event is written with the next one that is not lazy: a crash may
// lose it, and nothing depends on it. Any other is on disk before anything acts on it.
func lazy(e study.Event) bool {
	switch e := e.(type) {
	case study.Readings, study.Started:
		return true
	case study.Measured:
		return len(e.Measurements) > 0
	}
	return false
}

// record dates an event, with the precision that the journal keeps.
func (s *Study) record(e study.Event) study.Record {
	return study.Record{At: time.Now().UTC().Truncate(time.Millisecond), Elapsed: s.elapsed().Truncate(time.Millisecond), Event: e}
}

// Close gives up the study. It returns the error that ended writing, if one did.
func (s *Study) Close() error {
	s.turn <- struct{}{}
	defer s.unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	<-s.feed.shown
	<-s.hooks.feed.shown
	s.hooks.keep.close()
	return s.journal.Close()
}
