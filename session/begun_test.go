package session_test

import (
	"path/filepath"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
	"github.com/lbotune/lbotune/session"
)

// overtaken is a disk on which somebody else does something once no journal was found.
type overtaken struct {
	*faultfs.FS
	missed bool
	first  func()
}

func (o *overtaken) OpenFile(path string, flag int) (journal.File, error) {
	if do := o.first; o.missed && do != nil {
		o.first = nil
		do()
	}
	return o.FS.OpenFile(path, flag)
}

func (o *overtaken) Stat(path string) (journal.Info, error) {
	info, err := o.FS.Stat(path)
	o.missed = o.missed || err != nil && filepath.Base(path) == "journal.jsonl"
	return info, err
}

// Of two processes that begin a study at once, the second goes on with what the first has begun.
func TestStudyBegunMeanwhile(t *testing.T) {
	dir, c := t.TempDir(), config()
	disk := faultfs.New()
	begin := func(on journal.FS) *session.Study {
		t.Helper()
		s, err := session.Open(&c, session.Options{Dir: dir, Optimizer: newFakeOptimizer, Journal: []journal.FS{on}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	asked := 0
	ask := func(s *session.Study) {
		t.Helper()
		trial, err := s.Ask(t.Context())
		if err == nil {
			err = s.Close()
		}
		if asked++; err != nil || trial.Number != asked {
			t.Errorf("trial %d, %v; want trial %d", trial.Number, err, asked)
		}
	}
	ask(begin(&overtaken{FS: disk, first: func() { ask(begin(disk)) }}))
	if asked != 2 {
		t.Errorf("%d trials were asked for; want one of each", asked)
	}
}
