package slurm_test

import (
	"flag"
	"os"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/slurmtest"
	"github.com/lbotune/lbotune/runner"
)

func TestMain(m *testing.M) {
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0") // not a second for each process of a raced test
	}
	slurmtest.Play()
	flag.Parse()
	_ = flag.Set("test.parallel", "16") // however few processors there are: they wait for Slurm
	os.Exit(m.Run())
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// result is what Launch or Attach returned.
type result struct {
	exit runner.Exit
	err  error
}
