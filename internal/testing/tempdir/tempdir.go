// Package tempdir gives tests directories in which others may still write when a test ends:
// the node of a cluster notes how a job ended after everybody knows it.
package tempdir

import (
	"os"
	"testing"
	"time"
)

// patience is how long the others have. Nothing depends on its length.
const patience = 30 * time.Second

// New is t.TempDir for a directory that is removed as soon as nobody fills it any more.
func New(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		t.Helper()
		if err := remove(dir, patience); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// remove removes dir, and tries again for as long as somebody makes files in it.
func remove(dir string, patience time.Duration) error {
	return insist(patience, func() error { return os.RemoveAll(dir) })
}

// insist tries to do something until it works or patience is over.
func insist(patience time.Duration, do func() error) error {
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if err := do(); err == nil || time.Since(begun) > patience {
			return err
		}
	}
}
