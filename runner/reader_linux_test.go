package runner_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/lbotune/lbotune/runner"
)

// Who merely reads an attempt's record, as tail or a backup does, is not ended with it.
func TestReadersOfTheRecordLive(t *testing.T) {
	job := runner.Job{Dir: filepath.Join(t.TempDir(), "a1"), ID: "test", Cwd: t.TempDir(), Shell: "echo ready; exec sleep 100", Timeout: time.Second, Grace: time.Second}
	done := launched(t, t.Context(), job)
	record, err := os.Open(filepath.Join(job.Dir, "attempt.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer record.Close()
	reader := exec.Command("sleep", "100")
	reader.Stdin = record
	reader.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := reader.Start(); err != nil {
		t.Fatal(err)
	}
	if o := <-done; o.err != nil || !o.exit.TimedOut || len(o.exit.Leftovers) > 0 {
		t.Errorf("%+v, %v", o.exit, o.err)
	}
	if err := reader.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := reader.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the reader ended by itself: %v", err)
	}
}
