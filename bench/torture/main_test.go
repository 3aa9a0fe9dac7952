//go:build linux

// Package torture_test abuses the real program, as docs/reliability.md promises
// that it may be abused: it kills it, fills its disk, damages its files, and runs
// programs under it that misbehave.
//
// It takes seconds. With the flag -torture it does more of everything, for many
// minutes: see the target torture in the Makefile. What is random comes from
// -seed.
package torture_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

var (
	atLength = flag.Bool("torture", false, "abuse at length")
	seed     = flag.Uint64("seed", 1, "of everything that is random")
)

// scaled chooses between what is enough for every day and what -torture wants.
func scaled[T any](everyDay, torture T) T {
	if *atLength {
		return torture
	}
	return everyDay
}

// slow leaves a test that takes seconds out of those of -short.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds")
	}
}

// programVar is the path of the lbotune that is tested.
const programVar = "LBOTUNE_TORTURE_PROGRAM"

// trialProgram is the path of what its trials run.
func trialProgram() string { return filepath.Join(filepath.Dir(os.Getenv(programVar)), "trial") }

func TestMain(m *testing.M) {
	flag.Parse()
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGQUIT, syscall.SIGHUP} {
		if signal.Ignored(sig) { // in a background job or under nohup: children would ignore it too
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	os.Exit(testAll(m))
}

// testAll builds lbotune and its trials' program, and runs the tests with them.
func testAll(m *testing.M) int {
	dir, err := os.MkdirTemp("", "lbotune-torture-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "lbotune")
	args := []string{"build", "-o", program}
	if raced {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "./cmd/lbotune")...)
	build.Dir = "../.." // the module of the program, and its versions of all that it requires
	for _, build := range []*exec.Cmd{build, exec.Command("go", "build", "-o", dir, "./trial")} {
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, build, err)
			return 1
		}
	}
	// For tests that run it as somebody else.
	if err := os.Chmod(dir, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := os.Setenv(programVar, program); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
