package session_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
	"github.com/lbotune/lbotune/session"
)

// The n-th write or fsync of the journal fails, once or for ever, for every n:
// nothing more is launched, the results in memory are told, and the next
// session ends as if nothing had happened.
func TestJournalFails(t *testing.T) {
	var want string
	synctest.Test(t, func(t *testing.T) {
		c := config()
		st, err := finish(t, t.TempDir(), &c, &fakeLauncher{program: parabola})
		if err != nil {
			t.Fatal(err)
		}
		want = story(st)
	})
	for _, op := range []string{"write", "sync"} {
		for _, forever := range []bool{false, true} {
			n := 1
			for ; faultAt(t, op, forever, n, want); n += effort.Of(raced(8, 1), 1, 1) {
			}
			if n < 15 {
				t.Errorf("only %d operations %q were made to fail", n, op)
			}
		}
	}
}

// faultAt runs a study whose n-th operation fails, and reports whether there
// was one.
func faultAt(t *testing.T, op string, forever bool, n int, want string) (fired bool) {
	fired = n < 100 // where -run leaves it out, so that the others can run alone
	t.Run(fmt.Sprintf("%s %d forever %v", op, n, forever), func(t *testing.T) {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			c := config()
			disk := faultfs.New()
			disk.Inject(faultfs.Fault{N: n, Forever: forever, Err: syscall.ENOSPC, Only: func(o faultfs.Op) bool {
				return o.Name == op && strings.HasPrefix(filepath.Base(o.Path), "journal.jsonl")
			}})
			f := &fakeLauncher{program: parabola}
			launched := -1
			s, err := session.Open(&c, session.Options{Dir: dir, Launcher: f, Optimizer: newFakeOptimizer, Journal: []journal.FS{disk}})
			if err == nil {
				err = s.Run(t.Context(), nil)
				launched = len(f.launched)
				synctest.Wait()
				if cerr := s.Close(); err == nil && cerr != nil {
					t.Error(cerr)
				}
			}
			if fired = disk.Fired(); !fired {
				if err != nil {
					t.Errorf("nothing failed, and yet: %v", err)
				}
				return
			}
			saved := strings.Count(string(disk.Content(layout.Of(dir).Journal())), `"type":"finished"`)
			checkFailure(t, err, s, f, launched, saved)

			disk.Inject(faultfs.Fault{})
			f.mu.Lock()
			before := len(f.launched)
			f.mu.Unlock()
			s, err = session.Open(&c, session.Options{Dir: dir, Launcher: f, Optimizer: newFakeOptimizer, Journal: []journal.FS{disk}})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Run(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if got := story(s.State()); got != want {
				t.Errorf("after %d attempts, got\n%s\nwant\n%s", before, got, want)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	})
	return fired
}

// checkFailure looks at the session that failed: all that it knows and has not
// saved is told.
func checkFailure(t *testing.T, err error, s *session.Study, f *fakeLauncher, launched, saved int) {
	t.Helper()
	var we *journal.WriteError
	if !errors.As(err, &we) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v; want a write error", err)
	}
	if s == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.launched) != launched {
		t.Error("something was launched after the failure")
	}
	var unsaved *session.UnsavedError
	if errors.As(err, &unsaved) && len(unsaved.Finished) != len(s.State().Order)-saved {
		t.Errorf("%d results told, %d of %d are saved", len(unsaved.Finished), saved, len(s.State().Order))
	}
}
