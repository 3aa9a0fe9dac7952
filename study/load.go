package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
)

// ErrNoStudy means that there is no journal where a study was expected.
var ErrNoStudy = errors.New("there is no study")

// Load reads the study in dir without taking it up. Each visit is called for every record,
// with the state that was before it, and may end the reading by an error.
func Load(dir string, visits ...func(before *State, r Record) error) (*State, error) {
	return load(layout.Study(layout.Direct(dir)).Journal(), visits...)
}

func load(path string, visits ...func(before *State, r Record) error) (*State, error) {
	s := &State{}
	_, err := s.Fold(path, func(line func(journal.Record) error) (journal.Summary, error) {
		return journal.Read(path, line)
	}, visits...)
	return s, err
}

// Fold folds the lines of the journal at path, which read hands to line, into the state.
// Each visit is called with every record before that one is folded.
func (s *State) Fold(path string, read func(line func(journal.Record) error) (journal.Summary, error),
	visits ...func(before *State, r Record) error) (journal.Summary, error) {
	in := &loader{path: path, state: s, visits: visits, fill: &batch{}}
	summary, err := read(in.line)
	if err == nil {
		in.send()
	}
	for err == nil && len(in.queue) > 0 {
		err = in.take()
	}
	return summary, absent(err, path)
}

// absent says of which study there is no journal.
func absent(err error, path string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w in %s", ErrNoStudy, filepath.Dir(path))
	}
	return err
}

// decode reads the record of a line of the journal at path, and keeps each text of words once.
func decode(path string, line journal.Record, words map[string]string) (r Record, err error) {
	if err := r.read(line.Raw, words); err != nil {
		return r, contradiction(path, line, err)
	}
	return r, nil
}

// contradiction says that a line is intact and yet makes no sense: to this version, or to any.
func contradiction(path string, line journal.Record, err error) error {
	if !errors.Is(err, journal.ErrVersion) {
		return &journal.CorruptError{Path: path, Line: int(line.Seq), Offset: line.Offset, Reason: err.Error(), Sealed: true}
	}
	var by struct{ Program string }
	_ = json.Unmarshal(line.Raw, &by) // or nobody knows
	if by.Program != "" {
		return fmt.Errorf("read journal %s: record %d of lbotune %q: %w", path, line.Seq, by.Program, err)
	}
	return fmt.Errorf("read journal %s: record %d: %w", path, line.Seq, err)
}

// loader folds the lines of a journal into a state. Decoding takes most of the
// time, so that batches of lines are decoded side by side and folded in order.
type loader struct {
	path   string
	state  *State
	visits []func(*State, Record) error
	fill   *batch
	queue  []*batch // being decoded
	spare  []*batch // to be filled again
}

type batch struct {
	lines   []journal.Record
	text    []byte   // what the lines' Raw are slices of
	records []Record // of the lines, up to the first that holds none
	err     error    // what is wrong with that one
	done    chan struct{}
}

// How many lines a batch has, and about how many bytes at most.
const batchLines, batchBytes = 512, 128 << 10

func (l *loader) line(line journal.Record) error {
	b := l.fill
	start := len(b.text)
	b.text = append(b.text, line.Raw...)
	line.Raw = b.text[start:len(b.text):len(b.text)] // stays valid when text moves
	b.lines = append(b.lines, line)
	if len(b.lines) < batchLines && len(b.text) < batchBytes {
		return nil
	}
	l.send()
	if len(l.queue) <= 2*runtime.GOMAXPROCS(0) {
		return nil
	}
	return l.take()
}

func (l *loader) send() {
	b := l.fill
	b.done = make(chan struct{})
	l.queue = append(l.queue, b)
	go b.decode(l.path)
	l.fill = &batch{}
	if n := len(l.spare); n > 0 {
		l.fill, l.spare = l.spare[n-1], l.spare[:n-1]
	}
}

func (b *batch) decode(path string) {
	defer close(b.done)
	words := make(map[string]string)
	for _, line := range b.lines {
		r, err := decode(path, line, words)
		if b.err = err; err != nil {
			return
		}
		b.records = append(b.records, r)
	}
}

func (l *loader) take() error {
	b := l.queue[0]
	l.queue = l.queue[1:]
	<-b.done
	for i, r := range b.records {
		for _, visit := range l.visits {
			if err := visit(l.state, r); err != nil {
				return err
			}
		}
		if err := l.state.Apply(r); err != nil {
			return contradiction(l.path, b.lines[i], err)
		}
	}
	l.spare = append(l.spare, &batch{lines: b.lines[:0], text: b.text[:0], records: b.records[:0]})
	return b.err
}

// followPause is how often a journal is looked at for new records.
const followPause = 200 * time.Millisecond

var errEnded = errors.New("the study has ended")

// Follow reads the study in dir, and goes on with what another process records, until the
// study has ended. The end of ctx and an error of visit or look end it too, and are its error.
// Visit is called for every record, with the state that it has led to and that the next
// one changes; look is called whenever all is read that has been written, and must not keep
// the state. Either may be nil.
func Follow(ctx context.Context, dir string, visit func(*State, Record) error, look func(*State) error) error {
	s, path := &State{}, layout.Study(layout.Direct(dir)).Journal()
	words := make(map[string]string)
	err := journal.Follow(path, func(line journal.Record) error {
		if len(words) > batchLines { // most are those of few records
			clear(words)
		}
		r, err := decode(path, line, words)
		if err != nil {
			return err
		}
		if err := s.Apply(r); err != nil {
			return contradiction(path, line, err)
		}
		if visit == nil {
			return nil
		}
		return visit(s, r)
	}, func() error {
		if look != nil {
			if err := look(s); err != nil {
				return err
			}
		}
		held := false // by who may go on with a study that may go on
		if s.Closed != nil && !s.Ended() {
			var err error
			if held, err = journal.InUse(path); err != nil {
				return err
			}
		}
		if s.Closed != nil && !held {
			return errEnded
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(followPause):
			return nil
		}
	})
	if errors.Is(err, errEnded) {
		return nil
	}
	return absent(err, path)
}
