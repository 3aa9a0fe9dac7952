package main

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
)

// A study of somebody else is listed, though it cannot be read; other folders are passed over.
func TestListStudyOfSomebodyElse(t *testing.T) {
	defer unix.Umask(unix.Umask(0o022)) // somebody else must reach the folder
	t.Chdir(t.TempDir())
	for _, dir := range []string{"theirs.study", "private"} {
		if err := os.Mkdir(dir, 0); err != nil {
			t.Fatal(err)
		}
	}
	var found []report.Listed
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		if os.Geteuid() == 0 {
			runtime.LockOSThread() // which ends with the goroutine
			_ = unix.Setfsuid(65534)
		}
		found, err = (&lister{folder: "."}).list()
	}()
	<-done
	if err != nil || len(found) != 1 || found[0].Dir != "theirs.study" || found[0].State != "unreadable" {
		t.Errorf("%+v, %v", found, err)
	}
}
