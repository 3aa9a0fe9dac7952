package study

import (
	"errors"
	"fmt"

	"github.com/lbotune/lbotune/journal"
)

// UnsavedError says that the journal could not be written. What it was asked to
// record is here and nowhere else, but in the attempts' directories, where the
// next session finds it again.
type UnsavedError struct {
	Err      error
	Finished []Finished
}

func (e *UnsavedError) Error() string {
	if len(e.Finished) == 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("%v; %d results are not saved", e.Err, len(e.Finished))
}

// Unwrap returns the journal's error.
func (e *UnsavedError) Unwrap() error { return e.Err }

// unsaved keeps the results that a failed commit would have recorded.
func unsaved(err error, events []Event) error {
	var we *journal.WriteError
	if !errors.As(err, &we) {
		return err
	}
	u := &UnsavedError{Err: err}
	for _, e := range events {
		if f, ok := e.(Finished); ok {
			u.Finished = append(u.Finished, f)
		}
	}
	return u
}
