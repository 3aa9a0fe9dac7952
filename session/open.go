package session

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// Open takes up the study in opts.Dir, or begins it if there is none. With a
// nil config it goes on from the journal alone. A config that differs from the
// journal's is taken over as far as the finished trials stay comparable, and
// else refused with a *ConfigError.
//
// The study is this process's until Close; while it is another's, the error wraps ErrLocked.
func Open(config *study.Config, opts Options) (*Study, error) {
	if opts.Dir == "" {
		return nil, errors.New("Options.Dir is empty")
	}
	if config != nil && config.Dir == "" {
		here, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		placed := *config
		placed.Dir, config = here, &placed
	}
	s, torn, err := take(config, opts)
	if err != nil {
		return nil, err
	}
	if err := s.begin(config, torn); err != nil {
		s.hooks.keep.close()
		if cerr := s.journal.Close(); cerr != nil && !errors.Is(err, cerr) { // it says again why it could not be written
			err = errors.Join(err, cerr)
		}
		return nil, err
	}
	return s, nil
}

// take opens the study's journal, or begins it. It returns the file that keeps the bytes of a
// torn last line, if there was one.
func take(config *study.Config, opts Options) (s *Study, torn string, err error) {
	if config != nil {
		if opts.Launcher != nil && config.Command.Shell == "" && len(config.Command.Argv) == 0 {
			return nil, "", study.InvalidError{{Key: []string{"command"}, Message: "there is no command to run"}}
		}
		if err := config.Validate(); err != nil {
			return nil, "", err
		}
	}
	s = newStudy(opts)
	if err := CheckOwner(s.layout, s.opts.Log); err != nil {
		return nil, "", err
	}
	if torn, err = s.openJournal(config); err != nil {
		return nil, "", err
	}
	_ = s.hooks.keep.open(true) // whoever needs it tries again, and says why not
	return s, torn, nil
}

// newStudy fills in the defaults of the options.
func newStudy(opts Options) *Study {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Optimizer == nil {
		opts.Optimizer = optimizer.New
	}
	s := &Study{turn: make(chan struct{}, 1), tried: make(chan struct{}), opts: opts, layout: layout.Of(opts.Dir),
		state: &study.State{}, running: map[int]*attempt{}, reported: map[int]*report{}, began: time.Now()}
	s.feed = newFeed(opts.Observe, func(p any) { opts.Log.Error("the study goes on", "error", panicked("the observer", p)) })
	s.unpack = s.layout.Unpacker()
	s.commons = &commons{apart: string(s.layout), running: map[layout.AttemptID]*span{}}
	s.hooks = newHooks(s)
	return s
}

// openJournal folds the journal into the state, or creates it.
func (s *Study) openJournal(config *study.Config) (torn string, err error) {
	path := s.layout.Journal()
	if config != nil {
		if err := journal.MakeDir(string(s.layout), s.opts.Journal...); err != nil {
			return "", &journal.WriteError{Path: path, Op: "create", Err: err}
		}
	}
	summary, err := s.state.Fold(path, func(line func(journal.Record) error) (summary journal.Summary, err error) {
		s.journal, summary, err = journal.Open(path, line, s.opts.Journal...)
		return summary, err
	}, func(_ *study.State, r study.Record) error {
		s.feed.show(study.Update{Record: r, Past: true})
		return nil
	})
	switch {
	case err == nil:
		s.before = s.state.Elapsed
		for _, t := range s.state.Pending() {
			if t.Hand {
				s.orphans = append(s.orphans, t.Number)
			}
		}
		if summary.Torn != nil {
			torn = summary.Torn.Kept
			s.opts.Log.Warn("the last record was cut short by a crash and is dropped", "journal", path, "line", summary.Torn.Line, "kept", torn)
		}
		return torn, nil
	case s.journal != nil:
		return "", errors.Join(err, s.journal.Close())
	case !errors.Is(err, study.ErrNoStudy) || config == nil:
		return "", err
	}
	if err = s.create(*config); !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	s.state, s.earlier = &study.State{}, nil // another process has begun the study since
	torn, again := s.openJournal(nil)
	if errors.Is(again, study.ErrNoStudy) { // what is there leads nowhere
		again = err
	}
	return torn, again
}

func (s *Study) create(config study.Config) error {
	if former := s.layout.Former(); former != "" {
		return &LayoutError{fmt.Errorf("there is no journal in %s, but %s is there, as in a former study: put its journal back, or begin anew in another directory",
			s.layout, former)}
	}
	var id [8]byte
	rand.Read(id[:])
	print, err := config.Fingerprint()
	if err != nil {
		return err
	}
	if s.earlier, err = config.ReadEarlier(0); err != nil {
		return err
	}
	first := s.record(study.Created{ID: hex.EncodeToString(id[:]), Fingerprint: print, Program: s.opts.Program, Config: config})
	if err := s.state.Apply(first); err != nil {
		return fmt.Errorf("invalid study: %w", err)
	}
	if s.journal, err = journal.Create(s.layout.Journal(), first, s.opts.Journal...); err == nil {
		s.feed.show(study.Update{Record: first, Past: true})
	}
	return err
}

func (s *Study) begin(config *study.Config, torn string) error {
	here, _ := os.Getwd() // it may have been removed
	if config != nil {
		here = config.Dir
	} else if s.opts.Adjust != nil {
		adjusted := s.state.Config
		if err := s.opts.Adjust(&adjusted); err != nil {
			return err
		}
		config = &adjusted
	}
	change, err := s.reconfigure(config, here)
	if err != nil {
		return err
	}
	if change != nil {
		for _, v := range s.state.Dropped(*change) {
			s.opts.Log.Warn("enqueued values lie outside the changed ranges and are dropped", "values", v)
		}
		if old := len(s.state.Config.Params); len(s.state.Trials) > 0 {
			for _, p := range change.Config.Params[min(old, len(change.Config.Params)):] {
				s.opts.Log.Warn("a parameter is new: the trials so far count with its default",
					"name", p.Name, "default", p.Default)
			}
		}
		limited := lists.Map(s.state.Config.AllLimits(), func(l study.Limit) string { return l.Metric })
		for _, l := range change.Config.AllLimits() {
			untold := func(t *study.Trial) bool { _, told := t.Metrics.Get(l.Metric); return t.Succeeded() && !told }
			if !slices.Contains(limited, l.Metric) && slices.ContainsFunc(s.state.Trials, untold) {
				limited = append(limited, l.Metric)
				s.opts.Log.Warn("not all trials so far have told what has a limit, and those count as over it", "metric", l.Metric)
			}
		}
		s.opts.Log.Info("the settings have changed since the last session")
	}
	mended := s.state.Mended(change)
	if s.state.Ended() && change == nil {
		if err := s.serve(); err != nil || s.state.Ended() {
			return err // nothing will happen that a record should precede
		}
	}
	return s.start(torn, change, mended)
}

// goOn is start for a study that was found at its end, or has come to it, if it has been opened again since, and for one
// that has more slots by now than its sharer knows.
func (s *Study) goOn() error {
	end, known := s.state.Closed, s.sharer == nil || s.state.Config.Run.SlotCount() <= s.shared
	if s.state.Ended() || s.begun && (end == nil && known || end != nil && end.Why == study.EndGuard) {
		return nil
	}
	return s.start("", nil, nil)
}

// start begins a session, after a change of the config, if there is one.
func (s *Study) start(torn string, change *study.ConfigChanged, mended *study.Rerun) (err error) {
	var events []study.Event
	c := s.state.Config
	if change != nil {
		events, c = append(events, *change), change.Config
	}
	s.host, _ = os.Hostname() // for people only
	begun := study.Session{Number: s.state.Sessions + 1, Host: s.host, PID: os.Getpid(), Program: s.opts.Program, Recovered: torn, Kernel: optimizer.Kernel()}
	begun.Dir = resolved(string(s.layout))
	begun.Way, _ = filepath.Rel(begun.Dir, resolved(c.Dir)) // empty if there is none
	if s.opts.Share != nil {
		sharer, err := s.opts.Share(&c)
		if err != nil {
			return err
		}
		s.sharer, s.shared = sharer, c.Run.SlotCount()
	}
	begun.Shares = s.sharer != nil
	if s.earlier == nil { // a crash may have come before they were all recorded, or another spec since, before any trial
		known := len(s.state.Earlier)
		again := known > 0 && known == len(c.WarmStart) && len(s.state.Trials) == 0 && !s.begun
		if again {
			known = 0
		}
		s.earlier, err = c.ReadEarlier(known)
		switch {
		case err != nil && again && change == nil:
			s.opts.Log.Warn("the study begins with what it has read of earlier ones before", "error", err)
		case err != nil:
			return err
		case again && reflect.DeepEqual(s.earlier, s.state.Earlier):
			s.earlier = nil
		}
	}
	events = append(events, lists.Map(s.earlier, func(e study.Earlier) study.Event { return e })...)
	events = append(events, begun)
	if mended != nil {
		events = append(events, *mended)
		s.opts.Log.Info("nothing has succeeded so far, and what failed is tried again", "trials", len(mended.Trials), "whose output is read first", len(mended.Read))
	}
	if err := s.commit(events...); err != nil {
		return err
	}
	s.earlier = nil // it may begin once more
	s.opts.Log.Info("session begins", "study", s.layout, "session", begun.Number, "trials", len(s.state.Order), "dir", s.state.Config.Dir)
	err = s.prepare()
	s.begun = err == nil
	return err
}

// prepare makes what the config asks for, and teaches the optimizer what is known.
func (s *Study) prepare() error {
	c := s.state.Config
	var err error
	if s.patterns, err = patternsOf(c.Metrics); err != nil {
		return err
	}
	if err := checkSources(c.Run.Sources, s.layout, c.Dir); err != nil {
		return err
	}
	if src := c.Run.Sources; src != nil && s.opts.Launcher != nil {
		if src.Mode == "isolate" {
			if s.linked, err = linkedEntries(c.Dir, s.layout); err != nil {
				return err
			}
		}
		if err := s.apart(&c); err != nil {
			return err
		}
	}
	return s.teach()
}

// patternsOf finds the metrics in what trials print. One that is measured, or whose rule is wrong,
// is found nowhere.
func patternsOf(metrics []study.Metric) (out []*parser.Pattern, err error) {
	for _, m := range metrics {
		p := &parser.Pattern{}
		if m.Measure == "" {
			var wrong error
			if p, wrong = parser.Compile(m.Rule); wrong != nil {
				p, err = &parser.Pattern{}, fmt.Errorf("metric %s: %w", m.Name, wrong)
			}
		}
		out = append(out, p)
	}
	return out, err
}

// teach makes an optimizer that knows all that counts, unless there is one.
func (s *Study) teach() (err error) {
	if s.opt != nil {
		return nil
	}
	if s.opt, err = taught(s.state, s.state.Search.Settings, s.opts.Optimizer); err == nil {
		s.told = len(s.state.Order)
	}
	return err
}

// readsAlong reports whether trials are stopped for what they print.
func readsAlong(c *study.Config) bool {
	return c.Prunes() || slices.ContainsFunc(c.Metrics, study.Metric.StopsEarly)
}

// taught makes an optimizer that knows all that counts of a study.
func taught(st *study.State, settings optimizer.Settings, newOptimizer func(*spaces.Space, uint64, optimizer.Settings, ...optimizer.Earlier) (optimizer.Optimizer, error)) (optimizer.Optimizer, error) {
	if st.Config.Resource() != "" {
		if _, err := st.Config.Search(); err != nil {
			return nil, err
		}
	}
	opt, err := newOptimizer(st.Search.Space, st.Config.Seed, settings, st.Inherited()...)
	switch {
	case err != nil:
		return nil, err
	case opt == nil:
		return nil, errors.New("Options.Optimizer has made none")
	}
	if err := tell(opt, newQuestion(st, 0).tell); err != nil {
		return nil, err
	}
	return opt, nil
}
