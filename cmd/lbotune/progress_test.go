package main

import (
	"io"
	"strings"
	"testing"
	"time"

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

// The time budget is the whole study's: what earlier sessions spent is not left.
func TestProgressLeft(t *testing.T) {
	p := newProgress(io.Discard)
	p.cfg = &study.Config{Budget: study.Budget{Time: study.Duration(time.Hour)}}
	p.spent = 40 * time.Minute
	if got := p.left(5 * time.Minute); got != 15*time.Minute {
		t.Errorf("%v left; want 15 minutes", got)
	}
	p.cfg.Budget.Trials, p.before, p.finished = 20, 10, 15
	if got := p.left(10 * time.Minute); got != 10*time.Minute {
		t.Errorf("%v left for 5 trials of 2 minutes; want 10 minutes", got)
	}
	if got := p.left(18 * time.Minute); got != 2*time.Minute {
		t.Errorf("%v left; want the 2 minutes of the time budget", got)
	}
}
