package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/study"
)

// ErrLocked means that another process works on the study, or on its journal.
var ErrLocked = journal.ErrLocked

// Errors of Run. All of them leave a study that can be resumed.
var (
	// ErrStopped means that a person stopped the study before its end.
	ErrStopped = errors.New("the study was stopped before its end")
	// ErrNoSuccess means that the study ended without a successful trial.
	ErrNoSuccess = errors.New("no trial succeeded")
	// ErrInfeasible means that the study ended without a trial that holds every limit. It
	// is an ErrNoSuccess.
	ErrInfeasible = fmt.Errorf("%w within the limits", ErrNoSuccess)
	// ErrAwaited means that nothing is left to run, but trials that were handed out
	// by Ask are not told yet.
	ErrAwaited = errors.New("trials that were handed out are not told yet")
)

// ErrSpent means that the budget leaves no trial to ask for.
var ErrSpent = errors.New("the budget is spent")

// ErrClosed means that the study was closed before.
var ErrClosed = errors.New("the study is closed")

// noSuccess is an ErrNoSuccess in other words.
type noSuccess string

func (e noSuccess) Error() string { return string(e) }
func (noSuccess) Unwrap() error   { return ErrNoSuccess }

// A SetupError says that the setup command failed; nothing else was started.
type SetupError struct {
	Failure study.Failure
	Dir     string // of its output
}

func (e *SetupError) Error() string { return "setup failed: " + e.Failure.Text }

// A GuardError says that the failure guard stopped the study. It is an ErrNoSuccess.
type GuardError struct {
	noSuccess
	Trial int // one of those that failed
}

// An UnsafeError says that a safety limit was broken, or that its constant is disproved.
type UnsafeError struct{ error }

// Judge returns nil for a study whose best trial holds every limit, and else what is wrong
// with its result.
func Judge(st *study.State) error {
	switch b, none := st.Best(), st.NoneCounts(); {
	case st.Unsafe() != "":
		return &UnsafeError{errors.New(st.Unsafe())}
	case b == nil && none != "":
		return noSuccess(none)
	case b == nil:
		for _, n := range slices.Backward(st.Order) {
			if f := st.Trials[n-1].Failure; f != nil { // the last one's reason stands for all
				return fmt.Errorf("%w; trial %d: %s", ErrNoSuccess, n, f.Text)
			}
		}
		return ErrNoSuccess
	case st.Breaks(b):
		return &UnsafeError{errors.New("no trial holds the safety limit")}
	case !st.Feasible(b):
		return ErrInfeasible
	}
	return nil
}

// A LayoutError says that the study cannot be kept where it is.
type LayoutError struct{ error }

// A ReadError says that the machine could not read what a trial has written. The trial's
// attempt is left as it is, for the next session to read.
type ReadError struct{ error }

// Unwrap returns the system's answer.
func (e *ReadError) Unwrap() error { return e.error }

// UnsavedError says that the journal could not be written. What it was asked to
// record is here and nowhere else, but in the attempts' directories, where the
// next session finds it again.
type UnsavedError struct {
	Err      error
	Finished []study.Finished
}

func (e *UnsavedError) Error() string {
	switch n := len(e.Finished); n {
	case 0:
		return e.Err.Error()
	case 1:
		return fmt.Sprintf("%v; 1 result is not saved", e.Err)
	default:
		return fmt.Sprintf("%v; %d results are not saved", e.Err, n)
	}
}

// Unwrap returns the journal's error.
func (e *UnsavedError) Unwrap() error { return e.Err }

// unsaved keeps the results that a failed commit would have recorded.
func unsaved(err error, updates []study.Update) error {
	var we *journal.WriteError
	if !errors.As(err, &we) {
		return err
	}
	u := &UnsavedError{Err: err}
	for _, update := range updates {
		if f, ok := update.Record.Event.(study.Finished); ok {
			u.Finished = append(u.Finished, f)
		}
	}
	return u
}
