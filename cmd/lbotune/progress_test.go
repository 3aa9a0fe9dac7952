package main

import (
	"io"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/study"
)

// A budget that was lowered since is not shown as if it held.
func TestProgressBeyondTheBudget(t *testing.T) {
	p := newProgress(io.Discard)
	p.cfg = &study.Config{Budget: study.Budget{Trials: 10}}
	for trial, want := range map[int]string{3: " 3/10", 10: "10/10", 12: "  12"} {
		p.finished = trial
		if got := p.number(trial); got != want {
			t.Errorf("trial %d is shown as %q; want %q", trial, got, want)
		}
		if got := p.status(); strings.Contains(got, "12 of 10") {
			t.Errorf("after trial %d: %s", trial, got)
		}
	}
}
