package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/tempdir"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
)

// A program that does not look whether its writing has failed leaves the first digits of a
// number on a disk that was full, and exits with 0. That is no value; with room the trial
// runs again. The same text on a disk with room is one, though its last line has no end.
func TestHalfANumberOnAFullDisk(t *testing.T) {
	disk := t.TempDir()
	tempdir.Disk(t, disk, 256)
	result, ballast := filepath.Join(disk, "result"), filepath.Join(disk, "ballast")
	text := strings.Repeat("\n", 4096-len("loss=123")) + "loss=123.456"
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials = 1
		c.Metrics[0].Rule, c.Metrics[0].File = parser.Rule{Metric: "loss", Source: parser.File}, result
		f := &fakeLauncher{program: func(job runner.Job) ending {
			first := strings.HasSuffix(job.ID, "/1/1")
			if first {
				_ = os.WriteFile(ballast, make([]byte, 1<<20), 0o600) // as much as there is room
				if err := os.Truncate(ballast, 256<<10-4096); err != nil {
					t.Error(err)
				}
			} else if err := os.Remove(ballast); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(result, []byte(text), 0o600); (err != nil) != first {
				t.Error(err)
			}
			return ending{}
		}}
		st, err := finish(t, dir, &c, f)
		if trial := st.Trials[0]; err != nil || trial.Value != 123.456 || trial.Attempt != 2 || trial.Retries != 0 {
			t.Errorf("%v: %+v", err, trial)
		}
	})
}

// The disk of the working directory may be full while that of the study is not: what a program then fails
// with is no failure of the trial's either.
func TestFullDiskOfTheWorkingDirectory(t *testing.T) {
	disk := t.TempDir()
	tempdir.Disk(t, disk, 256)
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials, c.Run.Cwd = 1, disk
		ballast := filepath.Join(disk, "ballast")
		f := &fakeLauncher{program: func(job runner.Job) ending {
			if strings.HasSuffix(job.ID, "/1/1") {
				_ = os.WriteFile(ballast, make([]byte, 1<<20), 0o600)
				return ending{exit: runner.Exit{Code: 1}}
			}
			_ = os.Remove(ballast)
			return parabola(job)
		}}
		st, err := finish(t, dir, &c, f)
		if trial := st.Trials[0]; err != nil || trial.Attempt != 2 || trial.Retries != 0 {
			t.Errorf("%v: %+v, %+v", err, trial, trial.Failure)
		}
	})
}
