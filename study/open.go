package study

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
)

// ErrNoStudy means that there is no journal where a study was expected.
var ErrNoStudy = errors.New("there is no study")

// Open takes up the study in opts.Dir, or begins it if there is none. With a
// nil config it goes on from the journal alone. A config that differs from the
// journal's is taken over as far as the finished trials stay comparable, and
// else refused with a *ConfigError.
//
// The study is this process's until Close. Errors that say so wrap
// journal.ErrLocked; a damaged journal is a *journal.CorruptError.
func Open(config *Config, opts Options) (*Study, error) {
	s, err := newStudy(opts)
	if err != nil {
		return nil, err
	}
	torn, err := s.openJournal(config)
	if err != nil {
		return nil, err
	}
	if err := s.begin(config, torn); err != nil {
		if cerr := s.journal.Close(); cerr != nil && !errors.Is(err, cerr) { // it says again why it could not be written
			err = errors.Join(err, cerr)
		}
		return nil, err
	}
	return s, nil
}

// newStudy fills in the defaults of the options.
func newStudy(opts Options) (*Study, error) {
	if opts.Log == nil {
		opts.Log = hclog.NewNullLogger()
	}
	if opts.Optimizer == nil {
		opts.Optimizer = optimizer.New
	}
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("open study %s: %w", opts.Dir, err)
	}
	return &Study{opts: opts, layout: Layout(dir), state: &State{}, began: time.Now(), feed: newFeed(opts.Observe)}, nil
}

// openJournal folds the journal into the state, or creates it. It returns the
// file that keeps the bytes of a torn last line, if there was one.
func (s *Study) openJournal(config *Config) (torn string, err error) {
	path := s.layout.Journal()
	if config != nil {
		if err := os.MkdirAll(string(s.layout), dirMode); err != nil {
			return "", &journal.WriteError{Path: path, Op: "create", Err: err}
		}
	}
	in := newLoader(s.state)
	j, summary, err := journal.Open(path, in.visit, s.opts.Journal...)
	if err == nil {
		if err = in.finish(); err != nil {
			err = errors.Join(named(err, path), j.Close())
		}
	}
	switch {
	case err == nil:
		s.journal, s.before = j, s.state.Elapsed
		if summary.Torn != nil {
			torn = summary.Torn.Kept
			s.opts.Log.Warn("the last record was cut short by a crash and is dropped", "journal", path, "line", summary.Torn.Line, "kept", torn)
		}
		return torn, nil
	case !errors.Is(err, fs.ErrNotExist) || config == nil:
		return "", named(err, path)
	}
	return "", s.create(*config)
}

// create begins a study.
func (s *Study) create(config Config) error {
	var id [8]byte
	rand.Read(id[:])
	print, err := fingerprint(config)
	if err != nil {
		return err
	}
	first := s.record(Created{ID: hex.EncodeToString(id[:]), Fingerprint: print, Program: s.opts.Program, Config: config})
	if err := s.state.Apply(first); err != nil {
		return fmt.Errorf("invalid study: %w", err)
	}
	s.journal, err = journal.Create(s.layout.Journal(), first, s.opts.Journal...)
	return err
}

// begin starts a session: config, optimizer and the session's record.
func (s *Study) begin(config *Config, torn string) error {
	var events []Event
	if config == nil && s.opts.Adjust != nil {
		adjusted := s.state.Config
		if err := s.opts.Adjust(&adjusted); err != nil {
			return err
		}
		config = &adjusted
	}
	if config != nil {
		change, err := s.state.reconfigured(*config)
		if err != nil {
			return err
		}
		if change != nil {
			for _, v := range s.state.dropped(*change) {
				s.opts.Log.Warn("enqueued values lie outside the changed ranges and are dropped", "values", v)
			}
			events = append(events, *change)
			s.opts.Log.Info("the spec has changed since the last session")
		}
	}
	if s.state.Ended() && len(events) == 0 {
		return nil // nothing will happen that a record should precede
	}
	host, _ := os.Hostname() // for people only
	events = append(events, Session{Number: s.state.Sessions + 1, Host: host, PID: os.Getpid(), Program: s.opts.Program, Recovered: torn})
	if err := s.commit(events...); err != nil {
		return err
	}
	return s.prepare()
}

// prepare makes what the config asks for, and teaches the optimizer what is
// known.
func (s *Study) prepare() error {
	c := s.state.Config
	var err error
	if s.pattern, err = parser.Compile(c.Objective.Rule); err != nil {
		return fmt.Errorf("objective: %w", err)
	}
	if err := c.Run.Sources.check(s.layout, c.Dir); err != nil {
		return err
	}
	if s.pruner, err = c.newPruner(); err != nil {
		return err
	}
	if _, err := c.rungs(); err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	if s.opt, err = s.opts.Optimizer(s.state.search.Space, c.Seed, s.state.search.Settings); err != nil {
		return err
	}
	for _, n := range s.state.Order {
		t := s.state.Trials[n-1]
		if !t.teaches() {
			continue
		}
		if err := s.opt.Tell(s.state.Observation(t)); err != nil {
			return fmt.Errorf("tell the optimizer of trial %d: %w", n, err)
		}
	}
	s.told = len(s.state.Order)
	return nil
}

// fingerprint identifies a config.
func fingerprint(c Config) (string, error) {
	text, err := encodeConfig(c)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

func encodeConfig(c Config) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c); err != nil {
		return nil, fmt.Errorf("invalid study: %w", err)
	}
	return b.Bytes(), nil
}
