package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"

	"github.com/lbotune/lbotune/journal"
)

// ErrNoStudy means that there is no journal where a study was expected.
var ErrNoStudy = errors.New("there is no study")

// Load reads the study in dir without taking it up. Each visit is called for every record,
// with the state that was before it, and may end the reading by an error.
func Load(dir string, visits ...func(before *State, r Record) error) (*State, journal.Summary, error) {
	visit := func(before *State, r Record) error {
		for _, v := range visits {
			if err := v(before, r); err != nil {
				return err
			}
		}
		return nil
	}
	s, path := &State{}, Layout(dir).Journal()
	summary, err := s.Fold(path, visit, func(line func(journal.Record) error) (journal.Summary, error) {
		return journal.Read(path, line)
	})
	return s, summary, err
}

// Fold folds the lines of the journal at path, which read hands to line, into the state.
// Visit, if it is not nil, is called with every record before that one is folded.
func (s *State) Fold(path string, visit func(before *State, r Record) error,
	read func(line func(journal.Record) error) (journal.Summary, error)) (journal.Summary, error) {
	in := &loader{state: s, visit: visit, fill: &batch{}}
	summary, err := read(in.line)
	if err == nil {
		err = in.finish()
	}
	return summary, named(err, path)
}

// named says which study an error is about.
func named(err error, path string) error {
	var damage *journal.CorruptError
	if errors.As(err, &damage) && damage.Path == "" {
		damage.Path = path
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w in %s", ErrNoStudy, filepath.Dir(path))
	case errors.As(err, new(*foreignError)):
		return fmt.Errorf("read journal %s: %w", path, err)
	}
	return err
}

// A foreignError says that a line which is as it was written is not one of this version's.
type foreignError struct {
	line    uint64
	program string // that wrote it, if it says so
	err     error
}

func (e *foreignError) Error() string {
	by := ""
	if e.program != "" {
		by = fmt.Sprintf(" of lbotune %q", e.program)
	}
	return fmt.Sprintf("record %d%s: %v", e.line, by, e.err)
}

func (e *foreignError) Unwrap() error { return e.err }

// decode reads the record of a line, and keeps each text of words once.
func decode(line journal.Record, words map[string]string) (r Record, err error) {
	if err := r.read(line.Raw, words); err != nil {
		return r, contradiction(line, err)
	}
	return r, nil
}

// contradiction says that a line is intact and yet makes no sense.
func contradiction(line journal.Record, err error) error {
	if errors.Is(err, journal.ErrVersion) {
		var by struct{ Program string }
		_ = json.Unmarshal(line.Raw, &by) // or nobody knows
		return &foreignError{line.Seq, by.Program, err}
	}
	return &journal.CorruptError{Line: int(line.Seq), Offset: line.Offset, Reason: err.Error(), Sealed: true}
}

// loader folds the lines of a journal into a state. Decoding takes most of the
// time, so that batches of lines are decoded side by side and folded in order.
type loader struct {
	state *State
	visit func(*State, Record) error // nil if nobody looks
	fill  *batch
	queue []*batch // being decoded
	spare []*batch // to be filled again
}

// batch is a stretch of lines.
type batch struct {
	lines   []journal.Record
	text    []byte   // what the lines' Raw are slices of
	records []Record // of the lines, up to the first that holds none
	err     error    // what is wrong with that one
	done    chan struct{}
}

const batchLines = 512

// line takes one line of the journal.
func (l *loader) line(line journal.Record) error {
	b := l.fill
	start := len(b.text)
	b.text = append(b.text, line.Raw...)
	line.Raw = b.text[start:len(b.text):len(b.text)] // stays valid when text moves
	b.lines = append(b.lines, line)
	if len(b.lines) < batchLines {
		return nil
	}
	l.send()
	if len(l.queue) <= 2*runtime.GOMAXPROCS(0) {
		return nil
	}
	return l.take()
}

// send has the batch that is full decoded.
func (l *loader) send() {
	b := l.fill
	b.done = make(chan struct{})
	l.queue = append(l.queue, b)
	go b.decode()
	l.fill = &batch{}
	if n := len(l.spare); n > 0 {
		l.fill, l.spare = l.spare[n-1], l.spare[:n-1]
	}
}

func (b *batch) decode() {
	defer close(b.done)
	words := make(map[string]string)
	for _, line := range b.lines {
		r, err := decode(line, words)
		if b.err = err; err != nil {
			return
		}
		b.records = append(b.records, r)
	}
}

// take folds the oldest batch.
func (l *loader) take() error {
	b := l.queue[0]
	l.queue = l.queue[1:]
	<-b.done
	for i, r := range b.records {
		if l.visit != nil {
			if err := l.visit(l.state, r); err != nil {
				return err
			}
		}
		if err := l.state.Apply(r); err != nil {
			return contradiction(b.lines[i], err)
		}
	}
	l.spare = append(l.spare, &batch{lines: b.lines[:0], text: b.text[:0], records: b.records[:0]})
	return b.err
}

// finish folds what is left.
func (l *loader) finish() error {
	l.send()
	for len(l.queue) > 0 {
		if err := l.take(); err != nil {
			return err
		}
	}
	return nil
}
