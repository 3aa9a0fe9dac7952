package session_test

import (
	"slices"
	"testing"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

// Study knows the launcher's names although it knows no launcher.
func TestReservedNames(t *testing.T) {
	reserved := (&study.Config{}).Reserved()
	for _, name := range []string{"attempt.jsonl", runner.StdoutName, runner.StderrName} {
		if !slices.Contains(reserved, name) {
			t.Errorf("%s is not reserved", name)
		}
	}
}
