//go:build linux

package torture_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// spent runs lbotune, and returns its processor time in seconds and its memory in MiB.
func (l *lab) spent(args ...string) (cpu float64, mib int) {
	l.Helper()
	r := l.command(args...)
	r.launch()
	memory := r.watchMemory()
	r.end().must(l, 0)
	return (r.ProcessState.UserTime() + r.ProcessState.SystemTime()).Seconds(), <-memory >> 10
}

// cost runs lbotune, says what it took, and returns its memory in MiB.
func (l *lab) cost(what string, args ...string) int {
	l.Helper()
	begin := time.Now()
	cpu, mib := l.spent(args...)
	l.Logf("%-32s %6.2f s, %6.2f s of processor time, %4d MiB", what, time.Since(begin).Seconds(), cpu, mib)
	return mib
}

// A study may grow large: what it costs to look at it and to go on is bounded.
func TestLargeStudy(t *testing.T) {
	slow(t)
	if raced {
		t.Skip("measures memory")
	}
	trials := scaled(10_000, 100_000)
	l := newLab(t)
	l.grow(shape{method: "random", params: 1, objectives: 1}, trials)
	for _, c := range []struct{ what, args string }{
		{"status", "status spec.study"},
		{"best", "best spec.study"},
		{"journal verify", "journal verify spec.study"},
		{"resume, and one trial more", fmt.Sprintf("resume -n %d spec.study", trials+1)},
	} {
		t.Run(c.what, func(t *testing.T) {
			if mib := l.cost(fmt.Sprintf("%s at %d trials", c.what, trials), strings.Fields(c.args)...); mib > 200 {
				t.Errorf("%s took %d MiB", c.what, mib)
			}
		})
	}
}

// What is written of a study with many parameters is not kept in memory, and its page stays small.
func TestWideStudy(t *testing.T) {
	slow(t)
	if raced {
		t.Skip("measures memory")
	}
	l := newLab(t)
	trials := scaled(3000, 10_000)
	l.grow(shape{method: "random", params: 100, objectives: 1}, trials)
	for _, format := range []string{"csv", "jsonl", "optuna"} {
		what := fmt.Sprintf("export as %s of 100 parameters at %d trials", format, trials)
		if mib := l.cost(what, "export", "--format", format, "-o", format+".out", "spec.study"); mib > 95 { // 100 MB
			t.Errorf("%s took %d MiB", what, mib)
		}
	}
	if !*atLength {
		return // the model of so many parameters takes half a minute
	}
	l.cost("report of the same", "report", "-o", "page.html", "spec.study")
	if page := l.read("page.html"); len(page) > 5e6 || !strings.Contains(page, fmt.Sprintf("of %d trials are drawn", trials)) {
		t.Errorf("the page has %d bytes, or does not say what is left out", len(page))
	}
}

// A running study takes little memory.
func TestRunningStudy(t *testing.T) {
	slow(t)
	if raced {
		t.Skip("measures memory")
	}
	for _, method := range []string{"random", "lbo"} {
		l := newLab(t)
		l.grow(shape{method: method, params: 1, objectives: 1}, 1000)
		if mib := l.cost(method+" from 1000 to 1010 trials", "resume", "-n", "1010", "spec.study"); mib > 60 {
			t.Errorf("%s took %d MiB", method, mib)
		}
	}
	if *atLength {
		l := newLab(t)
		l.spec("spec.toml", "echo loss={x}", 1000, 2)
		if mib := l.cost("random to 1000 trials", "run", "spec.toml"); mib > 60 {
			t.Errorf("a study from its beginning took %d MiB", mib)
		}
	}
}
