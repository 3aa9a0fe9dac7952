package study

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"

	"github.com/lbotune/lbotune/journal"
)

// Load reads the study in dir without taking it up.
func Load(dir string) (*State, journal.Summary, error) {
	s := &State{}
	in := newLoader(s)
	path := Layout(dir).Journal()
	summary, err := journal.Read(path, in.visit)
	if err == nil {
		err = in.finish()
	}
	return s, summary, named(err, path)
}

// named says which study an error is about.
func named(err error, path string) error {
	var damage *journal.CorruptError
	if errors.As(err, &damage) && damage.Path == "" {
		damage.Path = path
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w in %s", ErrNoStudy, filepath.Dir(path))
	}
	return err
}

// decode reads the record of a line.
func decode(line journal.Record) (r Record, err error) {
	// Not json.Unmarshal, which would check the line once more.
	if err := r.UnmarshalJSON(line.Raw); err != nil {
		return r, contradiction(line, err)
	}
	return r, nil
}

// fold applies the record of a line.
func (s *State) fold(line journal.Record, r Record) error {
	if err := s.Apply(r); err != nil {
		return contradiction(line, err)
	}
	return nil
}

// contradiction says that a line is intact and yet makes no sense.
func contradiction(line journal.Record, err error) error {
	if errors.Is(err, journal.ErrVersion) {
		return fmt.Errorf("read record %d: %w", line.Seq, err)
	}
	return &journal.CorruptError{Line: int(line.Seq), Offset: line.Offset, Reason: err.Error()}
}

// loader folds the lines of a journal into a state. Decoding takes most of the
// time, so that batches of lines are decoded side by side and folded in order.
type loader struct {
	state *State
	fill  *batch
	queue []*batch // being decoded
	spare []*batch // to be filled again
}

// batch is a stretch of lines.
type batch struct {
	lines   []journal.Record
	text    []byte // what the lines' Raw are slices of
	records []Record
	errs    []error
	done    chan struct{}
}

const batchLines = 512

func newLoader(s *State) *loader { return &loader{state: s, fill: &batch{}} }

// visit takes one line of the journal.
func (l *loader) visit(line journal.Record) error {
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
	for _, line := range b.lines {
		r, err := decode(line)
		b.records, b.errs = append(b.records, r), append(b.errs, err)
	}
}

// take folds the oldest batch.
func (l *loader) take() error {
	b := l.queue[0]
	l.queue = l.queue[1:]
	<-b.done
	for i, r := range b.records {
		err := b.errs[i]
		if err == nil {
			err = l.state.fold(b.lines[i], r)
		}
		if err != nil {
			return err
		}
	}
	l.spare = append(l.spare, &batch{lines: b.lines[:0], text: b.text[:0], records: b.records[:0], errs: b.errs[:0]})
	return nil
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
