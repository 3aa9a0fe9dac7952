package slurm_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/internal/testing/slurmtest"
	"github.com/lbotune/lbotune/internal/testing/tempdir"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/runner/runnertest"
	"github.com/lbotune/lbotune/runner/slurm"
)

func TestMain(m *testing.M) {
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0") // not a second for each process of a raced test
	}
	switch role := os.Getenv(roleEnv); role {
	case "":
		flag.Parse()
		_ = flag.Set("test.parallel", "16") // however few processors there are: they wait for Slurm
		os.Exit(m.Run())
	case "exec":
		os.Unsetenv(roleEnv)
		if err := slurm.Exec(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		os.Exit(play(role, os.Args[1:]))
	}
}

// nest makes every temporary directory from now on, also of orchestrators that are killed and
// cannot remove theirs, lie in one that goes when the test and its cluster have ended.
func nest(t *testing.T) {
	t.Helper()
	t.Setenv("TMPDIR", tempdir.New(t))
}

// launcher returns one whose jobs run this test binary.
func launcher(t *testing.T) *slurm.Launcher {
	return &slurm.Launcher{
		Settings: slurm.Settings{Poll: 500 * time.Millisecond, Retries: 2},
		Exec:     []string{"/usr/bin/env", roleEnv + "=exec", os.Args[0]},
		Log:      func(message string, err error) { t.Log(message, err) },
	}
}

// result is what Launch or Attach returned.
type result struct {
	exit runner.Exit
	err  error
}

// piloted returns one whose attempts are run by pilots.
func piloted(t *testing.T) *slurm.Launcher {
	l := launcher(t)
	l.Settings.Pilot, l.Workers, l.Pool = true, 2, filepath.Join(tempdir.New(t), "pilots")
	t.Cleanup(func() { leave(t, l) })
	return l
}

// crew lists the names of the arrays in which pilots of a launcher may live.
func crew(l *slurm.Launcher) []string {
	var crew struct{ Names []string }
	if text, err := os.ReadFile(filepath.Join(l.Pool, "crew.json")); err != nil || json.Unmarshal(text, &crew) != nil {
		return nil
	}
	return crew.Names
}

// leave lets the pilots of a launcher end.
func leave(t *testing.T, l *slurm.Launcher) {
	if err := l.Release(context.Background()); err != nil {
		t.Error(err)
	}
	names := crew(l)
	if len(names) == 0 {
		return
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		out, err := exec.Command("squeue", "--noheader", "--states=all", "--format=%T", "--name="+strings.Join(names, ",")).Output()
		if err == nil && !strings.Contains(string(out), "RUNNING") && !strings.Contains(string(out), "PENDING") && !strings.Contains(string(out), "COMPLETING") {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("pilots do not end: %q, %v", out, err)
			return
		}
	}
}

// imitated starts a cluster of shell scripts for the contract, where the real one does not
// show the same.
func imitated(t *testing.T) {
	if slurmtest.Missing() == "" && effort.Long() {
		t.Skip("TestClusterSuite and TestClusterPilotSuite show it on a real cluster")
	}
	nest(t)
	fakeCluster(t)
}

func TestPilotSuite(t *testing.T) {
	if !runnertest.Orchestrating() {
		imitated(t)
	}
	runnertest.Suite(t, func(t *testing.T) runner.Launcher { return piloted(t) }, runnertest.Traits{Witnessed: true, Slow: true})
}

func TestSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("TestPilotSuite, of the same launcher, is enough while one works")
	}
	if !runnertest.Orchestrating() {
		imitated(t)
	}
	runnertest.Suite(t, func(t *testing.T) runner.Launcher { return launcher(t) }, runnertest.Traits{Witnessed: true, Slow: true})
}
