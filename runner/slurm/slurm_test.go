package slurm_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/runner/runnertest"
	"github.com/lbotune/lbotune/runner/slurm"
)

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleEnv); role {
	case "":
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

// launcher returns one whose jobs run this test binary.
func launcher(t *testing.T) *slurm.Launcher {
	return &slurm.Launcher{
		Settings: slurm.Settings{Poll: 500 * time.Millisecond, Retries: 2},
		Exec:     []string{"/usr/bin/env", roleEnv + "=exec", os.Args[0]},
		Log:      func(message string, err error) { t.Log(message, err) },
	}
}

func TestSuite(t *testing.T) {
	if !runnertest.Orchestrating() {
		fakeCluster(t)
	}
	runnertest.Suite(t, func(t *testing.T) runner.Launcher { return launcher(t) }, runnertest.Traits{Witnessed: true, Slow: true})
}
