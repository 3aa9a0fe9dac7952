// Package effort says how thorough tests shall be: "go test -short" is for while
// one works, "go test" for every day, and with LBOTUNE_LONG_TESTS=1 in the
// environment they take the minutes that statistics need. The gate, .ci/run, asks
// for these where a result could be lost, and elsewhere by LBOTUNE_LONG_TESTS=gate
// for what is between.
package effort

import (
	"os"
	"runtime/debug"
	"slices"
	"testing"
)

// Raced says that the race detector watches.
var Raced = func() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}()

// gate is LBOTUNE_LONG_TESTS of what the gate does not run at length.
const gate = "gate"

// Long reports whether tests may take minutes.
func Long() bool {
	asked := os.Getenv("LBOTUNE_LONG_TESTS")
	return asked != "" && asked != gate && !testing.Short()
}

// Daily chooses what is enough of a test of many cases every day, where the gate tries more.
func Daily[T any](everyDay, inGate T) T {
	if os.Getenv("LBOTUNE_LONG_TESTS") == "" {
		return everyDay
	}
	return inGate
}

// Of chooses what fits: less for -short, more for long tests.
func Of[T any](short, everyDay, long T) T {
	switch {
	case testing.Short():
		return short
	case Long():
		return long
	}
	return everyDay
}

// Sequential is Of for tests of code in one goroutine: short under the race detector.
func Sequential[T any](short, everyDay, long T) T {
	if Raced {
		return short
	}
	return Of(short, everyDay, long)
}

// Quick reports whether only what is quick shall run: with -short, but not under the race
// detector, which is to see whatever runs in more than one goroutine.
func Quick() bool { return testing.Short() && !Raced }

// Thorough passes over a test with -short, for the reason given.
func Thorough(t testing.TB, why string) {
	t.Helper()
	if Quick() {
		t.Skip(why)
	}
}

// Quality passes over a test of how well searches go with -short: optimizer's
// TestProposalsAreThoseRecorded tells there whether any goes otherwise than before. The race
// detector finds nothing in them.
func Quality(t testing.TB) {
	t.Helper()
	if Sequential(true, false, false) {
		t.Skip("of the quality of searches")
	}
}
