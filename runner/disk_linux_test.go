package runner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/testing/tempdir"
	"github.com/lbotune/lbotune/runner"
)

// A disk that is full by the word of somebody else, such as of a session that could not write its
// journal, is so for whoever runs the attempt: on another machine he outlives the session.
func TestFullDiskIsNoted(t *testing.T) {
	job := newJob(t)
	over := filepath.Join(t.TempDir(), "over")
	job.Shell = "until [ -e " + over + " ]; do sleep 0.01; done; exit 4"
	job.Started = func(int) {
		runner.NoteFullDisk(job.Dir)
		if err := os.WriteFile(over, nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	if exit, err := new(runner.Local).Launch(t.Context(), job); err != nil || exit.Code != 4 || !exit.DiskFull {
		t.Errorf("%+v, %v", exit, err)
	}
}

// An attempt that fails on a full disk says so, also to those who come later.
func TestFailureOnFullDisk(t *testing.T) {
	disk := t.TempDir()
	tempdir.Disk(t, disk, 256)
	t.Run("of one that is attached to", func(t *testing.T) {
		job := newJob(t)
		job.Dir = filepath.Join(disk, "attached")
		over := filepath.Join(t.TempDir(), "over")
		job.Shell = "echo ready; head -c 1m /dev/zero >" + disk + "/ballast; until [ -e " + over + " ]; do sleep 0.01; done; exit 3"
		done := launched(t, context.Background(), job)
		job.Started = func(int) {
			if err := os.WriteFile(over, nil, 0o600); err != nil {
				t.Error(err)
			}
		}
		if o := attached(t, job); o.err != nil || o.exit.Code != 3 || !o.exit.DiskFull {
			t.Errorf("%+v", o)
		}
		<-done
		if err := os.WriteFile(filepath.Join(disk, ".lbotune-room"), nil, 0o600); err != nil { // of one that was killed
			t.Error(err)
		}
		if !door.FullDisk(disk, true) || !door.FullDisk(disk, false) || door.FullDisk(filepath.Join(disk, "none"), false) {
			t.Error("from afar the disk has room")
		}
		if err := os.RemoveAll(job.Dir); err != nil || os.Remove(filepath.Join(disk, "ballast")) != nil {
			t.Error(err)
		}
	})
	t.Run("that was full only later", func(t *testing.T) {
		job := newJob(t)
		job.Dir = filepath.Join(disk, "later")
		job.Shell = "exit 3"
		if _, err := new(runner.Local).Launch(context.Background(), job); err != nil {
			t.Fatal(err)
		}
		ballast := filepath.Join(disk, "ballast")
		if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err == nil {
			t.Fatal("a small disk took a megabyte")
		}
		if o := attached(t, job); o.err != nil || o.exit.DiskFull {
			t.Errorf("%+v", o)
		}
		if err := errors.Join(os.RemoveAll(job.Dir), os.Remove(ballast)); err != nil {
			t.Error(err)
		}
	})
	for name, c := range map[string]struct {
		command string
		full    bool
	}{
		"room":    {"exit 3", false},
		"fills":   {"head -c 1m /dev/zero >" + disk + "/ballast; exit 3", true},
		"yet ok":  {"head -c 1m /dev/zero >" + disk + "/ballast; exit 0", true},
		"tidy up": {"head -c 1m /dev/zero >" + disk + "/ballast; rm " + disk + "/ballast; exit 3", false},
	} {
		t.Run(name, func(t *testing.T) {
			job := newJob(t)
			job.Dir = filepath.Join(disk, name)
			job.Shell = c.command
			exit, err := new(runner.Local).Launch(context.Background(), job)
			if err != nil || exit.DiskFull != c.full {
				t.Errorf("%+v, %v", exit, err)
			}
			_ = os.Remove(filepath.Join(disk, "ballast"))
			again, err := new(runner.Local).Attach(context.Background(), job)
			if err != nil || again.Code != exit.Code || again.DiskFull != c.full {
				t.Errorf("harvested %+v, %v", again, err)
			}
			if err := os.RemoveAll(job.Dir); err != nil {
				t.Error(err)
			}
		})
	}
}

// An output that the command itself has emptied, as by > /dev/stdout, is known to lack what was printed before.
func TestEmptiedOutput(t *testing.T) {
	for line, want := range map[string]*runner.Lengths{
		"echo loss=1; echo x > /dev/stdout":        {Stdout: 7},
		"echo loss=1; echo loss=2 >> /dev/stdout":  nil,
		"echo loss=1 >&2; echo x > /dev/stderr":    {Stderr: 7},
		"echo x > /dev/stdout; echo loss=1":        nil,
		"echo loss=1; echo x | tee -a /dev/stdout": nil,
	} {
		t.Run(line, func(t *testing.T) {
			exit, err := new(runner.Local).Launch(t.Context(), shellJob(t, line))
			if got := exit.Emptied; err != nil || (got == nil) != (want == nil) || got != nil && *got != *want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
