package inbox_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/internal/inbox"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/study"
)

// A request that the machine could not read is no unreadable one, which would be refused: it waits, and
// keeps no other one back.
func TestRequestsThatTheMachineCannotRead(t *testing.T) {
	if dir := os.Getenv("LBOTUNE_UNREADABLE_REQUEST"); dir != "" {
		if rs, err := inbox.Read(layout.Of(dir)); !errors.Is(err, syscall.EIO) || len(rs) != 1 || rs[0].Text != "y" {
			t.Errorf("%+v: %v", rs, err)
		}
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("needs strace")
	}
	l := layout.Of(t.TempDir())
	r, err := inbox.Leave(l, study.Request{Action: study.ActionNote, Text: "x"})
	if err == nil {
		_, err = inbox.Leave(l, study.Request{Action: study.ActionNote, Text: "y"})
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(strace, "-f", "-qq", "-o", os.DevNull, "-e", "inject=read:error=EIO", "-P", filepath.Join(l.Requests(), r.ID+".json"),
		os.Args[0], "-test.run=^TestRequestsThatTheMachineCannotRead$")
	cmd.Env = append(os.Environ(), "LBOTUNE_UNREADABLE_REQUEST="+string(l))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
