package runner_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/runner"
)

// Who merely reads an attempt's record, as tail or a backup does, is not ended with it.
func TestReadersOfTheRecordLive(t *testing.T) {
	job := runner.Job{Dir: filepath.Join(t.TempDir(), "a1"), ID: "test", Cwd: t.TempDir(), Shell: "echo ready; exec sleep 100", Grace: time.Second}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := launched(t, ctx, job)
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
	cancel()
	if o := <-done; o.err != nil || !o.exit.Cancelled || len(o.exit.Leftovers) > 0 {
		t.Errorf("%+v, %v", o.exit, o.err)
	}
	if err := reader.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := reader.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the reader ended by itself: %v", err)
	}
}

// Blocks beyond the end of a file, as XFS reserves them for what grows, do not hide its hole.
func TestHoleBesideReservedBlocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	const size, unit = 1 << 20, 256 << 10
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), size), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = errors.Join(unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, unit, unit),
		unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 2*size, size))
	if err != nil {
		t.Skipf("no holes or no reserved blocks on this file system: %v", err)
	}
	var heard bytes.Buffer
	if err := runner.Read(t.Context(), runner.At(path), &heard, math.MaxInt64); err != nil {
		t.Fatal(err)
	}
	if want := size - unit + 1; heard.Len() != want || bytes.IndexByte(heard.Bytes(), 0) >= 0 {
		t.Errorf("heard %d bytes, %d of them NUL; want %d", heard.Len(), bytes.Count(heard.Bytes(), []byte{0}), want)
	}
}
