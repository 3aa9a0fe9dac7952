package runner_test

import (
	"os/exec"
	"testing"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/runner/runnertest"
)

func TestLocal(t *testing.T) {
	runnertest.Suite(t, func(*testing.T) runner.Launcher { return &runner.Local{} }, runnertest.Traits{})
}

func TestLocalAdopting(t *testing.T) {
	local := &runner.Local{Adopt: true} // one for the process
	runnertest.Suite(t, func(*testing.T) runner.Launcher { return local }, runnertest.Traits{Adopts: true})
}

func TestLocalBash(t *testing.T) {
	if testing.Short() {
		t.Skip("another shell than /bin/sh, which TestLocal has")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	runnertest.Suite(t, func(*testing.T) runner.Launcher { return &runner.Local{Shell: bash} }, runnertest.Traits{})
}
