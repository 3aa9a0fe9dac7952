package study

import (
	"context"
	"errors"
	"time"

	"github.com/lbotune/lbotune/journal"
)

// followPause is how often a journal is looked at for new records.
const followPause = 200 * time.Millisecond

// errEnded ends following without an error.
var errEnded = errors.New("the study has ended")

// Follow reads the study in dir, and goes on with what another process records, until the
// study has ended. The end of ctx and an error of visit or look end it too, and are its error.
// Visit is called for every record, with the state that it has led to and that the next
// one changes; look is called whenever all is read that has been written, and must not keep
// the state. Either may be nil.
func Follow(ctx context.Context, dir string, visit func(*State, Record) error, look func(*State) error) error {
	s, path := &State{}, Layout(dir).Journal()
	err := journal.Follow(path, func(line journal.Record) error {
		r, err := decode(line, nil)
		if err != nil {
			return err
		}
		if err := s.Apply(r); err != nil {
			return contradiction(line, err)
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
		if s.Ended() {
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
	return named(err, path)
}
