package slurm_test

import (
	"os"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/slurmtest"
	"github.com/lbotune/lbotune/runner"
)

func TestMain(m *testing.M) { os.Exit(slurmtest.Run(m)) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// result is what Launch or Attach returned.
type result struct {
	exit runner.Exit
	err  error
}
